# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conformance of the PyTorch front end: every entry of PyTorch's OpInfo, compiled and compared with eager mode.

tools/torch-conformance          the command (make conformance)
  pool.py                        worker processes with time limits; a group of samples that fails is divided
    worker.py                    one process: checks groups of samples, one after the other
      modes.py, forward.py       what is checked: export, import, compile, run, compare
        entries.py               the entries of OpInfo with their element types and samples
        comparison.py            when two results are the same
  results.py                     one line of JSON for each entry, and what an entry's outcome is
  page.py                        docs/generated/torch-conformance.md, and passing.json, the ratchet
"""
