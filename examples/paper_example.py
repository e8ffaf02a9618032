# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The running example of the paper (arXiv 2311.02103, sections 3.1 to 3.3), built in Python.

Shapes stay symbolic through reshape and flatten; the result of `unique` has a data-dependent size,
to which `match_cast` gives a name; and at a function boundary the callee's `2*n` is solved for `n`.
"""

from relax_mlir import BlockBuilder, Range, RelaxError, Shape, Sym, Tensor, op
from relax_mlir.pipelines import CSE, Canonicalize, DeduceShapes, Pipeline


def symbolic_shapes(bb: BlockBuilder) -> None:
    """Shapes that are computed, lost, and asserted again."""
    n, m = Sym("n"), Sym("m")
    x = Tensor((n, 2, 2), "f32")
    with bb.function("any_fn", [x], symbols={n: Range(1, 2048)}):
        with bb.dataflow():
            lv0 = bb.emit(op.reshape(x, (n, 4)))
            lv1 = bb.emit(op.flatten(lv0))
            lv2 = bb.emit(op.unique(lv1))
            lv3 = bb.emit(op.match_cast(lv2, Tensor((m,), "f32")))
            lv4 = bb.emit_output(op.exp(lv3))
        bb.return_(lv4)
    for name, value in (("flatten", lv1), ("unique", lv2), ("match_cast", lv3), ("exp", lv4)):
        print(f"  {name:10}  {value.shape}")


def function_boundary(bb: BlockBuilder) -> None:
    """A signature relates its parameters; calls are checked against it and refined by it."""
    n, k = Sym("n"), Sym("k")
    y, s = Tensor((2 * n,), "f32"), Shape((n,))
    with bb.function("subfn", [y, s], private=True, pure=True) as subfn:
        bb.return_(op.exp(op.match_cast(y, Tensor((2 * n,), "f32"))))

    a = Tensor((2 * k + 2,), "f32")
    b = Tensor((14,), "f32")
    with bb.function("caller", [Tensor((k,), "f32", name="unused"), a, b]):
        with bb.dataflow():
            r0 = bb.emit_output(bb.call(subfn, a, (k + 1,)))
            r1 = bb.emit_output(bb.call(subfn, b, (7,)))
        bb.return_(r0, r1)
    for name, value in (("subfn(2*k + 2)", r0), ("subfn(14)", r1)):
        print(f"  {name:15} {value.shape}")

    try:
        with bb.function("wrong", [b]):
            bb.return_(bb.call(subfn, b, (8,)))
    except RelaxError as error:
        print("\n  a call that contradicts the signature:")
        print("    " + str(error).replace("\n", "\n    "))


def main() -> None:
    bb = BlockBuilder()
    print("shapes deduced while the program is built:")
    symbolic_shapes(bb)
    print("\nacross a function boundary:")
    function_boundary(bb)

    module = bb.module()
    report = Pipeline([DeduceShapes(), Canonicalize(), CSE()]).run(module)
    print(f"\nthe module after {len(report.timings)} passes:\n\n{module}")


if __name__ == "__main__":
    main()
