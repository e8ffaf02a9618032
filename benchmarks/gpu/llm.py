# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders of the Llama family on a GPU, with random weights in bf16, compared with PyTorch's.

    python llm.py write FOLDER [--models 135m 1b 8b] [--weights bf16 q4 q8] [--chip sm_90a | subgroup_32_matrices]
    python llm.py run FOLDER [--models …] [--weights …] [--peers captured compile eager] [--vulkan beside]

The first command runs on any machine, the second on the one with the GPU: it needs this file, libraries.py,
torch_decoder.py, the folder, PyTorch and apache-tvm-ffi. Quantized weights are in groups of 32 with a scale; PyTorch's
are the same numbers in bf16.

The second command compares logits with PyTorch's, and prints medians of device time: steps after 1024 tokens, run and
replayed from a graph, prompts, and the slowest kernels. Ours and the peers take turns. The peers are the same
decoder in PyTorch:

    captured   by torch.compile, recorded in one CUDA graph: the peer of our replayed program
    compile    by torch.compile(mode="reduce-overhead"), as users call it: its time includes Dynamo's guards
    eager      without compilation

All attend to the same rows: in a step, to 1280 rows of the cache, where both sides mask rows after the position; in a
prompt, causally to the tokens of the prompt.

For Vulkan ("subgroup_32_matrices"), the folder has separate files. `--vulkan beside` gives them copies of the same
weights, compares logits, and prints the times of consecutive steps and prompts, by the host's clock; `only` measures
nothing else.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import os
import statistics
import time
from pathlib import Path

from libraries import (
    captured,
    load_library,
    load_runtime,
    milliseconds,
    milliseconds_in_turns,
    runtime_function,
    write_library,
)

# vocabulary, hidden, inner, layers, heads, key heads, head size, whether embedding and head are one
SIZES = {
    "135m": (49152, 576, 1536, 30, 9, 3, 64, True),
    "1b": (128256, 2048, 8192, 16, 32, 8, 64, True),
    "8b": (128256, 4096, 14336, 32, 32, 8, 128, False),
}
KINDS = {"bf16": "F32", "q4": "Q4_0", "q8": "Q8_0"}
"""The formats of weights."""
POSITION, ROWS, CAPACITY = 1024, 1280, 2304


def write(folder: Path, names: list[str], kinds: list[str], chip: str) -> None:
    """Compiles each model, and writes it to the folder with the runtime."""
    from relax_mlir.models import matrix
    from relax_mlir.models.config import LlamaConfig
    from relax_mlir.models.llama import Llama

    for size, kind in itertools.product(names, kinds):
        name = f"{size}-{kind}" + ("-vulkan" if chip.startswith("subgroup") else "")
        vocabulary, *sizes, tied = SIZES[size]
        config = LlamaConfig(vocabulary, *sizes, 4096, tie_embeddings=tied, dtype="bf16")
        model = Llama(config, lambda _, n, k, kind=KINDS[kind]: matrix.make(n, k, "groups", kind, "bf16"))
        shapes = {path: parameter.shape for path, parameter in model.assign_names().items()}
        module = model.export(("forward", "decode"))
        begin = time.perf_counter()
        code = write_library(folder, name, module, chip)
        seconds = time.perf_counter() - begin
        (folder / f"{name}.json").write_text(json.dumps({"seconds": seconds, "memory": code.memory, "shapes": shapes}))
        print(f"{name}: compiled in {seconds:.1f} s")


def run(
    folder: Path,
    names: list[str],
    kinds: list[str],
    peers: list[str],
    batches: list[int],
    prompts: list[int],
    kernels: list[int],
    vulkan: str | None,
) -> None:
    import torch

    runtime = load_runtime(folder)
    peaks = Peaks()
    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: reads {peaks.read:.2f} TB/s (sum of f32), "
        f"multiplies {peaks.multiply:.0f} TFLOP/s (8192³, bf16)"
    )
    with torch.no_grad():
        for name, kind in itertools.product(names, kinds):
            measurement = Measurement(folder, name, kind, peaks)
            if vulkan != "only":
                measurement.run(peers if kind == "bf16" else [], batches, prompts, kernels)
            if vulkan:
                OnVulkan(measurement, runtime, folder, f"{name}-{kind}-vulkan").run(batches, prompts, kernels)


