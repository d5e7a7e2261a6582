"""`lanelink-opt`: xDSL's own driver, with every diagnostic as text and an exit code, and no partial output file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from io import StringIO
from pathlib import Path
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.frontend.mlir import MLIRFrontend
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from lanelink.collector import collector_off
from lanelink.cut import faults_cut
from lanelink.emit import emit_python
from lanelink.failures import InputError, is_closed, run_command, weights_of
from lanelink.frontend.importer import open_checkpoint
from lanelink.lowering.runtime.loader import SourceLoader
from lanelink.lowering.script.standalone import number
from lanelink.places import PlacingParser
from lanelink.quotes import check_quotes
from lanelink.validate import ValidatedPipeline
from lanelink.verify import verify_module
from lanelink.write import check_place, write_whole


class OptMain(xDSLOptMain):
    """xDSL's driver over our dialects and passes; an output file appears only when everything went well."""

    _held: StringIO | None = None
    _modules: list[ModuleOp]
    _places: AbstractContextManager[None]
    """Tells the places of the chunk that was parsed last."""

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.add_argument(
            "--validate",
            action="store_true",
            help="Run the step on random inputs before and after each pass, and stop where its results differ",
        )
        arg_parser.add_argument(
            "--validate-seed", type=number, metavar="N", help="What --validate draws its inputs by; 0 without it"
        )
        arg_parser.add_argument(
            "--emit-python",
            type=Path,
            metavar="STEP.py",
            help="Write the lowered step as a program that needs cuda-python and numpy, its PTX beside it; the module "
            "is then printed only to -o",
        )
        arg_parser.add_argument(
            "--weights",
            type=Path,
            metavar="CKPT",
            help="With --emit-python: the checkpoint whose constants are written beside the program",
        )

    def setup_pipeline(self) -> None:
        if self.args.weights is not None and self.args.emit_python is None:
            raise ValueError("--weights: expected --emit-python beside it, got none")
        seed: int | None = self.args.validate_seed
        if seed is not None and not self.args.validate:
            raise ValueError("--validate-seed: expected --validate beside it, got none")
        super().setup_pipeline()
        if self.args.validate:
            self.pipeline = ValidatedPipeline(self.pipeline.passes, self.pipeline.callback, seed or 0)

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file == "-":
            self.args.input_file = None
        if self.args.input_file is None and is_closed(sys.stdin):
            raise InputError("expected an open standard input, got a closed one")
        return super().get_input_stream()

    def prepare_output(self) -> IO[str]:
        # Held back until the end: a fault in a later chunk must not leave half a file.
        self._held = _Unclosed()
        return self._held

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp | None:
        frontend = parse_spec(self.args.frontend or file_extension)
        if frontend.name != MLIRFrontend.name:
            self._places = nullcontext()
            return super().parse_chunk(chunk, file_extension, start_offset)
        MLIRFrontend.from_spec(frontend)  # refuses options that it does not know
        text = chunk.read().decode()
        # The driver adds the chunk's line to what is raised, and may print it itself.
        with faults_cut():
            check_quotes(text, self.get_input_name())
            parser = PlacingParser(self.ctx, text, self.get_input_name(), start_offset)
            module = parser.parse_module(not self.args.no_implicit_module)
        self._places = parser.places(module)
        return module

    def apply_passes(self, prog: ModuleOp) -> None:
        with faults_cut(), self._places:
            if not self.args.disable_verify:
                verify_module(prog)
            super().apply_passes(prog)
            if not self.args.disable_verify:
                verify_module(prog)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        self._modules.append(prog)
        target = parse_spec(self.args.target).name
        if target == "mlir":
            return super().output_resulting_program(prog)
        try:
            return super().output_resulting_program(prog)
        except Exception as error:
            # xDSL's writers of other languages assert that a module is one of theirs.
            reason = " ".join(str(error).split())[:100] or type(error).__name__
            raise InputError(f"--target {target}: expected a module that it can write, got: {reason}") from error

    def run(self) -> None:
        self._modules = []
        for output in (self.args.output_file, self.args.emit_python):
            if output is not None:
                check_place(Path(output))
        with collector_off():
            super().run()
        text = "" if self._held is None else self._held.getvalue()
        if self.args.emit_python is not None:
            self._emit(self.args.emit_python, self.args.weights)
            if self.args.output_file is None:
                return
        if self.args.output_file is None:
            if is_closed(sys.stdout):
                raise InputError("expected an open standard output, got a closed one")
            sys.stdout.write(text)
        else:
            write_whole(Path(self.args.output_file), text)

    def _emit(self, path: Path, weights: Path | None) -> None:
        if len(self._modules) != 1:
            raise InputError(f"--emit-python: expected one module, got {len(self._modules)}")
        if weights is None:
            emit_python(self._modules[0], path, None)
            return
        with weights_of(weights):
            emit_python(self._modules[0], path, SourceLoader(open_checkpoint(weights)))


class _Unclosed(StringIO):
    """A buffer that the driver may close without losing its text."""

    def close(self) -> None:
        self.flush()


def main(args: Sequence[str] | None = None) -> int:
    """Runs `lanelink-opt`: 0 when all went well, 1 on bad input, 2 on bad usage. Diagnostics go to stderr."""
    try:
        driver = OptMain("lanelink's optimizer driver", args)
    except (ValueError, ArgSpecParseError) as error:
        # An unknown pass or pass option is bad usage.
        print(f"lanelink-opt: {error}", file=sys.stderr)
        return 2
    return run_command("lanelink-opt", driver.run, driver.get_input_name, one_line=False)


if __name__ == "__main__":
    sys.exit(main())
