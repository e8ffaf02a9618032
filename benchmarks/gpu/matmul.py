# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls on a GPU, kernel by kernel, compared with PyTorch.

    python matmul.py write FOLDER [--tool relax-opt] [--weights bf16 q4 q8 fp8] on any machine, without a GPU
    python matmul.py run FOLDER                                                 on the GPU's; needs this file,
                                                                                libraries.py, the folder and PyTorch

The second command checks each result and prints medians of device time: kernels run from a graph, with weights that are
not in the cache. 4-bit and 8-bit weights are in groups of 32 with an f16 scale, fp8 weights are E4M3 with a scale for
each output; PyTorch's are always bf16. `--rows` and `--sizes 8192x8192` select the cases.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import math
import re
import subprocess
from pathlib import Path

from libraries import captured, milliseconds

ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 512, 2048)
WEIGHTS = ((4096, 4096), (14336, 4096), (4096, 14336), (2048, 2048), (8192, 2048), (576, 1536))

KERNEL = """
func.func @matmul(%x: memref<{m}x{k}xbf16>, %w: memref<{n}x{k}xbf16>, %out: memref<{m}x{n}xbf16>) {{
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<{m}x{k}xbf16> to tensor<{m}x{k}xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<{n}x{k}xbf16> to tensor<{n}x{k}xbf16>
  %2 = bufferization.to_tensor %out restrict writable : memref<{m}x{n}xbf16> to tensor<{m}x{n}xbf16>
  %3 = tensor.empty() : tensor<{m}x{n}xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %5 = linalg.generic {{
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  }} ins(%0, %1 : tensor<{m}x{k}xbf16>, tensor<{n}x{k}xbf16>) outs(%4 : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %8 = arith.extf %a : bf16 to f32
    %9 = arith.extf %b : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }} -> tensor<{m}x{n}xf32>
  %6 = linalg.generic {{
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  }} ins(%5 : tensor<{m}x{n}xf32>) outs(%2 : tensor<{m}x{n}xbf16>) {{
  ^bb0(%a: f32, %before: bf16):
    %8 = arith.truncf %a : f32 to bf16
    linalg.yield %8 : bf16
  }} -> tensor<{m}x{n}xbf16>
  bufferization.materialize_in_destination %6 in restrict writable %out
      : (tensor<{m}x{n}xbf16>, memref<{m}x{n}xbf16>) -> ()
  return
}}
"""

# The same with groups of 32 codes and a scale: two 4-bit codes in each of 16 bytes, or an 8-bit code in each of 32.
QUANTISED = """
#codes = affine_map<(n, b, h, j) -> (n, b, j)>
#scales = affine_map<(n, b, h, j) -> (n, b)>
#all = affine_map<(n, b, h, j) -> (n, b, h, j)>
func.func @matmul(%x: memref<{m}x{b}x{h}x{j}xbf16>, %w: memref<{n}x{b}x{j}xi8>, %s: memref<{n}x{b}xf16>,
                  %out: memref<{m}x{n}xbf16>) {{
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<{m}x{b}x{h}x{j}xbf16> to tensor<{m}x{b}x{h}x{j}xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<{n}x{b}x{j}xi8> to tensor<{n}x{b}x{j}xi8>
  %2 = bufferization.to_tensor %s restrict : memref<{n}x{b}xf16> to tensor<{n}x{b}xf16>
  %3 = bufferization.to_tensor %out restrict writable : memref<{m}x{n}xbf16> to tensor<{m}x{n}xbf16>
  %4 = tensor.empty() : tensor<{n}x{b}x{h}x{j}xbf16>
  %5 = linalg.generic {{
    indexing_maps = [#codes, #scales, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  }} ins(%1, %2 : tensor<{n}x{b}x{j}xi8>, tensor<{n}x{b}xf16>) outs(%4 : tensor<{n}x{b}x{h}x{j}xbf16>) {{
  ^bb0(%code: i8, %scale: f16, %before: bf16):
    {number}
    %14 = arith.extf %scale : f16 to f32
    %15 = arith.mulf %13, %14 : f32
    %16 = arith.truncf %15 : f32 to bf16
    linalg.yield %16 : bf16
  }} -> tensor<{n}x{b}x{h}x{j}xbf16>
  %6 = tensor.empty() : tensor<{m}x{n}xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %8 = linalg.generic {{
    indexing_maps = [affine_map<(i, n, b, h, j) -> (i, b, h, j)>, affine_map<(i, n, b, h, j) -> (n, b, h, j)>,
                     affine_map<(i, n, b, h, j) -> (i, n)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
  }} ins(%0, %5 : tensor<{m}x{b}x{h}x{j}xbf16>, tensor<{n}x{b}x{h}x{j}xbf16>) outs(%7 : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  }} -> tensor<{m}x{n}xf32>
  %9 = linalg.generic {{
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  }} ins(%8 : tensor<{m}x{n}xf32>) outs(%3 : tensor<{m}x{n}xbf16>) {{
  ^bb0(%a: f32, %before: bf16):
    %10 = arith.truncf %a : f32 to bf16
    linalg.yield %10 : bf16
  }} -> tensor<{m}x{n}xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out
      : (tensor<{m}x{n}xbf16>, memref<{m}x{n}xbf16>) -> ()
  return
}}
"""

