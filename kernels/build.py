"""Compiles the CUDA C++ kernels to the PTX that the repository carries: `python -m lanelink.kernels.build [--check]`.

NVRTC comes from PyPI (the extra `kernels`), pinned: a 12.4 compiler writes PTX 8.4, which drivers from 550 on load. It
needs no GPU and no toolkit, and is called through ctypes, so that no Python binding's version has to match it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
PTX = SOURCES / "ptx"
NVRTC_PACKAGE = "nvidia-cuda-nvrtc-cu12"
NVRTC_VERSION = (12, 4)
ARCHITECTURES = ("compute_80", "compute_90")


@dataclass(frozen=True)
class Module:
    """One PTX file an architecture: its stem, its source and the macros it is compiled with."""

    stem: str
    source: str
    defines: tuple[str, ...] = ()


FORMATS = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_k", "q5_k", "q6_k", "mxfp4")
"""The formats of stored rows, in the order of the sources' codes."""


def of_each_format(stem: str) -> tuple[Module, ...]:
    """A module a format of the source `stem`.cu."""
    return tuple(
        Module(f"{stem}_{name}", f"{stem}.cu", (f"FORMAT_CODE={code}", f"FORMAT_NAME={name}"))
        for code, name in enumerate(FORMATS)
    )


def of_each_block_format(stem: str) -> tuple[Module, ...]:
    """A module a format of blocks with scales."""
    return of_each_format(stem)[FORMATS.index("q8_0") :]


MIXED = (*((f, f) for f in ("bf16", "q8_0", "q4_k", "q6_k", "mxfp4")), ("q4_k", "q6_k"))
"""Formats of gate and up, and of down, whose mixtures of one row have a module of their own: those of released models,
and what Q4_K_M files mix."""


def mixed(up: str, down: str) -> Module:
    """The module of mixtures of one row of these formats."""
    name = up if up == down else f"{up}_{down}"
    codes = (f"FORMAT_CODE={FORMATS.index(up)}", f"DOWN_CODE={FORMATS.index(down)}")
    return Module(f"moe_decode_{name}", "moe_decode.cu", (*codes, f"FORMAT_NAME={name}"))


MODULES = (
    *of_each_format("gemv"),
    *of_each_format("head_gemv"),
    *of_each_block_format("gemm"),
    Module("rows", "rows.cu"),
    Module("values", "values.cu"),
    Module("repack", "repack.cu"),
    Module("elementwise", "elementwise.cu"),
    Module("attention_64", "attention.cu", ("VALUES=64",)),
    Module("attention_128", "attention.cu", ("VALUES=128",)),
    Module("attention_256", "attention.cu", ("VALUES=256",)),
    Module("attention_512", "attention.cu", ("VALUES=512",)),
    Module("attention_pairs", "attention.cu", ("VALUES=0",)),
    Module("attention_tailed", "attention.cu", ("VALUES=-1",)),
    *(
        Module(f"attention_{values}_f16", "attention.cu", (f"VALUES={values}", "TABLES_OF_F16"))
        for values in (64, 128, 256, 512)
    ),
    Module("tables", "tables.cu"),
    Module("latent_f32", "latent.cu", ("FORMAT_CODE=0", "FORMAT_NAME=f32")),
    Module("latent_f16", "latent.cu", ("FORMAT_CODE=1", "FORMAT_NAME=f16")),
    Module("latent_bf16", "latent.cu", ("FORMAT_CODE=2", "FORMAT_NAME=bf16")),
    Module("latent_q8_0", "latent.cu", ("FORMAT_CODE=3", "FORMAT_NAME=q8_0")),
    Module("latent_q4_0", "latent.cu", ("FORMAT_CODE=4", "FORMAT_NAME=q4_0")),
    Module("latent_q4_k", "latent.cu", ("FORMAT_CODE=5", "FORMAT_NAME=q4_k")),
    Module("latent_q5_k", "latent.cu", ("FORMAT_CODE=6", "FORMAT_NAME=q5_k")),
    Module("latent_q6_k", "latent.cu", ("FORMAT_CODE=7", "FORMAT_NAME=q6_k")),
    Module("latent_mxfp4", "latent.cu", ("FORMAT_CODE=8", "FORMAT_NAME=mxfp4")),
    Module("arg_max", "arg_max.cu"),
    Module("stream", "stream.cu"),
    Module("conv", "conv.cu"),
    Module("gates", "gates.cu"),
    Module("delta", "delta.cu"),
    Module("moe_f32_r1", "moe.cu", ("INPUT_CODE=0", "INPUT_NAME=f32", "ROWS=1")),
    Module("moe_f32_r4", "moe.cu", ("INPUT_CODE=0", "INPUT_NAME=f32", "ROWS=4")),
    Module("moe_q8_r1", "moe.cu", ("INPUT_CODE=1", "INPUT_NAME=q8", "ROWS=1")),
    Module("moe_q8_r4", "moe.cu", ("INPUT_CODE=1", "INPUT_NAME=q8", "ROWS=4")),
    *(mixed(up, down) for up, down in MIXED),
)


