# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same module on the CPU and on an NVIDIA GPU, for which nothing but the driver is needed.

Code for a GPU can be compiled and exported on any machine. Where there is no GPU, the example does that and says what
is missing to run it.

    python examples/gpu.py [rows] [target, as cuda:sm_90a; the GPU of this machine unless given]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from relax_mlir import BlockBuilder, Device, DeviceError, Module, Range, Sym, Tensor, compile, compile_code, op
from relax_mlir.export import export

FEATURES = 256
CALLS = 20


def build() -> Module:
    bb, n = BlockBuilder(), Sym("n")
    x, w = Tensor((n, FEATURES), "f32", name="x"), Tensor((FEATURES, FEATURES), "f32", name="w")
    with bb.function("main", [x, w], symbols={n: Range(1, 1 << 16)}):
        with bb.dataflow():
            y = bb.emit_output(op.softmax(op.matmul(x, w), axis=-1))
        bb.return_(y)
    return bb.module()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    target = sys.argv[2] if len(sys.argv) > 2 else "cuda"
    module = build()
    with tempfile.TemporaryDirectory() as folder:
        export(compile_code(module, "cuda:sm_90"), folder)
        print("exported for an sm_90:", ", ".join(sorted(path.name for path in Path(folder).iterdir())))

    try:
        device = Device("cuda")
    except DeviceError as error:
        print(f"not run, as there is no GPU to use: {error}")
        return
    print(f"running on {device}")

    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, FEATURES)).astype(np.float32)
    w = (rng.standard_normal((FEATURES, FEATURES)) / 16).astype(np.float32)
    expected = compile(module)["main"](x, w)

    run = compile(module, target=target)["main"]
    on_device = device.put(x), device.put(w)  # arguments and results are in the memory of the GPU
    result = device.get(run(*on_device))  # waits for the GPU, and copies to a NumPy array
    np.testing.assert_allclose(result, expected, rtol=1e-2, atol=1e-5)
    print("the results agree with those of the CPU")

    start = time.perf_counter()
    for _ in range(CALLS):
        y = run(*on_device)  # returns before the GPU is done
    device.get(y)
    print(f"{(time.perf_counter() - start) * 1e6 / CALLS:.0f} microseconds a call")


if __name__ == "__main__":
    main()