def require_close(peer: str, difference: float, greatest: float) -> None:
    """Exits if logits differ by more than a tenth of the greatest: then the programs are not the same."""
    if not difference <= 0.1 * greatest:  # also rejects NaN
        raise SystemExit(
            f"logits differ from those of {peer} by {difference:.3f}; expected at most {0.1 * greatest:.3f}"
        )


class Peaks:
    """The card's peaks in this run: TB/s of reads, TFLOP/s of matmuls."""

    def __init__(self) -> None:
        import torch

        values = torch.ones(1 << 30, device="cuda")
        self.read = values.nbytes / milliseconds(values.sum) / 1e9
        del values
        matrix = torch.randn(8192, 8192, device="cuda").bfloat16()
        self.multiply = 2 * 8192**3 / milliseconds(torch.matmul, matrix, matrix) / 1e9


class Measurement:
    def __init__(self, folder: Path, name: str, kind: str, peaks: Peaks) -> None:
        import torch

        self.torch, self.peaks = torch, peaks
        self.vocabulary, self.hidden, _, self.layers, self.heads, self.key_heads, self.size, self.tied = SIZES[name]
        name = f"{name}-{kind}"
        described = json.loads((folder / f"{name}.json").read_text())
        begin = time.perf_counter()
        self.module = load_library(folder, name)
        torch.manual_seed(0)
        self.weights = {}
        self.bound = {}  # for their sizes, and for Vulkan; the module keeps them alive
        shapes = described["shapes"]
        for path, shape in shapes.items():
            if path.endswith(".scales"):
                continue
            matrix, _, part = path.rpartition(".")
            if part == "codes":
                parts = self.quantised(shape, shapes[f"{matrix}.scales"])
                self.weights[matrix], bound = parts[-1], dict(zip((path, f"{matrix}.scales"), parts, strict=False))
            else:
                values = torch.randn(shape, device="cuda")
                values = values * (0.5 / math.sqrt(shape[-1])) if len(shape) > 1 else 1 + 0.02 * values
                self.weights[path.removesuffix(".values")] = values = values.bfloat16()
                bound = {path: values}
            for name_of, value in bound.items():
                self.module["bind_weight"](name_of, value)
            self.bound |= bound
        bytes_of = {path: value.numel() * value.element_size() for path, value in self.bound.items()}
        self.bytes = sum(bytes_of.values())
        # A step reads one row of the embedding per token, and all of it only if it is also the head.
        embedding = sum(count for path, count in bytes_of.items() if path.startswith("model.embed_tokens."))
        self.bytes_of_step = self.bytes - (0 if self.tied else embedding)
        # Each token of a prompt multiplies these weights; only the last token multiplies the head.
        ends = ("model.embed_tokens.weight", "lm_head.weight")
        self.numbers = sum(value.numel() for path, value in self.weights.items() if path not in ends)
        self.start = torch.zeros(64, dtype=torch.int64, device="cuda")
        self.places = self.start + POSITION
        self.step(1)()
        torch.cuda.synchronize()
        print(
            f"\n{name}: {self.bytes / 1e9:.2f} GB of weights; compiled in {described['seconds']:.1f} s, "
            f"loaded with its first step in {time.perf_counter() - begin:.1f} s"
        )

    def quantised(self, shape: list[int], groups: list[int]):
        """Random codes and scales, and the matrix that they represent."""
        torch = self.torch
        codes = torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
        numbers = codes
        if shape[-1] == 16:
            bits = codes.view(torch.uint8)
            numbers = torch.cat([bits & 15, bits >> 4], -1).to(torch.int8) - 8
        deviation = (16 if shape[-1] == 16 else 256) / math.sqrt(12)
        typical = 0.5 / math.sqrt(32 * groups[-1]) / deviation
        scales = (typical * (0.5 + torch.rand(groups, device="cuda"))).half()
        values = (numbers * scales[..., None].float()).bfloat16()
        return codes, scales, values.reshape(shape[0], -1)

    def tensor(self, value):
        return value if isinstance(value, self.torch.Tensor) else self.torch.from_dlpack(value)

    def caches(self, batch: int):
        zeros = lambda *shape: self.torch.zeros(shape, device="cuda", dtype=self.torch.bfloat16)  # noqa: E731
        heads, size = self.key_heads, self.size
        return zeros(self.layers, batch, heads, size, CAPACITY), zeros(self.layers, batch, CAPACITY, heads, size)

    def step(self, batch: int):
        """One token of each sequence after 1024 others."""
        keys, values = self.caches(batch)
        tokens = self.torch.zeros(batch, dtype=self.torch.int64, device="cuda")
        return lambda: self.module["decode"](tokens, self.places[:batch], keys, values, ROWS)

    def kernels(self, call, most: int = 10) -> None:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            call()
            self.torch.cuda.synchronize()
        for event in sorted(profiled.key_averages(), key=lambda event: -event.device_time_total)[:most]:
            print(f"    {event.device_time_total:9.1f} µs {event.count:5d} × {event.key[:80]}")

    def check(self) -> None:
        torch = self.torch
        batch, length = 2, 37
        tokens = torch.randint(0, self.vocabulary, (batch, length), device="cuda")
        keys, values = self.caches(batch)
        peer = self.decoder(batch, 256)
        places = torch.arange(length, device="cuda").expand(batch, length)
        ours = self.tensor(self.module["forward"](tokens, self.start[:batch], keys, values, 0))
        wanted = peer(tokens, places)
        differences = [(ours - wanted).abs().max().item()]
        same = 0
        for step in range(8):
            token, place = wanted.argmax(-1), torch.full((batch,), length + step, device="cuda")
            ours = self.tensor(self.module["decode"](token, place, keys, values, 256))
            wanted = peer(token[:, None], place[:, None])
            differences.append((ours - wanted).abs().max().item())
            same += int((ours.argmax(-1) == wanted.argmax(-1)).sum())
        print(
            f"  logits differ from PyTorch's by {max(differences):.3f} at most, of {wanted.abs().max().item():.1f}; "
            f"{same} of {8 * batch} tokens are the same"
        )
        require_close("PyTorch", max(differences), wanted.abs().max().item())

    def decoder(self, batch: int, rows: int):
        """The same decoder in PyTorch, with a cache of `rows` rows, to all of which a step attends."""
        from torch_decoder import Decoder

        return Decoder(self.weights, self.layers, self.heads, self.key_heads, self.size, self.tied, batch, rows)

    def peer(self, kind: str, decoder, tokens, places):
        """A call of PyTorch's decoder."""
        self.torch._dynamo.reset()
        if kind == "eager":
            return lambda: decoder(tokens, places)
        if kind == "compile":
            compiled = self.torch.compile(decoder, mode="reduce-overhead", fullgraph=True)
            return lambda: compiled(tokens, places)
        compiled = self.torch.compile(decoder, fullgraph=True, dynamic=False)
        return captured(lambda: compiled(tokens, places))

    def compare(self, calls, peers: list[str], decoder, tokens, places) -> dict[str, float]:
        """Milliseconds of our program, run and replayed, and of the peers, in turns."""
        calls = {**calls, **{kind: self.peer(kind, decoder, tokens, places) for kind in peers}}
        return milliseconds_in_turns(calls)

    @staticmethod
    def ratio(took: dict[str, float], kind: str) -> str:
        """The time of a peer, and our speedup: replayed if the peer is, otherwise run."""
        ours = took["run" if kind == "eager" else "replayed"]
        return f"PyTorch {kind} {took[kind]:.3f} ms ({took[kind] / ours:.2f} ×)"

    def replayed_in_order(self, call) -> float:
        """Milliseconds of replays without overlap of launches."""
        os.environ["RELAX_DEVICE_OVERLAP"] = "0"
        took = milliseconds(captured(call))
        del os.environ["RELAX_DEVICE_OVERLAP"]
        return took

    def run(self, peers: list[str], batches: list[int], prompts: list[int], kernels: list[int]) -> None:
        torch = self.torch
        self.check()
        for batch in batches:
            call = self.step(batch)
            calls = {"run": call, "replayed": captured(call)}
            decoder = self.decoder(batch, ROWS) if peers else None
            took = self.compare(calls, peers, decoder, self.start[:batch, None], self.places[:batch, None])
            rate = self.bytes_of_step / took["replayed"] / 1e9
            line = f"  step of {batch}: run {took['run']:.3f} ms, replayed {took['replayed']:.3f} ms, {rate:.2f} TB/s"
            line += f" ({100 * rate / self.peaks.read:.0f} %), without overlap {self.replayed_in_order(call):.3f} ms"
            line += "".join(f"; {self.ratio(took, kind)}" for kind in peers)
            print(line, flush=True)
            if batch in kernels:
                self.kernels(call)
        for length in prompts:
            keys, values = self.caches(1)
            tokens = torch.zeros((1, length), dtype=torch.int64, device="cuda")
            call = functools.partial(self.module["forward"], tokens, self.start[:1], keys, values, 0)
            decoder = self.decoder(1, length) if peers else None
            places = torch.arange(length, device="cuda")[None]
            took = self.compare({"run": call, "replayed": captured(call)}, peers, decoder, tokens, places)
            line = f"  prompt of {length}: run {took['run']:.2f} ms, replayed {took['replayed']:.2f} ms"
            rate = 2e-9 * self.numbers * length / took["replayed"]
            line += f", {rate:.0f} TFLOP/s of products ({100 * rate / self.peaks.multiply:.0f} %)"
            line += "".join(f"; {self.ratio(took, kind)}" for kind in peers)
            print(line, flush=True)
            if length in kernels:
                self.kernels(call)


