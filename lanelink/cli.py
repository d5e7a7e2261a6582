"""`lanelink`: import a checkpoint, run a step. Errors are one line; exit 1 for bad input, 2 for bad usage."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import metadata
from io import StringIO
from pathlib import Path
from typing import NoReturn, cast

from tqdm import tqdm
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.printer import Printer
from xdsl.universe import Universe

from lanelink.backends import BACKENDS, open_backend, wake
from lanelink.bench import Options, Report, bench, shape_names, shape_path
from lanelink.bench_page import page as bench_page
from lanelink.bench_page import text as bench_text
from lanelink.collector import collector_off
from lanelink.dialects.fault import OpFault, located
from lanelink.dialects.formats import Format
from lanelink.dialects.launch.target import PRESETS, Numerics
from lanelink.dialects.tgraph.step import step_function, step_io, verify_arguments
from lanelink.explain import explain
from lanelink.explain_page import page
from lanelink.explain_page import text as table
from lanelink.failures import InputError, is_closed, run_command, weights_of
from lanelink.frontend.checkpoint import CheckpointError
from lanelink.frontend.importer import KV_FORMATS, import_checkpoint, open_checkpoint
from lanelink.frontend.text import Text, TextStream, continuation, open_text
from lanelink.lowering.runtime.backend import StepShape
from lanelink.lowering.runtime.generation import check_request, generate_batch
from lanelink.lowering.runtime.phases import Phases
from lanelink.lowering.runtime.reference import chosen_result, step_shape
from lanelink.lowering.script.standalone import count_of, joined, numbers
from lanelink.pipeline import Schedule, lowered_form
from lanelink.places import PlacingParser
from lanelink.quotes import check_quotes
from lanelink.verify import verify_module
from lanelink.write import check_place, write_whole

SCHEDULED = [field.name.replace("_", "-") for field in fields(Schedule)]
"""Passes of the schedule that can be left out."""

NUMERICS = {n.value.replace("_", "-"): n for n in Numerics}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `lanelink`; the exit code."""
    options = _parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    command: Callable[[argparse.Namespace], None] = options.command
    source: object = next(getattr(options, name) for name in ("step", "checkpoint", "shapes") if name in options)
    named = str(source) if not isinstance(source, list) else ", ".join(map(str, cast(list[object], source)))
    return run_command("lanelink", lambda: command(options), lambda: named, one_line=True)


class _Parser(argparse.ArgumentParser):
    """argparse's, which also says how a value is given that looks like an option."""

    def error(self, message: str) -> NoReturn:
        named = re.fullmatch(r"argument (?:-\w/)?(--[\w-]+): expected one argument", message)
        super().error(message if named is None else f"{message} (one that begins with '-' as {named[1]}=-...)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lanelink", description="From a checkpoint to tokens, through the fewest, largest CUDA launches."
    )
    parser.add_argument("--version", action="version", version=f"lanelink {metadata.version('lanelink')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _import_options(commands.add_parser("import", help="write a checkpoint's decoding step as a tensor graph"))
    _run_options(commands.add_parser("run", help="decode with a step and its weights"))
    _explain_options(commands.add_parser("explain", help="say what each launch of a step does, and why it ends there"))
    _bench_options(commands.add_parser("bench", help="measure a model's shape on a GPU, with random weights"))
    return parser


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_import)
    parser.add_argument("checkpoint", type=Path, metavar="CKPT", help="a Hugging Face directory, or a GGUF file")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="STEP.mlir")
    parser.add_argument("--context", type=count_of, metavar="N", help="positions the key and value tables hold")
    parser.add_argument("--rows", type=count_of, default=1, metavar="R", help="tokens of one sequence a step takes")
    parser.add_argument("--sequences", type=count_of, default=1, metavar="S", help="sequences, a token of each a step")
    parser.add_argument("--numerics", choices=NUMERICS, help="how products by block formats take their activations")
    parser.add_argument(
        "--quantize", choices=[f.value for f in Format], metavar="FORMAT", help="what matrices become at load"
    )
    _kv_option(parser)
    parser.add_argument("--target", choices=PRESETS, default="h200")
    parser.add_argument("--no-weights", action="store_true", help="read config.json alone")
    parser.add_argument(
        "--rope-format",
        choices=["f32", "f16", "bf16"],
        default="f32",
        help="what rotation frequencies are rounded to, for a model whose program casts them",
    )


def _kv_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kv", choices=[f.value for f in KV_FORMATS], default="f32", help="what tables of keys and values hold"
    )


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_run)
    parser.add_argument("step", type=Path, metavar="STEP.mlir")
    parser.add_argument("--weights", type=Path, required=True, metavar="CKPT", help="what the step was imported from")
    parser.add_argument("--backend", choices=BACKENDS, required=True)
    prompt = parser.add_mutually_exclusive_group(required=True)
    again = "; once for each sequence of a step of several"
    prompt.add_argument("--prompt", action="append", metavar="TEXT", help=f"what is gone on with{again}")
    prompt.add_argument("--ids", action="append", type=numbers, metavar="1,2,3", help=f"the same as ids{again}")
    parser.add_argument("-n", type=count_of, required=True, metavar="N", help="tokens to generate")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--phases", action="store_true", help="say where the time before the first token went")


