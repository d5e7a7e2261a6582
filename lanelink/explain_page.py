"""An explanation of a step as a table of text, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from string import Template

from tabulate import tabulate

from lanelink.explain import LAUNCH_SECONDS, Explanation, LaunchRow

WIDTHS = (None, None, 28, 44, 36, 36, None, None)
"""Columns of text, in characters; None for as wide as what they hold."""

HEADERS = ("at", "times", "launch", "covers", "classes", "why it ends there", "MB", "predicted µs")


@dataclass(frozen=True)
class Group:
    """Launches that are alike but for the layer they are of: the first one's place, how many, and the first itself."""

    first: int
    times: int
    row: LaunchRow


def grouped(rows: Iterable[LaunchRow], every: bool = False) -> list[Group]:
    """The launches, those that are alike in one group, in the order of their first; `every`: each for itself."""
    groups: dict[object, Group] = {}
    for at, row in enumerate(rows):
        key = at if every else row_key(row)
        seen = groups.get(key)
        groups[key] = Group(at, 1, row) if seen is None else replace(seen, times=seen.times + 1)
    return list(groups.values())


def row_key(row: LaunchRow) -> tuple[object, ...]:
    """What launches that are alike have in common."""
    return row.label, row.ops, row.classes, row.why, row.bytes


def summary(found: Explanation) -> str:
    """One line: the step, its launches, bytes and predicted time."""
    time = "" if found.seconds is None else f", {found.seconds * 1e6:.0f} µs predicted"
    return f"@{found.step} on {found.target}: {len(found.launches)} launches, {found.bytes / 1e6:.2f} MB{time}"


def text(found: Explanation, every: bool = False) -> str:
    """The summary, the table, and the classes that run as their parts."""
    table = tabulate(
        [_cells(group) for group in grouped(found.launches, every)],
        headers=HEADERS,
        tablefmt="simple",
        maxcolwidths=list(WIDTHS),
        disable_numparse=True,
        colalign=("right", "right", "left", "left", "left", "left", "right", "right"),
    )
    parts = "".join(f"\n{name} runs as its parts: {why}" for name, why in found.decomposed)
    return f"{summary(found)}\n\n{table}\n{parts}" if parts else f"{summary(found)}\n\n{table}"


def _cells(group: Group) -> Sequence[str]:
    row = group.row
    time = "" if row.seconds is None else f"{row.seconds * 1e6:.2f}"
    size = f"{row.bytes / 1e6:.3f}"
    return (
        str(group.first),
        str(group.times),
        row.label,
        ", ".join(row.ops),
        ", ".join(row.classes),
        row.why,
        size,
        time,
    )


PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { padding: .3em .6em; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { background: #76b900; height: 1em; min-width: 1px; }
.bar.launch { background: #bbb; }
</style></head><body>
<h1>$title</h1>
<p>Each bar is the time predicted of one launch: grey for the launch itself, green for its bytes.</p>
<table><tr>$headers<th>time</th></tr>
$rows
</table>
$parts
</body></html>
""")


def page(found: Explanation, every: bool = False) -> str:
    """The same as an HTML page of its own, with a bar of predicted time a launch."""
    groups = grouped(found.launches, every)
    longest = max((group.row.seconds or 0.0 for group in groups), default=0.0)
    parts = "".join(f"<li>{escape(name)} runs as its parts: {escape(why)}</li>" for name, why in found.decomposed)
    return PAGE.substitute(
        title=escape(summary(found)),
        headers="".join(f"<th>{header}</th>" for header in HEADERS),
        rows="\n".join(_html_row(group, longest) for group in groups),
        parts=f"<ul>{parts}</ul>" if parts else "",
    )


def _html_row(group: Group, longest: float) -> str:
    kinds = [" class=number", " class=number", "", "", "", "", " class=number", " class=number"]
    cells = "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, _cells(group), strict=True))
    return f"<tr>{cells}<td>{_bar(group.row, longest)}</td></tr>"


def _bar(row: LaunchRow, longest: float) -> str:
    """Two bars in one line, 300 pixels for the longest launch."""
    if row.seconds is None or not longest:
        return ""
    own, moving = LAUNCH_SECONDS / longest * 300, (row.seconds - LAUNCH_SECONDS) / longest * 300
    return (
        f'<div style="display: flex"><div class="bar launch" style="width: {own:.0f}px"></div>'
        f'<div class="bar" style="width: {moving:.0f}px"></div></div>'
    )


__all__ = ["Group", "grouped", "page", "summary", "text"]
