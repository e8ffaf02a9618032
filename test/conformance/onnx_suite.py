# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX's test suite (`onnx.backend.test`): each op case as it is and with all sizes symbolic, and models.

    python test/conformance/onnx_suite.py [--mode static|symbolic|both|models|networks] [--filter REGEX]
                                          [--results FILE] [--timeout SECONDS] [--update] [--page FILE]

Without a mode, all modes run. Models are files in the onnx package: small ones, and models that PyTorch exported.
Networks are the package's well-known networks with generated weights. Their sizes are fixed.

A case runs in a worker process, so that a crash or a hang is a single failure. Each result is a line of JSON in the
results file; an interrupted run continues after the last result, and `--fresh` starts again. `--update` writes the list
of cases that pass, which may only grow (test/python/frontends/onnx/test_onnx_suite.py), and `--page` writes the
documentation page.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import multiprocessing
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

HERE = Path(__file__).parent
PASSING = HERE / "onnx_passing.txt"
PAGE = HERE.parents[1] / "docs" / "generated" / "onnx-conformance.md"
MODES = ("static", "symbolic")
STORED = {"models": ("simple", "pytorch-converted", "pytorch-operator"), "networks": ("real",)}
"""The kinds of files in the package that each mode runs."""


@dataclasses.dataclass
class Case:
    """A case of the suite with its inputs and expected outputs."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]
    rtol: float
    atol: float


def collect() -> list[Case]:
    """All cases; collecting them takes 15 seconds."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    cases = []
    for case in found:
        ((inputs, outputs),) = case.data_sets
        values = [[_to_array(value) for value in part] for part in (inputs, outputs)]
        cases.append(Case(case.name, case.model, *values, case.rtol, case.atol))
    return cases


def collect_stored(mode: str) -> list[Case]:
    """The models or networks that are files in the package."""
    from onnx.backend.test.loader import load_model_tests

    cases = []
    for kind in STORED[mode]:
        for test in load_model_tests(kind=kind):
            if test.model_dir is not None:
                cases.append(_read_case(test))
            elif "/light/" in test.url:
                cases.append(_read_network(test))
    return cases


def _read_case(test: Any) -> Case:
    """A model with the first set of its inputs and outputs."""
    model, folder = onnx.load(f"{test.model_dir}/model.onnx"), Path(test.model_dir) / "test_data_set_0"
    parts = []
    for what, entries in (("input", model_inputs(model)), ("output", model.graph.output)):
        files = [folder / f"{what}_{index}.pb" for index in range(len(entries))]
        parts.append([_read_value(path, entry.type) for path, entry in zip(files, entries)])
    return Case(test.name, model, *parts, test.rtol, test.atol)


def _read_network(test: Any) -> Case:
    """A network of which only the outputs are in files; its inputs are evenly spaced numbers from 0 to 1."""
    path = Path(onnx.__file__).parents[1] / test.url
    model = onnx.load(path)
    inputs = []
    for entry in model_inputs(model):
        shape = [dim.dim_value or 1 for dim in entry.type.tensor_type.shape.dim]
        count = int(np.prod(shape))
        inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    files = [path.with_name(f"{path.stem}_output_{index}.pb") for index in range(len(model.graph.output))]
    outputs = [_read_value(file, entry.type) for file, entry in zip(files, model.graph.output)]
    return Case(test.name, model, inputs, outputs, test.rtol, test.atol)


def _read_value(path: Path, type: Any) -> Any:
    is_sequence = type.HasField("sequence_type")
    proto = onnx.SequenceProto() if is_sequence else onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return numpy_helper.to_list(proto) if is_sequence else numpy_helper.to_array(proto)


def model_inputs(model: Any) -> list[Any]:
    """The inputs that have no value in the model."""
    given = {tensor.name for tensor in model.graph.initializer}
    return [entry for entry in model.graph.input if entry.name not in given]


def _to_array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return [_to_array(member) for member in value]
    return value if value is None else np.asarray(value)