def _explain_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_explain)
    parser.add_argument("step", type=Path, metavar="STEP.mlir")
    parser.add_argument("--all", action="store_true", help="every launch for itself, not one line for those alike")
    parser.add_argument("--html", type=Path, metavar="PAGE.html", help="write a page instead of printing a table")


def _bench_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_bench)
    names = ", ".join(shape_names())
    parser.add_argument("shapes", nargs="+", metavar="SHAPE", help=f"{names}, or the path of a config.json")
    parser.add_argument(
        "--format", choices=[f.value for f in Format], default="q8_0", help="of matrices not released in blocks"
    )
    parser.add_argument("--numerics", choices=NUMERICS)
    _kv_option(parser)
    parser.add_argument("--context", type=count_of, default=512, metavar="N")
    parser.add_argument("--sequences", type=count_of, default=1, metavar="S", help="sequences that decode side by side")
    parser.add_argument("--tokens", type=count_of, default=256, metavar="N", help="tokens of a run, of each sequence")
    parser.add_argument("--runs", type=count_of, default=5, metavar="N", help="runs, of which the median counts")
    parser.add_argument("--without", action="append", default=[], choices=SCHEDULED, help="leave a schedule pass out")
    parser.add_argument("--profile", action="store_true", help="the time of each kind of launch")
    parser.add_argument("--json", action="store_true", help="print one JSON object a shape")
    parser.add_argument("--html", type=Path, metavar="PAGE.html", help="also write a page with a picture")


def _import(options: argparse.Namespace) -> None:
    check_place(options.output)
    module = import_checkpoint(
        options.checkpoint,
        context=options.context,
        rows=options.rows,
        sequences=options.sequences,
        numerics=None if options.numerics is None else NUMERICS[options.numerics],
        quantize=None if options.quantize is None else Format(options.quantize),
        target=options.target,
        no_weights=options.no_weights,
        rope_format=Format(options.rope_format),
        kv=Format(options.kv),
    )
    stream = StringIO()
    # With locations, so that a later diagnostic names the layer.
    Printer(stream, print_debuginfo=True).print_op(module)
    write_whole(options.output, stream.getvalue() + "\n")


def read_module(path: Path) -> ModuleOp:
    """
    A module of level 1 or 2 from its text, verified. Raises ParseError, DiagnosticException, of one that holds no step
    or one that is lowered already too, ValueError or OSError.
    """
    ctx = Context()
    for name, dialect in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, dialect)
    text = path.read_text(encoding="utf-8")
    check_quotes(text, str(path))
    parser = PlacingParser(ctx, text, str(path))
    module = parser.parse_module()
    with parser.places(module):
        verify_module(module)
        _check_level(module)
    return module


def _check_level(module: ModuleOp) -> None:
    """VerifyException where a module holds no step of tensors, or a wrong one."""
    found = lowered_form(module)
    if found is not None:
        op, form = found
        raise OpFault(op, f"expected a step of tensors, as `lanelink import` writes it, got {form}")
    step_io(step_function(module))


def _bench(options: argparse.Namespace) -> None:
    wanted = Options(
        format=Format(options.format),
        numerics=None if options.numerics is None else NUMERICS[options.numerics],
        kv=Format(options.kv),
        context=options.context,
        sequences=options.sequences,
        tokens=options.tokens,
        runs=options.runs,
        profile=options.profile or options.html is not None,
        schedule=Schedule(**{name.replace("-", "_"): False for name in options.without}),
    )
    if options.html is not None:
        check_place(options.html)
    for shape in options.shapes:
        shape_path(shape)  # each, before the first takes its minutes
    with _bar("measuring", len(options.shapes)) as measuring:
        reports: list[Report] = []
        for shape in options.shapes:
            reports.append(bench(shape, wanted))
            measuring(1)
    if options.html is not None:
        write_whole(options.html, bench_page(reports))
    print("\n".join(json.dumps(r.numbers()) for r in reports) if options.json else bench_text(reports))


def _explain(options: argparse.Namespace) -> None:
    if options.html is not None:
        check_place(options.html)
    found = explain(read_module(options.step))
    if options.html is None:
        print(table(found, options.all))
    else:
        write_whole(options.html, page(found, options.all))


def _run(options: argparse.Namespace) -> None:
    phases = Phases()
    wake(options.backend)
    # What is made until the first token is made to stay: the collector would walk it again and again.
    with collector_off():
        _decode(options, phases)


