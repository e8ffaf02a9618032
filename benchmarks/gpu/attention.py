# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoder attention on a GPU, compared with PyTorch's scaled_dot_product_attention.

    python attention.py write FOLDER [--chip sm_90a]    on any machine
    python attention.py run FOLDER                      on the one with the GPU; needs this file, libraries.py, the
                                                        folder, PyTorch and apache-tvm-ffi

One layer in bf16, with grouped heads, replayed from a CUDA graph; inputs cycle through more memory than the L2 cache.
Steps attend to all rows of the cache, prompts causally to themselves, so that neither side needs a mask. The peer is
the fastest of PyTorch's back ends, each of which is timed. Results are compared.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from libraries import captured, load_library, load_runtime, milliseconds_in_turns, write_library

MODELS = {"135m": (3, 3, 64), "1b": (8, 4, 64), "8b": (8, 4, 128)}
"""Key heads, query heads per key head, elements of a head."""
CASES = [
    # sequences, queries of each, rows of the cache
    (1, 1, 1280),
    (1, 1, 8192),
    (16, 1, 1280),
    (1, 128, 128),
    (1, 1024, 1024),
    (1, 4096, 4096),
]
L2_BYTES = 128 << 20
"""More than the L2 cache of any card."""


def write(folder: Path, chip: str) -> None:
    from relax_mlir import BlockBuilder, Sym, Tensor, op
    from relax_mlir.models import kernels

    bb = BlockBuilder()
    b, n, c, t, m = map(Sym, "bnctm")
    for name, (heads, group, size) in MODELS.items():
        caches = [Tensor((1, b, heads, size, c), "bf16"), Tensor((1, b, c, heads, size), "bf16")]
        for make, length, count in ((kernels.attend, n, t), (kernels.attend_at, 1, m)):
            kernel = make(1, heads, group, size, size**-0.5, "bf16")
            bb.add_kernels(kernel.text)
            query = Tensor((b, length, heads, group, size), "bf16")
            function = f"{'step' if length == 1 else 'prompt'}_{name}"
            with bb.function(function, [query, *caches, Tensor((b,), "i64"), count]) as built:
                bb.return_(op.call_tir(kernel.name, built.params[:4], query, sym=[0, count]))
    write_library(folder, "attention", bb.module(), chip)


def run(folder: Path) -> None:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    warnings.filterwarnings("ignore", module=__name__)  # reasons why a back end does not support a case
    load_runtime(folder)
    module = load_library(folder, "attention")
    backends = {
        "flash": SDPBackend.FLASH_ATTENTION,
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
        "math": SDPBackend.MATH,
    }
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; µs of a layer")

    def case(name: str, batch: int, length: int, rows: int) -> None:
        heads, group, size = MODELS[name]
        is_step = length == 1

        def inputs():
            q = torch.randn(batch, length, heads, group, size, device="cuda").bfloat16()
            k, v = (torch.randn(batch, rows, heads, size, device="cuda").bfloat16() for _ in "kv")
            return q, k.permute(0, 2, 3, 1).contiguous()[None], v[None].contiguous()

        nbytes = 2 * 2 * batch * rows * heads * size
        sets = [inputs() for _ in range(max(2, min(64, L2_BYTES // nbytes + 1)))]
        # A step at the last row of the cache; a prompt that starts at the first one.
        start = torch.full((batch,), rows - 1 if is_step else 0, device="cuda", dtype=torch.int64)
        function, count = module[f"{'step' if is_step else 'prompt'}_{name}"], rows if is_step else 0

        def ours(q, keys, values):
            return function(q, keys, values, start, count)

        def turned(q, keys, values):
            """The operands in PyTorch's layout: [b, heads, n, d]."""
            q = q.reshape(batch, length, heads * group, size).transpose(1, 2).contiguous()
            return q, keys[0].transpose(2, 3).contiguous(), values[0].transpose(1, 2).contiguous()

        theirs_sets = [turned(*values) for values in sets]

        def theirs(q, k, v):
            return scaled_dot_product_attention(q, k, v, is_causal=not is_step, enable_gqa=True)

        wanted = theirs(*(x.float() for x in theirs_sets[0])).transpose(1, 2).reshape(batch, length, heads, group, size)
        found = torch.from_dlpack(ours(*sets[0])).float()
        error = (found - wanted).abs().max().item()
        calls = {"ours": captured(lambda: [ours(*values) for values in sets])}
        for kind, backend in backends.items():
            try:
                with sdpa_kernel(backend):
                    calls[kind] = captured(lambda: [theirs(*values) for values in theirs_sets])
            except RuntimeError:
                torch.cuda.synchronize()  # this back end does not support the case
        took = {kind: 1e3 * each / len(sets) for kind, each in milliseconds_in_turns(calls).items()}
        best = min((kind for kind in took if kind != "ours"), key=took.__getitem__)
        flops = 4 * batch * heads * group * size * length * (rows if is_step else (rows + 1) / 2)
        print(
            f"{name:4} {batch:3} × {length:5} queries, {rows:5} rows: {took['ours']:8.1f}, PyTorch's best {best} "
            f"{took[best]:8.1f} ({took[best] / took['ours']:.2f} ×), {nbytes / took['ours'] * 1e-6:5.2f} TB/s, "
            f"{flops / took['ours'] * 1e-6:5.0f} TFLOP/s; largest difference {error:.4f}"
            + ("  WRONG" if error > 0.02 else ""),
            flush=True,
        )

    with torch.no_grad():
        for name in MODELS:
            for sizes in CASES:
                case(name, *sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["write", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", default="sm_90a", help="what to write code for")
    arguments = parser.parse_args()
    if arguments.command == "write":
        write(arguments.folder, arguments.chip)
    else:
        run(arguments.folder)


if __name__ == "__main__":
    main()
