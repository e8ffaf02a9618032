# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""relax-opt on random programs and on damaged ones.

Random valid programs must verify and survive text and bytecode. For any other input, the tool
must exit with 0, or with 1 and a diagnostic: never by a signal, never after LIMIT seconds.

The samples are small and always the same. With RELAX_FUZZ_SECONDS (make fuzz), each test continues
with other seeds for that long. Defects in docs/mlir-defects.md are excused. A failing input is written to
RELAX_FUZZ_OUTPUT (default: build/fuzz).
"""

import base64
import os
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, relax_opt
from mutations import extreme_programs, mutate_bytes, mutate_text
from programs import random_module, random_program

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", 0))
OUTPUT = Path(os.environ.get("RELAX_FUZZ_OUTPUT", ROOT / "build" / "fuzz"))
LIMIT = 20
MARKER = b"\n// -----\n"
LENIENT = ("--allow-unregistered-dialect", "--mlir-disable-threading")


def seeds(sample):
    """The seeds of the sample, then others while there is time."""
    yield from range(sample)
    end, seed = time.monotonic() + SECONDS, sample
    while time.monotonic() < end:
        yield seed
        seed += 1


def passes():
    """The pipelines to run over damaged programs: none, and each pass that works on any module."""
    found = [(), ("--canonicalize", "--cse")]
    for source in sorted((ROOT / "lib").rglob("Passes.td")):
        before = ("--relax-inline-dataflow",) if source.parent.name == "Memory" else ()
        names = re.findall(r'Pass<"([\w-]+)", "::mlir::ModuleOp">', source.read_text())
        found += [(*before, f"--{name}") for name in names]
    return found


# ----------------------------------------------------------------------------
# Judgement


@dataclass(frozen=True)
class Defect:
    """A defect of MLIR's bytecode or text parser that docs/mlir-defects.md describes."""

    title: str
    message: str
    function: str
    source: bytes

    def explains(self, source, wrong):
        same_kind = source.startswith(b"ML\xefR") == self.source.startswith(b"ML\xefR")
        return same_kind and re.search(self.message, wrong) and self.function in wrong


def known_defects():
    page = (ROOT / "docs" / "mlir-defects.md").read_text()
    return [
        Defect(title, message, function, base64.b64decode(source) if kind == "base64" else source.encode())
        for title, message, function, kind, source in re.findall(
            r"^## (.*?)$.*?^- message: `(.*?)`\n(?:- in: `(.*?)`\n)?\n```(base64|text)\n(.*?)```", page, re.M | re.S
        )
    ]


DEFECTS = known_defects()


def judge(source: bytes, *options, limit=LIMIT):
    """A description of how relax-opt fails on `source`; None if it does not."""
    result = relax_opt(*options, source=source, timeout=limit)
    if result.returncode == 0 or (result.returncode == 1 and b"error:" in result.stderr):
        return None
    start = f"runs longer than {limit} s" if result.timed_out else f"exits with {result.returncode}"
    return f"{start}: {result.stderr.decode(errors='replace')}"


def verdict(source: bytes, *options):
    """The failure of relax-opt on `source`, except for known MLIR defects."""
    wrong = judge(source, *options)
    return None if wrong and any(defect.explains(source, wrong) for defect in DEFECTS) else wrong


def culprits(cases, *options):
    """The inputs of a batch on which relax-opt fails, each with its failure."""
    if not cases:
        return []
    wrong = verdict(MARKER.join(cases), *options, "--split-input-file")
    if not wrong:
        return []
    if len(cases) == 1:
        return [(cases[0], wrong)]
    middle = len(cases) // 2
    found = culprits(cases[:middle], *options) + culprits(cases[middle:], *options)
    return found or [(MARKER.join(cases), wrong)]


def report(found, label):
    """Saves the failing inputs, and fails the test with them."""
    if not found:
        return
    OUTPUT.mkdir(parents=True, exist_ok=True)
    messages = []
    for index, (source, wrong) in enumerate(found):
        path = OUTPUT / f"{label}-{index}.mlir"
        path.write_bytes(source)
        messages.append(f"{path} ({len(source)} bytes) {wrong[:3000]}")
    pytest.fail("\n\n".join(messages))


def corpus():
    """The cases of all test files, without their RUN and CHECK lines."""
    cases = []
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        text = re.sub(r"^\s*//(?! -----).*\n?", "", path.read_text(), flags=re.M)
        cases += [case.strip() for case in text.split("// -----") if case.strip()]
    return cases


# ----------------------------------------------------------------------------
# Valid programs


# Host code needs legalized programs: test_differential.py tests both.
@pytest.mark.parametrize("options", [o for o in passes() if "--relax-lower-to-host" not in o], ids=" ".join)
def test_random_programs_are_valid(options):
    if options == ("--relax-legalize",):
        # Some ops of random programs have unknown sizes.
        options = ("--relax-legalize=allow-partial",)
    for seed in seeds(2):
        module = random_module(seed, functions=12).encode()
        result = relax_opt(*options, source=module)
        if result.returncode:
            report([(module, result.stderr.decode())], f"valid-{seed}")


def test_random_programs_survive_text_and_bytecode():
    for seed in seeds(2):
        module = random_module(seed, functions=12).encode()
        printed = relax_opt(source=module).stdout
        assert printed, seed
        for form in ((), ("--mlir-print-op-generic",), ("--emit-bytecode",)):
            written = relax_opt(*form, source=printed).stdout
            if relax_opt(source=written).stdout != printed:
                report([(module, f"changes through {form}")], f"round-trip-{seed}")


# ----------------------------------------------------------------------------
# Damaged programs


@pytest.mark.parametrize("options", passes(), ids=" ".join)
def test_damaged_text(options):
    cases = corpus() + [random_program(seed, size=6) for seed in range(20)]
    for seed in seeds(1):
        rng = random.Random(f"text {seed}")
        batch = [mutate_text(rng, rng.choice(cases), cases).encode("utf-8", "surrogateescape") for _ in range(400)]
        report(culprits(batch, *LENIENT, *options), f"text-{seed}")


def test_damaged_bytecode():
    programs = [random_program(seed, size=4) for seed in range(4)]
    programs += random.Random("bytecode").sample(corpus(), 8)
    whole = [relax_opt("--emit-bytecode", source=program.encode()) for program in programs]
    whole = [result.stdout for result in whole if result.returncode == 0]
    assert len(whole) >= 4

    def run(seed):
        rng = random.Random(f"bytecode {seed}")
        damaged = mutate_bytes(rng, rng.choice(whole))
        return damaged, verdict(damaged, *LENIENT)

    with ThreadPoolExecutor(2) as pool:
        found = [(source, wrong) for source, wrong in pool.map(run, seeds(80)) if wrong]
    report(found, "bytecode")


@pytest.mark.parametrize("name", extreme_programs())
def test_extreme_program(name):
    source = extreme_programs()[name].encode()
    wrong = verdict(source, *LENIENT)
    report([(source, wrong)] if wrong else [], name.replace(" ", "-"))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.title)
def test_known_defect_of_mlir(defect):
    """A fixed defect must be removed from docs/mlir-defects.md, too."""
    wrong = judge(defect.source, *LENIENT, limit=8)
    assert wrong, f"MLIR has fixed the defect: remove '{defect.title}' from docs/mlir-defects.md"
    assert defect.explains(defect.source, wrong), wrong[:3000]
