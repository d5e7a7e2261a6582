"""`lanelink bench` without a GPU: shapes, bytes, tables and pages."""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from lanelink.bench import Options, Report, bench, launch_sizes, shape_names, step_of
from lanelink.bench_page import page, text
from lanelink.cli import main
from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph.attributes import RopeTableAttr, RowsType
from lanelink.lowering.runtime.plan import Memory, PlanLaunch, read_plan
from lanelink.lowering.runtime.profile import KindTime, Profile
from lanelink.lowering.weights import constants_of
from lanelink.pipeline import Schedule, lower

MODEL = Path(__file__).parent.parent / "models" / "qwen3"


def report() -> Report:
    launch = PlanLaunch("gemv_q8_0", "gemv_q8_0_q8", (264, 1, 1), (256, 1, 1), 0, (), True, (1,), "fold(norm, <gemv>)")
    kinds = (
        KindTime(launch, 36, 40_000_000, 10e-6, 12e-6),
        KindTime(replace(launch, label="arg_max"), 1, 0, 4e-6, 5e-6),
    )
    return Report(
        shape="some-8b",
        gpu="A <GPU>",
        format="q8_0",
        numerics="int8",
        context=512,
        tokens_per_second=400.0,
        replays_per_second=410.0,
        ms_per_token=2.5,
        bytes_per_token=8_000_000_000,
        ceiling=4e12,
        share=0.8,
        launches_per_step=37,
        load_seconds=3.0,
        profile=Profile(kinds, 2.4e-3),
    )


def test_sizes_are_those_of_the_plan_s_launches() -> None:
    step = step_of(str(MODEL), Options(context=32))
    for schedule in (Schedule(), Schedule(norms=False)):
        sizes = launch_sizes(step, schedule)
        assert len(sizes) == len(read_plan(lower(step, schedule=schedule)).launches)
    # The head and each layer's matrices in blocks of 34 bytes, norms and rotations in f32, one row of the embedding.
    matrices = 256 * 128 + 2 * (3 * 128 * 256 + 2 * 128 * 128 + 2 * 64 * 128)
    norms = 5 * 128 + 2 * 2 * 32
    rotations = 2 * 2 * 16
    assert sum(sizes) == (matrices + 128) // 32 * 34 + 4 * (norms + rotations)


PARAMETERS = {
    "deepseek-v2-lite": 15_706_484_224,
    "gpt-oss-20b": 20_914_757_184,
    "llama-3.1-8b": 8_030_261_248,
    "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-4b": 4_022_468_096,
    "qwen3-8b": 8_190_735_360,
    "qwen3-next-80b-a3b": 79_674_391_296,
}
"""What the models' authors count, tied tensors once."""

LAUNCHES = {"llama-3.1-8b": 32 * 5 + 3, "gpt-oss-20b": 24 * 4 + 3, "qwen3-next-80b-a3b": 12 * 4 + 36 * 6 + 3}
"""Of a step: a dense layer's five; four where it ends in a mixture, six where the delta rule mixes its positions."""


def test_presets_are_of_the_models_they_name() -> None:
    assert set(shape_names()) == set(PARAMETERS)
    for name, expected in PARAMETERS.items():
        sizes: dict[Attribute, int] = {}
        for op in constants_of(step_of(name, Options(context=64))):
            if not isinstance(op.source, RopeTableAttr):
                kind = op.result.type
                assert isinstance(kind, RowsType | TensorType)
                sizes[op.source] = prod(kind.shape if isinstance(kind, RowsType) else kind.get_shape())
        assert sum(sizes.values()) == expected, name


@pytest.mark.parametrize("name", [*LAUNCHES, "deepseek-v2-lite"])
def test_presets_of_other_architectures_lower(name: str) -> None:
    plan = read_plan(lower(step_of(name, Options())))
    assert len(plan.launches) == LAUNCHES.get(name, len(plan.launches))
    # A byte and a sixteenth of one a value, or 17 of 32 values in MXFP4; norms, biases and rotations are few.
    experts = 24 * 32 * 3 * 2880 * 2880 if name == "gpt-oss-20b" else 0
    size = (PARAMETERS[name] - experts) * 34 / 32 + experts * 17 / 32
    assert size < plan.bytes_of(Memory.CONSTANT) < 1.01 * size


