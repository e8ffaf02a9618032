# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An exported folder called with PyTorch tensors through tvm_ffi alone, without the package relax_mlir.

`export` below stands for another machine, or for an earlier day. `use` is all that a program needs that runs the model:
it imports torch, safetensors and tvm_ffi (pip install apache-tvm-ffi). Tensors are not copied in either direction.

    python examples/load_from_pytorch.py [folder that `export` below wrote]
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def export(folder: str) -> None:
    """Compiles a linear layer for every batch size and writes it with its weights to a folder."""
    import numpy as np

    from relax_mlir import BlockBuilder, Range, Sym, Tensor, compile, op

    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 8), "f32", name="x")
    with bb.function("main", [x], symbols={n: Range(1, 64)}):
        weight, bias = op.weight("weight", Tensor((4, 8), "f32")), op.weight("bias", Tensor((4,), "f32"))
        bb.return_(op.relu(op.linear(x, weight, bias)))
    weights = {"weight": np.full((4, 8), 0.5, np.float32), "bias": np.arange(4, dtype=np.float32)}
    compile(bb.module(), weights=weights).export(folder)


def use(folder: Path) -> None:
    """Loads the shared library, binds the weights, and calls the function `main`."""
    import torch
    import tvm_ffi
    from safetensors.torch import load_file

    module = tvm_ffi.load_module(str(folder / "model.so"))
    weights = load_file(folder / "weights.safetensors")
    module.bind_weight(*(part for item in weights.items() for part in item))  # all of them together

    for n in (1, 3):
        x = torch.ones(n, 8)
        y = module.main(x)
        expected = torch.relu(torch.nn.functional.linear(x, weights["weight"], weights["bias"]))
        torch.testing.assert_close(torch.from_dlpack(y), expected)
        print(f"n = {n}: {tuple(y.shape)}, a {type(y).__module__}.{type(y).__name__}, agrees with PyTorch")

    # A destination after the arguments is written in place, and nothing is returned.
    out = torch.empty(3, 4)
    module.main(torch.ones(3, 8), out)
    print("written into a tensor of ours:", out[0].tolist())
    try:
        module.main(torch.ones(65, 8))
    except ValueError as error:
        print("65 rows:", str(error).splitlines()[0])
    print("relax_mlir was imported:", "relax_mlir" in sys.modules)


def main() -> None:
    if len(sys.argv) > 1:
        use(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        export(folder)
        subprocess.run([sys.executable, __file__, folder], check=True)


if __name__ == "__main__":
    main()
