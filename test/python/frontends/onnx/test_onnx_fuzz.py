# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damaged ONNX models: each is imported, or rejected with a FrontendError; imported models give correct results.

A worker process imports them, so that a crash, a hang of LIMIT seconds, or an allocation of more than MEMORY bytes is a
failure of one model. A normal run takes a sample, which changes with the commit; with RELAX_FUZZ_SECONDS (make fuzz),
the test continues with other seeds for that long. A failing model is written to RELAX_FUZZ_OUTPUT (default:
build/fuzz).
"""

import multiprocessing
import os
import random
import resource
import time
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

import onnx  # noqa: E402
from conftest import ROOT  # noqa: E402
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_mutations import mutate_model  # noqa: E402
from sample import seed as sample_seed  # noqa: E402
from small_models import EXTERNAL, small_models  # noqa: E402

from relax_mlir import FrontendError  # noqa: E402
from relax_mlir.frontends.onnx import from_onnx  # noqa: E402

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", 0))
OUTPUT = Path(os.environ.get("RELAX_FUZZ_OUTPUT", ROOT / "build" / "fuzz"))
SAMPLE = 60
LIMIT = 120 if SECONDS else 20  # a long run also compiles
MEMORY = 256 << 20
RUN = 40
"""In a long run, one model in this number is also compiled and run."""
SECRET = np.float32(54321.5)


def seeds():
    """The seeds of the sample, then further ones while there is time."""
    first = zlib.crc32(sample_seed().encode())
    end = time.monotonic() + SECONDS
    for number in range(1 << 32):
        if number >= SAMPLE and time.monotonic() >= end:
            return
        yield first + number


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the external tensor of one model, next to a file that no model may read."""
    outside = tmp_path_factory.mktemp("outside")
    inside = outside / "inside"
    inside.mkdir()
    np.arange(EXTERNAL + 1, dtype=np.float32).tofile(inside / "weights.bin")
    np.full(2 * EXTERNAL, SECRET).tofile(outside / "secret.bin")
    (inside / "link").symlink_to(outside / "secret.bin")
    (inside / "away").symlink_to(outside)
    return inside


@pytest.fixture(scope="module")
def corpus():
    return {name: made.SerializeToString() for name, made in small_models().items()}


def damaged(corpus, seed):
    """The model of a seed."""
    rng = random.Random(f"onnx {seed}")
    return mutate_model(rng, corpus[rng.choice(sorted(corpus))], list(corpus.values()))


def judge(data, folder, with_run):
    """The reason why importing or running the model is wrong; None if it is right."""
    try:
        program = from_onnx(data, folder=folder)
    except FrontendError as error:
        return None if str(error).strip() else "the error has no message"
    if any(array.dtype == np.float32 and (array == SECRET).any() for array in program.weights.values()):
        return "a file outside of the folder was read"
    return compare(program, onnx.ModelProto.FromString(data)) if with_run else None


def compare(program, model):
    """How the results differ from those of ONNX's own evaluator, if both have results."""
    feeds = {
        name: value for entry in model.graph.input if (value := example(entry)) is not None for name in [entry.name]
    }
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # noqa: BLE001 - the evaluator raises exceptions of any type
        return None
    try:
        found = program.compile(cached=False)(**{name: feeds[name] for name in program.signature.names})
    except (ValueError, TypeError):  # a call may be rejected, for example if sizes disagree
        return None
    for entry, wanted in zip(model.graph.output, expected):
        if not isinstance(wanted, np.ndarray) or wanted.dtype.kind not in "fiub":
            continue
        made = np.asarray(found[entry.name])
        if made.shape != wanted.shape or not np.allclose(made, wanted, rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"'{entry.name}' is {made} of {made.shape}; expected {wanted} of {wanted.shape}"
    return None


def example(entry):
    """A tensor for an input, with size 3 for each unknown dimension; None if it is not a small tensor."""
    tensor = entry.type.tensor_type
    shape = [dim.dim_value if dim.WhichOneof("value") == "dim_value" else 3 for dim in tensor.shape.dim]
    if not tensor.HasField("shape") or not all(0 <= size <= 300 for size in shape) or np.prod(shape) > 10_000:
        return None
    try:
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    except KeyError:
        return None
    if dtype.kind not in "fiub":
        return None
    return np.random.default_rng(0).integers(0, 3, shape).astype(dtype)


def judge_in_limits(data, folder, with_run):
    """The same, where every exception counts as wrong, and with limited memory."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if not with_run:
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        return judge(data, folder, with_run)
    except Exception:  # noqa: BLE001 - any exception is a failure
        return traceback.format_exc()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def outcomes(corpus, folder):
    """The failures of models, with their seeds; a worker process checks models until it dies or hangs."""
    waiting = seeds()
    process = connection = None
    for seed in waiting:
        if process is None:
            connection, remote = multiprocessing.Pipe()
            process = multiprocessing.get_context("fork").Process(
                target=work, args=(corpus, folder, remote), daemon=True
            )
            process.start()
            remote.close()
        connection.send(seed)
        try:
            wrong = connection.recv() if connection.poll(LIMIT) else f"no answer within {LIMIT} s"
        except EOFError:
            process.join()
            wrong = f"the process ended with {process.exitcode}"
        yield seed, wrong
        if not process.is_alive() or (wrong and wrong.startswith("no answer")):
            process.kill()
            process.join()
            process = None
    if process is not None:
        connection.send(None)
        process.join()


def work(corpus, folder, connection):
    """Checks the models of the seeds in the queue until there are no more."""
    while (seed := connection.recv()) is not None:
        with_run = SECONDS > 0 and seed % RUN == 0
        connection.send(judge_in_limits(damaged(corpus, seed), folder, with_run))
    os._exit(0)


def test_damaged_models_are_imported_or_refused(corpus, folder):
    messages = []
    for seed, wrong in outcomes(corpus, folder):
        if wrong:
            OUTPUT.mkdir(parents=True, exist_ok=True)
            path = OUTPUT / f"onnx-{seed}.onnx"
            path.write_bytes(damaged(corpus, seed))
            messages.append(f"{path}: {wrong[-2000:]}")
    if messages:
        pytest.fail("\n\n".join([f"{len(messages)} models", *messages]))


def test_the_models_are_imported(corpus, folder):
    for data in corpus.values():
        from_onnx(data, folder=folder)
