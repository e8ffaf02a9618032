# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of progress while a module is compiled."""

import io
import re

import pytest

from relax_mlir import BlockBuilder, RelaxError, Tensor, compile, compile_code, op
from relax_mlir.pipelines import CSE, Canonicalize, Pipeline
from relax_mlir.progress import printer


@pytest.fixture
def module():
    bb = BlockBuilder()
    x = Tensor((4,), name="x")
    with bb.function("main", [x]):
        bb.return_(op.exp(x))
    return bb.module()


def test_callbacks(module):
    calls = []
    compile(module, cached=False, progress=lambda *call: calls.append(call))
    total = calls[0][1]
    assert [done for done, _, _ in calls] == list(range(total + 1)) and {call[1] for call in calls} == {total}
    names = [name for _, _, name in calls]
    assert names[0] == "relax-simplify" and "relax-fuse-ops" in names and names[-2:] == ["object code", ""]


def test_pipelines(module, capsys):
    calls = []
    Pipeline([CSE(), Canonicalize()]).run(module, progress=lambda *call: calls.append(call))
    assert calls == [(0, 2, "relax-cse"), (1, 2, "canonicalize"), (2, 2, "")]
    Pipeline([CSE(), Canonicalize()]).run(module, progress=True)
    assert capsys.readouterr().err == "[1/2] relax-cse\n[2/2] canonicalize\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_terminals():
    file = Terminal()
    report = printer(file)
    for call in ((0, 2, "first"), (1, 2, "second"), (2, 2, "")):
        report(*call)
    assert re.split("\r\x1b\\[K", file.getvalue()) == ["", "[1/2] first", "[2/2] second", ""]


def test_errors(module):
    with pytest.raises(RelaxError, match="progress is 3; expected True or a function of done, total and the name"):
        compile_code(module, cached=False, progress=3)

    def interrupt(done, total, name):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_code(module, cached=False, progress=interrupt)
