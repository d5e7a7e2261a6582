"""Products by a constant matrix: one, several of one activation, a gated pair."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.fault import OpFault
from lanelink.dialects.launch.base import (
    CompoundLaunch,
    LeafLaunch,
    activation_shape,
    buffer_shape,
    check,
    check_index,
    check_results,
    check_rows,
    check_vector,
)
from lanelink.dialects.launch.functions import ActivationAttr
from lanelink.dialects.launch.placement import PlacedInUnits
from lanelink.dialects.tgraph.attributes import Q8Type, RowsType

MOST_SPLITS = 32
"""Shares of an inner size whose sums the last block of a product by values adds."""


@irdl_op_definition
class GemvOp(PlacedInUnits):
    """
    x[m,k] · Wᵀ (+ bias) → out[m,n], W checkpoint rows [n,k]; also, or instead, the result quantized. Where out is
    written in units, a row of the result is one. `per_warp`: the rows of W that a warp takes together, 2 or 4.
    `tail_from`, `tail_split`: of a product on tensor cores, tiles from the one on are shared by so many blocks each.

    Example:
    ```mlir
    launch.gemv(x = %x : memref<1x128xf32>, w = %w : !tgraph.rows<bf16, 64x128, transposed>,
      out = %y : memref<1x64xf32>) covers [2]
    ```
    """

    name = "launch.gemv"

    per_warp = opt_prop_def(IntegerAttr[I64])
    tail_from = opt_prop_def(IntegerAttr[I64])
    tail_split = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    w = operand_def()
    bias = opt_operand_def()
    out = opt_operand_def()
    at = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        m, k = activation_shape(self.x, "launch.gemv x")
        n = check_rows(self.w, "launch.gemv w", None, k)
        check_format("launch.gemv w", self.x.type, self.w.type)
        check_vector(self.bias, "launch.gemv bias", n)
        check_index(self.at, "launch.gemv at")
        check_results("launch.gemv", self.out, self.quant, (m, n))
        self.check_units(self.out, m, 1, n)
        check_per_warp(self.name, self.per_warp, (2, 4))
        check_tail(self.name, self.tail_from, self.tail_split)


@irdl_op_definition
class GemvF32Op(PlacedInUnits):
    """
    x[m,k] · W (+ bias) → out[m,n], W a plain f32 tensor [k,n]. `splits`: shares of the inputs, each a block's; 1 where
    nothing says so.

    Example:
    ```mlir
    launch.gemv_f32(x = %x : memref<1x128xf32>, w = %w : memref<128x64xf32>, out = %y : memref<1x64xf32>) covers [2]
    ```
    """

    name = "launch.gemv_f32"

    splits = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    w = operand_def()
    bias = opt_operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def index(self) -> SSAValue | None:
        return self.at

    def verify_(self) -> None:
        m, k = buffer_shape(self.x, "launch.gemv_f32 x")
        inner, n = buffer_shape(self.w, "launch.gemv_f32 w")
        check("launch.gemv_f32 w: inputs", k, inner)
        check_vector(self.bias, "launch.gemv_f32 bias", n)
        check_index(self.at, "launch.gemv_f32 at")
        check_splits(self.name, self.splits)
        self.check_units(self.out, m, 1, n)


@irdl_op_definition
class GemmPartOp(PlacedInUnits):
    """
    One product of a `launch.gemm_parts`: its rows, its bias, and where its result lands.

    Example:
    ```mlir
    launch.gemm_parts(x = %x : !tgraph.q8<1x128>) {
      launch.gemm_part(w = %wq : !tgraph.rows<q8_0, 128x128, transposed>, out = %q : memref<1x128xf32>) covers [2]
      launch.gemm_part(w = %w : !tgraph.rows<q8_0, 64x128, transposed>, out = %t : memref<256x64xf32>,
        at = %p : memref<1xi32>) covers [3, 9]
    }
    ```
    """

    name = "launch.gemm_part"

    w = operand_def()
    bias = opt_operand_def()
    out = operand_def()
    at = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (HasParent(GemmPartsOp),))

    @property
    def index(self) -> SSAValue | None:
        return self.at


@irdl_op_definition
class GemmPartsOp(CompoundLaunch):
    """
    Several products of one activation by rows of one format, as one launch; `per_warp` and tail as of a `launch.gemv`.

    Example:
    ```mlir
    launch.gemm_parts(x = %x : !tgraph.q8<1x128>) {
      launch.gemm_part(w = %wq : !tgraph.rows<q8_0, 128x128, transposed>, out = %q : memref<1x128xf32>) covers [2]
      launch.gemm_part(w = %wk : !tgraph.rows<q8_0, 64x128, transposed>, out = %k : memref<1x64xf32>) covers [3]
    }
    ```
    """

    name = "launch.gemm_parts"

    per_warp = opt_prop_def(IntegerAttr[I64])
    tail_from = opt_prop_def(IntegerAttr[I64])
    tail_split = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        self.verify_members((GemmPartOp,), least=2)
        check_per_warp(self.name, self.per_warp, (2, 4))
        check_tail(self.name, self.tail_from, self.tail_split)
        m, k = activation_shape(self.x, "launch.gemm_parts x")
        formats: set[str] = set()
        for part in self.body.block.ops:
            assert isinstance(part, GemmPartOp)
            try:
                self._check_part(part, m, k)
            except VerifyException as error:
                raise OpFault.of(part, error) from None
            formats.add(str(part.w.type.format.data) if isinstance(part.w.type, RowsType) else "")
        if len(formats) > 1:
            raise VerifyException(f"launch.gemm_parts: expected rows of one format, got {', '.join(sorted(formats))}")

    def _check_part(self, part: GemmPartOp, m: int, k: int) -> None:
        n = check_rows(part.w, "launch.gemm_part w", None, k)
        check_format("launch.gemm_part w", self.x.type, part.w.type)
        check_vector(part.bias, "launch.gemm_part bias", n)
        check_index(part.at, "launch.gemm_part at")
        part.check_units(part.out, m, 1, n)


@irdl_op_definition
class GemvGluOp(LeafLaunch):
    """
    act(x · Wgᵀ + bg) · (x · Wuᵀ + bu): a gated pair of products of one activation. `per_warp`: the rows of each matrix
    that a warp takes together, 1 or 2; the tail as of a `launch.gemv`.

    Example:
    ```mlir
    launch.gemv_glu(x = %x : memref<1x128xf32>, wg = %g : !tgraph.rows<bf16, 256x128, transposed>,
                    wu = %u : !tgraph.rows<bf16, 256x128, transposed>, out = %y : memref<1x256xf32>)
      {act = #launch<act silu>} covers [12, 13, 14]
    ```
    """

    name = "launch.gemv_glu"

    act = prop_def(ActivationAttr)
    per_warp = opt_prop_def(IntegerAttr[I64])
    tail_from = opt_prop_def(IntegerAttr[I64])
    tail_split = opt_prop_def(IntegerAttr[I64])
    x = operand_def()
    wg = operand_def()
    wu = operand_def()
    bg = opt_operand_def()
    bu = opt_operand_def()
    out = opt_operand_def()
    quant = opt_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        m, k = activation_shape(self.x, "launch.gemv_glu x")
        n = check_rows(self.wg, "launch.gemv_glu wg", None, k)
        check("launch.gemv_glu wu: its type against the gate's", self.wg.type, self.wu.type)
        check_format("launch.gemv_glu wg", self.x.type, self.wg.type)
        check_vector(self.bg, "launch.gemv_glu bg", n)
        check_vector(self.bu, "launch.gemv_glu bu", n)
        check_results("launch.gemv_glu", self.out, self.quant, (m, n))
        if self.out is not None:
            check("launch.gemv_glu out", (m, n), buffer_shape(self.out, "launch.gemv_glu out"))
        check_per_warp(self.name, self.per_warp, (1, 2))
        check_tail(self.name, self.tail_from, self.tail_split)


def check_per_warp(op: str, rows: IntegerAttr[I64] | None, known: tuple[int, ...]) -> None:
    """Checks the rows that a warp takes together against those there are kernels of."""
    if rows is not None and rows.value.data not in known:
        raise VerifyException(f"{op} per_warp: expected one of {', '.join(map(str, known))}, got {rows.value.data}")


def check_splits(op: str, splits: IntegerAttr[I64] | None) -> None:
    """Checks into how many shares a product's inputs are split."""
    if splits is not None and not 1 <= splits.value.data <= MOST_SPLITS:
        raise VerifyException(f"{op} splits: expected 1 to {MOST_SPLITS}, got {splits.value.data}")


def check_tail(op: str, first: IntegerAttr[I64] | None, split: IntegerAttr[I64] | None) -> None:
    """Checks how the last tiles of a product are shared."""
    if (first is None) != (split is None):
        raise VerifyException(f"{op}: expected tail_from and tail_split together, got one without the other")
    if first is not None and first.value.data < 0:
        raise VerifyException(f"{op} tail_from: expected at least 0, got {first.value.data}")
    if split is not None and split.value.data < 2:
        raise VerifyException(f"{op} tail_split: expected at least 2 blocks a tile, got {split.value.data}")


def check_format(what: str, x: object, w: object) -> None:
    """Checks that a quantized activation meets rows of a block format."""
    if isinstance(x, Q8Type) and isinstance(w, RowsType) and not w.format.data.is_block:
        raise VerifyException(f"{what}: expected rows of a block format beside a quantized x, got {w}")