class BuildError(RuntimeError):
    """NVRTC is missing, is another version, or refused a source; its log is the message."""


class Nvrtc:
    """The few calls of libnvrtc that compile one program."""

    def __init__(self) -> None:
        try:
            files = metadata.files(NVRTC_PACKAGE) or []
        except metadata.PackageNotFoundError as e:
            raise BuildError(f"expected the package {NVRTC_PACKAGE}, got none: pip install 'lanelink[kernels]'") from e
        found = [f for f in files if f.name.startswith("libnvrtc.so")]
        if not found:
            raise BuildError(f"expected libnvrtc.so in {NVRTC_PACKAGE}, got {len(files)} other files")
        self._lib = ctypes.CDLL(str(found[0].locate()))
        self._lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(self._lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        if (major.value, minor.value) != NVRTC_VERSION:
            raise BuildError(f"expected NVRTC {NVRTC_VERSION}, got {(major.value, minor.value)}")

    def _check(self, code: int) -> None:
        if code:
            raise BuildError(f"nvrtc: {self._lib.nvrtcGetErrorString(code).decode()}")

    def compile(self, module: Module, architecture: str) -> str:
        """The PTX text of one module. Raises BuildError with the compiler's log."""
        source = (SOURCES / module.source).read_bytes()
        program = ctypes.c_void_p()
        self._check(self._lib.nvrtcCreateProgram(ctypes.byref(program), source, module.source.encode(), 0, None, None))
        options = [
            f"--gpu-architecture={architecture}",
            "--std=c++17",
            "--device-as-default-execution-space",
            f"--include-path={SOURCES}",
        ]
        options += [f"--define-macro={d}" for d in module.defines]
        packed = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        try:
            if self._lib.nvrtcCompileProgram(program, len(options), packed):
                raise BuildError(f"{module.source} for {architecture}:\n{self._text(program, 'ProgramLog')}")
            return compact(self._text(program, "PTX"))
        finally:
            self._check(self._lib.nvrtcDestroyProgram(ctypes.byref(program)))

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self._check(getattr(self._lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._lib, f"nvrtcGet{what}")(program, buffer))
        return buffer.value.decode()


_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")


def compact(ptx: str) -> str:
    """
    NVRTC's text in fewer bytes: behind its header no comments, empty lines and columns, and an entry's parameters, each
    of which bears the entry's name, as param_0, param_1 and so on, which are their entry's own.
    """
    head, mark, body = ptx.partition(".version")
    lines = (" ".join(line.split()) for line in body.splitlines())
    kept = "\n".join(line for line in lines if line and not line.startswith("//"))
    return head + mark + " " + _PARAMETER.sub(r"param_\1", kept) + "\n"


def ptx_path(stem: str, architecture: str) -> Path:
    """Where the PTX of a module lies, committed or not."""
    return PTX / f"{stem}.{architecture}.ptx"


def build(modules: Sequence[Module] = MODULES) -> dict[Path, str]:
    """The PTX text of every module and architecture, by the path it belongs at."""
    nvrtc = Nvrtc()
    each = [(module, architecture) for module in modules for architecture in ARCHITECTURES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the compiler runs outside Python's lock
        texts = [pool.submit(nvrtc.compile, module, architecture) for module, architecture in each]
        return {ptx_path(module.stem, a): text.result() for (module, a), text in zip(each, texts, strict=True)}


def differing(built: dict[Path, str], *, few: bool = False) -> list[str]:
    """The committed files that are missing, differ from `built`, or have no module, each with which it is; `few`: only
    some modules were built."""
    problems: list[str] = []
    for path, text in built.items():
        if not path.exists():
            problems.append(f"{path.name}: missing")
        elif path.read_text(encoding="utf-8") != text:
            problems.append(f"{path.name}: differs from its source")
    sources = {ptx_path(module.stem, a) for module in MODULES for a in ARCHITECTURES} if few else set(built)
    problems += [f"{p.name}: has no source" for p in sorted(PTX.glob("*.ptx")) if p not in sources]
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Rebuilds the PTX; with --check, changes nothing and exits 1 when what is committed differs."""
    parser = argparse.ArgumentParser(prog="python -m lanelink.kernels.build", description=main.__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with the committed files and name those that differ"
    )
    parser.add_argument("stems", nargs="*", help="modules to build (all)")
    options = parser.parse_args(arguments)
    try:
        built = build([m for m in MODULES if not options.stems or m.stem in options.stems])
    except BuildError as e:
        print(e, file=sys.stderr)
        return 1
    if options.check:
        problems = differing(built, few=bool(options.stems))
        print("\n".join(problems) or f"{len(built)} files as their sources make them")
        return 1 if problems else 0
    PTX.mkdir(exist_ok=True)
    for path, text in built.items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {len(text) // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
