# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch model with dynamic sizes: imported by `torch.export`, compiled, and run from a folder without PyTorch.

Needs PyTorch: pip install torch (CPU wheels are enough)

    python examples/pytorch_model.py [features of the model]
"""

import sys
import tempfile

import torch

from relax_mlir.frontends import torch as relax_torch
from relax_mlir.frontends.program import load_program


class Pooled(torch.nn.Module):
    """Attention over a sequence, then the mean over it."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.project = torch.nn.Linear(features, 3 * features)
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.project(x).chunk(3, dim=-1)
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return self.norm(x + mixed).mean(dim=1)


def main() -> None:
    features = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    torch.manual_seed(0)
    model = Pooled(features).eval()
    sizes = {"x": {0: "batch", 1: "length"}}
    program = relax_torch.export(model, (torch.randn(3, 5, features),), dynamic_shapes=sizes)
    print(relax_torch.explain(program))

    run = program.compile()
    inputs = [torch.randn(*shape, features) for shape in ((1, 1), (2, 9), (7, 30))]
    for x in inputs:
        torch.testing.assert_close(run(x), model(x).detach(), rtol=1e-3, atol=1e-4)
        print(f"batch {x.shape[0]}, length {x.shape[1]}: agrees with PyTorch")

    # The folder holds code and weights; whoever loads it needs neither PyTorch nor the compiler.
    with tempfile.TemporaryDirectory() as folder:
        program.export(folder)
        loaded = load_program(folder)
        for x in inputs:
            torch.testing.assert_close(torch.from_numpy(loaded(x.numpy())), run(x))
    print("the exported folder gives the same results for NumPy arrays")


if __name__ == "__main__":
    main()
