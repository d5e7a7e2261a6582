"""Constants from a source, by rule and at random."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.test import TestOp as OtherOp
from xdsl.ir import Block, Region

from lanelink.dialects.formats import Format
from lanelink.dialects.tgraph import (
    AttentionOp,
    CausalConvOp,
    CheckpointAttr,
    ConstantOp,
    DecayOp,
    FusedOp,
    FusionClass,
    HeadMatmulOp,
    LutAttentionOp,
    MatmulOp,
    MoeOp,
    RopeTableAttr,
    RowsType,
    TableKind,
    YieldOp,
)
from lanelink.lowering import weights
from lanelink.lowering.formats import decode, encode
from lanelink.lowering.weights import StoredRows, WeightError, random_weights, resolve, rope_table

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Held:
    """A stored tensor in memory."""

    format: Format
    shape: tuple[int, ...]
    bytes: Array

    def raw(self) -> Array:
        return self.bytes


class Arrays:
    """A source of f32 arrays, each stored in one format."""

    def __init__(self, format: Format, **tensors: Array) -> None:
        self.tensors = tensors
        self.format = format

    def tensor(self, name: str) -> Held:
        if name not in self.tensors:
            raise KeyError(name)
        values = self.tensors[name]
        flat = encode(self.format, values.reshape(-1, values.shape[-1]))
        return Held(self.format, values.shape, flat.reshape(-1))


def rows(name: str, format: Format, shape: tuple[int, int], *, transposed: bool = True) -> ConstantOp:
    return ConstantOp(CheckpointAttr(name), RowsType(format, *shape, transposed=transposed))


def values(name: str, *shape: int) -> ConstantOp:
    return ConstantOp(CheckpointAttr(name), TensorType(f32, shape))


@pytest.fixture
def matrix() -> Array:
    return np.random.default_rng(3).standard_normal((6, 64), np.float32)


@pytest.mark.parametrize("stored", [Format.F32, Format.F16, Format.BF16, Format.Q8_0])
@pytest.mark.parametrize("wanted", [Format.F32, Format.F16, Format.BF16, Format.Q8_0])
def test_rows_in_the_format_that_is_wanted(matrix: Array, stored: Format, wanted: Format):
    op = rows("w", wanted, (6, 64))
    found = resolve(ModuleOp([op]), Arrays(stored, w=matrix)).rows(op)
    assert (found.format, found.rows, found.cols) == (wanted, 6, 64)
    in_file = decode(stored, 6, 64, encode(stored, matrix))
    np.testing.assert_array_equal(found.data, encode(wanted, in_file))
    np.testing.assert_array_equal(found.values, decode(wanted, 6, 64, encode(wanted, in_file)))


def test_rows_of_the_stored_format_are_not_copied(matrix: Array):
    op, held = rows("w", Format.F32, (6, 64)), Held(Format.F32, (6, 64), matrix.reshape(-1).view(np.uint8))

    class One:
        def tensor(self, name: str) -> Held:
            return held

    assert np.shares_memory(resolve(ModuleOp([op]), One()).rows(op).data, matrix)


def test_a_conversion_goes_piece_by_piece(matrix: Array, monkeypatch: pytest.MonkeyPatch):
    """Pieces of two rows, the last of one, give the same bytes."""
    data = encode(Format.BF16, matrix[:5])
    whole = encode(Format.Q8_0, decode(Format.BF16, 5, 64, data))
    monkeypatch.setattr(weights, "_CHUNK_VALUES", 128)
    monkeypatch.setattr(np, "empty", np.zeros)  # bytes left over in memory may be the very ones expected
    np.testing.assert_array_equal(weights.convert(Format.BF16, Format.Q8_0, 64, data), whole)


def test_values_take_their_types_shape(matrix: Array):
    flat, bias, plain = values("norm", 64), values("bias", 1, 64), values("plain", 6, 64)
    source = Arrays(Format.F32, norm=matrix[0], bias=matrix[1], plain=matrix)
    found = resolve(ModuleOp([flat, bias, plain]), source)
    np.testing.assert_array_equal(found.values(flat), matrix[0])
    np.testing.assert_array_equal(found.values(bias), matrix[1:2])
    np.testing.assert_array_equal(found.values(plain), matrix)


def test_a_tied_head_shares_its_rows(matrix: Array):
    names: list[str] = []
    head, table = rows("e", Format.BF16, (6, 64)), rows("e", Format.BF16, (6, 64), transposed=False)
    found = resolve(ModuleOp([head, table]), Arrays(Format.BF16, e=matrix), names.append)
    assert found.rows(head) is found.rows(table)
    assert found.rows(head).values is found.rows(table).values
    assert names == ["e"]


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (rows("w", Format.F32, (5, 64)), r"tensor 'w': expected shape \[5, 64\], got \[6, 64\]"),
        (rows("w", Format.F32, (64, 6)), r"tensor 'w': expected shape \[64, 6\], got \[6, 64\]"),
        (values("w", 384), r"tensor 'w': expected shape \[384\], got \[6, 64\]"),
        (values("w", 1, 6, 32), r"tensor 'w': expected shape \[1, 6, 32\], got \[6, 64\]"),
        (rows("w", Format.Q6_K, (6, 256)), r"tensor 'w': expected shape \[6, 256\], got \[6, 64\]"),
    ],
)
def test_tensors_that_do_not_fit(matrix: Array, op: ConstantOp, message: str):
    with pytest.raises(WeightError, match=message):
        resolve(ModuleOp([op.clone()]), Arrays(Format.F32, w=matrix))


def test_bytes_that_do_not_fill_the_shape(matrix: Array):
    class Short:
        def tensor(self, name: str) -> Held:
            return Held(Format.F32, (6, 64), matrix.reshape(-1).view(np.uint8)[:-4])

    with pytest.raises(WeightError, match=r"tensor 'w': f32 rows 6x64: expected 1536 bytes, got 1532"):
        resolve(ModuleOp([rows("w", Format.F32, (6, 64))]), Short())


def test_what_a_source_says_of_a_missing_tensor_is_passed_on(matrix: Array):
    with pytest.raises(KeyError, match=r"v"):
        resolve(ModuleOp([rows("v", Format.F32, (6, 64))]), Arrays(Format.F32, w=matrix))


def test_rope_tables():
    frequencies = [1.0, 0.1, 1e-4]
    for kind, function in ((TableKind.COS, cos), (TableKind.SIN, sin)):
        attr = RopeTableAttr(kind, frequencies, 1.25)
        op = ConstantOp(attr, TensorType(f32, [2000, 3]))
        table = resolve(ModuleOp([op]), Arrays(Format.F32)).values(op)
        assert table.shape == (2000, 3)
        np.testing.assert_array_equal(table, rope_table(attr, 2000))
        for p in (0, 1, 7, 1999):
            for i, frequency in enumerate(frequencies):
                angle = float(np.float32(p) * np.float32(frequency))
                assert table[p, i] == np.float32(1.25 * function(angle))


def test_random_weights_keep_activations_of_order_one():
    embedding = rows("e", Format.BF16, (300, 512), transposed=False)
    tied, tied_head = rows("t", Format.BF16, (300, 512), transposed=False), rows("t", Format.BF16, (300, 512))
    product, plain = rows("p", Format.Q8_0, (300, 512)), values("m", 512, 40)
    norm, bias = values("n", 512), values("b", 1, 512)
    ids = OtherOp(result_types=[TensorType(f32, [1, 512])])
    reads = MatmulOp(ids.results[0], plain.result)
    ops = [embedding, tied, tied_head, product, plain, norm, bias, ids, reads]
    found = random_weights(ModuleOp(ops), seed=5)
    for op, mean, deviation in (
        (embedding, 0, 1),
        (tied, 0, 512**-0.5),
        (product, 0, 512**-0.5),
        (plain, 0, 512**-0.5),
        (norm, 1, 0.1),
        (bias, 0, 0.1),
    ):
        drawn = found.values(op)
        assert drawn.mean() == pytest.approx(mean, abs=0.02 * max(deviation, 1))
        assert drawn.std() == pytest.approx(deviation, rel=0.1)
    assert found.rows(tied) is found.rows(tied_head)
    assert found.rows(product).data.shape == (300, Format.Q8_0.row_bytes(512))


def drawn(*ops: Any) -> list[Array]:
    """The random values of the constants among `ops`."""
    found = random_weights(ModuleOp(list(ops)), seed=7)
    return [found.values(op) for op in ops if isinstance(op, ConstantOp)]


def activations(*shapes: tuple[int, ...]) -> OtherOp:
    return OtherOp(result_types=[TensorType(f32, shape) for shape in shapes])


def test_a_delta_rules_decay_takes_its_first_values():
    a_log, dt_bias, x = values("a", 3000), values("d", 3000), activations((1, 3000))
    logs, biases = drawn(x, a_log, dt_bias, DecayOp(x.results[0], dt_bias.result, a_log.result))
    assert 1 <= np.exp(logs).min() < 1.1
    assert 15.9 < np.exp(logs).max() <= 16
    assert np.exp(logs).mean() == pytest.approx(8.5, rel=0.05)
    steps = np.logaddexp(0, biases.astype(np.float64))
    assert 0.00099 < steps.min() < 0.0011
    assert 0.095 < steps.max() < 0.1001
    assert np.log(steps).mean() == pytest.approx(np.log(0.01), abs=0.1)


def test_taps_sum_to_order_one():
    x, ring, taps = activations((1, 2000)), activations((3, 2000)), values("w", 2000, 4)
    (w,) = drawn(x, ring, taps, CausalConvOp(x.results[0], taps.result, ring.results[0]))
    assert w.std() == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("by_rows", [False, True])
def test_one_matrix_a_head_keeps_its_rows_of_order_one(by_rows: bool):
    """Rows that are a head's inputs, whose number is not that of the matrix's rows."""
    x = activations((1, 64 * 25))
    w = rows("w", Format.F32, (64 * 25, 8), transposed=False) if by_rows else values("w", 64 * 25, 8)
    (held,) = drawn(x, w, HeadMatmulOp(x.results[0], w.result, heads=64, inputs=25, outputs=8))
    assert held.std() == pytest.approx(0.2, rel=0.05)


def test_a_mixtures_matrices_and_biases():
    """Of values and of rows; a matrix's deviation goes by its inputs, and no bias by its shape."""
    x = activations((1, 100))
    router, gate = values("router", 100, 16), values("gate", 100, 16 * 25)
    up, down = rows("up", Format.F32, (16 * 25, 100)), values("down", 25, 16 * 100)
    shapes = {"router_bias": (1, 16), "gate_bias": (16, 25), "up_bias": (16, 25), "down_bias": (16, 100)}
    biases = {name: values(name, *shape) for name, shape in (shapes | {"selection_bias": (1, 16)}).items()}
    moe = MoeOp(
        *(x.results[0], router.result, gate.result, up.result, down.result),
        experts=16,
        top_k=4,
        hidden=25,
        biases={name: op.result for name, op in biases.items()},
    )
    matrices = drawn(x, router, gate, up, down, *biases.values(), moe)
    for held, deviation in zip(matrices, [0.1, 0.1, 0.1, 0.2, *[0.1] * 5], strict=True):
        assert held.mean() == pytest.approx(0, abs=0.06)
        assert held.std() == pytest.approx(deviation, rel=0.1 if held.size > 100 else 0.5)


