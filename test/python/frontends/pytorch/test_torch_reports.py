# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Defects that users of exporters report: indexing, promotion, empty and tiny tensors, sizes in sets, damaged files."""

import zipfile

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.errors import ModelError, RelaxError  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402

AUTO = torch.export.Dim.AUTO


def check_all(functions, *cases):
    """Compiles functions of the same inputs as one program, and compares with eager mode."""

    def model(*args):
        return {name: function(*args) for name, function in functions.items()}

    run = programs.compiled(model, cases[0], check_small=False)
    for case in cases:
        made, expected = run(*case), model(*case)
        for name, value in expected.items():
            torch.testing.assert_close(
                made[name], value, rtol=1e-5, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}"
            )


def test_indexing():
    def assigned(x, i):
        y = x.clone()
        y[y > 0] = -1.0
        y[:, ::2] = 3.0
        y[i, -1] = torch.arange(i.shape[0]).float()
        y[..., 0] += y[..., 1]
        return y

    def masked(x, i):
        y = x.clone()
        y[y > 0] = y[y > 0] * 2
        return y

    functions = {
        "none": lambda x, i: x[None, :, None],
        "ellipsis": lambda x, i: x[..., -1] + x[..., 0, None].sum(),
        "steps": lambda x, i: x[::2, 1::3],
        "negative": lambda x, i: x[-2:, :-1],
        "flip": lambda x, i: x.flip(0),
        "mixed": lambda x, i: x[i, None, ::2],
        "none between": lambda x, i: x[i][:, None, i % 3],
        "mask": lambda x, i: x[x > 0],
        "mask of rows": lambda x, i: x[x.sum(1) > 0],
        "assigned": assigned,
        "masked": masked,
        "put": lambda x, i: torch.zeros_like(x).index_put_((i,), x[i] * 2),
    }
    check_all(functions, *((torch.randn(n, m), torch.randperm(n)[:k]) for n, m, k in ((5, 7, 3), (9, 8, 4))))


def test_assignments_to_later_axes():
    def one(x, i, j):
        x = x.clone()
        x[:, i] = torch.arange(x.shape[3]).float()
        return x

    def neighbors(x, i, j):
        x = x.clone()
        x[:, i[:, None], j] = x[0, 0, 0] * 2 + torch.arange(j.shape[0]).float()[:, None]
        return x

    def apart(x, i, j):
        x = x.clone()
        x[i[: j.shape[0]], :, j] = torch.ones(x.shape[1], 1) * 5
        return x

    def added(x, i, j):
        return x.clone().index_put_((torch.zeros_like(j), j * 0, j), torch.ones(x.shape[3]), accumulate=True)

    def inner(x, i, j):
        x = x.clone()
        x[:, :, j] = x[:, :, j] + 1
        return x.index_add(2, j, x[:, :, : j.shape[0]]).index_copy(1, i, x[:, : i.shape[0]] * 3).index_fill(3, i, 0.5)

    functions = {"one": one, "neighbors": neighbors, "apart": apart, "added": added, "inner": inner}
    cases = [(torch.randn(*sizes), torch.randperm(3), torch.randperm(2)) for sizes in ((4, 5, 6, 7), (3, 4, 7, 5))]
    check_all(functions, *cases)


def test_promotion_with_numbers_of_python():
    functions = {
        "int and float": lambda x, n: n + 1.5,
        "quotient": lambda x, n: n / 2,
        "floor": lambda x, n: n // 2 + n % 3,
        "power": lambda x, n: (n**2, x**2, 2**n, n**0.5),
        "bool": lambda x, n: (n > 2) + 1,
        "where": lambda x, n: (torch.where(n > 2, 1.0, 0), torch.where(n > 2, n, 2.5), torch.where(x > 0, x, 1)),
        "half": lambda x, n: (x.half() * 2.5 + 1, x.half() + n, x.bfloat16() + 1),
        "double": lambda x, n: x.double() + n.int(),
        "scalar tensor": lambda x, n: (n + torch.tensor(2.5), x + torch.tensor(2, dtype=torch.float64)),
        "clamp": lambda x, n: (n.clamp(1, 3), n.clamp(min=1.5)),
        "cumulative": lambda x, n: (n.int().sum(), (n > 1).sum(), (n > 1).cumsum(0), n.float().mean()),
    }
    check_all(functions, *((torch.randn(size), torch.arange(size)) for size in (5, 9)))


