# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused memory-bound kernels on a GPU: their share of the memory bandwidth, compared with PyTorch.

    python kernels.py write FOLDER [--chip sm_90a]    on any machine, without a GPU
    python kernels.py run FOLDER [--rows 4096]        on the GPU's; needs this file, libraries.py, the folder,
                                                      PyTorch and apache-tvm-ffi

Rows have 4096 bf16 elements. A fraction is the bytes that must be moved divided by the time, relative to a copy of
1 GiB; the inputs cycle through more memory than the cache.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from libraries import captured, load_library, load_runtime, milliseconds, write_library

HEADS, SIZE = 32, 128
WIDTH = HEADS * SIZE
TYPES = {
    "x": f"tensor<?x{WIDTH}xbf16, #relax.shape<[n, {WIDTH}]>>",
    "heads": f"tensor<1x?x{HEADS}x{SIZE}xbf16, #relax.shape<[1, n, {HEADS}, {SIZE}]>>",
    "table": f"tensor<?x{SIZE // 2}xf32, #relax.shape<[n, {SIZE // 2}]>>",
    "vector": f"tensor<{WIDTH}xbf16>",
}

# For each function: the kinds of its parameters a, b, c, its body, and the kinds of its results %0, %1.
FUNCTIONS = {
    "rms_norm": (
        ("x", "x", "vector"),
        """%0 = relax.add %a, %b : ({x}, {x}) -> {x}
        %1 = relax.rms_norm %0 weight %c axes [-1] : ({x}, {vector}) -> {x}""",
        ("x", "x"),
    ),
    "softmax": (("x",), "%0 = relax.softmax %a axis -1 : ({x}) -> {x}", ("x",)),
    "swiglu": (
        ("x", "x"),
        """%1 = relax.silu %a : ({x}) -> {x}
        %0 = relax.multiply %1, %b : ({x}, {x}) -> {x}""",
        ("x",),
    ),
    "gelu_bias": (
        ("x", "vector"),
        """%1 = relax.add %a, %b : ({x}, {vector}) -> {x}
        %0 = relax.gelu %1 : ({x}) -> {x}""",
        ("x",),
    ),
    "rotary": (
        ("heads", "table", "table"),
        "%0 = relax.rotary_embedding %a cos %b sin %c : ({heads}, {table}, {table}) -> {heads}",
        ("heads",),
    ),
}


def text(name: str) -> str:
    parameters, body, results = FUNCTIONS[name]
    named = ", ".join(f"%{letter}: {TYPES[kind]}" for letter, kind in zip("abc", parameters, strict=False))
    types = ", ".join(TYPES[kind] for kind in results)
    return f"""relax.func @{name}({named}) -> ({types}) {{
      {body.format(**TYPES)}
      relax.return {", ".join(f"%{i}" for i in range(len(results)))} : {types}
    }}"""


def write(folder: Path, chip: str) -> None:
    import relax_mlir

    write_library(folder, "kernels", relax_mlir.parse("\n".join(map(text, FUNCTIONS))), chip)


def run(folder: Path, rows: int) -> None:
    import torch

    load_runtime(folder)
    module = load_library(folder, "kernels")
    functional = torch.nn.functional

    def rms_norm(x, y, g):
        total = x + y
        wide = total.float()
        return total, (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5) * g.float()).to(x.dtype)

    def rotary(x, cos, sin):
        a, b = x.float().chunk(2, -1)
        cos, sin = cos[:, None], sin[:, None]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    peers = {
        "rms_norm": rms_norm,
        "softmax": lambda x: functional.softmax(x, -1),
        "swiglu": lambda x, y: functional.silu(x) * y,
        "gelu_bias": lambda x, g: functional.gelu(x + g),
        "rotary": rotary,
    }
    make = {
        "x": lambda: torch.randn(rows, WIDTH, device="cuda").bfloat16(),
        "heads": lambda: torch.randn(1, rows, HEADS, SIZE, device="cuda").bfloat16(),
        "table": lambda: torch.randn(rows, SIZE // 2, device="cuda"),
        "vector": lambda: torch.randn(WIDTH, device="cuda").bfloat16(),
    }

    def median(call, sets) -> float:
        """Microseconds of device time per call, from a graph with a call for each set of inputs."""
        return 1e3 * milliseconds(captured(lambda: [call(*values) for values in sets])) / len(sets)

    places = [torch.empty(1 << 29, dtype=torch.bfloat16, device="cuda") for _ in range(2)]
    rate = 2 * places[0].nbytes / median(torch.Tensor.copy_, [places])
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: a copy moves {rate / 1e6:.2f} TB/s")
    del places
    for name, (parameters, _, results) in FUNCTIONS.items():
        values = [make[kind]() for kind in parameters]
        found, wanted = module[name](*values), peers[name](*values)
        pairs = zip(found, wanted, strict=True) if len(results) > 1 else [(found, wanted)]
        for one, other in pairs:
            torch.testing.assert_close(torch.from_dlpack(one).float(), other.float(), atol=0.05, rtol=0.05)
        moved = sum(value.nbytes for value in values) + len(results) * rows * WIDTH * 2
        sets = [[make[kind]() for kind in parameters] for _ in range(max(1, (256 << 20) // moved))]
        ours, theirs = median(module[name], sets), median(torch.compile(peers[name]), sets)
        peer = f"PyTorch compile {theirs:7.1f} µs ({theirs / ours:.2f} ×)"
        print(f"{name:10} {ours:7.1f} µs, {100 * moved / ours / rate:3.0f} %; {peer}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["write", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", default="sm_90a", help="what to write code for")
    parser.add_argument("--rows", type=int, default=4096)
    arguments = parser.parse_args()
    if arguments.command == "write":
        write(arguments.folder, arguments.chip)
    else:
        run(arguments.folder, arguments.rows)


if __name__ == "__main__":
    main()
