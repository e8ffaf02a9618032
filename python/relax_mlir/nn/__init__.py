# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as trees of modules, with symbolic shapes.

>>> class Mlp(nn.Module):
...     def __init__(self, features, hidden):
...         self.up = nn.Linear(features, hidden)
...         self.down = nn.Linear(hidden, features)
...     def forward(self, x):
...         return self.down(op.relu(self.up(x)))
>>> n = Sym("n")
>>> module = nn.export(Mlp(128, 256), {"forward": [Tensor((n, 128))]}, symbols={n: Range(1, 2048)})

A parameter becomes `relax.constant weight "up.weight"`: a tensor of the weight file, by its path in the tree.
"""

from .export import Kernel, export
from .layers import Embedding, LayerNorm, Linear, RMSNorm
from .module import Module, ModuleList, Parameter

__all__ = [
    "Embedding",
    "Kernel",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "RMSNorm",
    "export",
]