def symbolic(model: Any) -> Any:
    """The model with a separate name for each size of its inputs and outputs, and without types of other values."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    count = 0

    def rename(type: Any) -> None:
        nonlocal count
        kind = type.WhichOneof("value")
        if kind in ("sequence_type", "optional_type"):
            rename(getattr(type, kind).elem_type)
        elif kind == "tensor_type" and type.tensor_type.HasField("shape"):
            for dim in type.tensor_type.shape.dim:
                count += 1
                dim.dim_param = f"d{count}"

    for value in [*copy.graph.input, *copy.graph.output]:
        rename(value.type)
    graphs = [copy.graph]
    for graph in graphs:  # grows meanwhile
        del graph.value_info[:]
        for node in graph.node:
            for entry in node.attribute:
                graphs += [entry.g] if entry.type == entry.GRAPH else entry.graphs
    return copy


def difference(expected: Any, actual: Any, rtol: float, atol: float) -> str | None:
    """How two results differ according to the suite's tolerances; None if they agree."""
    if expected is None:
        return None if actual is None else "expected nothing"
    if isinstance(expected, list):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return "another number of elements"
        parts = (difference(a, b, rtol, atol) for a, b in zip(expected, actual))
        return next(filter(None, parts), None)
    actual = np.asarray(actual)
    if actual.shape != expected.shape:
        return f"the shape {list(actual.shape)}; expected {list(expected.shape)}"
    if expected.dtype.kind in "OSU":
        return None if np.array_equal(expected.astype(str), actual.astype(str)) else "other text"
    if actual.dtype != expected.dtype:
        return f"the type {actual.dtype}; expected {expected.dtype}"
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
    if expected.dtype.kind == "V" or expected.dtype.name not in np.sctypeDict:  # of ml_dtypes
        expected, actual = expected.astype(np.float32), actual.astype(np.float32)
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    return f"{int(wrong.sum())} of {wrong.size} values differ" if wrong.any() else None


def attempt(case: Case, mode: str) -> tuple[str, str]:
    """The stage that a case reaches (pass, import, run or compare), and the reason for a failure."""
    from relax_mlir.frontends.onnx import InferenceSession

    model = symbolic(case.model) if mode == "symbolic" else case.model
    stage = "import"
    try:
        session = InferenceSession(model.SerializeToString())
        feeds = {entry.name: value for entry, value in zip(model_inputs(model), case.inputs)}
        stage = "run"
        made = session.run(None, feeds)
    except Exception as error:  # noqa: BLE001 - any exception is the result of the case
        return stage, f"{type(error).__name__}: {' '.join(str(error).split())}"[:600]
    wrong = difference(case.outputs, made, case.rtol, case.atol)
    return ("compare", wrong) if wrong else ("pass", "")


def run(tasks: Sequence[tuple[Case, str]], timeout: float) -> Iterator[tuple[str, str, str, str]]:
    """The name, mode, stage and reason of each task; a worker process runs tasks until it dies or hangs."""
    done = 0
    while done < len(tasks):
        receive, send = multiprocessing.Pipe(False)

        def work(start: int = done, send: Any = send) -> None:
            for case, mode in tasks[start:]:
                send.send(attempt(case, mode))
            os._exit(0)

        process = multiprocessing.get_context("fork").Process(target=work)
        process.start()
        send.close()
        died = None
        while died is None and done < len(tasks):
            try:
                answer = receive.recv() if receive.poll(timeout) else None
                died = f"no answer within {timeout:g} s" if answer is None else None
            except EOFError:
                process.join()
                answer, died = None, f"the process ended with {process.exitcode}"
            stage, reason = answer or ("crash", died)
            case, mode = tasks[done]
            yield case.name, mode, stage, reason
            done += 1
        process.kill()
        process.join()


