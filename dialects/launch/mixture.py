"""A mixture of experts as one launch, with its shared expert where it has one."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import activation_shape, buffer_shape, check, check_index, check_rows
from lanelink.dialects.launch.placement import PlacedInUnits
from lanelink.dialects.launch.products import check_format
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType, check_number
from lanelink.dialects.tgraph.mixture import ExpertActivation, ExpertActivationAttr

MOST_KEPT = 32
"""Experts one row may keep: a lane of a warp each."""

MOST_EXPERTS = 8192

MOST_GROUPS = 32
"""Groups of experts: a lane of a warp each."""


@irdl_op_definition
class MoeOp(PlacedInUnits):
    """
    A mixture whose softmax scores weigh its experts' outputs, over all rows at once.

    With `groups` a row takes experts of `kept_groups` groups alone, those whose `group_best` largest scores sum
    highest; weights are multiplied by `routed_scale`. Of what is equal the lowest index comes first.

    The router is checkpoint rows or plain values [D, E]; over a quantized x, values and plain rows read `router_x`.
    With a shared expert its gated pair and down product are added, times sigmoid(x·shared_gate) where that is given;
    shared_gate reads what a router of its form would. Hidden rows are quantized as x is.

    Example:
    ```mlir
    launch.moe(x = %x : memref<1x128xf32>, router = %r : !tgraph.rows<bf16, 4x128, transposed>,
               gate = %g : !tgraph.rows<bf16, 256x128, transposed>, up = %u : !tgraph.rows<bf16, 256x128, transposed>,
               down = %d : !tgraph.rows<bf16, 512x64, transposed>, out = %y : memref<1x128xf32>)
      {act = #tgraph<expert_activation silu>, experts = 4 : i64, top_k = 2 : i64, hidden = 64 : i64} covers [7]
    ```
    """

    name = "launch.moe"

    act = prop_def(ExpertActivationAttr)
    experts = prop_def(IntegerAttr[I64])
    top_k = prop_def(IntegerAttr[I64])
    hidden = prop_def(IntegerAttr[I64])
    renormalize = opt_prop_def(UnitAttr)
    limit = opt_prop_def(FloatAttr[Float32Type])
    routed_scale = opt_prop_def(FloatAttr[Float32Type])
    groups = opt_prop_def(IntegerAttr[I64])
    kept_groups = opt_prop_def(IntegerAttr[I64])
    group_best = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    router_x = opt_operand_def()
    router = operand_def()
    gate = operand_def()
    up = operand_def()
    down = operand_def()
    router_bias = opt_operand_def()
    gate_bias = opt_operand_def()
    up_bias = opt_operand_def()
    down_bias = opt_operand_def()
    shared_gate_rows = opt_operand_def()
    shared_up_rows = opt_operand_def()
    shared_down_rows = opt_operand_def()
    shared_gate = opt_operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    @property
    def grouping(self) -> tuple[int, int, int] | None:
        """(Groups, groups kept, scores that rank one), where experts are in groups."""
        if self.groups is None or self.kept_groups is None or self.group_best is None:
            return None
        return self.groups.value.data, self.kept_groups.value.data, self.group_best.value.data

    def verify_(self) -> None:
        experts, top_k, hidden = self.experts.value.data, self.top_k.value.data, self.hidden.value.data
        if not 1 <= top_k <= min(experts, MOST_KEPT) or experts > MOST_EXPERTS or hidden < 1:
            raise VerifyException(
                f"launch.moe: expected 1 to {MOST_KEPT} of at most {MOST_EXPERTS} experts of at least 1 value, "
                f"got {top_k} of {experts} of {hidden}"
            )
        rows, width = activation_shape(self.x, "launch.moe x")
        for name, outputs, inputs in (
            ("gate", experts * hidden, width),
            ("up", experts * hidden, width),
            ("down", experts * width, hidden),
        ):
            check_rows(getattr(self, name), f"launch.moe {name}", outputs, inputs)
        for name, shape in (
            ("router_bias", (1, experts)),
            ("gate_bias", (experts, hidden)),
            ("up_bias", (experts, hidden)),
            ("down_bias", (experts, width)),
        ):
            bias: SSAValue | None = getattr(self, name)
            if bias is not None:
                check(f"launch.moe {name}", shape, buffer_shape(bias, f"launch.moe {name}"))
        self._verify_router(rows, width, experts)
        self._verify_shared(width)
        if (self.act.data is ExpertActivation.CLAMPED_SWIGLU) != (self.limit is not None):
            got = "none" if self.limit is None else self.limit.value.data
            raise VerifyException(
                f"launch.moe limit: expected one with clamped_swiglu alone, got {got} with {self.act.data.value}"
            )
        check_number("launch.moe limit", self.limit, above=0)
        check_number("launch.moe routed_scale", self.routed_scale, above=0)
        self._verify_groups(experts, top_k)
        check_index(self.at, "launch.moe at")
        self.check_units(self.out, rows, 1, width)

    def _verify_groups(self, experts: int, top_k: int) -> None:
        given = [field is not None for field in (self.groups, self.kept_groups, self.group_best)]
        if any(given) != all(given):
            raise VerifyException("launch.moe: expected groups, kept_groups and group_best, or none of them")
        if self.grouping is None:
            return
        groups, kept, best = self.grouping
        if not 1 <= groups <= MOST_GROUPS or experts % groups or not 1 <= best <= experts // groups:
            raise VerifyException(
                f"launch.moe groups: expected 1 to {MOST_GROUPS} that divide {experts} experts by {best} or more each, "
                f"got {groups}"
            )
        if not 1 <= kept <= groups or kept * (experts // groups) < top_k:
            raise VerifyException(
                f"launch.moe kept_groups: expected 1 to {groups} with room for {top_k} experts, got {kept}"
            )

    def _verify_router(self, rows: int, width: int, experts: int) -> None:
        router = self.router.type
        if isinstance(router, RowsType):
            check_rows(self.router, "launch.moe router", experts, width)
        else:
            check("launch.moe router", (width, experts), buffer_shape(self.router, "launch.moe router"))
        block = isinstance(router, RowsType) and router.format.data.is_block
        if isinstance(self.x.type, Q8Type):
            for name in ("gate", "up", "down"):
                check_format(f"launch.moe {name}", self.x.type, getattr(self, name).type)
            if not block and self.router_x is None:
                raise VerifyException(f"launch.moe router_x: expected f32 rows for a router of {router}, got none")
        if self.router_x is not None:
            check("launch.moe router_x", (rows, width), buffer_shape(self.router_x, "launch.moe router_x"))

    def _verify_shared(self, width: int) -> None:
        given = [self.shared_gate_rows, self.shared_up_rows, self.shared_down_rows]
        if any(v is not None for v in given) != all(v is not None for v in given):
            raise VerifyException("launch.moe: expected all three matrices of a shared expert, or none")
        if self.shared_gate_rows is None or self.shared_up_rows is None or self.shared_down_rows is None:
            if self.shared_gate is not None:
                raise VerifyException("launch.moe shared_gate: expected a shared expert beside it, got none")
            return
        for name in ("shared_gate_rows", "shared_up_rows", "shared_down_rows"):
            check_format(f"launch.moe {name}", self.x.type, getattr(self, name).type)
        inner = check_rows(self.shared_gate_rows, "launch.moe shared_gate_rows", None, width)
        check_rows(self.shared_up_rows, "launch.moe shared_up_rows", inner, width)
        check_rows(self.shared_down_rows, "launch.moe shared_down_rows", width, inner)
        if self.shared_gate is not None:
            if isinstance(self.shared_gate.type, RowsType):
                check_rows(self.shared_gate, "launch.moe shared_gate", 1, width)
            else:
                check("launch.moe shared_gate", (width, 1), buffer_shape(self.shared_gate, "launch.moe shared_gate"))
            kind = self.shared_gate.type
            block = isinstance(kind, RowsType) and kind.format.data.is_block
            if isinstance(self.x.type, Q8Type) and not block and self.router_x is None:
                raise VerifyException(f"launch.moe router_x: expected f32 rows for a shared_gate of {kind}, got none")
