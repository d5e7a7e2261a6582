"""`tgraph.fused`: the lifted ops that go together, under the class they were recognized as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.utils import AbstractYieldOperation, EnumAttribute
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.attribute_syntax import parse_attributes
from lanelink.dialects.tgraph.lifted import LiftedOp


class FusionClass(StrEnum):
    """The classes; docs/classes.md says what each takes in and what it is linked to."""

    ADD_NORM = "add_norm"
    NORM_THEN_ADD = "norm_then_add"
    NORM_QUANT = "norm_quant"
    ADD_NORM_QUANT = "add_norm_quant"
    ELEMENTWISE_QUANT = "elementwise_quant"
    GLU_ACT_MUL_QUANT = "glu_act_mul_quant"
    GEMV_QUANT = "gemv_quant"
    ATTN_OUTPUT_QUANT = "attn_output_quant"
    GDN_OUTPUT_QUANT = "gdn_output_quant"
    ROW_WRITE_QUANT = "row_write_quant"
    GEMM_BIAS = "gemm_bias"
    GEMV_NORM_EPILOGUE = "gemv_norm_epilogue"
    EMBED_NORM = "embed_norm"
    MOE_DEFERRED_FINALIZE = "moe_deferred_finalize"
    EMBED_SCALE = "embed_scale"
    QK_NORM_ROPE = "qk_norm_rope"
    ROPE_QK_ONE_LAUNCH = "rope_qk_one_launch"
    QKV_HEAD_EPILOGUE = "qkv_head_epilogue"
    MERGED_QKV = "merged_qkv"
    GLU_ACT_MUL = "glu_act_mul"
    GEMV_GATE_UP_GLU = "gemv_gate_up_glu"
    SHARED_EXPERT_FUSION = "shared_expert_fusion"
    MOE_TOKEN_SORT = "moe_token_sort"
    ATTN_OUTPUT_GATE = "attn_output_gate"
    CONV_BIAS_SILU = "conv_bias_silu"
    CONV_SILU_L2NORM = "conv_silu_l2norm"
    CONV_PARTS = "conv_parts"
    GDN_GATING = "gdn_gating"
    GDN_GATE_PROJECTIONS = "gdn_gate_projections"
    MLA = "mla"
    ROW_IN_PLACE = "row_in_place"
    PART_IN_PLACE = "part_in_place"
    UNITS_IN_PLACE = "units_in_place"
    FUSED_SAMPLING = "fused_sampling"


@irdl_attr_definition
class FusionClassAttr(EnumAttribute[FusionClass], SpacedOpaqueSyntaxAttribute):
    """`#tgraph<fusion_class add_norm>`."""

    name = "tgraph.fusion_class"


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """What a fused op hands on: the results it keeps."""

    name = "tgraph.yield"

    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(FusedOp), Pure()))


@irdl_op_definition
class FusedOp(IRDLOperation):
    """
    Lifted ops computed together. It means exactly its parts, in order; the class says what a lane may link it to.

    The region is isolated: operands come in as block arguments, and the results it keeps are what it yields. A part
    may be a fused op itself. A result set into rows of a table inside the region lands there in place.

    Example:
    ```mlir
    %sum, %h = tgraph.fused add_norm(%a = %x : tensor<1x64xf32>, %b = %y : tensor<1x64xf32>, %n = %w : tensor<64xf32>)
      -> (tensor<1x64xf32>, tensor<1x64xf32>) {
      %s = tgraph.elementwise add %a, %b number 3 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      %r = tgraph.fused_row rms %s weight %n : tensor<64xf32> cols 64 eps 1.000000e-06 number 4
        : tensor<1x64xf32>
      tgraph.yield %s, %r : tensor<1x64xf32>, tensor<1x64xf32>
    }
    ```
    """

    name = "tgraph.fused"

    fusion_class = prop_def(FusionClassAttr)
    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(Pure(), IsolatedFromAbove(), SingleBlockImplicitTerminator(YieldOp))

    PUNCTUATION: ClassVar[str] = "="

    def __init__(
        self, fusion_class: FusionClass, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Region
    ) -> None:
        super().__init__(
            operands=[inputs],
            properties={"fusion_class": FusionClassAttr(fusion_class)},
            result_types=[result_types],
            regions=[body],
        )

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values inside the region that become the results, in order."""
        terminator = self.body.block.last_op
        return () if terminator is None else terminator.operands

    @property
    def parts(self) -> list[LiftedOp | FusedOp]:
        """The ops it holds, in order, without the terminator."""
        return [op for op in self.body.block.ops if isinstance(op, LiftedOp | FusedOp)]

    def leaves(self) -> Iterator[LiftedOp]:
        """Every lifted op it computes, at any depth, in order."""
        for part in self.parts:
            if isinstance(part, FusedOp):
                yield from part.leaves()
            else:
                yield part

    def verify_(self) -> None:
        block = self.body.block
        got = [a.type for a in block.args]
        expected = [o.type for o in self.inputs]
        if got != expected:
            raise VerifyException(
                f"fused {self.fusion_class.data.value}: expected block arguments of {_types(expected)}, "
                f"got {_types(got)}"
            )
        kept = [v.type for v in self.yielded]
        results = [r.type for r in self.outputs]
        if kept != results:
            raise VerifyException(
                f"fused {self.fusion_class.data.value}: expected to yield {_types(results)}, got {_types(kept)}"
            )
        if not results:
            raise VerifyException(f"fused {self.fusion_class.data.value}: expected at least one result, got none")
        for value in self.yielded:
            if isinstance(value, BlockArgument):
                raise VerifyException(
                    f"fused {self.fusion_class.data.value}: expected to yield results of its parts, "
                    f"got argument {value.index}"
                )
        for op in block.ops:
            if not isinstance(op, LiftedOp | FusedOp | YieldOp):
                raise VerifyException(
                    f"fused {self.fusion_class.data.value}: expected lifted or fused ops as parts, got {op.name}"
                )
        if len(self.parts) < 2:
            raise VerifyException(
                f"fused {self.fusion_class.data.value}: expected at least two parts, got {len(self.parts)}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.fusion_class.data.value}(")
        printer.enter_scope()

        def argument(pair: tuple[BlockArgument, SSAValue]) -> None:
            inner, outer = pair
            printer.print_block_argument(inner, print_type=False)
            printer.print_string(" = ")
            printer.print_operand(outer)
            printer.print_string(" : ")
            printer.print_attribute(outer.type)

        printer.print_list(list(zip(self.body.block.args, self.inputs, strict=True)), argument)
        printer.print_string(") -> (")
        printer.print_list(self.outputs, lambda r: printer.print_attribute(r.type))
        printer.print_string(") ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.exit_scope()
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> FusedOp:
        fusion_class = parser.parse_str_enum(FusionClass)

        def argument() -> tuple[Parser.Argument, SSAValue]:
            inner = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            outer = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            kind = parser.parse_type()
            return inner.resolve(kind), parser.resolve_operand(outer, kind)

        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        body = parser.parse_region([inner for inner, _ in pairs])
        attributes = parse_attributes(parser, cls.name, cls.get_irdl_definition().properties, keyword=True)
        op = cls(fusion_class, [outer for _, outer in pairs], types, body)
        op.attributes |= attributes
        return op


def _types(types: Sequence[Attribute]) -> str:
    return "(" + ", ".join(str(t) for t in types) + ")"


def leaves(op: Operation) -> list[LiftedOp]:
    """The lifted ops an op computes: itself, or a fused op's at any depth."""
    if isinstance(op, FusedOp):
        return list(op.leaves())
    return [op] if isinstance(op, LiftedOp) else []


def numbers(op: Operation) -> list[int]:
    """The numbers of the lifted ops an op computes, ascending; an unnumbered op counts for nothing."""
    return sorted(leaf.number.value.data for leaf in leaves(op) if leaf.number is not None)


def make_block(inputs: Sequence[SSAValue]) -> Block:
    """An empty block whose arguments stand for `inputs`."""
    return Block(arg_types=[v.type for v in inputs])
