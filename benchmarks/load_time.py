"""The time from `lanelink run` to its first token, of a GGUF file in the page cache: where it goes, phase by phase.

    python benchmarks/load_time.py [qwen3-8b] [--layers N] [--folder /dev/shm] [--backend cuda]

Writes a file of a Qwen3 preset's shape (8.7 GB of qwen3-8b) with random weights and a vocabulary of its size, then
imports and runs it as a user would, each in a process of its own: with CUDA's cache of compiled PTX off, while it is
filled, and full. Seconds until the id is printed are those a user waits; the phases are what `--phases` says of them,
and the rest is the interpreter, its imports and the threads' end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter

from lanelink.bench import SHAPES

COMMAND = (sys.executable, "-P", "-m", "lanelink.cli")
POOL_ROWS = 4096
"""Rows of random blocks that are drawn of one width; longer matrices repeat them."""


class Model:
    """A GGUF file of a Qwen3 shape in q8_0."""

    def __init__(self, path: Path, config: Mapping[str, Any], layers: int) -> None:
        self._config, self._layers = config, layers
        self._rng = np.random.default_rng(0)
        self._pools: dict[int, np.ndarray[Any, np.dtype[np.uint8]]] = {}
        self._file = GGUFWriter(path, "qwen3")

    def write(self) -> None:
        """Writes all of it."""
        self._keys()
        self._vocabulary()
        self._tensors()
        self._file.write_header_to_file()
        self._file.write_kv_data_to_file()
        self._file.write_tensors_to_file()
        self._file.close()

    def _keys(self) -> None:
        file, config = self._file, self._config
        file.add_block_count(self._layers)
        file.add_context_length(config["max_position_embeddings"])
        file.add_embedding_length(config["hidden_size"])
        file.add_feed_forward_length(config["intermediate_size"])
        file.add_head_count(config["num_attention_heads"])
        file.add_head_count_kv(config["num_key_value_heads"])
        file.add_key_length(config["head_dim"])
        file.add_value_length(config["head_dim"])
        file.add_layer_norm_rms_eps(config["rms_norm_eps"])
        file.add_rope_freq_base(config["rope_theta"])

    def _vocabulary(self) -> None:
        """Byte-level BPE: the bytes' letters, then pairs of them, then triples, each by the merge that makes it."""
        letters = [chr(code) for code in _letters()]
        pairs = [a + b for a, b in product(letters, letters)]
        count = self._config["vocab_size"]
        made = [*((a, b) for a, b in product(letters, letters)), *islice(product(pairs, letters), count)]
        made = made[: count - len(letters)]
        self._file.add_tokenizer_model("gpt2")
        self._file.add_tokenizer_pre("qwen2")
        self._file.add_token_list([*letters, *(a + b for a, b in made)])
        self._file.add_token_types([1] * count)
        self._file.add_token_merges([f"{a} {b}" for a, b in made])

    def _tensors(self) -> None:
        config = self._config
        hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
        query, keys = size * config["num_attention_heads"], size * config["num_key_value_heads"]
        self._matrix("token_embd", config["vocab_size"], hidden)
        for layer in range(self._layers):
            block = f"blk.{layer}"
            for name, width in (("attn", hidden), ("attn_q", size), ("attn_k", size), ("ffn", hidden)):
                self._norm(f"{block}.{name}_norm", width)
            for name, rows, cols in (
                *(("attn_q", query, hidden), ("attn_k", keys, hidden), ("attn_v", keys, hidden)),
                ("attn_output", hidden, query),
                *(("ffn_gate", inner, hidden), ("ffn_up", inner, hidden), ("ffn_down", hidden, inner)),
            ):
                self._matrix(f"{block}.{name}", rows, cols)
        self._norm("output_norm", hidden)
        if not config["tie_word_embeddings"]:
            self._matrix("output", config["vocab_size"], hidden)

    def _matrix(self, name: str, rows: int, cols: int) -> None:
        """Blocks of random bytes under one scale, by which products stay of order 1 (a byte's deviation is 74)."""
        pool = self._pools.get(cols)
        if pool is None:
            blocks = POOL_ROWS * cols // 32
            pool = np.empty((blocks, 34), np.uint8)
            pool[:, 2:] = self._rng.integers(0, 256, (blocks, 32), np.uint8)
            pool[:, :2] = np.full((blocks, 1), 1 / (74 * cols**0.5), np.float16).view(np.uint8)
            pool = self._pools[cols] = pool.reshape(POOL_ROWS, -1)
        whole, rest = divmod(rows, POOL_ROWS)
        data = pool[:rest] if not whole else np.concatenate([*[pool] * whole, pool[:rest]])
        self._file.add_tensor(f"{name}.weight", data, raw_dtype=GGMLQuantizationType.Q8_0)

    def _norm(self, name: str, width: int) -> None:
        self._file.add_tensor(f"{name}.weight", (1 + 0.1 * self._rng.standard_normal(width)).astype(np.float32))


