"""A fault of one op that its own verifier does not see: of a step as a whole, or of ops beside each other."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException


class OpFault(VerifyException):
    """A VerifyException that knows the op it is about, so that its place in a text can be told."""

    def __init__(self, op: Operation, message: str) -> None:
        super().__init__(message)
        self.op = op


__all__ = ["OpFault"]
