# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's linker (lib/Runtime/Core/Linker.cpp): object files of compilers, damaged ones, and their lifetimes."""

import ctypes
import gc
import random
import shutil
import subprocess
import weakref

import pytest

import relax_mlir
from relax_mlir import BlockBuilder, Tensor, op
from relax_mlir.execution.linked_code import LinkedCode

needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

SOURCE = """
#include <math.h>
#include <string.h>
extern int given(int);
extern void missing_but_weak(void) __attribute__((weak));
static int counter = 40;                            // variables
static long zeros[1000];                            // no bytes in the file
const double table[3] = {0.5, 1.5, 2.5};            // constants
static int twice(int x) { return given(2 * x); }
static int thrice(int x) { return 3 * x; }
int (*const functions[2])(int) = {twice, thrice};   // addresses in data
int count(void) { zeros[999] += 1; return ++counter + (int)zeros[999] - 1; }
double apply(int which, int x) { return functions[which](x) + table[which]; }
double length(double x, double y) { return sqrt(hypot(x, y)) + cbrt(x); }   // symbols of libm
int is_missing(void) { return missing_but_weak == 0; }
int pick(int x) {
  switch (x) {                                      // a jump table
  case 0: return 7; case 1: return 1; case 2: return 8; case 3: return 2; case 4: return 9; case 5: return 4;
  default: return (int)strlen("more");
  }
}
"""


def compile_c(folder, source, *options):
    (folder / "code.c").write_text(source)
    command = ["gcc", "-O1", "-fPIC", "-fno-builtin", "-c", "code.c", "-o", "code.o", *options]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "code.o").read_bytes()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def given(x):
    return x + 1


GIVEN = {"given": ctypes.cast(given, ctypes.c_void_p).value}


def function(code, name, result, *types):
    return ctypes.CFUNCTYPE(result, *types)(code.lookup(name))


@needs_compiler
@pytest.mark.parametrize("options", [(), ("-O3", "-ffunction-sections", "-fdata-sections"), ("-fno-plt",), ("-g",)])
def test_code_of_a_c_compiler(tmp_path, options):
    object = compile_c(tmp_path, SOURCE, *options)
    code, other = LinkedCode(object, GIVEN), LinkedCode(object, GIVEN)
    count = function(code, "count", ctypes.c_int)
    assert [count(), count()] == [41, 43]
    assert function(other, "count", ctypes.c_int)() == 41  # has variables of its own
    apply = function(code, "apply", ctypes.c_double, ctypes.c_int, ctypes.c_int)
    assert [apply(0, 5), apply(1, 5)] == [11.5, 16.5]
    length = function(code, "length", ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert abs(length(27, 36) - (45**0.5 + 3)) < 1e-12
    assert function(code, "is_missing", ctypes.c_int)() == 1
    pick = function(code, "pick", ctypes.c_int, ctypes.c_int)
    assert [pick(x) for x in range(-1, 7)] == [4, 7, 1, 8, 2, 9, 4, 4]
    assert (ctypes.c_double * 3).from_address(code.lookup("table"))[:] == [0.5, 1.5, 2.5]
    with pytest.raises(RuntimeError, match="it has no symbol 'twice'"):  # local
        code.lookup("twice")


@needs_compiler
@pytest.mark.parametrize(
    "source, options, message",
    [
        ("extern int nowhere_at_all(void); int f(void) { return nowhere_at_all(); }", (), "'nowhere_at_all', which"),
        ("__thread int x; int f(void) { return ++x; }", (), "thread-local"),
        ("int f(void) { static _Thread_local int x; return ++x; }", (), "thread-local"),
        ("int x; int f(void) { return x; }", ("-fcommon",), "'x' is of a kind"),
        ("static int f(void) { return 1; } void *p(void) { return f; }\nint g(void) __attribute__((ifunc(\"p\")));",
         (), "'g' is of a kind"),
        ("int x; __attribute__((constructor)) void f(void) { x = 1; }", (), "constructors"),
    ],
)  # fmt: skip
def test_code_that_is_not_linked(tmp_path, source, options, message):
    object = compile_c(tmp_path, source, *options)
    with pytest.raises(RuntimeError, match=message):
        LinkedCode(object, {})


def object_of_a_model():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((4,), "f32", name="x")]) as built:
        bb.return_(op.tanh(*built.params))
    return relax_mlir.compile_code(bb.module()).object


# Whatever the bytes are, linking ends in code or an error, and touches no other memory.
def test_damaged_objects():
    object = object_of_a_model()
    LinkedCode(object, {}).lookup("__tvm_ffi_main")
    generator = random.Random(0)
    tables = int.from_bytes(object[40:48], "little")
    refused = 0
    for case in range(2000):
        damaged = bytearray(object)
        if case % 4 == 0:
            damaged = damaged[: generator.randrange(len(damaged))]
        for _ in range(generator.randrange(1, 4)):
            begin = generator.choice([0, tables, 0])
            place = generator.randrange(begin, begin + 64 if begin == 0 else len(object))
            if place < len(damaged):
                damaged[place] = generator.choice([0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)])
        try:
            LinkedCode(bytes(damaged), {})
        except RuntimeError as error:
            assert str(error)
            refused += 1
    assert refused > 500
    for data, message in (
        (b"", "not an object file"),
        (b"\x7fELF" * 20, "not an object file"),
        (object[:18] + b"\x08\x00" + object[20:], "code for machine 8 of ELF"),
    ):
        with pytest.raises(RuntimeError, match=message):
            LinkedCode(data, {})


def mapped_bytes():
    with open("/proc/self/maps") as lines:
        return sum("r-xp 00000000 00:00 0" in line for line in lines)


def test_code_goes_with_its_object():
    object = object_of_a_model()
    gc.collect()
    before = mapped_bytes()
    code = LinkedCode(object, {})
    watched = weakref.ref(code)
    assert mapped_bytes() > before
    del code
    gc.collect()
    assert watched() is None and mapped_bytes() == before
