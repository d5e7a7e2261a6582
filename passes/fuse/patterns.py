"""The two shapes a pattern has, and the walk that applies patterns to a block."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from lanelink.dialects.tgraph import FusionClass
from lanelink.passes.fuse.build import Part, Places, build_fused

Parts = Sequence[Part]


@dataclass(frozen=True)
class Chain:
    """A class whose last part reads the others: recognized at that last part."""

    fusion_class: FusionClass
    match: Callable[[Operation], Parts | None]
    """The parts that end in an op, or None."""


@dataclass(frozen=True)
class Group:
    """A class of ops side by side, none of which reads another."""

    fusion_class: FusionClass
    key: Callable[[Operation], Hashable | None]
    """What the members of one group have in common, or None for an op that is no member of any."""
    joins: Callable[[Parts, Part], bool]
    """Whether an op of a group's key may join its members."""
    most: int
    """The most members of a group."""


Pattern = Chain | Group
Walk = Sequence[Pattern]


def fuse_block(block: Block, walks: Sequence[Walk]) -> None:
    """Applies each walk's patterns to a block, one pass over its ops a walk."""
    places = Places(block)
    for walk in walks:
        chains = [p for p in walk if isinstance(p, Chain)]
        groups = [p for p in walk if isinstance(p, Group)]
        found = {pattern.fusion_class: _Groups(pattern, places) for pattern in groups}
        for op in list(block.ops):
            # An op that an earlier match took in is no longer in the block.
            if op.parent is not block:
                continue
            for chain in chains:
                parts = chain.match(op)
                if parts is not None and build_fused(chain.fusion_class, parts, places) is not None:
                    break
            for gathered in found.values():
                gathered.offer(op)
        for gathered in found.values():
            gathered.build()


class _Groups:
    """
    The groups of one pattern. They are built after the walk, so that the values that key them stay what they are
    during it.
    """

    def __init__(self, pattern: Group, places: Places) -> None:
        self.pattern = pattern
        self.places = places
        self.all: list[list[Part]] = []
        self.open: dict[Hashable, list[Part]] = {}

    def offer(self, op: Operation) -> None:
        """Lets an op join the open group of its key, or open the next one."""
        key = self.pattern.key(op)
        if key is None or not isinstance(op, Part):
            return
        members = self.open.get(key)
        if members is None or not self._joins(members, op):
            members = self.open[key] = []
            self.all.append(members)
        members.append(op)

    def _joins(self, members: list[Part], op: Part) -> bool:
        return (
            len(members) < self.pattern.most
            and not any(v.owner in members for v in op.operands)
            and self.pattern.joins(members, op)
            and self.places.standing([*members, op]) is not None
        )

    def build(self) -> None:
        """Fuses every group of two or more."""
        for members in self.all:
            if len(members) > 1:
                build_fused(self.pattern.fusion_class, members, self.places)
