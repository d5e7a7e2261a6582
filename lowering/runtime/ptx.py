"""The PTX that a plan runs by, with every launch found in it: what each user of a plan's PTX asks first."""

from __future__ import annotations

from lanelink.lowering.parameters import ParameterError, check_parameters
from lanelink.lowering.runtime.plan import Plan
from lanelink.lowering.signatures import PtxText, SignatureError, committed_ptx


def plan_ptx(plan: Plan) -> dict[str, PtxText]:
    """
    The committed PTX of a plan's modules by stem. A plan may come from a text, which knows no PTX: each launch's entry
    is looked for in its module, and its arguments are compared with what the entry takes.

    Raises SignatureError where the package has no such module, or the module no such entry or one of other parameters.
    """
    texts = {stem: committed_ptx(stem, architecture) for stem, architecture in plan.modules.items()}
    for launch in plan.launches:
        ptx = texts.get(launch.module)
        if ptx is None:
            raise SignatureError(f"launch of '{launch.module}': expected a module of the step, got none of that name")
        try:
            check_parameters(launch.arguments, ptx.parameters(launch.entry), f"{ptx.name} entry {launch.entry}")
        except ParameterError as error:
            raise SignatureError(str(error)) from None
    return texts


__all__ = ["plan_ptx"]
