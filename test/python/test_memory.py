# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory plans of random programs, run on a machine that detects every overwritten byte.

The samples are always the same. With RELAX_FUZZ_SECONDS (make fuzz), the test continues with other seeds.
"""

import itertools
import os
import random
import time

import pytest
from memory_machine import Machine, MemoryFault, release, tokens

from relax_mlir import parse
from relax_mlir.pipelines import InsertKills, LowerCallTIR, Pipeline, PlanMemory, ReuseInPlace

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", 0))
SAMPLES = 60

N = "tensor<?xf32, #relax.shape<[n]>>"
TYPES = [
    N,
    "tensor<?xf32, #relax.shape<[2*n]>>",
    "tensor<?x2xf32, #relax.shape<[n, 2]>>",
    "tensor<?xf16, #relax.shape<[m]>>",
    "tensor<?x?xi8, #relax.shape<[m, n]>>",
    "tensor<16xf32>",
    "tensor<3xi1>",
]
PARAMETERS = ", ".join(["%s: !relax.shape<[n, m]>", "%c: i1", *[f"%p{i}: {type}" for i, type in enumerate(TYPES)]])
RANGES = ["", "n = #relax.range<1, 8>", "n = #relax.range<1, 8>, m = #relax.range<1, 9>"]

KERNEL = """
func.func private @{name}({inputs}%d: tensor<?xf32> {{relax.shape = #relax.shape<[a]>}}) -> tensor<?xf32> {{
  %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({ins} : {types}) outs(%d : tensor<?xf32>) {{
  ^bb0({arguments}%o: f32):
    linalg.yield %e0 : f32
  }} -> tensor<?xf32>
  return %0 : tensor<?xf32>
}}
"""


def kernel(name, count):
    """An element-wise kernel."""
    names = range(count)
    return KERNEL.format(
        name=name,
        inputs="".join(f"%x{i}: tensor<?xf32> {{relax.shape = #relax.shape<[a]>}}, " for i in names),
        maps=", ".join(["affine_map<(i) -> (i)>"] * (count + 1)),
        ins=", ".join(f"%x{i}" for i in names),
        types=", ".join(["tensor<?xf32>"] * count),
        arguments="".join(f"%e{i}: f32, " for i in names),
    )


HELPERS = f"""
relax.func private @same(%x: tensor<16xf32>) -> tensor<16xf32> {{
  relax.return %x : tensor<16xf32>
}}
relax.func private @first(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {{
  %0 = relax.call_library "used"(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = relax.call_library "unused"(%0) : (tensor<16xf32>) -> tensor<16xf32>
  relax.return %0 : tensor<16xf32>
}}
relax.func private @outside(tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
{kernel("ew1", 1)}{kernel("ew2", 2)}"""


class Program:
    """A random function; `values` has the visible names, by type."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = (f"%v{i}" for i in itertools.count())
        self.values = {type: [f"%p{i}"] for i, type in enumerate(TYPES)}

    def pick(self, type):
        recent = self.values[type][-3:]
        return self.random.choice(recent + self.values[type])

    def define(self, type, text):
        name = next(self.names)
        self.values.setdefault(type, []).append(name)
        return f"{name} = {text}\n"

    def statement(self, depth):
        choices = [self.library, self.library, self.kernel, self.kernel, self.view, self.pair, self.call]
        if depth < 2:
            choices += [self.branch, self.loop]
        return self.random.choice(choices)(depth)

    def library(self, _):
        type, operand, other = self.random.choice(TYPES), *self.random.choices(TYPES, k=2)
        function = self.random.choice(["f", "g"])
        keeps = self.random.choice(["", " {relax.borrows}", " {relax.borrows}", " {relax.borrows}"])
        operands = f"{self.pick(operand)}, {self.pick(other)}"
        text = f'relax.call_library "{function}"({operands}){keeps} : ({operand}, {other}) -> {type}'
        return self.define(type, text)

    def kernel(self, _):
        if self.random.random() < 0.5:
            return self.define(N, f"relax.call_tir @ew1({self.pick(N)}) : ({N}) -> {N}")
        return self.define(N, f"relax.call_tir @ew2({self.pick(N)}, {self.pick(N)}) : ({N}, {N}) -> {N}")

    def view(self, _):
        one, two = TYPES[1:3]
        return self.random.choice(
            [
                lambda: self.define(two, f"relax.reshape {self.pick(one)} to [n, 2] : ({one}) -> {two}"),
                lambda: self.define(one, f"relax.flatten {self.pick(two)} : ({two}) -> {one}"),
                lambda: self.define(N, f"relax.match_cast {self.pick(N)} : ({N}) -> {N}"),
            ]
        )()

    def pair(self, _):
        first, second = self.random.choices(TYPES, k=2)
        type = f"tuple<{first}, {second}>"
        name = next(self.names)
        operands = f"{self.pick(first)}, {self.pick(second)}"
        text = f"{name} = relax.tuple {operands} : ({first}, {second}) -> {type}\n"
        return text + self.define(second, f"relax.get {name}[1] : ({type}) -> {second}")

    def call(self, _):
        type = TYPES[5]
        function = self.random.choice(["same", "first", "outside", "closure"])
        x, y = self.pick(type), self.pick(type)
        if function == "same":
            return self.define(type, f"relax.call @same({x}) : ({type}) -> {type}")
        if function == "first":
            return self.define(type, f"relax.call @first({x}, {y}) : ({type}, {type}) -> {type}")
        if function == "outside":
            name = next(self.names)
            self.values[type] += [f"{name}#0", f"{name}#1"]
            return f"{name}:2 = relax.call @outside({x}) : ({type}) -> ({type}, {type})\n"
        name = next(self.names)
        text = f"{name} = relax.make_closure @first({x}) : ({type}) -> (({type}) -> {type})\n"
        called = f"relax.call_closure {name}({y}) : ({type}) -> {type} calls ({type}) -> {type}"
        return text + self.define(type, called)

    def block(self, depth, types, visible):
        """Statements that see `visible` in addition to outer values, and a yield of `types`."""
        outer = {type: list(names) for type, names in self.values.items()}
        for type, name in visible:
            self.values[type].append(name)
        text = "".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 6)))
        operands = ", ".join(self.pick(type) for type in types)
        self.values = outer
        return f"{text}relax.yield {operands} : {', '.join(types)}\n"

    def results(self, types, text):
        name = next(self.names)
        for index, type in enumerate(types):
            self.values[type].append(f"{name}#{index}")
        return f"{name}:{len(types)} = {text}"

    def branch(self, depth):
        types = self.random.choices(TYPES, k=self.random.randint(1, 2))
        then, other = self.block(depth, types, []), self.block(depth, types, [])
        return self.results(types, f"relax.if %c : i1 -> {', '.join(types)} {{\n{then}}} else {{\n{other}}}\n")

    def loop(self, depth):
        types = self.random.choices(TYPES, k=self.random.randint(1, 2))
        inits = ", ".join(self.pick(type) for type in types)
        arguments = [(type, next(self.names)) for type in types]
        header = f"^bb0({', '.join(f'{name}: {type}' for type, name in arguments)}):\n"
        body = self.block(depth, types, arguments)
        signature = f"({', '.join(types)}) -> ({', '.join(types)})"
        condition = f"{{\n{header}relax.condition %c : i1\n}}"
        return self.results(types, f"relax.while {inits} : {signature} {condition} do {{\n{header}{body}}}\n")

    def text(self):
        body = "".join(self.statement(0) for _ in range(self.random.randint(4, 14)))
        types = self.random.choices(TYPES, k=2)
        returned = ", ".join(self.pick(type) for type in types)
        attributes = f"attributes {{relax.symbols = {{{self.random.choice(RANGES)}}}}}"
        signature = f"relax.func @main({PARAMETERS}) -> ({', '.join(types)})"
        return f"{signature} {attributes} {{\n{body}relax.return {returned} : {', '.join(types)}\n}}\n{HELPERS}"


def run(module, condition, iterations):
    """The tokens that `main` computes, and the machine; checks for leaks."""
    symbols = {"n": 5, "m": 7}
    with module.context:
        machine = Machine(module.ir, symbols, iterations)
        arguments = [(5, 7), condition]
        types = machine.functions["main"].regions[0].blocks[0].arguments
        arguments += [machine.make(types[i + 2].type, f"p{i}") for i in range(len(TYPES))]
        owned = list(machine.allocated)
        results = machine.call("main", arguments)
        computed = [tokens(result) for result in results]
        for result in results:
            release(result)
        machine.end()
        left = [storage for storage in machine.allocated if storage.references != (storage in owned)]
    return computed, machine, left


def plans():
    yield [LowerCallTIR(), InsertKills()]
    yield [LowerCallTIR(), ReuseInPlace(), PlanMemory(), InsertKills()]
    yield [LowerCallTIR(), ReuseInPlace(), PlanMemory(use_bounds=False), InsertKills()]


def check(seed):
    text = Program(seed).text()
    for condition, iterations in ((True, 2), (False, 0)):
        expected, _, _ = run(parse(text), condition, iterations)
        for plan in plans():
            module = parse(text)
            Pipeline(plan).run(module)
            computed, _, left = run(module, condition, iterations)
            assert computed == expected, f"seed {seed}\n{module}"
            assert not left, f"seed {seed}: {len(left)} storages have references left\n{module}"


def test_plans_of_random_programs():
    end, seed = time.monotonic() + SECONDS, 0
    while seed < SAMPLES or time.monotonic() < end:
        check(seed)
        seed += 1


def test_sharing_is_noticed_where_it_is_wrong():
    """The machine detects wrong plans."""
    text = """relax.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
      %s = relax.alloc_storage 64 align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<16xf32>
      %0 = relax.call_library_inplace "f"(%x, %d) inplace [1] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      %e = relax.tensor_from_storage %s at 32 : !relax.storage -> tensor<8xf32>
      %1 = relax.call_library_inplace "g"(%x, %e) inplace [1] : (tensor<16xf32>, tensor<8xf32>) -> tensor<8xf32>
      relax.kill %s : !relax.storage
      relax.return %0 : tensor<16xf32>
    }"""
    module = parse(text)
    with module.context:
        machine = Machine(module.ir, {}, 0)
        argument = machine.make(machine.functions["main"].regions[0].blocks[0].arguments[0].type, "x")
        with pytest.raises(MemoryFault, match="was overwritten"):
            tokens(machine.call("main", [argument])[0])
