# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokenizer of llama.cpp, from the library in the package `xllamacpp`, through its C interface.

Used to record references only; no test needs it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import xllamacpp

VERSION = f"llama.cpp of xllamacpp {xllamacpp.__version__}"


class _Parameters(ctypes.Structure):
    """`llama_model_params` with only `vocab_only` set. Larger than the real struct, which is passed in memory."""

    _fields_ = [("fields", ctypes.c_uint8 * 512)]
    VOCAB_ONLY = 2 * 8 + 5 * 4 + 4 + 4 * 8  # pointers, enums, padding, pointers


_LIBRARY = ctypes.CDLL(str(next(Path(xllamacpp.__file__).parent.glob("xllamacpp*.so"))))
_POINTER = ctypes.c_void_p
for _name, _result, _arguments in (
    ("llama_backend_init", None, []),
    ("llama_model_default_params", _Parameters, []),
    ("llama_model_load_from_file", _POINTER, [ctypes.c_char_p, _Parameters]),
    ("llama_model_free", None, [_POINTER]),
    ("llama_model_get_vocab", _POINTER, [_POINTER]),
    ("llama_vocab_is_eog", ctypes.c_bool, [_POINTER, ctypes.c_int32]),
    ("llama_vocab_is_control", ctypes.c_bool, [_POINTER, ctypes.c_int32]),
    ("llama_vocab_bos", ctypes.c_int32, [_POINTER]),
    ("llama_vocab_get_add_bos", ctypes.c_bool, [_POINTER]),
    (
        "llama_tokenize",
        ctypes.c_int32,
        [_POINTER, ctypes.c_char_p, ctypes.c_int32, _POINTER, ctypes.c_int32, ctypes.c_bool, ctypes.c_bool],
    ),
    ("llama_log_set", None, [_POINTER, _POINTER]),
):
    _function = getattr(_LIBRARY, _name)
    _function.restype, _function.argtypes = _result, _arguments

_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, _POINTER)(lambda *_: None)
_LIBRARY.llama_log_set(ctypes.cast(_SILENT, _POINTER), None)
_LIBRARY.llama_backend_init()


class Vocabulary:
    """The vocabulary that llama.cpp reads from metadata of a GGUF file."""

    def __init__(self, folder: Path, metadata: Mapping[str, Any]) -> None:
        self._size = len(metadata["tokenizer.ggml.tokens"])
        path = _write(folder / "vocabulary.gguf", metadata)
        parameters = _LIBRARY.llama_model_default_params()
        parameters.fields[_Parameters.VOCAB_ONLY] = 1
        self._model = _LIBRARY.llama_model_load_from_file(str(path).encode(), parameters)
        if not self._model:
            raise ValueError(f"llama.cpp cannot read {metadata.get('tokenizer.ggml.pre')}")
        self._vocabulary = _LIBRARY.llama_model_get_vocab(self._model)

    def close(self) -> None:
        _LIBRARY.llama_model_free(self._model)

    def encode(self, text: str, special: bool = True, begin: bool = True) -> list[int]:
        """The tokens of a text, after the BOS token, if there is one."""
        data = text.encode()
        tokens = (ctypes.c_int32 * (len(data) + 8))()
        count = _LIBRARY.llama_tokenize(self._vocabulary, data, len(data), tokens, len(tokens), begin, special)
        assert count >= 0
        return list(tokens[:count])

    def stops(self) -> list[int]:
        """The tokens that end an answer."""
        return [i for i in range(self._size) if _LIBRARY.llama_vocab_is_eog(self._vocabulary, i)]

    def bos(self) -> int | None:
        return (
            _LIBRARY.llama_vocab_bos(self._vocabulary) if _LIBRARY.llama_vocab_get_add_bos(self._vocabulary) else None
        )


def _write(path: Path, metadata: Mapping[str, Any]) -> Path:
    """A GGUF file without weights."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    for key, value in metadata.items():
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    writer.add_tensor("token_embd.weight", np.zeros((1, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
