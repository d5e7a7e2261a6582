"""A fault of one op that its own verifier does not see, of a step as a whole or of ops beside each other, and where."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException


class OpFault(VerifyException):
    """A VerifyException that knows the op it is about, so that its place in a text can be told."""

    def __init__(self, op: Operation, message: str) -> None:
        super().__init__(message)
        self.op = op

    @classmethod
    def of(cls, op: Operation, error: VerifyException) -> OpFault:
        """What was found wrong while `op` was looked at, for another op or the whole: about it, unless it says."""
        return error if isinstance(error, OpFault) else cls(op, str(error))


def located(op: Operation, message: str) -> str:
    """`message` with the op's source location in front, where it has one."""
    return _behind(op.location, message)


def _behind(location: Attribute, message: str) -> str:
    """A name comes behind the place in a text that it is told of, where it is."""
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}: {message}"
    if isinstance(location, NameLoc):
        return _behind(location.location, f"{location.desc.data}: {message}")
    return message


__all__ = ["OpFault", "located"]
