# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls by our own kernels and by cuBLASLt, called from compiled code: correctness and time.

    python cublaslt.py write FOLDER [--chip sm_90a]    on any machine, without a GPU
    python cublaslt.py run FOLDER                      on the GPU's; needs this file, libraries.py, the folder, PyTorch
                                                      and apache-tvm-ffi

Results are compared bitwise with PyTorch's, on small integers. Times are medians of device time in a graph, with
weights that are not in the cache. They determine when `libraries=["cublaslt:auto"]` uses the library.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from libraries import captured, load_library, load_runtime, milliseconds, write_library

ROWS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
WEIGHTS = ((4096, 4096), (14336, 4096), (4096, 14336), (2048, 2048), (8192, 2048), (1536, 576))
KINDS = [("bf16", ROWS, WEIGHTS), ("f16", (64, 512), WEIGHTS[:1]), ("f32", (1, 16, 64, 512), WEIGHTS[:1])]
CHECKED = [
    # type, activation, bias, whether the matrix is not transposed
    ("bf16", "", False, False),
    ("bf16", "relu", True, False),
    ("f16", "gelu_tanh", True, False),
    ("f16", "", True, True),
    ("f32", "", False, True),
    ("f32", "relu", True, False),
]


def _timed(prefix: str) -> str:
    functions = []
    for dtype, _, weights in KINDS:
        for n, k in weights:
            x, y = (f"tensor<?x{size}x{dtype}, #relax.shape<[m, {size}]>>" for size in (k, n))
            w = f"tensor<{n}x{k}x{dtype}>"
            functions.append(f"""relax.func @{prefix}_{dtype}_{n}_{k}(%x: {x}, %w: {w}) -> {y} {{
              %0 = relax.linear %x, %w : ({x}, {w}) -> {y}
              relax.return %0 : {y}
            }}""")
    return "\n".join(functions)


def _checked() -> str:
    functions = []
    for index, (dtype, activation, bias, plain) in enumerate(CHECKED):
        x, y = (f"tensor<?x?x{size}x{dtype}, #relax.shape<[b, m, {size}]>>" for size in (72, 200))
        w, v = f"tensor<{'72x200' if plain else '200x72'}x{dtype}>", f"tensor<200x{dtype}>"
        lines = [f"%0 = relax.{'matmul' if plain else 'linear'} %x, %w : ({x}, {w}) -> {y}"]
        if bias:
            lines.append(f"%1 = relax.add %0, %v : ({y}, {v}) -> {y}")
        if activation:
            lines.append(f"%2 = relax.{activation} %{int(bias)} : ({y}) -> {y}")
        last = 2 if activation else int(bias)
        functions.append(f"relax.func @checked{index}(%x: {x}, %w: {w}, %v: {v}) -> {y} {{")
        functions += [*lines, f"relax.return %{last} : {y}", "}"]
    return "\n".join(functions)


def write(folder: Path, chip: str) -> None:
    import relax_mlir

    for name, text, libraries in (("own", _timed("own"), ()), ("lib", _timed("lib") + _checked(), ("cublaslt",))):
        write_library(folder, name, relax_mlir.parse(text), chip, libraries)
    print(f"two libraries in {folder}")


def _check(library) -> int:
    """Checks results on small integers, whose sums are exact also in half precision."""
    import torch

    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    activations = {"": lambda x: x, "relu": torch.relu, "gelu_tanh": torch.nn.GELU("tanh")}
    bad = 0
    for index, (dtype, activation, bias, plain) in enumerate(CHECKED):
        for sizes in [(2, 3), (1, 1), (0, 4), (7, 41), (3, 100), (1, 1)]:

            def integers(*shape: int, dtype: str = dtype) -> torch.Tensor:
                return torch.randint(-2, 3, shape, device="cuda").to(types[dtype])

            x, w, v = integers(*sizes, 72), integers(*((72, 200) if plain else (200, 72))), integers(200)
            # Also at an address that is only aligned to an element.
            moved = torch.empty(x.numel() + 1, device="cuda", dtype=x.dtype)[1:].view(x.shape)
            moved.copy_(x)
            expected = x.double() @ (w.double() if plain else w.double().T) + (v.double() if bias else 0)
            expected = activations[activation](expected).to(types[dtype])
            tolerance = 0 if activation != "gelu_tanh" else 2e-2
            for argument in (x, moved):
                result = torch.from_dlpack(library[f"checked{index}"](argument, w, v))
                if not torch.allclose(result.double(), expected.double(), tolerance, tolerance):
                    bad += 1
                    print(f"{CHECKED[index]} of {sizes}: {(result - expected).abs().max()} off", flush=True)
    return bad


def run(folder: Path) -> None:
    import torch

    torch.zeros(1, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = False
    load_runtime(folder)
    own, library = (load_library(folder, name) for name in ("own", "lib"))
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{_check(library)} wrong of cuBLASLt's", flush=True)
    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    print(
        f"{'':>5} {'m':>5} {'n':>6} {'k':>6} {'own us':>9} {'library':>9} {'torch':>9} {'own/library':>12} {'error':>9}"
    )
    for dtype, all_rows, weights in KINDS:
        for n, k in weights:
            size = 4 if dtype == "f32" else 2
            copies = max(1, min(16, (256 << 20) // (size * n * k) + 1))
            w = torch.randn(copies, n, k, device="cuda", dtype=types[dtype])
            for m in all_rows:
                x = torch.randn(m, k, device="cuda", dtype=types[dtype])
                results, times = [], []
                for function in (
                    own[f"own_{dtype}_{n}_{k}"],
                    library[f"lib_{dtype}_{n}_{k}"],
                    torch.nn.functional.linear,
                ):
                    outs = []

                    def call(function=function, outs=outs, w=w, x=x) -> None:
                        outs[:] = [function(x, one) for one in w]

                    times.append(1e3 * milliseconds(captured(call), count=7) / copies)
                    results.append(torch.from_dlpack(function(x, w[-1])).float())
                error = max(float((result - results[2]).abs().max() / results[2].abs().max()) for result in results)
                ratio = times[0] / times[1]
                numbers = " ".join(f"{time:9.2f}" for time in times)
                print(f"{dtype:>5} {m:5} {n:6} {k:6} {numbers} {ratio:12.2f} {error:9.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=("write", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", default="sm_90a")
    arguments = parser.parse_args()
    if arguments.action == "write":
        write(arguments.folder, arguments.chip)
    else:
        run(arguments.folder)


if __name__ == "__main__":
    main()
