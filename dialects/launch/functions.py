"""The functions launches apply value by value."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class Act(StrEnum):
    """Activations of a gate or a unary launch."""

    SILU = "silu"
    SIGMOID = "sigmoid"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"


@irdl_attr_definition
class ActivationAttr(EnumAttribute[Act], SpacedOpaqueSyntaxAttribute):
    """`#launch<act silu>`."""

    name = "launch.act"