# 8-bit floats, and a scale for each output, which multiplies the sums.
SCALED = """
func.func @matmul(%x: memref<{m}x{k}xbf16>, %w: memref<{n}x{k}xf8E4M3FN>, %s: memref<{n}xf32>,
                  %out: memref<{m}x{n}xbf16>) {{
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %x restrict : memref<{m}x{k}xbf16> to tensor<{m}x{k}xbf16>
  %1 = bufferization.to_tensor %w restrict : memref<{n}x{k}xf8E4M3FN> to tensor<{n}x{k}xf8E4M3FN>
  %2 = bufferization.to_tensor %s restrict : memref<{n}xf32> to tensor<{n}xf32>
  %3 = bufferization.to_tensor %out restrict writable : memref<{m}x{n}xbf16> to tensor<{m}x{n}xbf16>
  %4 = tensor.empty() : tensor<{n}x{k}xbf16>
  %5 = linalg.generic {{
    indexing_maps = [affine_map<(j, k) -> (j, k)>, affine_map<(j, k) -> (j, k)>],
    iterator_types = ["parallel", "parallel"]
  }} ins(%1 : tensor<{n}x{k}xf8E4M3FN>) outs(%4 : tensor<{n}x{k}xbf16>) {{
  ^bb0(%code: f8E4M3FN, %before: bf16):
    %10 = arith.extf %code : f8E4M3FN to bf16
    linalg.yield %10 : bf16
  }} -> tensor<{n}x{k}xbf16>
  %6 = tensor.empty() : tensor<{m}x{n}xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %8 = linalg.generic {{
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  }} ins(%0, %5 : tensor<{m}x{k}xbf16>, tensor<{n}x{k}xbf16>) outs(%7 : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: bf16, %c: bf16, %sum: f32):
    %10 = arith.extf %a : bf16 to f32
    %11 = arith.extf %c : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %sum, %12 : f32
    linalg.yield %13 : f32
  }} -> tensor<{m}x{n}xf32>
  %9 = linalg.generic {{
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  }} ins(%8, %2 : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%3 : tensor<{m}x{n}xbf16>) {{
  ^bb0(%a: f32, %scale: f32, %before: bf16):
    %10 = arith.mulf %a, %scale : f32
    %11 = arith.truncf %10 : f32 to bf16
    linalg.yield %11 : bf16
  }} -> tensor<{m}x{n}xbf16>
  bufferization.materialize_in_destination %9 in restrict writable %out
      : (tensor<{m}x{n}xbf16>, memref<{m}x{n}xbf16>) -> ()
  return
}}
"""

