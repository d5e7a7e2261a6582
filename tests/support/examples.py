"""What is asked of every dialect: that the `Example:` of each op's docstring is text of its own."""

from __future__ import annotations

import re
from inspect import getdoc
from io import StringIO
from textwrap import dedent

from xdsl.context import Context
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer


def examples(dialect: Dialect) -> list[tuple[str, str]]:
    """(op, text of its docstring's example) of every op that has one."""
    found: list[tuple[str, str]] = []
    for op in dialect.operations:
        blocks = re.findall(r"Example:\n\s*```mlir\n(.*?)```", getdoc(op) or "", re.DOTALL)
        found += [(op.name, dedent(block)) for block in blocks]
    return found


def check_example(ctx: Context, name: str, text: str) -> None:
    """
    Checks that an example holds its op, verifies, and comes back from both forms of its text. It names operands of its
    surroundings: they become arguments, of the types it gives them.
    """
    parser = Parser(ctx, text)
    while parser.pos < len(text.rstrip()):
        parser.parse_op()
    free = {
        operand: value.type for operand, values in parser.forward_ssa_references.items() for value in values.values()
    }
    arguments = ", ".join(f"%{operand}: {kind}" for operand, kind in free.items())
    module = Parser(ctx, f"func.func @example({arguments}) {{\n{text}\nfunc.return\n}}").parse_module()
    module.verify()
    assert name in [op.name for op in module.walk()]
    for generic in (False, True):
        again = Parser(ctx, printed(module, generic=generic)).parse_module()
        assert again.is_structurally_equivalent(module)


def printed(op: Operation, *, generic: bool = False) -> str:
    """The text of an op."""
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(op)
    return out.getvalue()
