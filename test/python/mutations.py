# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random damage to text and bytecode, and extreme programs."""

import random
import re

HUGE = (
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1" + "0" * 60,
    "4294967296",
    "-1",
    "0",
)
TOKEN = re.compile(r'"[^"\n]*"|[%@#!^]?[\w.]+|->|\s+|.', re.S)
FRAGMENTS = (
    "#relax.shape<[", "#relax.expr<", "!relax.shape<*>", "!relax.object", "!relax.shape<[n]>", " floordiv ",
    " ceildiv ", " mod ", "min(", "max()", "broadcast(n, ", "?", "[", "]", "<", ">", "(", ")", "{", "}", ",",
    "*xf32", "tensor<*xf32>", "tensor<?xf32, #relax.shape<[n]>>", "tensor<f32>", "tuple<>", "index", "none",
    "array<i64>", "array<i64: 1, 2>", "dense<1.0>", "loc(unknown)", " = ", ": i64", "/ 0", "floordiv 0",
    "unit", "@missing", "%missing", "#relax.range<5, 1>", "#relax.weight<\"\">", "\\", "\"", "//", "\0",
)  # fmt: skip


def mutate_text(rng: random.Random, text: str, corpus: list[str]) -> str:
    """`text` with one to four random token edits."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens)) if tokens else 0
        other = min(len(tokens), at + rng.choice((1, 1, 2, 5, 20)))
        kind = rng.randrange(10)
        if kind == 0:
            del tokens[at:other]
        elif kind == 1:
            tokens[at:at] = tokens[at:other]
        elif kind == 2 and tokens:
            swap = rng.randrange(len(tokens))
            tokens[at], tokens[swap] = tokens[swap], tokens[at]
        elif kind == 3:
            tokens.insert(at, rng.choice(FRAGMENTS))
        elif kind == 4 and tokens:
            tokens[at] = rng.choice(FRAGMENTS)
        elif kind == 5:
            tokens = tokens[:at]
        elif kind == 6:
            donor = TOKEN.findall(rng.choice(corpus))
            start = rng.randrange(len(donor)) if donor else 0
            tokens[at:at] = donor[start : start + rng.randint(1, 12)]
        elif kind == 7:
            numbers = [index for index, token in enumerate(tokens) if token.isdigit()]
            if numbers:
                tokens[rng.choice(numbers)] = rng.choice(HUGE)
        elif kind == 8:
            words = [index for index, token in enumerate(tokens) if re.match(r"[%@#!\w]", token)]
            if len(words) > 1:
                tokens[rng.choice(words)] = tokens[rng.choice(words)]
        elif tokens:
            token = tokens[at]
            spot = rng.randrange(len(token))
            tokens[at] = token[:spot] + chr(rng.randrange(1, 256)) + token[spot + 1 :]
    return "".join(tokens)


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """`data` with flipped, deleted, inserted and truncated bytes."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not result:
            break
        at = rng.randrange(len(result))
        kind = rng.randrange(6)
        if kind <= 1:
            result[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            result[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        elif kind == 3:
            del result[at : at + rng.choice((1, 1, 4, 32))]
        elif kind == 4:
            result[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 1, 4))))
        else:
            del result[at:]
    return bytes(result)


def nested(opening: str, middle: str, closing: str, depth: int) -> str:
    return opening * depth + middle + closing * depth


def in_expression(expression: str) -> str:
    return f'"test.op"() {{value = #relax.expr<{expression}>}} : () -> ()'


def in_shape(dims: str) -> str:
    return f"relax.func private @f(!relax.shape<{dims}>)"


