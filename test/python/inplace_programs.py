# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs in which calls write over tensors, each with its value in NumPy.

A program tracks for each value which memory it may be in. Overwritten values are dead, and so are all values that may
share their memory: no later statement uses them. So the values are the same as if every call created a new tensor.
"""

import random

import numpy as np

from relax_mlir import BlockBuilder, Range, Scalar, Sym, Tensor, op
from relax_mlir.op import support

KERNELS = """
func.func private @double(%d: tensor<?x?xf32> {relax.shape = #relax.shape<[a, b]>}) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%d : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %1 = arith.addf %o, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func private @accumulate(%x: tensor<?x?xf32> {relax.shape = #relax.shape<[a, b]>},
                              %d: tensor<?x?xf32> {relax.shape = #relax.shape<[a, b]>}) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %e, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""
LIBRARY = "relax_test.triple"
UNARY = {"negative": np.negative, "abs": np.abs, "tanh": np.tanh}
BINARY = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum}
READ_ONLY = "read only"


def library(x):
    """The library function, in place."""
    x *= 3


class Value:
    """A value of the program, its computation in NumPy, and the memory that it may be in."""

    def __init__(self, value, compute, memory):
        self.value, self.compute, self.memory = value, compute, frozenset(memory)


class Program:
    """`main(x, y, state, first, second)` of three `[n, m]` and two conditions; only `state` may be written over."""

    def __init__(self, seed, size=12):
        self.random = random.Random(seed)
        self.fresh = 0
        self.builder = BlockBuilder()
        self.builder.add_kernels(KERNELS)
        n, m = Sym("n"), Sym("m")
        bounded = self.random.random() < 0.5
        self.symbols = {n: Range(0, 64), m: Range(0, 64)} if bounded else {}
        self.type = Tensor((n, m), "f32")
        self.add_helpers()
        parameters = [Tensor((n, m), "f32", name=name) for name in ("x", "y", "state")]
        parameters += [Scalar("bool", name=name) for name in ("first", "second")]
        with self.builder.function("main", parameters, symbols=self.symbols) as function:
            self.alive = [
                Value(value, lambda env, name=name: env[name], [name])
                for value, name in zip(function.params, ("x", "y", "state"))
            ]
            self.flags = dict(zip(("first", "second"), function.params[3:]))
            for _ in range(size):
                self.statement(0)
            results = self.random.sample(self.alive, min(3, len(self.alive)))
            self.results = [result.compute for result in results]
            self.builder.return_(*[op.add(result.value, 0.0) for result in results])
        self.module = self.builder.module()

    def add_helpers(self):
        bb = self.builder

        def function(name, body, count=1, private=True):
            with bb.function(name, [Tensor((Sym("p"), Sym("q")), "f32") for _ in range(count)], private=private) as f:
                bb.return_(body(*f.params))

        function("same", lambda x: x)
        function("second", lambda x, y: y, count=2)
        function("twice", lambda x: self.inplace("double", [x]))
        function("thrice", lambda x: self.triple(x))
        function("renewed", lambda x: op.negative(x))

    # --- statements; each states the NumPy computation and the memory of its result

    def pick(self, writable=False, other=None):
        fitting = [
            value
            for value in self.alive
            if not (writable and value.memory & {"x", "y", READ_ONLY}) and not (other and value.memory & other.memory)
        ]
        return self.random.choice(fitting[-6:]) if fitting else None

    def new_memory(self):
        self.fresh += 1
        return [f"m{self.fresh}"]

    def add(self, value, compute, memory):
        self.alive.append(Value(value, remembered(compute), memory))
        return self.alive[-1]

    def kill(self, written):
        self.alive = [value for value in self.alive if not value.memory & written.memory]

    def inplace(self, kernel, args):
        return op.call_tir_inplace(kernel, args, args[-1].annotation, [len(args) - 1])

    def triple(self, x):
        return support.emit(
            "relax.call_library_inplace",
            [("args", [x], "tensor*")],
            {"library_function": (LIBRARY, support.string), "inplace_indices": ([0], support.i64_array)},
            [x.annotation],
        )

    def statement(self, depth):
        kinds = ["simple"] * 4 + ["update", "identity", "reduction", "pass_on", "write", "write", "write_through"]
        if depth < 2:
            kinds += ["branch", "loop"]
        getattr(self, self.random.choice(kinds))(depth)

    def simple(self, depth):
        a, b = self.pick(), self.pick()
        if self.random.random() < 0.5:
            name, function = self.random.choice(list(UNARY.items()))
            return self.add(getattr(op, name)(a.value), lambda env: function(a.compute(env)), self.new_memory())
        name, function = self.random.choice(list(BINARY.items()))
        return self.add(
            getattr(op, name)(a.value, b.value),
            lambda env: function(a.compute(env), b.compute(env)),
            self.new_memory(),
        )

    def identity(self, depth):
        """An identity op is a copy, although the compiler could replace it by its operand."""
        a = self.pick()
        made = self.random.choice(
            [
                lambda x: op.multiply(x, 1.0),
                lambda x: op.permute_dims(op.permute_dims(x, [1, 0]), [1, 0]),
                lambda x: op.negative(op.negative(x)),
                lambda x: op.concat([x], axis=0),
                lambda x: op.astype(x, "f32"),
            ]
        )
        return self.add(made(a.value), a.compute, self.new_memory())

    def update(self, depth):
        """A copy with a different first row, which may be an update in place."""
        a, b = self.pick(), self.pick()
        rows = op.zeros(a.value.shape, "i64")
        value = op.scatter_elements(a.value, rows, b.value, axis=0, reduction="max")

        def compute(env):
            x = a.compute(env).copy()
            if len(x):
                x[0] = np.maximum(x[0], b.compute(env).max(0))
            return x

        return self.add(value, compute, self.new_memory())

    def reduction(self, depth):
        """Two reductions in one kernel."""
        a = self.pick()
        kind = self.random.choice(["centre", "softmax"])
        if kind == "centre":
            value = op.subtract(a.value, op.mean(a.value, [1], keepdims=True))

            def compute(env):
                x = a.compute(env)
                return x - x.mean(1, keepdims=True) if x.shape[1] else x
        else:
            value = op.add(op.softmax(a.value, 1), op.softmax(op.negative(a.value), 1))

            def compute(env):
                return softmax(a.compute(env)) + softmax(-a.compute(env))

        return self.add(value, compute, self.new_memory())

    def pass_on(self, depth):
        """Calls and closures that return an argument, views, tuples."""
        a, b = self.pick(), self.pick()
        kind = self.random.choice(["same", "second", "closure", "captured", "cast", "tuple", "renewed"])
        bb = self.builder
        if kind == "same":
            return self.add(bb.call("same", a.value), a.compute, a.memory)
        if kind == "renewed":
            return self.add(bb.call("renewed", a.value), lambda env: -a.compute(env), self.new_memory())
        if kind == "second":
            return self.add(bb.call("second", a.value, b.value), b.compute, b.memory)
        if kind == "closure":
            return self.add(op.call_closure(op.make_closure("same"), a.value), a.compute, a.memory)
        if kind == "captured":
            bound = op.make_closure("second", [a.value])
            return self.add(op.call_closure(bound, b.value), b.compute, b.memory)
        if kind == "cast":
            return self.add(op.match_cast(a.value, self.type), a.compute, a.memory)
        return self.add(op.get(op.make_tuple(a.value, b.value), 1), b.compute, b.memory)

    def write(self, depth):
        """An in-place call of a kernel or a library."""
        a = self.pick(writable=True)
        if a is None:
            return None
        kind = self.random.choice(["double", "accumulate", "library"])
        if kind == "accumulate":
            b = self.pick(other=a)
            if b is None:
                return None
            value = self.inplace("accumulate", [b.value, a.value])
            self.kill(a)
            return self.add(value, lambda env: a.compute(env) + b.compute(env), a.memory)
        value = self.triple(a.value) if kind == "library" else self.inplace("double", [a.value])
        factor = 3 if kind == "library" else 2
        self.kill(a)
        return self.add(value, lambda env: factor * a.compute(env), a.memory)

    def write_through(self, depth):
        """An in-place call within a function or a closure."""
        a = self.pick(writable=True)
        if a is None:
            return None
        name, factor = self.random.choice([("twice", 2), ("thrice", 3)])
        kind = self.random.choice(["call", "closure", "captured"])
        if kind == "call":
            value = self.builder.call(name, a.value)
        elif kind == "closure":
            value = op.call_closure(op.make_closure(name), a.value)
        else:
            # A closure without arguments loses the shape.
            value = op.match_cast(op.call_closure(op.make_closure(name, [a.value])), self.type)
        self.kill(a)
        return self.add(value, lambda env: factor * a.compute(env), a.memory)

    def inside(self, depth):
        """The result of a branch with some statements, and the values that are live after it."""
        before = list(self.alive)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        return self.pick(), [value for value in before if value in self.alive]

    def branch(self, depth):
        name = self.random.choice(["first", "second"])
        before = list(self.alive)
        with self.builder.if_(self.flags[name]) as branch:
            with branch.then:
                then, kept = self.inside(depth)
                self.builder.yield_(then.value)
            self.alive = before
            with branch.else_:
                other, kept_too = self.inside(depth)
                self.builder.yield_(other.value)
        self.alive = [value for value in before if value in kept and value in kept_too]
        memory = then.memory | other.memory
        return self.add(
            branch.result,
            lambda env: then.compute(env) if env[name] else other.compute(env),
            memory,
        )

    def loop(self, depth):
        """A loop that carries a counter and a tensor. Its body may overwrite the tensor, or read the initial value."""
        a = self.pick(writable=True)
        reads = a is None or self.random.random() < 0.4
        if reads:
            a = self.pick()
        rounds = self.random.randint(0, 3)
        bb = self.builder
        before = list(self.alive)
        carried_memory = self.new_memory() + [READ_ONLY] * reads
        cell = {}
        with bb.while_([op.constant(np.array(0, np.int64)), a.value]) as loop:
            with loop.condition as (i, _):
                bb.yield_(op.less(i, op.constant(np.array(rounds, np.int64))))
            with loop.body as (i, carried):
                value = Value(carried, lambda env: env[id(cell)], carried_memory)
                # Values from outside must not be overwritten in an iteration; the loop owns its carried values.
                self.alive = [value]
                outside = before if reads else [other for other in before if not other.memory & a.memory]
                if outside and self.random.random() < 0.5:
                    other = self.random.choice(outside)
                    joined = op.maximum(carried, other.value)
                    self.add(joined, lambda env: np.maximum(value.compute(env), other.compute(env)), self.new_memory())
                for _ in range(self.random.randint(1, 3)):
                    self.statement(depth + 1)
                yielded = self.alive[-1]
                bb.yield_(op.add(i, op.constant(np.array(1, np.int64))), yielded.value)
        self.alive = before if reads else [value for value in before if not value.memory & a.memory]

        def compute(env):
            state = a.compute(env)
            for _ in range(rounds):
                inner = {key: known for key, known in env.items() if isinstance(key, (str, int))}
                inner[id(cell)] = state
                state = yielded.compute(inner)
            return state

        return self.add(loop.results[1], compute, a.memory)

    def expected(self, arrays):
        env = dict(arrays)
        with np.errstate(all="ignore"):
            return [np.asarray(compute(env)) for compute in self.results]


def remembered(compute):
    """Computes a value once for each environment."""

    def once(env):
        if compute not in env:
            env[compute] = compute(env)
        return env[compute]

    return once


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)
