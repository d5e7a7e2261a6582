"""Parts of rows read in place, and results that land in units of a wider row."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import opt_prop_def
from xdsl.utils.exceptions import VerifyException

from lanelink.dialects.launch.base import LeafLaunch, Placed, buffer_shape


def check_unit(what: str, width: int, pitch: int, offset: int) -> None:
    """Checks that a unit of `width` values lies inside every `pitch`, from `offset` on."""
    if width < 1 or offset < 0 or offset + width > pitch:
        raise VerifyException(f"{what}: expected {width} values inside every {pitch}, got them from {offset} on")


class ReadsUnits(LeafLaunch, ABC):
    """
    A launch that may read a part of every unit of x in place: unit u of a row at u · x_pitch + x_offset. Without
    x_pitch the units lie one after another.
    """

    x_pitch = opt_prop_def(IntegerAttr[I64])
    x_offset = opt_prop_def(IntegerAttr[I64])

    def unit_rows(self, x: SSAValue, width: int) -> tuple[int, int]:
        """Checks x against units of `width` values; (rows, units a row)."""
        rows, held = buffer_shape(x, f"{self.name} x")
        if (self.x_pitch is None) != (self.x_offset is None):
            raise VerifyException(f"{self.name}: expected x_pitch and x_offset together, got one without the other")
        pitch = width
        if self.x_pitch is not None and self.x_offset is not None:
            pitch = self.x_pitch.value.data
            check_unit(f"{self.name} x", width, pitch, self.x_offset.value.data)
        if pitch < 1 or held % pitch:
            raise VerifyException(f"{self.name} x: expected whole units of {pitch} in a row, got {held} values")
        return rows, held // pitch


class PlacedInUnits(Placed, ABC):
    """
    A launch whose result may land in units of a wider row: unit u at u · unit_pitch + unit_offset of the row that
    `at`, `row` or neither names.
    """

    unit_pitch = opt_prop_def(IntegerAttr[I64])
    unit_offset = opt_prop_def(IntegerAttr[I64])

    def check_units(self, out: SSAValue | None, rows: int, units: int, width: int) -> None:
        """Checks the destination of `units` units of `width` values a row."""
        if (self.unit_pitch is None) != (self.unit_offset is None):
            raise VerifyException(
                f"{self.name}: expected unit_pitch and unit_offset together, got one without the other"
            )
        if self.unit_pitch is None or self.unit_offset is None:
            self.check_placement(out, rows, units * width)
            return
        if out is None:
            raise VerifyException(f"{self.name}: expected out beside units to write it in, got none")
        pitch = self.unit_pitch.value.data
        check_unit(f"{self.name} out", width, pitch, self.unit_offset.value.data)
        self.check_placement(out, rows, units * pitch)


__all__ = ["PlacedInUnits", "ReadsUnits", "check_unit"]
