# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text in a picture, with two models of PP-OCR (`pip download --no-deps rapidocr`): one finds lines, one reads them.

    python examples/ocr.py PP-OCRv6_det_small.onnx PP-OCRv6_rec_small.onnx page.png

Prints the lines from top to bottom. Both models are compiled once, for all sizes. It needs `pip install pillow`.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from PIL import Image

from relax_mlir.onnx import InferenceSession

LONGEST, HEIGHT = 960, 48  # pixels: the longer side of a picture, and lines that are read
INK, LINE = 0.3, 0.5  # probabilities: of a pixel of text, and on average of those of a line
GROWTH = 1.6  # the model finds the middle of lines
Runs = list[tuple[int, int]]


class Box(NamedTuple):
    """The first column and row, and those behind the last."""

    left: int
    top: int
    right: int
    bottom: int


def tensor(picture: Image.Image) -> np.ndarray:
    """A picture as the models take it: blue, green and red between -1 and 1."""
    pixels = np.asarray(picture, np.float32)[:, :, ::-1] / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def find(session: InferenceSession, picture: Image.Image) -> list[Box]:
    """The lines of text in a picture, from top to bottom."""
    scale = min(1.0, LONGEST / max(picture.size))
    width, height = (max(32, round(side * scale / 32) * 32) for side in picture.size)
    (likely,) = session.run(None, {session.get_inputs()[0].name: tensor(picture.resize((width, height)))})
    found = []
    for box in regions(likely[0, 0] > INK):
        columns, rows = box.right - box.left, box.bottom - box.top
        if min(columns, rows) < 3 or likely[0, 0, box.top : box.bottom, box.left : box.right].mean() < LINE:
            continue
        margin = columns * rows * GROWTH / (2 * (columns + rows))
        grown = np.add(box, [-margin, -margin, margin, margin]).reshape(2, 2) * picture.size / [width, height]
        found.append(Box(*np.clip(grown, 0, picture.size).round().astype(int).reshape(-1).tolist()))
    return sorted(found, key=lambda box: (box.top + box.bottom, box.left))


def regions(mask: np.ndarray) -> list[Box]:
    """Boxes around pixels that touch each other, found row by row."""
    done: list[Box] = []
    growing: list[tuple[Box, Runs]] = []  # with their pixels in the row before
    for row, pixels in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.pad(pixels.astype(np.int8), 1))).tolist()
        pairs = zip(edges[::2], edges[1::2])
        now: list[tuple[Box, Runs]] = [(Box(start, row, end, row + 1), [(start, end)]) for start, end in pairs]
        for box, before in growing:
            touched = [entry for entry in now if meet(before, entry[1])]
            if not touched:
                done.append(box)
                continue
            parts = np.asarray([box, *(part for part, _ in touched)])
            whole = Box(*parts[:, :2].min(0).tolist(), *parts[:, 2:].max(0).tolist())
            now = [entry for entry in now if entry not in touched]
            now.append((whole, [run for _, runs in touched for run in runs]))
        growing = now
    return [*done, *(box for box, _ in growing)]


def meet(first: Runs, second: Runs) -> bool:
    """Whether two rows share a column."""
    return any(start < right and left < end for start, end in first for left, right in second)


def read(session: InferenceSession, line: Image.Image) -> str:
    """The text of a line: the likeliest sign at each place, once for each run of equal ones; 0 is not a sign."""
    width = max(8, round(line.width * HEIGHT / line.height))
    (likely,) = session.run(None, {session.get_inputs()[0].name: tensor(line.resize((width, HEIGHT)))})
    signs = ["", *session.get_modelmeta().custom_metadata_map["character"].split("\n"), " "]
    best = likely[0].argmax(1)
    return "".join(signs[sign] for sign, before in zip(best, [0, *best[:-1]]) if sign != before)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("finder", "finds lines"), ("reader", "reads a line, and has its alphabet as metadata")):
        parser.add_argument(name, help=f"a model of PP-OCR that {what}")
    parser.add_argument("picture")
    options = parser.parse_args()
    page, reader = Image.open(options.picture).convert("RGB"), InferenceSession(options.reader)
    for box in find(InferenceSession(options.finder), page):
        print(read(reader, page.crop(box)))
