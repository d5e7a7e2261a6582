"""A measured speed as tables of text, and as a page with a picture of a step's launches."""

from __future__ import annotations

from html import escape
from string import Template

from tabulate import tabulate

from lanelink.bench import Report
from lanelink.lowering.runtime.profile import KindTime, Profile

COLUMNS = (
    *("shape", "format", "numerics", "sequences", "tok/s", "ms", "replays/s", "GB a step", "TB/s", "share", "launches"),
)
KINDS = ("launch", "entry", "grid", "times", "us", "gap us", "us in all", "MB", "TB/s", "share")


def text(reports: list[Report]) -> str:
    """A line a shape, after the profile of each that has one."""
    parts = [profile_table(r.profile, r.ceiling) for r in reports if r.profile is not None]
    gpus = dict.fromkeys(f"{r.gpu}, a streaming read {r.ceiling / 1e12:.2f} TB/s" for r in reports)
    lines = tabulate([_line(r) for r in reports], headers=COLUMNS, tablefmt="simple", disable_numparse=True)
    return "\n\n".join([*parts, "\n".join(gpus), lines])


def _line(r: Report) -> list[str]:
    rate = r.bytes_per_token * r.tokens_per_second / r.sequences
    return [
        *(r.shape, r.format, r.numerics, str(r.sequences)),
        *(f"{r.tokens_per_second:.1f}", f"{r.ms_per_token:.3f}"),
        *(f"{r.replays_per_second:.1f}", f"{r.bytes_per_token / 1e9:.2f}", f"{rate / 1e12:.2f}", f"{r.share:.1%}"),
        str(r.launches_per_step),
    ]


def profile_table(found: Profile, fastest: float) -> str:
    """A line a kind of launch, then what they take one after another and what the step takes."""
    rows = [_kind(kind, fastest) for kind in found.kinds]
    alone = sum(kind.seconds * kind.times for kind in found.kinds)
    times = sum(kind.times for kind in found.kinds)
    rows.append(["each among its like", "", "", str(times), "", "", f"{alone * 1e6:.1f}", "", "", ""])
    rows.append(["the step", "", "", str(times), "", "", f"{found.step * 1e6:.1f}", "", "", ""])
    return tabulate(rows, headers=KINDS, tablefmt="simple", disable_numparse=True)


def _kind(kind: KindTime, fastest: float) -> list[str]:
    rate = kind.bytes / kind.seconds
    known = kind.bytes > 0
    return [
        *(kind.launch.label, kind.launch.entry, "x".join(map(str, kind.launch.grid)), str(kind.times)),
        *(f"{kind.seconds * 1e6:.2f}", f"{kind.gap * 1e6:.2f}", f"{kind.seconds * kind.times * 1e6:.1f}"),
        *(f"{kind.bytes / 1e6:.2f}", f"{rate / 1e12:.2f}" if known else "", f"{rate / fastest:.0%}" if known else ""),
    ]


PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; margin-bottom: 2em; }
th, td { padding: .3em .6em; border-bottom: 1px solid #ddd; text-align: left; font-variant-numeric: tabular-nums; }
.bars { width: 420px; }
.bar { height: .7em; min-width: 1px; background: #bbb; }
.bar.ceiling { background: #76b900; }
</style></head><body>
<h1>$title</h1>
$summary
$profiles
</body></html>
""")


def page(reports: list[Report]) -> str:
    """The tables as HTML. Bars: grey for a kind's time in a step, green for the least its bytes could take."""
    title = f"Decoding speed on {', '.join(dict.fromkeys(r.gpu for r in reports))}"
    return PAGE.substitute(
        title=escape(title),
        summary=_html_table(COLUMNS, [_line(r) for r in reports]),
        profiles="\n".join(_html_profile(r) for r in reports if r.profile is not None),
    )


def _html_profile(r: Report) -> str:
    assert r.profile is not None
    longest = max(kind.seconds * kind.times for kind in r.profile.kinds)
    rows = [_kind(kind, r.ceiling) for kind in r.profile.kinds]
    bars = [_bars(kind, r.ceiling, longest) for kind in r.profile.kinds]
    return f"<h2>{escape(r.shape)} {escape(r.format)}</h2>\n{_html_table(KINDS, rows, bars)}"


def _bars(kind: KindTime, fastest: float, longest: float) -> str:
    taken, least = kind.seconds * kind.times / longest * 400, kind.bytes * kind.times / fastest / longest * 400
    return (
        f'<div class="bars"><div class="bar" style="width: {taken:.0f}px"></div>'
        f'<div class="bar ceiling" style="width: {least:.0f}px"></div></div>'
    )


def _html_table(headers: tuple[str, ...], rows: list[list[str]], pictures: list[str] | None = None) -> str:
    head = "".join(f"<th>{escape(h)}</th>" for h in headers) + ("<th>time and ceiling</th>" if pictures else "")
    lines = [f"<tr>{head}</tr>"]
    for k, row in enumerate(rows):
        picture = f"<td>{pictures[k]}</td>" if pictures else ""
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + picture + "</tr>")
    return "<table>\n" + "\n".join(lines) + "\n</table>"


__all__ = ["page", "profile_table", "text"]