def test_sinks_lie_about_zero_and_tables_rise():
    q, k, sinks, table = activations((1, 2000)), activations((4, 2000)), values("s", 2000), values("t", 64)
    heads = {"heads": 2000, "kv_heads": 2000, "head_dim": 1}
    attends = AttentionOp(q.results[0], *[k.results[0]] * 2, None, sinks=sinks.result, **heads)
    looks = LutAttentionOp(q.results[0], *[k.results[0]] * 2, table.result, step=1.0, **heads)
    found = drawn(q, k, sinks, table, attends, looks)
    assert (found[0].mean(), found[0].std()) == (pytest.approx(0, abs=0.05), pytest.approx(1, rel=0.05))
    assert (np.diff(found[1]) >= 0).all()
    assert 0 <= found[1][0] < 0.1 and 0.9 < found[1][-1] <= 1


def test_a_constants_reader_is_seen_inside_fused_ops():
    x, taps, ring = activations((1, 2000)), values("w", 2000, 4), activations((3, 2000))
    body = Block(arg_types=[taps.result.type, x.results[0].type, ring.results[0].type])
    conv = CausalConvOp(body.args[1], body.args[0], body.args[2])
    body.add_ops([conv, YieldOp(conv.result)])
    inputs = [taps.result, x.results[0], ring.results[0]]
    fused = FusedOp(FusionClass.CONV_PARTS, inputs, [conv.result.type], Region(body))
    (w,) = drawn(x, taps, ring, fused)
    assert w.std() == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("head_first", [True, False])