NUMBERS = {
    "q4": """%half = linalg.index 2 : index
    %first = arith.constant 0 : index
    %four = arith.constant 4 : i8
    %fifteen = arith.constant 15 : i8
    %eight = arith.constant 8.0 : f32
    %high = arith.shrui %code, %four : i8
    %low = arith.andi %code, %fifteen : i8
    %is_low = arith.cmpi eq, %half, %first : index
    %nibble = arith.select %is_low, %low, %high : i8
    %12 = arith.uitofp %nibble : i8 to f32
    %13 = arith.subf %12, %eight : f32""",
    "q8": "%13 = arith.sitofp %code : i8 to f32",
}
BYTES = {"bf16": 2.0, "q4": 0.5625, "q8": 1.0625, "fp8": 1.0}
"""Bytes per weight, including its share of a scale."""

# --- compilation


def _text(m: int, n: int, k: int, weights: str) -> str:
    if weights == "bf16":
        return KERNEL.format(m=m, n=n, k=k)
    if weights == "fp8":
        return SCALED.format(m=m, n=n, k=k)
    h = 2 if weights == "q4" else 1
    return QUANTISED.format(m=m, n=n, b=k // 32, h=h, j=32 // h, number=NUMBERS[weights])


def _opt(tool: str, text: str, *passes: str) -> str:
    return subprocess.run([tool, *passes], input=text, capture_output=True, text=True, check=True).stdout


def _unescape(text: str) -> bytes:
    data = re.sub(rb"\\([0-9A-F]{2}|\\)", lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1], 16)]), text.encode())
    return data.rstrip(b"\0")


def _launches(text: str) -> list[dict]:
    """The launches of a function, with static sizes."""
    constants = {name: int(value) for name, value in re.findall(r"(%\S+) = arith.constant (-?\d+) : ", text)}
    parameters = re.search(r"func\.func @\w+\(.*?\)", text)[0]
    names = ("x", "w", "s", "out") if "%arg3" in parameters else ("x", "w", "out")
    roots = {f"%arg{i}": name for i, name in enumerate(names)}
    for name, source in re.findall(r"(%\S+) = memref.collapse_shape (%\S+) ", text):
        roots[name] = roots[source]
    maps = _tensor_maps(text)
    launches = []
    for launch in re.findall(r"gpu\.launch_func .*", text):
        kernel, grid, block = re.search(r"::@(\S+) blocks in \((.*?)\) threads in \((.*?)\)", launch).groups()
        shared = re.search(r"dynamic_shared_memory_size (%\S+)", launch)
        params = []
        for value, type in re.findall(r"(%[^\s,(]+) : ([^,)]+<[^>]*>|[\w!.]+)", launch.partition(" args(")[2]):
            if value in maps:
                source, *sizes = maps[value]
                params.append([roots[source], *sizes])
                continue
            if not type.startswith("memref"):
                params.append(constants[value])
                continue
            shape = [int(size) for size in re.findall(r"(\d+)x", type)]
            strides = [1]
            for size in reversed(shape[1:]):
                strides.insert(0, strides[0] * size)
            params += [roots[value], roots[value], 0, *shape, *strides]
        launches.append(
            {
                "kernel": kernel,
                "grid": [constants[name.strip()] for name in grid.split(",")],
                "block": [constants[name.strip()] for name in block.split(",")],
                "shared": constants[shared[1]] if shared else 0,
                "params": params,
            }
        )
    return launches


def _tensor_maps(text: str) -> dict[str, tuple]:
    """The parameters of tensor maps: the tensor, its sizes, and the sizes of the box."""
    casts = re.findall(r"(%\S+) = builtin.unrealized_conversion_cast (%\S+) : (.*?) to (.*)", text)
    sources = {name: (source, type, map) for name, source, type, map in casts}
    maps = {}
    for name, (source, _, target) in sources.items():
        if target == "!llvm.ptr":
            tensor, type, map = sources[source]
            shape, box = (
                [int(n) for n in re.findall(r"(\d+)x", re.search(r"memref<[^,>]*", t)[0])] for t in (type, map)
            )
            maps[name] = (tensor, shape, box)
    return maps


