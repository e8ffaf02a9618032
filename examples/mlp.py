# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A multilayer perceptron made of `nn` modules, compiled once for every batch size.

The weights are given by their paths in the tree of modules, and a batch beyond the declared bound is refused.

    python examples/mlp.py
"""

import numpy as np

from relax_mlir import Range, Sym, Tensor, compile, nn, op


class Mlp(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        self.norm = nn.RMSNorm(features)
        self.up = nn.Linear(features, hidden, bias=True)
        self.down = nn.Linear(hidden, features)

    def forward(self, x):
        return x + self.down(op.relu(self.up(self.norm(x))))


def main() -> None:
    batch = Sym("batch")
    model = Mlp(64, 256)
    x = Tensor((batch, 64), "f32", name="x")
    module = nn.export(model, {"forward": [x]}, symbols={batch: Range(1, 1024)})

    # A parameter's name is its path in the tree of modules.
    rng = np.random.default_rng(0)
    weights = {
        name: (rng.standard_normal(parameter.shape) / 8).astype(np.float32)
        for name, parameter in model.named_parameters()
    }
    print("parameters:", ", ".join(weights))

    forward = compile(module, weights=weights)["forward"]
    for size in (1, 7, 300):
        x = rng.standard_normal((size, 64)).astype(np.float32)
        normed = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weights["norm.weight"]
        hidden = np.maximum(normed @ weights["up.weight"].T + weights["up.bias"], 0)
        expected = x + hidden @ weights["down.weight"].T
        np.testing.assert_allclose(forward(x), expected, rtol=1e-3, atol=1e-4)
        print(f"batch {size}: agrees with NumPy")

    try:
        forward(np.ones((2000, 64), np.float32))
    except ValueError as error:
        print("batch 2000:", str(error).splitlines()[0])


if __name__ == "__main__":
    main()