def test_a_release_keeps_its_blocks() -> None:
    step = step_of("gpt-oss-20b", Options(format=Format.Q4_0))
    kinds = [op.result.type for op in constants_of(step)]
    found = [kind.format.data for kind in kinds if isinstance(kind, RowsType)]
    # Three stacks of experts a layer; a layer's four attention matrices and its router, the embedding and the head.
    assert found.count(Format.MXFP4) == 24 * 3
    assert found.count(Format.Q4_0) == 24 * 5 + 2


def test_the_tables() -> None:
    shown = text([report()])
    assert "A <GPU>, a streaming read 4.00 TB/s" in shown
    line = shown.splitlines()[-1].split()
    assert line == ["some-8b", "q8_0", "int8", "1", "400.0", "2.500", "410.0", "8.00", "3.20", "80.0%", "37"]
    kind = next(x for x in shown.splitlines() if x.startswith("fold(norm, <gemv>)")).split()
    assert kind[-8:] == ["264x1x1", "36", "10.00", "2.00", "360.0", "40.00", "4.00", "100%"]
    assert "each among its like" in shown and "364.0" in shown and "2400.0" in shown
    assert "share" not in text([replace(report(), profile=None)]).splitlines()[0]


def test_the_page_escapes_what_it_shows() -> None:
    shown = page([report(), replace(report(), profile=None)])
    assert "fold(norm, &lt;gemv&gt;)" in shown and "A &lt;GPU&gt;" in shown
    assert shown.count("<h2>") == 1
    assert shown.count('class="bar ceiling"') == 2
    assert 'style="width: 400px"' in shown


def test_numbers_are_plain() -> None:
    found = json.loads(json.dumps(report().numbers()))
    assert found["tokens_per_second"] == 400.0
    assert found["profile"][0]["microseconds"] == pytest.approx(10.0)
    assert found["step_microseconds"] == pytest.approx(2400.0)
    assert "profile" not in replace(report(), profile=None).numbers()


def test_requests_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="--context: expected room for 256 tokens and one, got 256"):
        bench("qwen3-8b", Options(context=256))


def test_the_command_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "no-such-shape"]) == 1
    assert "no-such-shape: expected a path or one of deepseek-v2-lite, " in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["bench", "qwen3-8b", "--without", "nothing"])
    assert ended.value.code == 2
    assert main(["bench", "qwen3-8b", "--format", Format.Q8_0.value, "--tokens", "600"]) == 1
    assert "lanelink: qwen3-8b: --context: expected room for 600 tokens" in capsys.readouterr().err


def test_a_shape_that_is_none_is_told_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []
    monkeypatch.setattr("lanelink.cli.bench", lambda shape, _: measured.append(shape))
    assert main(["bench", "qwen3-8b", "qwen3-9b"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("lanelink: qwen3-9b: expected a path or one of ") and err.endswith(", got neither\n")
    assert not measured


def test_a_page_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def measure(shape: str, options: Options) -> Report:
        measured.append(shape)
        return report()

    monkeypatch.setattr("lanelink.cli.bench", measure)
    for place, reason in ((tmp_path / "none" / "page.html", "expected a folder"), (tmp_path, "expected the name of a")):
        assert main(["bench", "qwen3-8b", "--html", str(place)]) == 1
        assert f"lanelink: {place}: {reason}" in capsys.readouterr().err
    assert not measured and list(tmp_path.iterdir()) == []
    assert main(["bench", "qwen3-8b", "--html", str(tmp_path / "page.html")]) == 0
    assert measured == ["qwen3-8b"] and [path.name for path in tmp_path.iterdir()] == ["page.html"]
