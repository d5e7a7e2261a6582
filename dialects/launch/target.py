"""`#launch.target`: the chip a step is lowered for, and the numerics of its products."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, ModuleOp, StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from lanelink.dialects.attribute_syntax import parse_string, verified
from lanelink.dialects.fault import OpFault, located

TARGET = "launch.target"
"""The module attribute that holds the target."""


class Numerics(StrEnum):
    """
    How products by block formats take their activations. Products by f32, f16 and bf16 rows always take f32.

    dequant: f32 activations, weights dequantized, f32 sums. int8: activations in one plane of int8 blocks.
    two_pass_int8: a second plane holds the residual, for near-f32 products on integer units.
    """

    DEQUANT = "dequant"
    INT8 = "int8"
    TWO_PASS_INT8 = "two_pass_int8"

    @property
    def planes(self) -> int:
        """Planes of quantized activations; 0 where they stay f32."""
        return {"dequant": 0, "int8": 1, "two_pass_int8": 2}[self.value]


@irdl_attr_definition
class NumericsAttr(EnumAttribute[Numerics], SpacedOpaqueSyntaxAttribute):
    """`#launch<numerics int8>`."""

    name = "launch.numerics"


SIZES = (("capability", 80, 999), ("sms", 1, 4096), ("shared", 48, 1024))
"""A target's fields, the least and the most of each: from Ampere on, and well past any chip so far."""


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """
    What a step is lowered for: `#launch.target<"h200", capability 90, sms 132, shared 227, int8[, batch]>`.

    `capability` is the compute capability times ten, `sms` its multiprocessors, `shared` the KiB of shared memory one
    block may take by opt-in. `batch`: the step's rows are one row of each of several sequences.
    """

    name = "launch.target"

    chip: StringAttr
    capability: IntAttr
    sms: IntAttr
    shared: IntAttr
    numerics: NumericsAttr
    batch: IntAttr

    def __init__(
        self, chip: str, capability: int, sms: int, shared: int, numerics: Numerics, *, batch: bool = False
    ) -> None:
        super().__init__(
            StringAttr(chip),
            IntAttr(capability),
            IntAttr(sms),
            IntAttr(shared),
            NumericsAttr(numerics),
            IntAttr(int(batch)),
        )

    @property
    def is_batch(self) -> bool:
        """Whether the rows belong to several sequences."""
        return bool(self.batch.data)

    def verify(self) -> None:
        for field, least, most in SIZES:
            got: IntAttr = getattr(self, field)
            if not least <= got.data <= most:
                raise VerifyException(f"target {field}: expected {least} to {most}, got {got.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        at = parser.pos
        with parser.in_angle_brackets():
            chip = parse_string(parser)
            fields: list[int] = []
            for field in ("capability", "sms", "shared"):
                parser.parse_punctuation(",")
                parser.parse_keyword(field)
                fields.append(parser.parse_integer(allow_boolean=False, allow_negative=False))
            parser.parse_punctuation(",")
            numerics = parser.parse_str_enum(Numerics)
            batch = False
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("batch")
                batch = True
        parameters = (StringAttr(chip), *(IntAttr(f) for f in fields), NumericsAttr(numerics), IntAttr(int(batch)))
        return verified(parser, at, cls, parameters)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.chip.data)
            printer.print_string(
                f", capability {self.capability.data}, sms {self.sms.data}, shared {self.shared.data}, "
                f"{self.numerics.data.value}"
            )
            if self.is_batch:
                printer.print_string(", batch")


PRESETS: dict[str, tuple[int, int, int]] = {
    # name: (compute capability x 10, multiprocessors, KiB of shared memory a block), from NVIDIA's tuning guides
    "h200": (90, 132, 227),
    "h100": (90, 132, 227),
    "a100": (80, 108, 163),
}


def preset(name: str, numerics: Numerics = Numerics.INT8, *, batch: bool = False) -> TargetAttr:
    """The named target; ValueError listing the known ones where there is none."""
    if name not in PRESETS:
        raise ValueError(f"target: expected one of {', '.join(PRESETS)}, got '{name}'")
    return TargetAttr(name, *PRESETS[name], numerics, batch=batch)


def module_target(module: ModuleOp) -> TargetAttr:
    """The module's target, the `h200` preset where it names none."""
    target = module.attributes.get(TARGET)
    if target is None:
        return preset("h200")
    if not isinstance(target, TargetAttr):
        raise OpFault(module, located(module, f"module {TARGET}: expected #launch.target<...>, got {target}"))
    return target
