# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of your own that compiled code calls by name, through `call_library`.

The function is registered with TVM FFI. It is called with the arguments and then with the tensors that it must fill,
both as views of the program's memory: nothing is copied. A library written in C++ registers its functions the same way.

    python examples/own_library.py
"""

import numpy as np
import tvm_ffi

from relax_mlir import BlockBuilder, Sym, Tensor, compile, op


def sort_rows(x, out, descending) -> None:
    """Sorts each row of `x` into `out`; `descending` is 0 or 1."""
    rows = np.sort(np.from_dlpack(x), axis=1)
    np.from_dlpack(out)[...] = rows[:, ::-1] if descending else rows


def main() -> None:
    n, m = Sym("n"), Sym("m")
    x = Tensor((n, m), "f32", name="x")
    bb = BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            doubled = bb.emit(op.multiply(x, 2.0))
            # `borrows`: the function keeps no tensor after it returns, so their memory is planned with all the rest.
            # `sym`: integers that follow the tensors; they may be expressions of `n` and `m`.
            arranged = bb.emit(op.call_library("example.sort_rows", [doubled], x, sym=[1], borrows=True))
            result = bb.emit_output(op.add(arranged, 1.0))
        bb.return_(result)
    run = compile(bb.module())["main"]

    x = np.array([[3, 1, 2], [4, 6, 5]], np.float32)
    try:
        run(x)
    except RuntimeError as error:
        print("before it is registered:", str(error).splitlines()[0])
    tvm_ffi.register_global_func("example.sort_rows", sort_rows)
    print("afterwards:", run(x).tolist())


if __name__ == "__main__":
    main()
