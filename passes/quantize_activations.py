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

from lanelink.dialects.fault import located
from lanelink.dialects.launch.target import module_target
from lanelink.dialects.tgraph import FusedOp, HeadMatmulOp, LiftedOp, MatmulOp, MoeOp, Q8Type, QuantizeOp, RowsType
from lanelink.dialects.tgraph.lifted import opt_operand
from lanelink.passes.number_ops import number_ops

Product = MatmulOp | HeadMatmulOp | MoeOp
"""What multiplies activations by constant matrices."""


@dataclass(frozen=True)
class QuantizeActivationsPass(ModulePass):
    """
    Under int8 and two_pass_int8 numerics, each product by transposed rows of a block format reads a `tgraph.quantize`
    of its activation: one to a tensor, right after the tensor's definition, in one plane or two. So does a product a
    head; and a mixture whose experts' three matrices are such rows, the router of which keeps the f32 rows unless it is
    such rows too. Under dequant, and for f32, f16 and bf16 rows, activations stay f32.

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
        elif isinstance(op, Product) and _reads_quantized(op):
            quantize = quantized.get(op.x)
            if quantize is None:
                quantize = quantized[op.x] = _insert_quantize(op, planes)
                added.append(quantize)
            _read(op, quantize.result)
    return added


def _reads_quantized(product: Product) -> bool:
    """Whether a product of f32 activations is one that integer units compute: its blocks lie along the sum."""
    if isinstance(product.x.type, Q8Type):
        return False
    weights = (product.gate, product.up, product.down) if isinstance(product, MoeOp) else (product.weight,)
    return all(map(_is_blocks_of_outputs, weights))


def _is_blocks_of_outputs(weight: SSAValue) -> bool:
    """Whether a matrix is checkpoint rows of a block format, each row an output."""
    kind = weight.type
    return isinstance(kind, RowsType) and kind.format.data.is_block and kind.is_transposed


def _read(product: Product, quantized: SSAValue) -> None:
    """Makes a product read the quantized form of its activation."""
    if isinstance(product, MatmulOp | HeadMatmulOp):
        product.operands = [quantized, product.weight]
    elif product.router_x is not None or _is_blocks_of_outputs(product.router):
        product.operands = [quantized, *product.operands[1:]]
    else:
        _read_beside_f32(product, quantized)


def _read_beside_f32(moe: MoeOp, quantized: SSAValue) -> None:
    """Replaces a mixture by one whose experts read the quantized form and whose router the f32 rows."""
    biases = (moe.router_bias, moe.gate_bias, moe.up_bias, moe.down_bias, moe.selection_bias)
    made = MoeOp.build(
        operands=[quantized, moe.router, moe.gate, moe.up, moe.down, (moe.x,), *map(opt_operand, biases)],
        properties={name: value for name, value in moe.properties.items() if name != "operandSegmentSizes"},
        attributes=dict(moe.attributes),
        result_types=[moe.result.type],
    )
    made.location = moe.location
    Rewriter.replace_op(moe, made)


def _insert_quantize(product: Product, planes: int) -> QuantizeOp:
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
        if isinstance(leaf, Product) and _reads_quantized(leaf):
            message = (
                "quantize-activations: expected products by block formats outside fused ops (it runs before fuse), "
                f"got one inside {fused.fusion_class.data.value}"
            )
            raise PassFailedException(located(leaf, message))
