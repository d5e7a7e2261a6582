"""A launch in the making: its kind, its fields by name, and the lifted ops it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Region, SSAValue

from lanelink.dialects.launch.base import Fields, Launch, LeafLaunch, covers_attr


@dataclass(frozen=True)
class Draft:
    """
    A launch before it is an op, so that a class can set one part's fields from another's.

    `fields` holds operands (buffers) and properties by the names of `kind`; `members` are the launches or parts of a
    compound one.
    """

    kind: type[Launch]
    fields: Fields
    covers: tuple[int, ...] = ()
    members: tuple[Draft, ...] = ()
    location: LocationAttr = field(default_factory=UnknownLoc)

    def with_(self, *, covers: Sequence[int] = (), **fields: SSAValue | Attribute | None) -> Draft:
        """The draft with some fields set anew (none: taken away), covering more lifted ops."""
        return replace(self, fields={**self.fields, **fields}, covers=(*self.covers, *covers))

    def value(self, name: str) -> SSAValue | None:
        """An operand, where it has one."""
        found = self.fields.get(name)
        return found if isinstance(found, SSAValue) else None

    def as_(self, kind: type[Launch], names: Sequence[str]) -> Draft:
        """The same launch as another kind, with the fields both have."""
        return replace(self, kind=kind, fields={name: self.fields.get(name) for name in names})

    def build(self) -> Launch:
        """The op."""
        regions: list[Region] = []
        if self.members:
            regions.append(Region(Block([m.build() for m in self.members])))
        fields = dict(self.fields)
        if issubclass(self.kind, LeafLaunch):
            fields["covers"] = covers_attr(self.covers)
        op = self.kind.from_fields(fields, regions)
        op.location = self.location
        return op
