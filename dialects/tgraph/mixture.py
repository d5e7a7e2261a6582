"""A mixture of experts: router, choice, experts, and their weighted sum."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr, TensorType, UnitAttr, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.floats import F32
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType, activation, check_number, matrix, positive, same
from lanelink.dialects.tgraph.lifted import LiftedOp, int_attr, opt_int_attr, opt_operand
from lanelink.dialects.tgraph.products import MatmulOp


class Scores(StrEnum):
    """What a router's outputs become before the choice."""

    SOFTMAX = "softmax"
    SIGMOID = "sigmoid"


@irdl_attr_definition
class ScoresAttr(EnumAttribute[Scores], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<scores softmax>`."""

    name = "tgraph.scores"


class ExpertActivation(StrEnum):
    """
    What joins an expert's gate g and up u: act(g)·u, or clamped_swiglu, (min(u, limit) at least −limit, plus 1) ·
    g·sigmoid(1.702·g) with g at most the limit (gpt-oss's model card).
    """

    SILU = "silu"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    CLAMPED_SWIGLU = "clamped_swiglu"


@irdl_attr_definition
class ExpertActivationAttr(EnumAttribute[ExpertActivation], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<expert_activation silu>`."""

    name = "tgraph.expert_activation"


@irdl_op_definition
class MoeOp(LiftedOp):
    """
    A mixture of experts (Shazeer et al., "Outrageously large neural networks"), row by row.

    The router's outputs x·router (+ router_bias) become scores by softmax or sigmoid. The top_k largest are chosen, by
    scores plus selection_bias where there is one and, with `groups`, only inside the kept_groups groups whose two best
    scores, or as many as `best` says, sum highest (DeepSeek-V3, section 2.1.2; DeepSeek-V2, section 2.2.2, by the best
    alone). Their unbiased scores, made to sum to 1 by `renormalize` and multiplied by routed_scale, weigh the experts'
    outputs, or with weigh_inputs their inputs.

    Of E experts with a hidden width F over rows of D: gate and up are checkpoint rows [E·F, D], down [E·D, F], each row
    one output (transposed), expert after expert; gate_bias and up_bias [E, F], down_bias [E, D]. The router is
    checkpoint rows [E, D] transposed, or values [D, E]. Where x is quantized and the router's rows are no block
    format, the router reads `router_x`, the same rows in f32. The experts of a quantized x run on integer units
    throughout: their hidden rows are quantized as x is before their down products.

    Of equal scores, the lowest index is chosen first.

    Example:
    ```mlir
    %y = tgraph.moe softmax silu %x, %r, %g, %u, %d experts 4 top_k 2 hidden 64 renormalize
      : tensor<1x128xf32>, !tgraph.rows<bf16, 4x128, transposed>, !tgraph.rows<bf16, 256x128, transposed>,
        !tgraph.rows<bf16, 256x128, transposed>, !tgraph.rows<bf16, 512x64, transposed> -> tensor<1x128xf32>
    ```
    """

    name = "tgraph.moe"

    scores = prop_def(ScoresAttr)
    act = prop_def(ExpertActivationAttr)
    experts = prop_def(IntegerAttr[I64])
    top_k = prop_def(IntegerAttr[I64])
    hidden = prop_def(IntegerAttr[I64])
    renormalize = opt_prop_def(UnitAttr)
    weigh_inputs = opt_prop_def(UnitAttr)
    limit = opt_prop_def(FloatAttr[Float32Type])
    routed_scale = opt_prop_def(FloatAttr[Float32Type])
    groups = opt_prop_def(IntegerAttr[I64])
    kept_groups = opt_prop_def(IntegerAttr[I64])
    group_best = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    router = operand_def()
    gate = operand_def()
    up = operand_def()
    down = operand_def()
    router_x = opt_operand_def()
    router_bias = opt_operand_def()
    gate_bias = opt_operand_def()
    up_bias = opt_operand_def()
    down_bias = opt_operand_def()
    selection_bias = opt_operand_def()
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    custom_directives = (F32,)

    assembly_format = (
        "$scores $act $x `,` $router `,` $gate `,` $up `,` $down (`router_x` $router_x^ `:` type($router_x))? "
        "(`router_bias` $router_bias^ `:` type($router_bias))? (`gate_bias` $gate_bias^ `:` type($gate_bias))? "
        "(`up_bias` $up_bias^ `:` type($up_bias))? (`down_bias` $down_bias^ `:` type($down_bias))? "
        "(`selection_bias` $selection_bias^ `:` type($selection_bias))? "
        "`experts` $experts `top_k` $top_k `hidden` $hidden (`renormalize` $renormalize^)? "
        "(`weigh_inputs` $weigh_inputs^)? (`limit` custom<F32>($limit)^)? "
        "(`routed_scale` custom<F32>($routed_scale)^)? "
        "(`groups` $groups^ `kept` $kept_groups)? (`best` $group_best^)? (`number` $number^)? attr-dict "
        "`:` type($x) `,` type($router) `,` type($gate) `,` type($up) `,` type($down) `->` type($result)"
    )

    def __init__(
        self,
        x: SSAValue,
        router: SSAValue,
        gate: SSAValue,
        up: SSAValue,
        down: SSAValue,
        *,
        experts: int,
        top_k: int,
        hidden: int,
        scores: Scores = Scores.SOFTMAX,
        act: ExpertActivation = ExpertActivation.SILU,
        renormalize: bool = False,
        weigh_inputs: bool = False,
        limit: float | None = None,
        routed_scale: float | None = None,
        groups: tuple[int, int] | None = None,
        group_best: int | None = None,
        router_x: SSAValue | None = None,
        biases: dict[str, SSAValue] | None = None,
    ) -> None:
        """`groups`: (groups, groups kept), ranked by `group_best` scores, two where none. `biases`: the operands
        `router_bias` … `selection_bias` by name."""
        given = biases or {}
        names = ("router_bias", "gate_bias", "up_bias", "down_bias", "selection_bias")
        super().__init__(
            operands=[x, router, gate, up, down, opt_operand(router_x), *(opt_operand(given.get(n)) for n in names)],
            properties={
                "scores": ScoresAttr(scores),
                "act": ExpertActivationAttr(act),
                "experts": int_attr(experts),
                "top_k": int_attr(top_k),
                "hidden": int_attr(hidden),
                "renormalize": UnitAttr() if renormalize else None,
                "weigh_inputs": UnitAttr() if weigh_inputs else None,
                "limit": None if limit is None else FloatAttr(limit, f32),
                "routed_scale": None if routed_scale is None else FloatAttr(routed_scale, f32),
                "groups": None if groups is None else int_attr(groups[0]),
                "kept_groups": None if groups is None else int_attr(groups[1]),
                "group_best": opt_int_attr(group_best),
            },
            result_types=[TensorType(f32, activation(x, "moe x"))],
        )

    @property
    def best_of_group(self) -> int:
        """How many of a group's best scores are summed to rank it."""
        return 2 if self.group_best is None else self.group_best.value.data

    def verify_(self) -> None:
        experts, top_k, hidden = self.experts.value.data, self.top_k.value.data, self.hidden.value.data
        positive(experts=experts, top_k=top_k, hidden=hidden)
        if top_k > experts:
            raise VerifyException(f"moe top_k: expected at most the {experts} experts, got {top_k}")
        rows, width = activation(self.x, "moe x")
        same("moe router", (width, experts), MatmulOp.weight_shape(self.router, "moe router"))
        for name, shape in (
            ("gate", (width, experts * hidden)),
            ("up", (width, experts * hidden)),
            ("down", (hidden, experts * width)),
        ):
            weight: SSAValue = getattr(self, name)
            same(f"moe {name}: (inputs, outputs of all experts)", shape, MatmulOp.weight_shape(weight, f"moe {name}"))
        for name, shape in (
            ("router_bias", (1, experts)),
            ("gate_bias", (experts, hidden)),
            ("up_bias", (experts, hidden)),
            ("down_bias", (experts, width)),
            ("selection_bias", (1, experts)),
        ):
            bias: SSAValue | None = getattr(self, name)
            if bias is not None:
                same(f"moe {name}", shape, matrix(bias, f"moe {name}"))
        self._verify_forms(rows, width)
        self._verify_groups(experts, top_k)
        same("moe result", (rows, width), matrix(self.result, "moe result"))

    def _verify_forms(self, rows: int, width: int) -> None:
        clamped = self.act.data is ExpertActivation.CLAMPED_SWIGLU
        if clamped != (self.limit is not None):
            raise VerifyException(
                f"moe limit: expected one with clamped_swiglu alone, got "
                f"{'none' if self.limit is None else self.limit.value.data} with {self.act.data.value}"
            )
        check_number("moe limit", self.limit, above=0)
        check_number("moe routed_scale", self.routed_scale, above=0)
        if self.router_x is not None:
            same("moe router_x", (rows, width), matrix(self.router_x, "moe router_x"))
        if isinstance(self.x.type, Q8Type):
            for name in ("gate", "up", "down"):
                kind = getattr(self, name).type
                if not isinstance(kind, RowsType) or not kind.format.data.is_block or not kind.is_transposed:
                    raise VerifyException(
                        f"moe {name}: expected transposed rows of a block format over a quantized x, got {kind}"
                    )
            router = self.router.type
            if self.router_x is None and not (isinstance(router, RowsType) and router.format.data.is_block):
                raise VerifyException(f"moe router_x: expected f32 rows for a router of {router}, got none")

    def _verify_groups(self, experts: int, top_k: int) -> None:
        if (self.groups is None) != (self.kept_groups is None):
            raise VerifyException("moe groups: expected groups and kept groups together, got one without the other")
        if self.groups is None or self.kept_groups is None:
            if self.group_best is not None:
                raise VerifyException("moe best: expected groups that it ranks, got none")
            return
        groups, kept, best = self.groups.value.data, self.kept_groups.value.data, self.best_of_group
        positive(groups=groups, kept_groups=kept, group_best=best)
        if experts % groups or experts // groups < best:
            raise VerifyException(
                f"moe groups: expected to divide {experts} experts by {best} or more each, got {groups}"
            )
        if kept > groups or kept * (experts // groups) < top_k:
            raise VerifyException(
                f"moe kept groups: expected at most {groups} and room for {top_k} experts, got {kept}"
            )
