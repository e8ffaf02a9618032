# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every ```mlir example of the documentation parses, verifies and survives bytecode.

An example consists of whole functions, or of ops, types or attributes as written in a program. The
latter are wrapped:

    ops          a relax.func whose parameters are the operands that the example does not define,
                 with the types of the functional type at the end of each op, in order
    types        a parameter
    attributes   an attribute of an unregistered op

and every name that could be a symbol becomes one, through a shape parameter. All examples go
through relax-opt in one process; a diagnostic is traced back to its example by the line number.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import pytest
from conftest import ROOT, relax_opt

MARKER = "// -----"
EXPRESSION_KEYWORDS = {"floordiv", "ceildiv", "mod", "min", "max", "broadcast"}


@dataclass(frozen=True)
class Example:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}"


def extract(path):
    """The ```mlir blocks of a Markdown file, without the indentation of their fences, and not those in other blocks."""
    lines = path.read_text().splitlines()
    start = outer = None
    for number, line in enumerate(lines, 1):
        if not (fence := re.fullmatch(r"(\s*)```(\w*)\s*", line)):
            continue
        indent, language = fence.groups()
        if start is None and outer is None:
            start, outer = (number, None) if language == "mlir" else (None, indent)
            width = len(indent)
        elif start is not None and not language:
            text = "\n".join(part[width:] for part in lines[start : number - 1])
            yield Example(str(path.relative_to(ROOT)), start + 1, text)
            start = None
        elif not language and indent == outer:
            outer = None


def all_examples():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [example for page in pages if page.exists() for example in extract(page)]


# ----------------------------------------------------------------------------
# Wrapping


def split_top_level(text):
    """Splits at the commas outside of any bracket: `a, b<c, d>` gives two."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char == ">" and text[index - 1] == "-":
            continue  # an arrow
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def closing(text):
    """The index just after the bracket that closes the one at the start."""
    depth = 0
    for index, char in enumerate(text):
        if char == ">" and text[index - 1] == "-":
            continue
        depth += (char in "<([{") - (char in ">)]}")
        if depth == 0:
            return index + 1
    raise ValueError(f"unbalanced: {text}")


def statements(text):
    """The ops of an example, each joined into one line."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.strip().startswith("//"):
            continue
        if re.match(r"(%[\w:]+(, %\w+)* = )?\w+\.\w+|^\}", line):
            found.append(line)
        else:
            found[-1] += "\n" + line
    return found


def operand_types(statement):
    """The text before the last ` : ` outside of brackets, and the operand types after it, in order."""
    depth, colon = 0, None
    for index, char in enumerate(statement):
        if char == ">" and statement[index - 1] == "-":
            continue
        depth += (char in "<([{") - (char in ">)]}")
        if depth == 0 and statement.startswith(" : ", index):
            colon = index
    if colon is None:
        return statement, []
    types = statement[colon + 3 :].strip()
    if types.startswith("("):
        types = types[1 : closing(types) - 1]
    else:
        types = types.partition(" -> ")[0]
    return statement[:colon], split_top_level(types)


def symbols_of(text):
    """Every word that could be a symbol; extra ones are harmless."""
    text = re.sub(r'"[^"\n]*"', '""', text)
    words = re.findall(r"(?<![%@!#$\w.\"])[A-Za-z_]\w*(?![\w.(\"])", text)
    return sorted(set(words) - EXPRESSION_KEYWORDS - {"to", "by"})


def in_parent(mnemonic, statement, types):
    """A terminator inside its parent op, with a condition `%condition` available."""
    results = f" -> {', '.join(types)}" if types else ""
    inner = f"%inner:{len(types)} = " if types else ""
    if mnemonic == "output":
        return f"{inner}relax.dataflow{results} {{\n{statement}\n}}"
    if mnemonic == "yield":
        return f"{inner}relax.if %condition : i1{results} {{\n{statement}\n}} else {{\n{statement}\n}}"
    if mnemonic == "condition":
        return f"relax.while : () -> () {{\n{statement}\n}} do {{\nrelax.yield\n}}"
    return statement