def _decode(options: argparse.Namespace, phases: Phases) -> None:
    with phases.phase("read the step"):
        module = read_module(options.step)
        func = step_function(module)
        _check_decodes(func)
        shape = _check_prompts(options, func)
    with phases.phase("open the checkpoint"):
        source = open_checkpoint(options.weights)
    # An object of ids has its text once it has all of them.
    text = None if options.json and options.ids is not None else _text(options, shape.vocabulary, phases)
    prompts: list[list[int]] = options.ids if options.ids is not None else _encode(options, text)
    check_request(shape, prompts, options.n)
    with _bar("loading weights", None) as loading, weights_of(options.weights):

        def loaded(name: str) -> None:
            loading(1)

        backend = open_backend(options.backend, module, source, loaded, phases)
    steps = max(map(len, prompts)) + options.n - 1
    # Several texts cannot come at once.
    stream = None if text is None or options.json or len(prompts) > 1 else TextStream(text, prompts[0])
    # Text that comes on a terminal is progress enough.
    with _bar("decoding", steps, hidden=stream is not None and _on_terminal()) as decoding:
        done = 0

        def report(now: int) -> None:
            nonlocal done
            decoding(now - done)
            done = now

        def show(_: int, id: int) -> None:
            if "first token" not in phases.seconds:
                phases.seconds["first token"] = time.perf_counter() - start
            if stream is not None:
                print(stream.add(id), end="", flush=True)

        start = time.perf_counter()
        made = generate_batch(backend, prompts, options.n, report, show)
        seconds = time.perf_counter() - start
    if options.json:
        text = text or _text(options, shape.vocabulary, phases)
        tokens = sum(map(len, prompts)) + len(prompts) * (options.n - 1)
        found = _answer(text, prompts, made) | {
            "backend": options.backend,
            "launches_per_step": backend.launches_per_step,
            "seconds": seconds,
            "tokens_per_second": tokens / seconds if seconds else None,
        }
        print(json.dumps(found | {"phases": phases.seconds} if options.phases else found))
    else:
        print(_words(text, prompts, made) if stream is None else stream.end())
        if options.phases:
            for name, taken in phases.seconds.items():
                print(f"{taken:8.3f} s  {name}", file=sys.stderr)


def _check_decodes(func: FuncOp) -> None:
    """
    VerifyException for a step with arguments that a decoding loop does not know, InputError for one that chooses no id.
    """
    verify_arguments(func)
    if chosen_result(func) is None:
        message = "expected a result that becomes its token at the next step (tgraph.carry), got none"
        raise InputError(located(func, f"step @{func.sym_name.data}: {message}"))


def _check_prompts(options: argparse.Namespace, func: FuncOp) -> StepShape:
    """
    The shape of the step. InputError for as many prompts as it has not sequences, BackendError for ids that it does not
    take.
    """
    name, given = ("--prompt", options.prompt) if options.ids is None else ("--ids", options.ids)
    shape = step_shape(func)
    sequences = shape.sequences
    if len(given) != sequences:
        once = "once" if sequences == 1 else f"{sequences} times, once a sequence of the step"
        raise InputError(f"{name}: expected it {once}, got it {len(given)} times")
    if options.ids is not None:
        check_request(shape, options.ids, options.n)
    return shape


def _answer(text: Text | None, prompts: list[list[int]], made: list[list[int]]) -> dict[str, object]:
    """What was generated as ids and as text: of a step of one sequence alone, of several a list of each's."""
    texts = None if text is None else [continuation(text, *each) for each in zip(prompts, made, strict=True)]
    if len(made) == 1:
        return {"ids": made[0], "text": None if texts is None else texts[0]}
    return {"ids": made, "text": texts}


def _words(text: Text | None, prompts: list[list[int]], made: list[list[int]]) -> str:
    """A line of ids a sequence; or each sequence's text, under a line of its number."""
    if text is None:
        return "\n".join(",".join(map(str, ids)) for ids in made)
    texts = [continuation(text, *each) for each in zip(prompts, made, strict=True)]
    return "\n".join(f"--- sequence {s}\n{each}" for s, each in enumerate(texts))


def _text(options: argparse.Namespace, vocabulary: int | None, phases: Phases) -> Text | None:
    if vocabulary is None:
        return None
    try:
        with phases.phase("vocabulary"):
            return open_text(options.weights, vocabulary)
    except CheckpointError:
        # Ids go in and out without a tokenizer; only --prompt needs one.
        if options.prompt is not None:
            raise
        return None


def _encode(options: argparse.Namespace, text: Text | None) -> list[list[int]]:
    if text is None:
        raise InputError(f"--prompt: expected a step that returns logits, to know its vocabulary, got {options.step}")
    return [text.encode(prompt) for prompt in options.prompt]


def _on_terminal() -> bool:
    return not is_closed(sys.stdout) and sys.stdout.isatty()


@contextmanager
def _bar(what: str, total: int | None, *, hidden: bool = False) -> Generator[Callable[[int], object], None, None]:
    """A progress bar on stderr, where that is a terminal, and not where it is `hidden`; gives what advances it."""
    with tqdm(desc=what, total=total, file=sys.stderr, leave=False, delay=0.5, disable=hidden or None) as bar:
        yield bar.update


if __name__ == "__main__":
    sys.exit(main())
