# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls on a real device, for all numbers of rows and for partial tiles, against PyTorch.

    python check_matmul.py write FOLDER [--chip sm_90a]    on this machine, which needs no GPU
    python check_matmul.py run FOLDER [--vulkan]           on the machine with the GPU; needs this file,
                                                           benchmarks/gpu/libraries.py (next to it), FOLDER,
                                                           PyTorch and apache-tvm-ffi

Code for "subgroup_32" or "subgroup_32_matrices" is checked through the GPU's Vulkan driver.

The values are small integers with exact sums, so results are bitwise equal.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "benchmarks/gpu"))
from libraries import load_library, load_runtime, runtime_function, write_library  # noqa: E402

ROWS = [*range(1, 300, 2), 64, 128, 256, 512, 777, 1024, 1025, 2100]
# layout of the second operand, columns, depth, dtype
PLAIN = [
    ("nk", 4096, 1024, "bf16"),
    ("nk", 4096, 1024, "f16"),
    ("kn", 4096, 1024, "bf16"),
    ("kn", 1000, 520, "f16"),
    ("nk", 200, 72, "bf16"),
    ("kn", 200, 72, "bf16"),
    ("nk", 8, 8, "bf16"),
    ("nk", 16904, 328, "bf16"),
    ("nk", 2056, 4104, "bf16"),
]
BATCHED = [("nk", 136, 128, "bf16"), ("kn", 72, 264, "bf16"), ("nk", 512, 2048, "f16")]


def _function(name: str, layout: str, columns: int, depth: int, dtype: str, batched: bool) -> str:
    b, dims = ("b, ", "?x") if batched else ("", "")
    x, y = (f"tensor<{dims}?x{n}x{dtype}, #relax.shape<[{b}m, {n}]>>" for n in (depth, columns))
    sizes = (columns, depth) if layout == "nk" else (depth, columns)
    shape = f", #relax.shape<[b, {sizes[0]}, {sizes[1]}]>" if batched else ""
    w = f"tensor<{dims}{sizes[0]}x{sizes[1]}x{dtype}{shape}>"
    if layout == "kn" or not batched:
        op = "matmul" if layout == "kn" else "linear"
        body = f"%0 = relax.{op} %x, %w : ({x}, {w}) -> {y}"
    else:
        turned = f"tensor<?x{depth}x{columns}x{dtype}, #relax.shape<[b, {depth}, {columns}]>>"
        body = f"%t = relax.permute_dims %w axes [0, 2, 1] : ({w}) -> {turned}\n"
        body += f"%0 = relax.matmul %x, %t : ({x}, {turned}) -> {y}"
    return f"relax.func @{name}(%x: {x}, %w: {w}) -> {y} {{\n{body}\nrelax.return %0 : {y}\n}}\n"


def _fused() -> str:
    """The epilogue is in the kernel, and another kernel also reads the sums."""
    x, r, y = (f"tensor<?x{n}xbf16, #relax.shape<[m, {n}]>>" for n in (512, 1032, 1032))
    w, c, mean = "tensor<1032x512xbf16>", "tensor<1032xbf16>", "tensor<?x1xbf16, #relax.shape<[m, 1]>>"
    return f"""relax.func @fused(%x: {x}, %w: {w}, %c: {c}, %r: {r}) -> ({y}, {mean}) {{
      %0 = relax.linear %x, %w, %c : ({x}, {w}, {c}) -> {y}
      %1 = relax.add %0, %r : ({y}, {r}) -> {y}
      %2 = relax.max %1 axis [1] keepdims : ({y}) -> {mean}
      relax.return %1, %2 : {y}, {mean}
    }}"""


def write(folder: Path, chip: str) -> None:
    import relax_mlir

    cases = [(f"plain{i}", *case, False) for i, case in enumerate(PLAIN)]
    cases += [(f"batched{i}", *case, True) for i, case in enumerate(BATCHED)]
    module = relax_mlir.parse("\n".join(_function(*case) for case in cases) + _fused())
    write_library(folder, "matmul", module, chip)
    (folder / "cases.json").write_text(json.dumps(cases))
    print(f"{len(cases) + 1} functions in {folder}")


def run(folder: Path, vulkan: bool) -> None:
    import torch
    import tvm_ffi

    copy = runtime_function(load_runtime(folder), "relax_rt_copy")
    module = load_library(folder, "matmul")
    types = {"bf16": torch.bfloat16, "f16": torch.float16}
    torch.backends.cuda.matmul.allow_tf32 = False
    bad = 0

    def integers(*shape: int, dtype: torch.dtype, most: int = 4) -> torch.Tensor:
        return torch.randint(-most, most + 1, shape, device="cuda").to(dtype)

    def call(name: str, *arguments: torch.Tensor):
        if vulkan:
            arguments = [copy(tvm_ffi.from_dlpack(argument.cpu().contiguous()), 7, 0) for argument in arguments]
        return module[name](*arguments)

    def compare(what: str, result, expected: torch.Tensor) -> None:
        nonlocal bad
        result = torch.from_dlpack(copy(result, 1, 0)).cuda() if vulkan else torch.from_dlpack(result)
        if not torch.equal(result, expected):
            bad += 1
            wrong = (result != expected).nonzero()
            if bad <= 20:
                print(f"{what}: {len(wrong)} of {expected.numel()} wrong, first {wrong[0].tolist()}", flush=True)

    for name, layout, columns, depth, dtype, batched in json.loads((folder / "cases.json").read_text()):
        for rows in ROWS:
            batch = (1 + rows % 3,) if batched else ()
            x = integers(*batch, rows, depth, dtype=types[dtype])
            w = integers(*batch, *((columns, depth) if layout == "nk" else (depth, columns)), dtype=types[dtype])
            wide = w.double().mT if layout == "nk" else w.double()
            expected = (x.double() @ wide).float().to(types[dtype])
            compare(f"{name} {layout} {rows}x{columns}x{depth} {dtype}", call(name, x, w), expected)
        print(f"{name}: {len(ROWS)} numbers of rows, {bad} wrong so far", flush=True)
    for rows in ROWS:
        sizes = (rows, 512), (1032, 512), (1032,), (rows, 1032)
        x, w, c, r = (integers(*size, dtype=torch.bfloat16, most=1) for size in sizes)
        expected = (x.double() @ w.double().T + c + r).to(torch.bfloat16)
        y, most = call("fused", x, w, c, r)
        compare(f"fused {rows}", y, expected)
        compare(f"fused {rows}, read later", most, expected.amax(1, keepdim=True))
    torch.cuda.synchronize()
    print(f"{bad} wrong")
    raise SystemExit(bad > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["write", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", default="sm_90a", help="what to write code for")
    parser.add_argument("--vulkan", action="store_true")
    args = parser.parse_args()
    if args.command == "write":
        write(args.folder, args.chip)
    else:
        run(args.folder, args.vulkan)


if __name__ == "__main__":
    main()
