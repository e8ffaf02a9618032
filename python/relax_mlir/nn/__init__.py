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
`load_state_dict` takes the values of an equal model of PyTorch, and `state_dict` has them for `compile`:

>>> model.load_state_dict(torch_model.state_dict())
>>> forward = compile(module, weights=model.state_dict())["forward"]
"""

from .export import Kernel, export
from .layers import (
    BatchNorm,
    Conv1d,
    Conv2d,
    Dropout,
    Embedding,
    GroupNorm,
    LayerNorm,
    Linear,
    MultiheadAttention,
    RMSNorm,
)
from .module import Buffer, LoadResult, Module, ModuleList, Parameter, Sequential

__all__ = [
    "BatchNorm",
    "Buffer",
    "Conv1d",
    "Conv2d",
    "Dropout",
    "Embedding",
    "GroupNorm",
    "Kernel",
    "LayerNorm",
    "Linear",
    "LoadResult",
    "Module",
    "ModuleList",
    "MultiheadAttention",
    "Parameter",
    "RMSNorm",
    "Sequential",
    "export",
]