def extreme_programs() -> dict[str, str]:
    """Deep, long and wide programs, by name."""
    many = 10_000
    plus = " + ".join(f"s{index}" for index in range(many))
    chain = "\n".join(
        f"  %{index + 1} = relax.exp %{index} : (tensor<4xf32>) -> tensor<4xf32>" for index in range(many)
    )
    rank = ", ".join(["n"] * many)
    sizes = "?x" * many
    ones = ", ".join(["1"] * many)
    return {
        "nested parentheses": in_expression(nested("(", "n", ")", many)),
        "unclosed parentheses": in_expression("(" * many),
        "nested floordiv": in_expression(nested("(", "n", " + 1) floordiv m", many)),
        "nested min": in_expression(nested("min(n, ", "m", ")", many)),
        "nested max of mod": in_expression(nested("max(n mod (", "m", " + 1), 2)", many)),
        "nested broadcast": in_expression(nested("broadcast(n, 1 + ", "m", ")", many)),
        "minus signs": in_expression("- " * many + "n"),
        "sum of symbols": in_expression(plus),
        "sum of one symbol": in_expression(" + ".join(["n"] * many)),
        "product of symbols": in_expression("*".join(f"s{index}" for index in range(many))),
        "power": in_expression("*".join(["n"] * many)),
        "product of sums": in_expression("*".join(f"(a{index} + b{index})" for index in range(64))),
        "power of a sum": in_expression("*".join(["(a + b + c + d)"] * 200)),
        "min of many": in_expression("min(" + ", ".join(f"s{index}" for index in range(many)) + ")"),
        "chain of floordiv": in_expression("n" + " floordiv 2" * many),
        "chain of mod": in_expression("n" + " mod m" * many),
        "huge numbers": in_expression("n*9223372036854775807*9223372036854775807"),
        "number of many digits": in_expression("9" * many),
        "long name": in_expression("n" * 100_000),
        "huge rank of a shape": in_shape(f"[{rank}]"),
        "huge rank as a number": in_shape("4294967296"),
        "huge rank as a greater number": in_shape("99999999999999999999"),
        "rank of a million": in_shape("1000000"),
        "huge rank of a tensor": f"relax.func private @f(tensor<{sizes}f32, #relax.shape<[{rank}]>>)",
        "huge sizes": "relax.func private @f(tensor<9223372036854775807x9223372036854775807x?xf32, "
        "#relax.shape<[9223372036854775807, 9223372036854775807, n]>>)",
        "huge pad": "relax.func @f(%x: tensor<1xf32>) {\n"
        "  %0 = relax.pad %x by [9223372036854775807, 9223372036854775807] : "
        "(tensor<1xf32>) -> tensor<?xf32>\n"
        "  relax.return\n}",
        "pad of many axes": f"relax.func @f(%x: tensor<*xf32>) {{\n"
        f"  %0 = relax.pad %x by [{ones}] : (tensor<*xf32>) -> tensor<*xf32>\n  relax.return\n}}",
        "many strides": f"relax.func @f(%x: tensor<*xf32>) {{\n"
        f"  %0 = relax.max_pool1d %x {{strides = array<i64: {ones}>}} : (tensor<*xf32>) -> tensor<*xf32>\n"
        "  relax.return\n}",
        "many ops": f"relax.func @f(%0: tensor<4xf32>) {{\n{chain}\n  relax.return\n}}",
        "nested arrays": f'"test.op"() {{value = {nested("[", "1", "]", many)}}} : () -> ()',
        "nested dictionaries": f'"test.op"() {{value = {nested("{a = ", "1", "}", many)}}} : () -> ()',
        "nested tuples": f"relax.func private @f({nested('tuple<', 'i1', '>', many)})",
        "nested function types": f"relax.func private @f({nested('(() -> (', '()', '))', many)})",
        "nested modules": nested("module {\n", "", "}\n", 2_000),
        "nested dataflow": "relax.func @f() {\n"
        + nested("relax.dataflow {\n", "", "relax.output\n}\n", 2_000)
        + "relax.return\n}",
        "many functions": "\n".join(f"relax.func private @f{index}()" for index in range(many)),
        "many parameters": "relax.func private @f("
        + ", ".join(f"tensor<?xf32, #relax.shape<[s{index}]>>" for index in range(many))
        + ")",
    }