def _letters() -> Iterator[int]:
    """The characters that spell the 256 bytes in byte-level BPE: printable ones themselves, the others from U+0100."""
    more = 256
    for byte in range(256):
        printable = 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174
        yield byte if printable else more
        more += not printable


def first_token(step: Path, weights: Path, backend: str, cache: bool) -> tuple[float, int, dict[str, float]]:
    """(seconds until the id is printed, most bytes of the process's own memory, seconds of each phase) of a run."""
    options = ("--weights", str(weights), "--backend", backend, "--ids", "1,2,3", "-n", "1", "--json", "--phases")
    environment = os.environ | ({} if cache else {"CUDA_CACHE_DISABLE": "1"})
    begun = time.perf_counter()
    with subprocess.Popen((*COMMAND, "run", str(step), *options), stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        said, most = b"", 0
        while not said.endswith(b"\n") and process.poll() is None:
            most = max(most, own_memory(process.pid))
            time.sleep(0.002)
            said += process.stdout.read() or b""
        seconds = time.perf_counter() - begun
        os.set_blocking(process.stdout.fileno(), True)
        said += process.stdout.read()
    if process.returncode:
        raise SystemExit(f"lanelink run: expected exit code 0, got {process.returncode}")
    return seconds, most, json.loads(said)["phases"]


def own_memory(process: int) -> int:
    """Bytes of a process's memory that are no file's. 0 where /proc does not say."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    sizes = (line.split() for line in status.splitlines() if line.startswith("RssAnon:"))
    return sum(1024 * int(size[1]) for size in sizes)


def main() -> None:
    """Prints the phases of each run, a column a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", nargs="?", default="qwen3-8b", help="a dense Qwen3 preset")
    parser.add_argument("--layers", type=int, help="fewer than the preset's")
    parser.add_argument("--folder", type=Path, help="where the file is written; a place of one's own by default")
    parser.add_argument("--backend", choices=["cuda", "emulator"], default="cuda")
    parser.add_argument("--context", type=int, default=512)
    options = parser.parse_args()
    config: dict[str, Any] = json.loads((SHAPES / f"{options.shape}.json").read_text(encoding="utf-8"))
    if config["model_type"] != "qwen3":
        parser.error(f"expected a dense Qwen3 preset, got {options.shape}")
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        weights, step = Path(made) / "model.gguf", Path(made) / "step.mlir"
        begun = time.perf_counter()
        Model(weights, config, options.layers or config["num_hidden_layers"]).write()
        size = weights.stat().st_size
        print(f"{options.shape}: {size / 1e9:.2f} GB written in {time.perf_counter() - begun:.1f} s", flush=True)
        begun = time.perf_counter()
        subprocess.run(
            (*COMMAND, "import", str(weights), "-o", str(step), "--context", str(options.context)), check=True
        )
        print(f"lanelink import: {time.perf_counter() - begun:.2f} s", flush=True)
        kinds = {"cache off": False, "cache filled": True, "cache full": True}
        runs = {name: first_token(step, weights, options.backend, cache) for name, cache in kinds.items()}
    print(f"{'lanelink run':36}" + "".join(f"{name:>14}" for name in runs))
    phases = [phases for _, _, phases in runs.values()]
    for name in phases[0]:
        print(f"{name:36}" + "".join(f"{found[name]:12.3f} s" for found in phases))
    rest = [seconds - sum(found.values()) for seconds, _, found in runs.values()]
    print(f"{'interpreter, imports, the rest':36}" + "".join(f"{seconds:12.3f} s" for seconds in rest))
    print(f"{'until the first token':36}" + "".join(f"{seconds:12.3f} s" for seconds, _, _ in runs.values()))
    print(f"{'memory of its own':36}" + "".join(f"{most / 1e9:11.3f} GB" for _, most, _ in runs.values()))


if __name__ == "__main__":
    main()