def test_a_tied_head_decides_for_its_embedding(head_first: bool):
    table, head = rows("t", Format.F32, (64, 256), transposed=False), rows("t", Format.F32, (64, 256))
    found = random_weights(ModuleOp([head, table] if head_first else [table, head]))
    assert found.values(table).std() == pytest.approx(256**-0.5, rel=0.05)


def test_random_weights_follow_name_and_seed():
    def draw(name: str, seed: int) -> Array:
        op = rows(name, Format.F32, (8, 32))
        return random_weights(ModuleOp([op]), seed).rows(op).values

    np.testing.assert_array_equal(draw("a", 1), draw("a", 1))
    assert (draw("a", 1) != draw("b", 1)).all()
    assert (draw("a", 1) != draw("a", 2)).all()


def test_a_large_random_matrix_repeats_its_rows():
    op = rows("w", Format.Q8_0, (2500, 1024))
    found = random_weights(ModuleOp([op])).rows(op)
    assert isinstance(found, StoredRows)
    assert found.data.shape == (2500, Format.Q8_0.row_bytes(1024))
    np.testing.assert_array_equal(found.data[1024:2048], found.data[:1024])
    assert (found.data[1] != found.data[0]).any()


def test_a_gathered_table_of_values_has_variance_one():
    table = values("e", 200, 64)

    module = ModuleOp([table])
    assert random_weights(module).values(table).std() == pytest.approx(1, rel=0.05)