def test_ranges_and_numbers():
    functions = {
        "range": lambda x, y: (torch.arange(x.shape[0]), torch.arange(2, x.shape[0] * 2, 3)),
        "reversed": lambda x, y: torch.arange(x.shape[0], 0, -1),
        "of floats": lambda x, y: (torch.arange(0, x.shape[0], 0.5), torch.linspace(0, 1, 7) * x.shape[0]),
        "rank 0": lambda x, y: (
            y * 2,
            y.reshape(1),
            y.expand(x.shape[0]),
            x * y,
            y.sum(),
            y.max(),
            torch.stack([y, y]),
        ),
        "indexed by rank 0": lambda x, y: (x[y.long()], x[y.long() :].sum(), torch.cat([x, y[None]])),
        "sizes": lambda x, y: (x.shape[0], x.numel() * 2, float(3), x.new_zeros(x.shape[0] // 2, 3)),
    }
    check_all(functions, (torch.randn(5), torch.tensor(2.0)), (torch.randn(8), torch.tensor(1.0)))


def test_sizes_in_a_set_are_fixed_with_a_warning():
    def function(x):
        assert x.shape[0] in (8, 16, 32)
        return x * 2

    with pytest.warns(RuntimeWarning, match="fixed a size"):
        run = programs.compiled(function, (torch.randn(8),))
    programs.check(run, function, (torch.randn(8),))
    with pytest.raises(ValueError, match="args_0"):
        run(torch.randn(16))


def test_resizing_to_the_size_of_another():
    def function(x, y):
        bilinear = torch.nn.functional.interpolate(x, size=y.shape[2:], mode="bilinear", align_corners=True)
        nearest = torch.nn.functional.interpolate(x, size=(y.shape[2] * 2, 5), mode="nearest")
        return bilinear, nearest, torch.nn.functional.adaptive_avg_pool2d(x, 2)

    cases = [
        (torch.randn(2, 3, *first), torch.randn(1, 1, *second))
        for first, second in (((7, 9), (11, 5)), ((4, 6), (3, 8)))
    ]
    shapes = (({0: AUTO, 2: AUTO, 3: AUTO}, {2: AUTO, 3: AUTO}),)
    programs.compare(function, cases[0], cases[1], shapes=shapes, check_small=False)


def test_tensors_of_other_devices_and_kinds():
    run = programs.compiled(lambda x: x + 1, (torch.randn(3, 4),), (({0: AUTO},),), check_small=False)
    wrong = {
        "meta": torch.randn(3, 4, device="meta"),
        "gradient": torch.randn(3, 4, requires_grad=True),
        "sparse": torch.randn(3, 4).to_sparse(),
        "list": [[1.0] * 4] * 3,
        "none": None,
        "complex": torch.randn(3, 4, dtype=torch.complex64),
    }
    for name, value in wrong.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            run(value)
        assert "args_0" in str(caught.value), name


def test_damaged_files(tmp_path):
    exported = torch.export.export(torch.nn.Linear(4, 4).eval(), (torch.randn(3, 4),))
    whole = tmp_path / "whole.pt2"
    torch.export.save(exported, whole)
    data = whole.read_bytes()
    (tmp_path / "cut.pt2").write_bytes(data[: len(data) // 2])
    with zipfile.ZipFile(whole) as source:
        for part in ("model.json", "weights"):
            with zipfile.ZipFile(tmp_path / f"{part}.pt2", "w") as target:
                for name in source.namelist():
                    if part not in name:
                        target.writestr(name, source.read(name))
    for name in ("cut", "model.json", "weights", "missing"):
        with pytest.raises(ModelError, match=f"{name}.pt2"):
            relax_torch.from_exported_program(tmp_path / f"{name}.pt2")
    assert isinstance(relax_torch.from_exported_program(whole), relax_torch.Program)


def test_a_program_without_its_weights():
    exported = torch.export.export(torch.nn.Linear(4, 4).eval(), (torch.randn(3, 4),))
    del exported.state_dict["weight"]
    with pytest.raises(RelaxError, match="weight"):
        relax_torch.from_exported_program(exported)