def write(folder: Path, tool: str, chip: str, kinds: list[str], sizes: list[tuple[int, int]], rows: list[int]) -> None:
    """Writes the code of all sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for (n, k), kind in itertools.product(sizes, kinds):
        for m in rows:
            text = _opt(tool, _text(m, n, k, kind), f"-relax-gpu-bufferize=chip={chip}")
            outlined = _opt(tool, text, "-relax-gpu-outline-launches", "-canonicalize", "-cse")
            code = _opt(tool, text, f"-relax-cuda-to-llvm=chip={chip}")
            name = f"{kind}m{m}n{n}k{k}.ptx"
            image = re.search(r'relax\.gpu_image\S*\("((?:[^"\\]|\\.)*)"', code)[1]
            (folder / name).write_bytes(_unescape(image))
            cases.append({"m": m, "n": n, "k": k, "weights": kind, "code": name, "launches": _launches(outlined)})
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    print(f"{len(cases)} cases in {folder}")


# --- measurement


class _Driver:
    """The CUDA driver, in the context that PyTorch made."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name: str, *args) -> None:
        result = getattr(self.library, name)(*args)
        if result:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value and text.value.decode()}")

    def load(self, code: bytes, kernel: str, shared: int) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code + b"\0"))
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        if shared:  # static memory counts as well
            self.call("cuFuncSetAttribute", function, 8, shared)
        return function

    def make_map(self, data: int, shape: list[int], box: list[int]) -> ctypes.Array:
        """The tensor map of a bf16 tensor, as kernels take it."""
        space = ctypes.create_string_buffer(192)
        place = (ctypes.addressof(space) + 63) // 64 * 64
        sizes, strides = shape[::-1], [2 * math.prod(shape[-i:]) for i in range(1, len(shape) + 1)]
        longs, ints = ctypes.c_uint64 * len(shape), ctypes.c_uint32 * len(shape)
        arrays = longs(*sizes), longs(*strides), ints(*box[::-1]), ints(*[1] * len(shape))
        place = ctypes.c_void_p(place)
        self.call("cuTensorMapEncodeTiled", place, 9, len(shape), ctypes.c_void_p(data), *arrays, 0, 3, 2, 0)
        space.place = place.value
        return space

    def launch(self, function: ctypes.c_void_p, launch: dict, data: dict[str, int], stream: int) -> None:
        words = (ctypes.c_int64 * len(launch["params"]))()
        places = (ctypes.c_void_p * len(words))(*(ctypes.addressof(words) + 8 * i for i in range(len(words))))
        maps = []  # kept alive until the launch has read them
        for i, param in enumerate(launch["params"]):
            if isinstance(param, list):
                maps.append(self.make_map(data[param[0]], *param[1:]))
                places[i] = maps[-1].place
            else:
                words[i] = data.get(param, param)
        sizes = (ctypes.c_uint(size) for size in (*launch["grid"], *launch["block"], launch["shared"]))
        self.call("cuLaunchKernel", function, *sizes, ctypes.c_void_p(stream), places, None)


def _microseconds(launch_all, count: int) -> float:
    """The device time of one of `count` launches, that `launch_all` makes."""
    return 1e3 * milliseconds(captured(launch_all), count=9) / count


