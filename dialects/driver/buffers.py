"""The device memory of a step: its arena, its tables, its constants, the kernels' scratch."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.driver.attributes import (
    BufferType,
    Io,
    IoAttr,
    PlanesAttr,
    Scratch,
    ScratchAttr,
    ValuesAttr,
)
from lanelink.dialects.tgraph.attributes import RopeTableAttr
from lanelink.dialects.tgraph.checkpoint import CheckpointAttr

INDEX_BYTES = 4
"""Bytes of one token id or position."""


class BufferOp(IRDLOperation):
    """An op whose result is device memory of `bytes`."""

    bytes = prop_def(IntegerAttr[I64])
    result = result_def(BufferType())

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.bytes.value.data

    def verify_(self) -> None:
        if self.size < 1:
            raise VerifyException(f"{self.name}: expected at least 1 byte, got {self.size}")


def buffer_of(value: SSAValue, what: str) -> BufferOp:
    """The op that makes a buffer; VerifyException naming `what` where another op makes the value."""
    if not isinstance(value.owner, BufferOp):
        raise VerifyException(f"{what}: expected a buffer of a driver op, got {value.type} of another")
    return value.owner


@irdl_op_definition
class ArenaOp(BufferOp):
    """
    The step's working memory, one allocation; `driver.slice` names its pieces.

    Stands for [cuMemAlloc](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MEM.html).

    Example:
    ```mlir
    %arena = driver.arena bytes 4096
    ```
    """

    name = "driver.arena"

    assembly_format = "`bytes` $bytes attr-dict"

    def __init__(self, bytes: int) -> None:
        super().__init__(properties={"bytes": IntegerAttr(bytes, i64)}, result_types=[BufferType()])


@irdl_op_definition
class SliceOp(BufferOp):
    """
    The bytes of a buffer from `offset` on, as many as its own type says; nothing runs.

    Example:
    ```mlir
    %x = driver.slice %arena[256] bytes 512
    ```
    """

    name = "driver.slice"

    offset = prop_def(IntegerAttr[I64])
    source = operand_def(BufferType())

    assembly_format = "$source `[` $offset `]` `bytes` $bytes attr-dict"

    def __init__(self, source: SSAValue, offset: int, bytes: int) -> None:
        super().__init__(
            operands=[source],
            properties={"offset": IntegerAttr(offset, i64), "bytes": IntegerAttr(bytes, i64)},
            result_types=[BufferType()],
        )

    def verify_(self) -> None:
        super().verify_()
        held = buffer_of(self.source, "driver.slice source").size
        offset = self.offset.value.data
        if not 0 <= offset <= held - self.size:
            raise VerifyException(
                f"driver.slice: expected {self.size} bytes inside the source's {held}, got them from {offset} on"
            )


@irdl_op_definition
class IoOp(BufferOp):
    """
    The step's token ids or its position, or each of a batch's positions, i32 on the device: set before the first step,
    advanced by the launches.

    Example:
    ```mlir
    %token = driver.io token bytes 4
    ```
    """

    name = "driver.io"

    kind = prop_def(IoAttr)

    assembly_format = "$kind `bytes` $bytes attr-dict"

    def __init__(self, kind: Io, bytes: int) -> None:
        super().__init__(
            properties={"kind": IoAttr(kind), "bytes": IntegerAttr(bytes, i64)}, result_types=[BufferType()]
        )

    def verify_(self) -> None:
        super().verify_()
        if self.size % INDEX_BYTES:
            raise VerifyException(f"driver.io {self.kind.data}: expected a multiple of 4 bytes, got {self.size}")


@irdl_op_definition
class StateOp(BufferOp):
    """
    A table that outlives the step, zero before the first. `rows`: those that the step's position names one of, where
    it does.

    Example:
    ```mlir
    %keys = driver.state "layers.0.keys" rows 256 bytes 65536
    ```
    """

    name = "driver.state"

    state = prop_def(StringAttr)
    rows = opt_prop_def(IntegerAttr[I64])

    assembly_format = "$state (`rows` $rows^)? `bytes` $bytes attr-dict"

    def __init__(self, state: str, bytes: int, rows: int | None = None) -> None:
        super().__init__(
            properties={
                "state": StringAttr(state),
                "rows": None if rows is None else IntegerAttr(rows, i64),
                "bytes": IntegerAttr(bytes, i64),
            },
            result_types=[BufferType()],
        )

    def verify_(self) -> None:
        super().verify_()
        if self.rows is not None and (self.rows.value.data < 1 or self.size % (2 * self.rows.value.data)):
            raise VerifyException(
                f"driver.state rows: expected a number of rows of whole values in {self.size} bytes, "
                f"got {self.rows.value.data}"
            )


@irdl_op_definition
class ConstantOp(BufferOp):
    """
    A constant and how it lies on the device. One op serves all readers that want it in one layout: a tied embedding
    and head share theirs.

    Example:
    ```mlir
    %w = driver.constant #tgraph.checkpoint<"lm_head.weight"> as #driver.planes<bf16, 256x128> bytes 65536
    %n = driver.constant #tgraph.checkpoint<"model.norm.weight"> as #driver.values<128> bytes 512
    ```
    """

    name = "driver.constant"

    source = prop_def(base(CheckpointAttr) | base(RopeTableAttr))
    layout = prop_def(base(PlanesAttr) | base(ValuesAttr))

    assembly_format = "$source `as` $layout `bytes` $bytes attr-dict"

    def __init__(self, source: CheckpointAttr | RopeTableAttr, layout: PlanesAttr | ValuesAttr, bytes: int) -> None:
        super().__init__(
            properties={"source": source, "layout": layout, "bytes": IntegerAttr(bytes, i64)},
            result_types=[BufferType()],
        )

    def verify_(self) -> None:
        super().verify_()
        if isinstance(self.layout, PlanesAttr):
            if isinstance(self.source, RopeTableAttr):
                raise VerifyException(f"driver.constant: expected a rotation table as values, got {self.layout}")
            self.source.check("driver.constant", self.layout.shape, rows=True)
            return
        if self.size != self.layout.total_bytes:
            raise VerifyException(
                f"driver.constant: expected {self.layout.total_bytes} bytes for {self.layout}, got {self.size}"
            )
        if isinstance(self.source, RopeTableAttr):
            half = len(self.source.frequencies)
            if len(self.layout.shape) != 2 or self.layout.shape[1] != half:
                raise VerifyException(
                    f"driver.constant: expected rows of {half} values, one a frequency, got {self.layout}"
                )
        else:
            self.source.check("driver.constant", self.layout.shape, rows=False)


@irdl_op_definition
class ScratchOp(BufferOp):
    """
    Memory that kernels need beside their operands, as much as the neediest launch; launches of one stream share it.

    Example:
    ```mlir
    %c = driver.scratch counters bytes 256
    ```
    """

    name = "driver.scratch"

    kind = prop_def(ScratchAttr)

    assembly_format = "$kind `bytes` $bytes attr-dict"

    def __init__(self, kind: Scratch, bytes: int) -> None:
        super().__init__(
            properties={"kind": ScratchAttr(kind), "bytes": IntegerAttr(bytes, i64)}, result_types=[BufferType()]
        )


__all__ = ["INDEX_BYTES", "ArenaOp", "BufferOp", "ConstantOp", "IoOp", "ScratchOp", "SliceOp", "StateOp", "buffer_of"]
