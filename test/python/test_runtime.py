# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's tests in C++ (test/Runtime): threads, memory, and calls through the C interface."""

import subprocess

from tvm_ffi.libinfo import find_libtvm_ffi

from relax_mlir.runtime import library_path

PROGRAM = library_path().with_name("relax_runtime_test")


# `make sanitize` runs the same cases with sanitizers.
def test_the_runtime_in_c():
    run = subprocess.run([PROGRAM, find_libtvm_ffi()], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) > 15 and all(line.startswith("ok ") for line in lines), run.stdout


# A name that no case has is an error, so that a misspelled one does not pass.
def test_unknown_cases_are_refused():
    run = subprocess.run([PROGRAM, find_libtvm_ffi(), "noSuchCase"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 1 and "no case has one of these names" in run.stderr
