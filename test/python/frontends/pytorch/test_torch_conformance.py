# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ratchet of test/conformance/opinfo: entries of PyTorch's OpInfo that are known to pass still pass.

A normal run checks a few entries, which change with each commit (sample.py); `make conformance` checks all. Special
modes, in a worker process as usual, test how the harness handles failing samples.
"""

import random
import sys
from pathlib import Path

import pytest
import sample

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("expecttest", reason="expecttest, which PyTorch's samples need, is not installed")

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance"))

from opinfo import comparison, page, pool, results  # noqa: E402

PARTS = 2
"""The number of tests that share the entries, so that two pytest workers can run them."""

EACH = 2
"""The number of entries of a test, chosen so that it takes about half a minute."""


@pytest.mark.parametrize("part", range(PARTS))
def test_entries_of_the_ratchet_pass(part):
    entries = page.read_ratchet("forward")
    if not sample.EVERYTHING:
        entries = random.Random(sample.seed()).sample(entries, min(len(entries), PARTS * EACH))
    found = []
    pool.check_entries(entries[part::PARTS], "forward", 1, found.append)
    assert len(found) == len(entries[part::PARTS])
    wrong = {result["entry"]: result["reason"] for result in found if result["status"] != "pass"}
    assert not wrong


def outcomes(*kinds):
    return [{"kind": kind, "reason": f"because of {kind}"} for kind in kinds]


def summary(*kinds):
    samples = [("float32", index) for index in range(len(kinds))]
    return results.summarize("abs", samples, dict(zip(samples, outcomes(*kinds))), "", 1.0)


# An entry passes with all samples that PyTorch exports, and is excluded if PyTorch exports none.
@pytest.mark.parametrize(
    "kinds, status, kind",
    [
        (["pass", "pass"], "pass", "pass"),
        (["pass", "export"], "pass", "pass"),
        (["pass", "missing", "wrong"], "fail", "wrong"),
        (["export", "missing"], "fail", "missing"),
        (["export", "eager"], "excluded", "export"),
        ([], "excluded", "export"),
    ],
)
def test_outcome_of_an_entry(kinds, status, kind):
    result = summary(*kinds)
    assert (result["status"], result["kind"]) == (status, kind)
    assert sum(counts["samples"] for counts in result["dtypes"].values()) == len(kinds)


class FakeWorker:
    """Samples whose numbers are in `bad` crash the process, or fail the program."""

    def __init__(self, bad, kind):
        self.bad, self.kind, self.groups = bad, kind, []

    def ask(self, request, seconds):
        if "samples" not in request:
            return {"dtypes": [["float32", 8], ["int64", 1]]}
        self.groups.append(request["samples"])
        if not self.bad & set(request["samples"]):
            return {"outcomes": outcomes(*["pass"] * len(request["samples"]))}
        if self.kind == "crash":
            raise pool.WorkerError("crash", "SIGSEGV")
        return {"outcomes": outcomes(*[self.kind] * len(request["samples"]))}


# A failing group is divided until the failing samples are alone; the others pass.
@pytest.mark.parametrize("kind", ["crash", "missing", "run"])
def test_groups_are_divided(kind):
    worker = FakeWorker({("float32", 2), ("float32", 7)}, kind)
    result = pool.check_entry(worker, "abs")
    assert [failure["sample"] for failure in result["failures"]] == [2, 7]
    assert result["kind"] == kind
    assert {dtype: counts["passed"] for dtype, counts in result["dtypes"].items()} == {"float32": 6, "int64": 1}
    assert len(worker.groups[0]) == 9


# An entry is excluded because of PyTorch alone; a process that cannot answer is a failure.
@pytest.mark.parametrize("kind", ["crash", "time"])
def test_a_process_that_dies_first_is_a_failure(kind):
    class DeadWorker:
        def ask(self, request, seconds):
            raise pool.WorkerError(kind, "the process ended with 1")

    result = pool.check_entry(DeadWorker(), "abs")
    assert (result["status"], result["kind"]) == ("fail", kind)
    assert result["reason"] == "the samples: the process ended with 1"


# For a failing entry, the search does not look for every failing sample.
def test_dividing_ends_after_some_failures():
    worker = FakeWorker({("float32", index) for index in range(8)}, "missing")
    result = pool.check_entry(worker, "abs")
    assert len(result["failures"]) == pool.MOST_FAILURES
    assert result["status"] == "fail"


# Wrong values are reported for each sample of a program without dividing the group.
def test_wrong_values_do_not_divide_a_group():
    worker = FakeWorker({("float32", 0)}, "wrong")
    pool.check_entry(worker, "abs")
    assert len(worker.groups) == 1


def test_the_newest_result_counts(tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    results.append(new, {**summary("pass"), "time": 2})
    results.append(old, {**summary("wrong"), "time": 1})
    with new.open("a") as file:
        file.write('{"entry": "ad')  # from an interrupted run
    for order in ([old, new], [new, old]):
        assert {name: entry["status"] for name, entry in results.read(order).items()} == {"abs": "pass"}


def same(have, want, exact=None):
    try:
        comparison.check_same(have, want, exact)
    except comparison.Mismatch as error:
        return str(error)
    return ""


def test_comparison_of_values():
    x = torch.tensor([1.0, float("nan"), float("inf")])
    assert not same([x], [x.clone()])
    assert "structure" in same([x], (x,))
    assert "float64" in same(x.double(), x)
    assert "shape" in same(x[:2], x)
    assert "1 of 3 elements" in same(torch.tensor([1.5, float("nan"), float("inf")]), x)
    assert "elements" in same(torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert "expected 2" in same(1, 2)


# A float may differ by twice eager mode's own error, but not by more.
def test_comparison_with_the_exact_result():
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    eager = torch.tensor([1.0, 2.01])
    assert not same(torch.tensor([1.0, 1.985]), eager, exact)
    assert same(torch.tensor([1.0, 1.975]), eager, exact)
    assert same(torch.tensor([1.0, float("nan")]), eager, exact)


def test_comparison_of_distributions():
    torch.manual_seed(0)
    draws = [torch.randn(50) for _ in range(40)]
    comparison.check_distribution(draws, [torch.randn(50) for _ in range(40)])
    with pytest.raises(comparison.Mismatch, match="another distribution"):
        comparison.check_distribution(draws, [torch.randn(50) * 2 for _ in range(40)])
    with pytest.raises(comparison.Mismatch, match="shape"):
        comparison.check_distribution(draws, [torch.randn(49) for _ in range(40)])


# The page counts by family, names each failure, and lists entries without a result; the ratchet only grows, unless one
# of its entries fails.
def test_page_and_ratchet(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "RATCHET", tmp_path / "passing.json")
    found = {"abs": summary("pass"), "fft.fft": summary("missing"), "equal": summary("export")}
    found = {name: {**result, "entry": name} for name, result in found.items()}
    page.write_page(found, dict.fromkeys([*found, "add"], "tensors"), "2.13.0")
    text = (tmp_path / "page.md").read_text()
    assert "**1 of 2 entries that PyTorch exports pass (50.0 %).**" in text
    assert "| tensors | 3 | 2 | 1 | 50.0 % |" in text
    assert "- `fft.fft`: float32: because of missing" in text
    assert "- `equal`: because of export" in text
    assert "1 others were not run" in text
    assert page.regressions("forward", found) == []
    page.write_ratchet("forward", found)
    page.write_ratchet("forward", {"add": summary("pass")})
    assert page.read_ratchet("forward") == ["abs", "add"]
    assert page.regressions("forward", {"abs": summary("wrong")}) == ["abs"]