class OnVulkan:
    """The same model through the GPU's Vulkan driver, next to CUDA."""

    DEVICE = (7, 0)

    def __init__(self, cuda: Measurement, runtime, folder: Path, name: str) -> None:
        import tvm_ffi

        self.cuda, self.torch, self.ffi = cuda, cuda.torch, tvm_ffi
        self.runtime = runtime
        described = self.function("relax_rt_device_describe")(*self.DEVICE)
        begin = time.perf_counter()
        self.module = load_library(folder, name)
        self.bound = {}
        for path, value in cuda.bound.items():
            self.bound[path] = self.put(value)
            self.module["bind_weight"](path, self.bound[path])
        self.synchronize()
        print(f"  {described[0]}, Vulkan {described[1]}.{described[2]}; copied in {time.perf_counter() - begin:.1f} s")

    def function(self, name: str):
        return runtime_function(self.runtime, name)

    def put(self, tensor):
        tensor = tensor.cpu().contiguous()
        return self.function("relax_rt_copy")(self.ffi.from_dlpack(tensor), *self.DEVICE)

    def get(self, tensor):
        """A copy on the CUDA device."""
        return self.torch.from_dlpack(self.function("relax_rt_copy")(tensor, 1, 0)).cuda()

    def synchronize(self) -> None:
        self.function("relax_rt_device_synchronize")(*self.DEVICE)

    def caches(self, batch: int):
        return [self.put(cache) for cache in self.cuda.caches(batch)]

    def check(self) -> None:
        """Compares logits of a prompt and following steps with CUDA's, which are computed first."""
        torch, batch, length = self.torch, 2, 37
        tokens = torch.randint(0, self.cuda.vocabulary, (batch, length), device="cuda")
        start, caches = self.cuda.start[:batch], self.cuda.caches(batch)
        wanted = [self.cuda.tensor(self.cuda.module["forward"](tokens, start, *caches, 0))]
        steps = []
        for step in range(8):
            steps.append((wanted[-1].argmax(-1), torch.full((batch,), length + step, device="cuda")))
            wanted.append(self.cuda.tensor(self.cuda.module["decode"](*steps[-1], *caches, 256)))
        torch.cuda.synchronize()
        caches = self.caches(batch)
        found = [self.get(self.module["forward"](self.put(tokens), self.put(start), *caches, 0))]
        for token, place in steps:
            found.append(self.get(self.module["decode"](self.put(token), self.put(place), *caches, 256)))
        difference = max((ours - theirs).abs().max().item() for ours, theirs in zip(found, wanted, strict=True))
        same = sum(int((a.argmax(-1) == b.argmax(-1)).sum()) for a, b in zip(found, wanted, strict=True))
        print(
            f"  Vulkan's logits differ by {difference:.3f} at most, of {wanted[-1].abs().max().item():.1f}; "
            f"{same} of {9 * batch} tokens are the same",
            flush=True,
        )
        require_close("CUDA", difference, wanted[-1].abs().max().item())

    def median(self, call, count: int) -> tuple[float, float]:
        """Milliseconds of a call among others, and of a call that the host waits for."""
        alone, together = [], []
        for _ in range(3):
            call()
        self.synchronize()
        for _ in range(count):
            begin = time.perf_counter()
            call()
            self.synchronize()
            alone.append(time.perf_counter() - begin)
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(count):
                call()
            self.synchronize()
            together.append((time.perf_counter() - begin) / count)
        return 1e3 * statistics.median(together), 1e3 * statistics.median(alone)

    def kernels(self, call) -> None:
        """Prints the time of each kernel, from the end of the previous kernel to its own end."""
        self.synchronize()
        os.environ["RELAX_DEVICE_TIMES"] = "1"
        call()
        self.synchronize()
        os.environ["RELAX_DEVICE_TIMES"] = "0"

    def run(self, batches: list[int], prompts: list[int], kernels: list[int]) -> None:
        self.check()
        capture = self.function("relax_rt_capture")
        for batch in batches:
            keys, values = self.caches(batch)
            tokens, places = (self.put(value[:batch]) for value in (self.cuda.start, self.cuda.places))
            logits = self.put(self.torch.zeros((batch, self.cuda.vocabulary)))
            arguments = (tokens, places, keys, values, ROWS)
            ran = self.median(lambda arguments=arguments: self.module["decode"](*arguments), 20)
            wanted = self.get(self.module["decode"](*arguments))
            line = f"  Vulkan's step of {batch}: run {ran[0]:.3f} ms, {ran[1]:.3f} ms with waiting"
            for kind, overlap in (("captured", "1"), ("without overlap", "0")):
                os.environ["RELAX_DEVICE_OVERLAP"] = overlap
                decode = capture(self.module["decode"], 4)[0]
                replayed = self.median(lambda call=decode, all=(*arguments, logits): call(*all), 20)
                line += f"; {kind} {replayed[0]:.3f} ms, {replayed[1]:.3f} ms with waiting"
                difference = (self.get(logits) - wanted).abs().max().item()
                line += f" (logits differ by {difference})" if difference else ""
            del os.environ["RELAX_DEVICE_OVERLAP"]
            print(line, flush=True)
            if batch in kernels:
                self.kernels(lambda arguments=arguments: self.module["decode"](*arguments))
        for length in prompts:
            keys, values = self.caches(1)
            tokens = self.put(self.torch.zeros((1, length), dtype=self.torch.int64))
            start = self.put(self.cuda.start[:1])
            logits = self.put(self.torch.zeros((1, self.cuda.vocabulary)))
            call = lambda all=(tokens, start, keys, values, 0): self.module["forward"](*all)  # noqa: E731
            took = self.median(call, 3)
            wanted = self.get(call())
            forward = capture(self.module["forward"], 4)[0]
            replayed = self.median(lambda call=forward, all=(tokens, start, keys, values, 0, logits): call(*all), 3)
            difference = (self.get(logits) - wanted).abs().max().item()
            print(
                f"  Vulkan's prompt of {length}: {took[0]:.2f} ms, {took[1]:.2f} ms with waiting; "
                f"captured {replayed[0]:.2f} ms, {replayed[1]:.2f} ms with waiting"
                + (f" (logits differ by {difference})" if difference else ""),
                flush=True,
            )
            if length in kernels:
                self.kernels(call)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--weights", nargs="+", choices=KINDS, default=["bf16"])
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--peers", nargs="*", choices=("captured", "compile", "eager"), default=["captured", "compile"])
    parser.add_argument("--batches", nargs="*", type=int, default=[1, 16, 32, 64])
    parser.add_argument("--prompts", nargs="*", type=int, default=[128, 512, 1024, 2048])
    parser.add_argument("--vulkan", choices=("beside", "only"))
    parser.add_argument("--kernels", nargs="*", type=int, default=[1], help="batches and prompts to list kernels of")
    arguments = parser.parse_args()
    if arguments.what == "write":
        write(arguments.folder, arguments.models, arguments.weights, arguments.chip)
    else:
        what = (arguments.models, arguments.weights, arguments.peers)
        run(arguments.folder, *what, arguments.batches, arguments.prompts, arguments.kernels, arguments.vulkan)


if __name__ == "__main__":
    main()