def _weights(kind: str, copies: int, n: int, k: int):
    """Codes and scales of `copies` matrices, and the decoded values of some of them, including the last."""
    import torch

    if kind == "bf16":
        weights = torch.randn(copies, n, k, device="cuda", dtype=torch.bfloat16)
        return weights, weights, weights
    some = max(1, min(copies, (256 << 20) // (2 * n * k) + 1))
    if kind == "fp8":
        codes = torch.randn(copies, n, k, device="cuda").to(torch.float8_e4m3fn)
        scales = torch.rand(copies, n, device="cuda")
        return codes, scales, (codes[-some:].float() * scales[-some:, :, None]).bfloat16()
    size = 16 if kind == "q4" else 32
    codes = torch.randint(-128, 128, (copies, n, k // 32, size), device="cuda", dtype=torch.int8)
    scales = torch.rand(copies, n, k // 32, device="cuda", dtype=torch.float16)
    numbers = codes[-some:]
    if kind == "q4":
        bits = numbers.view(torch.uint8)
        numbers = torch.cat([bits & 15, bits >> 4], -1).to(torch.int8) - 8
    weights = (numbers * scales[-some:, ..., None].float()).bfloat16()
    return codes, scales, weights.reshape(some, n, k)


def run(folder: Path) -> None:
    """Checks and measures the kernels that `write` has written."""
    import torch

    torch.zeros(1, device="cuda")
    torch.manual_seed(0)
    driver = _Driver()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(
        f"{'m':>5} {'n':>6} {'k':>6}      {'us':>9} {'torch':>9} {'ratio':>6} {'TFLOP/s':>8} {'GB/s':>6} {'error':>8}"
    )
    for case in json.loads((folder / "cases.json").read_text()):
        m, n, k = case["m"], case["n"], case["k"]
        kind = case["weights"]
        copies = max(1, min(64, int((256 << 20) / (BYTES[kind] * n * k)) + 1))
        x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        codes, scales, weights = _weights(kind, copies, n, k)
        out = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        code = (folder / case["code"]).read_bytes()
        try:
            functions = [driver.load(code, launch["kernel"], launch["shared"]) for launch in case["launches"]]

            def ours(codes=codes, scales=scales, functions=functions, case=case, x=x, out=out):
                for w, s in zip(codes, scales, strict=True):
                    data = {"x": x.data_ptr(), "w": w.data_ptr(), "s": s.data_ptr(), "out": out.data_ptr()}
                    for function, launch in zip(functions, case["launches"], strict=True):
                        driver.launch(function, launch, data, torch.cuda.current_stream().cuda_stream)

            def theirs(weights=weights, x=x, out=out):
                for w in weights:  # fewer, if ours are quantized
                    torch.matmul(x, w.T, out=out)

            ours()
            torch.cuda.synchronize()
            expected = x.float() @ weights[-1].float().T
            error = ((out.float() - expected).abs().max() / expected.abs().max()).item()
            mine = _microseconds(ours, copies)
            torchs = _microseconds(theirs, len(weights))
        except RuntimeError as problem:
            print(f"{m:5} {n:6} {k:6} {kind:>4} {problem}")
            continue
        flops, size = 2 * m * n * k, BYTES[kind] * n * k + 2 * (m * k + m * n)
        wrong = "" if error < 1e-2 else "  WRONG"
        print(
            f"{m:5} {n:6} {k:6} {kind:>4} {mine:9.2f} {torchs:9.2f} {torchs / mine:6.2f} {flops / mine * 1e-6:8.1f} "
            f"{size / mine * 1e-3:6.0f} {error:8.1e}{wrong}",
            flush=True,
        )


def _size(text: str) -> tuple[int, int]:
    n, k = text.split("x")
    return int(n), int(k)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["write", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", default="relax-opt", help="the compiler, for writing")
    parser.add_argument("--chip", default="sm_80", help="what to write code for")
    parser.add_argument("--weights", nargs="+", choices=BYTES, default=["bf16"], help="the kinds of weights")
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--sizes", nargs="+", type=_size, default=WEIGHTS, help="of the weights, as 8192x8192")
    args = parser.parse_args()
    if args.command == "write":
        write(args.folder, args.tool, args.chip, args.weights, args.sizes, args.rows)
    else:
        run(args.folder)


if __name__ == "__main__":
    main()
