"""`quantize-activations`: products by block formats read their activations quantized, as the target's numerics say."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import FusedOp, LiftedOp, MatmulOp, Q8Type, QuantizeOp, RowsType
from lanelink.dialects.tgraph.step import located
from lanelink.passes.number_ops import number_ops


@dataclass(frozen=True)
class QuantizeActivationsPass(ModulePass):
    """
    Under int8 and two_pass_int8 numerics, each product by transposed rows of a block format reads a `tgraph.quantize`
    of its activation: one to a tensor, right after the tensor's definition, in one plane or two. Under dequant, and
    for f32, f16 and bf16 rows, activations stay f32.

    A step that was numbered is numbered anew, as a quantize is a lifted op. Refuses a fused op that holds such a
    product, because one quantize could then no longer serve every reader of a tensor.
    """

    name = "quantize-activations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        planes = module_target(op).numerics.data.planes
        if not planes:
            return
        added = [
            quantize
            for func in op.ops
            if isinstance(func, FuncOp)
            for block in func.body.blocks
            for quantize in _quantize(block, planes)
        ]
        if added and any(isinstance(i, LiftedOp) and i.number is not None for i in op.walk()):
            number_ops(op)


def _quantize(block: Block, planes: int) -> list[QuantizeOp]:
    """The quantizes added to one block."""
    quantized: dict[SSAValue, QuantizeOp] = {}
    added: list[QuantizeOp] = []
    for op in list(block.ops):
        if isinstance(op, QuantizeOp) and op.result.type.planes.data == planes:
            quantized.setdefault(op.x, op)
        elif isinstance(op, FusedOp):
            _refuse_product_in(op)
        elif isinstance(op, MatmulOp) and _reads_quantized(op):
            quantize = quantized.get(op.x)
            if quantize is None:
                quantize = quantized[op.x] = _insert_quantize(op, planes)
                added.append(quantize)
            op.operands = [quantize.result, op.weight]
    return added


def _reads_quantized(product: MatmulOp) -> bool:
    """Whether a product of f32 activations is one that integer units compute: its blocks lie along the sum."""
    weight = product.weight.type
    return (
        isinstance(weight, RowsType)
        and weight.format.data.is_block
        and weight.is_transposed
        and not isinstance(product.x.type, Q8Type)
    )


def _insert_quantize(product: MatmulOp, planes: int) -> QuantizeOp:
    """A quantize of the product's activation, right after the activation's definition."""
    x = product.x
    quantize = QuantizeOp(x, planes)
    quantize.location = product.location
    owner = x.owner
    point = InsertPoint.after(owner) if isinstance(owner, Operation) else InsertPoint.at_start(owner)
    Rewriter.insert_op(quantize, point)
    if x.name_hint is not None:
        quantize.result.name_hint = f"{x.name_hint}_q8"
    return quantize


def _refuse_product_in(fused: FusedOp) -> None:
    for leaf in fused.leaves():
        if isinstance(leaf, MatmulOp) and _reads_quantized(leaf):
            message = (
                "quantize-activations: expected products by block formats outside fused ops (it runs before fuse), "
                f"got one inside {fused.fusion_class.data.value}"
            )
            raise PassFailedException(located(leaf, message))
