# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model in a GGUF file, or in several: its tensors under the names of Hugging Face."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

import numpy as np

from ..errors import WeightError
from ..reading import reading
from .checkpoint import Checkpoint, CheckpointTensor, require
from .config import LlamaConfig
from .config_gguf import TENSORS
from .gguf_file import FORMATS, GGUFFile, TensorEntry, merged_tensors, open_parts

__all__ = ["FORMATS", "GGUFCheckpoint", "GGUFFile", "GGUFTensor", "hugging_face_name"]


class GGUFTensor(CheckpointTensor):
    def __init__(self, file: GGUFFile, name: str, entry: TensorEntry) -> None:
        super().__init__(name, entry.shape, FORMATS[entry.format][0])
        self._file = file
        self._entry = entry

    def dense(self) -> np.ndarray:
        data = self._file.read(self._entry.name)
        if self.format == "F32":
            return self._checked(data.view("<f4").reshape(self.shape))
        if self.format in ("F16", "F64"):
            values = data.view("<f2" if self.format == "F16" else "<f8").reshape(self.shape)
            with np.errstate(over="ignore"):  # values beyond f32 are reported as not finite
                return self._checked(values.astype(np.float32))
        if self.format == "BF16":
            return self._checked((data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(self.shape))
        quants = require("gguf.quants")
        constants = require("gguf.constants")
        with np.errstate(all="ignore"):  # non-finite scales are reported with the tensor's name
            values = quants.dequantize(data, constants.GGMLQuantizationType(self._entry.format))
        return self._checked(np.ascontiguousarray(values, np.float32).reshape(self.shape))

    def blocks(self) -> np.ndarray:
        _, block, size = FORMATS[self._entry.format]
        if block == 1:
            return super().blocks()
        return self._file.read(self._entry.name).reshape(*self.shape[:-1], self.shape[-1] // block, size)


# Parts of names in GGUF and in Hugging Face's checkpoints.
_GLOBAL = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    **{
        theirs: f"{'self_attn' if theirs.startswith('attn') else 'mlp'}.{projection}"
        for projection, theirs in TENSORS.items()
    },
}
_FACTORS = "rope_freqs.weight"


def hugging_face_name(name: str) -> str:
    """The name of a GGUF tensor in a Hugging Face checkpoint; unknown names stay."""
    stem, _, kind = name.rpartition(".")
    if stem in _GLOBAL:
        return f"{_GLOBAL[stem]}.{kind}"
    parts = stem.split(".")
    if len(parts) == 3 and parts[0] == "blk" and parts[2] in _LAYER:
        return f"model.layers.{parts[1]}.{_LAYER[parts[2]]}.{kind}"
    return name


class GGUFCheckpoint(Checkpoint):
    """A model in GGUF."""

    def __init__(self, path: str | Path) -> None:
        files = open_parts(path)
        self.path = Path(path)
        self.metadata = files[0].metadata
        self._shapes = {}
        self._entries = {}
        for name, (file, entry) in merged_tensors(files).items():
            if hugging_face_name(name) == name and name.startswith(("model.", "lm_head.")):
                # The name would denote a different tensor, whose rows GGUF has in another order.
                raise WeightError(f"tensor '{name}' of '{file.path}' has a name of Hugging Face; expected one of GGUF")
            self._shapes[name] = entry.shape
            self._entries[hugging_face_name(name)] = (file, entry)

    def config(self) -> LlamaConfig:
        with reading(self.path):
            config = LlamaConfig.from_gguf(self.metadata, self._shapes)
            if _FACTORS in self._entries:
                factors = self.tensor(_FACTORS).dense()
                config = dataclasses.replace(config, rope_factors=tuple(map(float, factors.ravel())))
            return config

    def names(self) -> Collection[str]:
        return self._entries.keys()

    def tensor(self, name: str) -> CheckpointTensor:
        if name not in self._entries:
            raise WeightError(f"'{self.path}' has no tensor '{name}'")
        file, entry = self._entries[name]
        return GGUFTensor(file, name, entry)

    def is_irrelevant(self, name: str) -> bool:
        # The factors are in the configuration, from which the angle tables of some files follow.
        return name == _FACTORS or name.endswith(".attn_rot_embd.weight")

    def name_in_file(self, name: str) -> str:
        return self._entries[name][1].name