def read_results(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """The results in a file, by name and mode; a truncated last line is ignored."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        found[entry["name"], entry["mode"]] = (entry["stage"], entry["reason"])
    return found


def read_passing() -> dict[str, set[str]]:
    """By case name, the modes in which the case passes."""
    lines = [line.split() for line in PASSING.read_text().splitlines() if line and not line.startswith("#")]
    return {name: set(modes) for name, *modes in lines}


def write_passing(results: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Writes the list of cases that pass; entries of modes without results are kept."""
    modes = collections.defaultdict(list)
    ran = {mode for _, mode in results}
    for name, passing in read_passing().items():
        kept = {(name, mode): ("pass", "") for mode in passing - ran}
        results = {**kept, **results}
    for (name, mode), (stage, _) in sorted(results.items()):
        if stage == "pass":
            modes[name].append(mode)
    lines = ["# Cases of ONNX's suite that pass, and in which form; written by onnx_suite.py --update."]
    PASSING.write_text("\n".join([*lines, *(f"{name} {' '.join(found)}" for name, found in modes.items())]) + "\n")


def write_page(results: dict[tuple[str, str], tuple[str, str]], path: Path) -> None:
    """Writes the page with the counts and the failures."""
    lines = [
        "# ONNX: conformance",
        "",
        "<!-- Written by `make conformance-onnx`. -->",
        "",
        f"The suite of onnx {onnx.__version__}, by its own tolerances: cases of ops, static and symbolic, and models. "
        "In the symbolic form each size of each input and output has a name of its own. Models are files of the "
        "package: small ones, those that PyTorch wrote, and well-known networks with generated weights.",
        "",
        "| form | cases that ran | pass |",
        "|---|---|---|",
    ]
    for mode in (*MODES, *STORED):
        stages = [stage for (_, form), (stage, _) in results.items() if form == mode]
        lines.append(f"| {mode} | {len(stages)} | {stages.count('pass')} |")
    missing = collections.defaultdict(list)
    for (name, mode), (stage, reason) in sorted(results.items()):
        if stage != "pass":
            missing[name].append((mode, stage, reason))
    lines += ["", "## What does not pass", "", "| case | form | why |", "|---|---|---|"]
    for name, entries in missing.items():
        forms = ", ".join(mode for mode, _, _ in entries)
        _, stage, reason = entries[0]
        text = reason.replace("|", "\\|")[:220]
        lines.append(f"| {name} | {forms} | {stage}: {text} |")
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--mode", choices=[*MODES, "both", *STORED], help="all unless given; both forms of cases of ops"
    )
    parser.add_argument("--filter", default="", help="a regular expression that names of cases match")
    parser.add_argument("--results", type=Path, default=Path("build/onnx-suite.jsonl"))
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--update", action="store_true", help=f"write {PASSING.name}")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="write the page of the docs")
    options = parser.parse_args()
    if options.fresh:
        options.results.unlink(missing_ok=True)
    results = read_results(options.results)
    modes = {None: (*MODES, *STORED), "both": MODES}.get(options.mode, (options.mode,))
    cases = {mode: collect_stored(mode) for mode in modes if mode in STORED}
    if ops := [mode for mode in modes if mode in MODES]:
        cases |= dict.fromkeys(ops, collect())
    tasks = [
        (case, mode)
        for mode, found in cases.items()
        for case in found
        if re.search(options.filter, case.name) and (case.name, mode) not in results
    ]
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with options.results.open("a") as file:
        for name, mode, stage, reason in run(tasks, options.timeout):
            results[name, mode] = (stage, reason)
            print(json.dumps({"name": name, "mode": mode, "stage": stage, "reason": reason}), file=file, flush=True)
    shown = {key: value for key, value in results.items() if re.search(options.filter, key[0])}
    for mode in modes:
        stages = collections.Counter(stage for (_, form), (stage, _) in shown.items() if form == mode)
        print(f"{mode}: {stages['pass']} of {sum(stages.values())} pass", dict(stages))
    if options.update:
        write_passing(results)
    if options.page:
        write_page(results, options.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
