# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where somebody speaks in a WAV file, with a model of Silero VAD (`pip download --no-deps silero-vad`).

    python examples/vad.py silero_vad.onnx speech.wav
        0.42   3.10
        4.75   6.02

Each line is a segment, in seconds. The file has samples of 16 bits, at 8 or 16 kHz; of several channels, the first is
taken. Next to each window of samples, the model takes the end of the one before it, and a state.
"""

from __future__ import annotations

import argparse
import wave
from collections.abc import Iterator

import numpy as np

from relax_mlir.onnx import InferenceSession

START, STOP = 0.5, 0.35
"""Probabilities at which a segment starts, and below which it stops."""
PAUSE, SHORTEST = 0.1, 0.25
"""Seconds: shorter pauses belong to a segment, and shorter segments are dropped."""


def read(path: str) -> tuple[int, np.ndarray]:
    """The rate, and the samples between -1 and 1."""
    with wave.open(path, "rb") as file:
        rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if width != 2 or rate not in (8000, 16000):
            raise SystemExit(f"{path} has {8 * width} bits at {rate} Hz; expected 16 bits at 8000 or 16000 Hz")
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return rate, samples.reshape(-1, channels)[:, 0].astype(np.float32) / 32768


def probabilities(session: InferenceSession, samples: np.ndarray, rate: int) -> Iterator[float]:
    """How likely somebody speaks, for each window of 32 ms."""
    window, context = 512 * rate // 16000, 64 * rate // 16000
    samples = np.pad(samples, (context, -len(samples) % window))
    state = np.zeros((2, 1, 128), np.float32)
    for start in range(0, len(samples) - context, window):
        part = samples[None, start : start + context + window]
        output, state = session.run(None, {"input": part, "state": state, "sr": np.asarray(rate, np.int64)})
        yield float(output[0, 0])


def segments(likely: list[float], seconds: float) -> Iterator[tuple[float, float]]:
    """Start and end of each segment; `seconds` is the length of a window."""
    first = last = None
    for index, probability in enumerate([*likely, *[0.0] * (1 + int(PAUSE / seconds))]):
        if probability >= START or (first is not None and probability >= STOP):
            first, last = index if first is None else first, index + 1
        elif first is not None and last is not None and (index + 1 - last) * seconds >= PAUSE:
            if (last - first) * seconds >= SHORTEST:
                yield first * seconds, last * seconds
            first = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="silero_vad.onnx of the package silero-vad, version 5 or 6")
    parser.add_argument("wav", help="a WAV file")
    options = parser.parse_args()
    rate, samples = read(options.wav)
    likely = list(probabilities(InferenceSession(options.model), samples, rate))
    for start, end in segments(likely, 512 / 16000):
        print(f"{start:8.2f} {end:8.2f}")


if __name__ == "__main__":
    main()
