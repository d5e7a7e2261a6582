"""The scalar functions that kernels apply, as closed sets; their order is the kernels' own numbering."""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum


class Activation(StrEnum):
    """A function of one value. GELU is exact (erf); GELU_TANH is its tanh approximation."""

    NONE = "none"
    SILU = "silu"
    SIGMOID = "sigmoid"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    RELU = "relu"
    TANH = "tanh"
    EXP = "exp"
    SQUARE = "square"

    @property
    def code(self) -> int:
        """The kernels' number of it."""
        return list(Activation).index(self)


class BinaryOp(StrEnum):
    """A function of two values."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"

    @property
    def code(self) -> int:
        """The kernels' number of it."""
        return list(BinaryOp).index(self)


class Broadcast(StrEnum):
    """How the second operand covers the first: whole, one row [1, n] repeated, or one column [m, 1] repeated."""

    NONE = "none"
    ROW = "row"
    COLUMN = "column"


__all__ = ["Activation", "BinaryOp", "Broadcast"]