class Function:
    """A relax.func around some ops of an example."""

    def __init__(self):
        self.parameters, self.defined, self.body, self.results = {}, set(), [], []

    def accepts(self, uses):
        return all(self.parameters.get(name, type_) == type_ for name, type_ in uses.items())

    def add(self, statement, uses, outputs, types):
        self.parameters |= uses
        self.defined |= outputs
        found = re.search(r"relax\.(\w+)", statement)
        mnemonic = found[1] if found else ""
        self.body.append(in_parent(mnemonic, statement, types))
        if mnemonic == "return":
            self.results = types

    def text(self, name, symbols):
        listed = [f"{operand}: {type_}" for operand, type_ in self.parameters.items()]
        listed += [f"%symbols: !relax.shape<[{', '.join(symbols)}]>", "%condition: i1"]
        arrow = f" -> ({', '.join(self.results)})" if self.results else ""
        end = [] if self.body[-1].lstrip().startswith("relax.return") else ["relax.return"]
        lines = "\n".join(self.body + end)
        return f"relax.func @{name}({', '.join(listed)}){arrow} {{\n{lines}\n}}"


def wrap_ops(text):
    """Wraps ops in one function; starts another if a name recurs with another type."""
    functions = [Function()]
    for statement in statements(text):
        head, types = operand_types(statement)
        outputs, assigned, rest = head.partition(" = ")
        # Names in messages are not operands; integers of an assertion have no types.
        operands = re.findall(r"%\w+", re.sub(r'"[^"]*"', "", rest if assigned else head))
        integers = re.findall(r"(?:first|second) (%\w+)", head)
        operands = [name for name in operands if name not in integers] + integers
        types = types + ["index"] * len(integers)
        defined = functions[-1].defined
        uses = {name: type_ for name, type_ in zip(operands, types) if name not in defined}
        if not functions[-1].accepts(uses):
            functions.append(Function())
        functions[-1].add(statement, uses, set(re.findall(r"%\w+", outputs)) if assigned else set(), types)
    symbols = symbols_of(text)
    return "\n".join(function.text(f"example{i}", symbols) for i, function in enumerate(functions))


def wrap(text):
    """A module body that contains the example."""
    code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("//"))
    if re.search(r"^\s*(relax\.func|func\.func|module)\b", code, re.M):
        return text
    if code.startswith("#"):
        return "\n".join(f'"example.op"() {{value = {line}}} : () -> ()' for line in code.splitlines())
    if re.match(r"!|tensor<", code):
        symbols = ", ".join(symbols_of(code))
        return "\n".join(
            f"relax.func private @example{number}({line}, !relax.shape<[{symbols}]>)"
            for number, line in enumerate(code.splitlines())
        )
    return wrap_ops(code)


# ----------------------------------------------------------------------------
# Tests

EXAMPLES = all_examples()


@lru_cache
def diagnostics():
    """relax-opt's diagnostics for each example, from a single run over all of them."""
    text, owners = [], []
    for example in EXAMPLES:
        lines = [*wrap(example.text).splitlines(), MARKER]
        text += lines
        owners += [example] * len(lines)
    source = "\n".join(text[:-1]).encode()
    result = relax_opt("--split-input-file", "--allow-unregistered-dialect", source=source)
    assert result.returncode in (0, 1), result.stderr.decode()
    found = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", result.stderr.decode(), re.M):
        found.setdefault(owners[min(int(line), len(owners)) - 1], []).append(message)
    assert (result.returncode == 1) == bool(found), result.stderr.decode()
    return found


def test_there_are_examples():
    ops = [e for page in (ROOT / "docs/generated/ops").glob("*.md") for e in extract(page)]
    assert len(ops) >= 40


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example_is_valid(example):
    messages = diagnostics().get(example, [])
    assert not messages, "\n".join([wrap(example.text), *messages])


@pytest.mark.parametrize("page", sorted((ROOT / "docs/generated/ops").glob("*.md")), ids=lambda p: p.stem)
def test_every_op_has_an_example_of_itself(page):
    for section in re.split(r"^### ", page.read_text(), flags=re.M)[1:]:
        name = re.match(r"`(relax\.\w+)`", section)[1]
        blocks = re.findall(r"^Example:\n\n```mlir\n(.*?)^```$", section, re.M | re.S)
        assert blocks, f"{name} has no 'Example:' followed by a block of mlir"
        assert any(re.search(rf"{re.escape(name)}\b", block) for block in blocks), name


def test_examples_survive_text_and_bytecode():
    """All valid examples as one module: printed, read back, and through bytecode."""
    options = ("--allow-unregistered-dialect",)
    valid = [example for example in EXAMPLES if example not in diagnostics()]
    module = "\n".join(f"module {{\n{wrap(example.text)}\n}}" for example in valid)

    def run(source, *more):
        result = relax_opt(*options, *more, source=source)
        assert result.returncode == 0, result.stderr.decode()
        return result.stdout

    printed = run(module.encode())
    assert run(printed) == printed
    assert run(run(printed, "--emit-bytecode")) == printed
    assert run(run(printed, "--mlir-print-op-generic")) == printed
