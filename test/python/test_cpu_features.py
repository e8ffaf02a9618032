# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU features of code: the runtime detects the same as LLVM, and code that needs more is rejected by name."""

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from targets import needs_linker

import relax_mlir
from relax_mlir import Executable, ModelError, RelaxError, Target, _relax
from relax_mlir.export import export
from relax_mlir.runtime import library_path, missing_features

ROOT = Path(__file__).resolve().parents[2]
TABLE = re.findall(
    r'^RELAX_(X86|AARCH64)_FEATURE\("([^"]+)"', (ROOT / "lib/Runtime/Core/CPUFeatures.def").read_text(), re.MULTILINE
)
HOST = Target.host()
IS_X86 = HOST.triple.startswith("x86_64")
X = np.arange(64, dtype=np.float32).reshape(16, 4)
T = "tensor<?x4xf32, #relax.shape<[n, 4]>>"
MODULE = f"""
relax.func @main(%x: {T}) -> {T} {{
  %w = relax.constant weight "w" : tensor<4xf32>
  %0 = relax.exp %x : ({T}) -> {T}
  %1 = relax.add %0, %w : ({T}, tensor<4xf32>) -> {T}
  relax.return %1 : {T}
}}"""
WEIGHTS = {"w": np.ones(4, np.float32)}


def names_of(architecture):
    return [name for kind, name in TABLE if kind == architecture]


def lacking():
    """A target like this machine plus a feature that it lacks; no CPU has all features."""
    candidates = names_of("X86") if IS_X86 else names_of("AARCH64")
    name = missing_features(candidates)[0]
    return name, Target.for_cpu("native", [f"+{name}"])


@pytest.fixture(scope="module")
def refused():
    """The name of a missing feature, and code that needs it."""
    name, target = lacking()
    code = relax_mlir.compile_code(relax_mlir.parse(MODULE), target)
    assert name in code.cpu_features
    return name, code


@pytest.mark.skipif(not IS_X86, reason="LLVM asks the CPU for its features on x86-64 alone")
def test_the_runtime_finds_what_llvm_finds():
    found = dict((entry[1:], entry[0] == "+") for entry in HOST.features.split(","))
    compared = [name for name in names_of("X86") if name in found]
    assert len(compared) > 50
    assert {name: not missing_features([name]) for name in compared} == {name: found[name] for name in compared}


def test_what_is_not_known_is_missing():
    assert missing_features([]) == ()
    assert missing_features(["no-such-feature"]) == ("no-such-feature",)
    assert missing_features([*HOST.required_features, "no-such-feature"]) == ("no-such-feature",)


def test_code_for_this_machine_runs_here():
    assert missing_features(HOST.required_features) == ()
    assert relax_mlir.compile_code(relax_mlir.parse(MODULE)).cpu_features == HOST.required_features


# The psABI levels, and Arm's specifications of these cores.
@pytest.mark.parametrize(
    "triple, cpu, features, has, lacks",
    [
        ("x86_64-linux-gnu", "", "", "", "sse3 avx"),
        ("x86_64-linux-gnu", "x86-64-v2", "", "cx16 sahf popcnt sse3 sse4.1 sse4.2 ssse3", "avx"),
        ("x86_64-linux-gnu", "x86-64-v3", "", "avx avx2 bmi bmi2 f16c fma lzcnt movbe", "avx512f"),
        ("x86_64-linux-gnu", "x86-64-v4", "", "avx512f avx512bw avx512cd avx512dq avx512vl", "avx512bf16"),
        ("x86_64-linux-gnu", "znver4", "", "avx512f avx512bf16 avx512vnni vaes gfni sse4a", "amx-tile"),
        ("x86_64-linux-gnu", "znver4", "-avx512f", "avx2 vaes sse4a", "avx512f avx512bf16"),
        ("x86_64-linux-gnu", "sapphirerapids", "", "amx-tile amx-bf16 avx512fp16 avxvnni", "sse4a"),
        ("x86_64-linux-gnu", "", "+avx2", "avx avx2 sse4.2", "fma"),
        ("aarch64-linux-gnu", "", "", "", "lse dotprod"),
        ("aarch64-linux-gnu", "cortex-a76", "", "lse rdm fullfp16 dotprod rcpc crc aes sha2", "sve bf16"),
        ("aarch64-linux-gnu", "neoverse-v1", "", "sve bf16 i8mm fp16fml jsconv complxnum", "sve2"),
        ("aarch64-linux-gnu", "neoverse-v2", "", "sve sve2 sve-bitperm", "sme"),
    ],
)
def test_what_targets_need(triple, cpu, features, has, lacks):
    required = set(Target(triple, cpu, features).required_features)
    assert set(has.split()) <= required and not set(lacks.split()) & required
    if not has:
        assert not required


# The message names what is wrong and lists what there is, before any code is made.
def test_unknown_names():
    for features in ("+nonsense", "+avx2,-nonsense"):
        with pytest.raises(RelaxError, match=r"'nonsense' is not a feature of x86_64-.*; code can use sse3, .*, avx2"):
            relax_mlir.compile_code(relax_mlir.parse(MODULE), Target("x86_64-linux-gnu", "", features), cached=False)
        with pytest.raises(RelaxError, match="'nonsense' is not a feature of aarch64-linux-gnu; code can use .*, sve"):
            Target.parse(f"aarch64-linux-gnu:generic,{features.replace('avx2', 'sve')}")
    with pytest.raises(RelaxError, match="'avx2' is not a feature; expected '\\+' or '-' and a name, as in '\\+avx2'"):
        Target("x86_64-linux-gnu", "", "avx2")
    with pytest.raises(RelaxError, match="'x86-64-v9' is not a CPU of x86_64-linux-gnu; LLVM knows .*, x86-64-v4"):
        Target.for_cpu("x86-64-v9", triple="x86_64-linux-gnu")
    with pytest.raises(RelaxError, match="its triple is needed, as in 'aarch64-linux-gnu:cortex-a76'"):
        Target.parse("x86_64-linux-gnu:cortex-a76")


# Without a CPU before them, features would be part of the triple, or change nothing.
@pytest.mark.parametrize(
    "name, expected",
    [
        ("cpu:+avx2", "cpu:x86-64-v3,+avx2"),
        ("cpu:+avx2,-fma", "cpu:x86-64-v3,+avx2,-fma"),
        ("cpu:,-avx512f", "cpu:x86-64-v3,-avx512f"),
        ("cpu,+avx2", "cpu:x86-64-v3,+avx2"),
        ("aarch64-linux-gnu:,-sve", "aarch64-linux-gnu:generic,-sve"),
        ("aarch64-linux-gnu,-sve", "aarch64-linux-gnu:generic,-sve"),
        ("x86_64-linux-gnu,-fma,+avx2", "x86_64-linux-gnu:generic,-fma,+avx2"),
        ("aarch64-linux-gnu,-sve:cortex-a76", "aarch64-linux-gnu:generic,-sve"),
    ],
)
def test_features_need_a_cpu(name, expected):
    with pytest.raises(RelaxError, match=rf"names features without a CPU; .* as in '{re.escape(expected)}'; .*generic"):
        Target.parse(name)


@pytest.mark.parametrize("name", ["cpu\n", "cpu:x86-64-v3,\n+avx2", "cpu :native", "cuda:sm_90\t"])
def test_white_space_is_in_no_name(name):
    with pytest.raises(RelaxError, match="white space or a control character after 'c"):
        Target.parse(name)


def test_triples_have_their_own_characters():
    for triple in ("x86_64-linux-gnu,-avx2", "x86_64-linux-gnu\n"):
        with pytest.raises(RelaxError, match="is not a triple; expected"):
            Target(triple).check()


# LLVM ends the process when it makes code for these.
@pytest.mark.parametrize(
    "name, needed",
    [
        ("x86_64-linux-gnu:x86-64,-64bit", "+64bit"),
        ("x86_64-linux-gnu:x86-64,-64bit-mode", "+64bit-mode"),
        ("x86_64-linux-gnu:x86-64,-sse2", "+sse2"),
        ("x86_64-linux-gnu:x86-64,+16bit-mode", "-16bit-mode"),
        ("x86_64-linux-gnu:x86-64,+soft-float", "-soft-float"),
        ("aarch64-linux-gnu:generic,+reserve-x1", "-reserve-x1"),
    ],
)
def test_code_keeps_its_mode(name, needed):
    with pytest.raises(RelaxError, match=rf"make no code for .*-linux-gnu, which always has '{re.escape(needed)}'"):
        Target.parse(name)


@pytest.mark.skipif(not IS_X86, reason="names a mode of x86-64 for this machine")
def test_this_machine_keeps_its_mode():
    for features in ("-64bit-mode", "+16bit-mode"):
        with pytest.raises(RelaxError, match="which always has"):
            Target.parse(f"cpu:native,{features}")


def test_cpus_of_32_bits_are_not_for_x86_64():
    for target in (Target("x86_64-linux-gnu", "i686"), Target("x86_64-linux-gnu", "prescott")):
        with pytest.raises(RelaxError, match="is not a CPU of x86_64-linux-gnu; LLVM knows ") as raised:
            target.check()
        known = str(raised.value).partition("LLVM knows ")[2].split(", ")
        assert {"x86-64", "generic", "k8", "nehalem"} <= set(known) and not {"i386", "i686", "yonah"} & set(known)


def test_features_are_a_set():
    targets = [
        Target("x86_64-linux-gnu", "x86-64-v3", "-movbe,+avx512bf16,+avx512f"),
        Target("x86_64-linux-gnu", "x86-64-v3", "+avx512f,+movbe,,+avx512bf16,-movbe"),
        Target.for_cpu("x86-64-v3", ["+avx512f", "-movbe", "+avx512bf16"], "x86_64-linux-gnu"),
        Target.parse("x86_64-linux-gnu:x86-64-v3,-movbe,+avx512bf16,+avx512f"),
    ]
    assert len(set(targets)) == 1 and targets[0].features == "+avx512bf16,+avx512f,-movbe"
    required = set(targets[0].required_features)
    assert {"avx2", "avx512bf16"} <= required and "movbe" not in required
    with pytest.raises(RelaxError, match=r"contradict each other: 'avx512bf16' needs one that is left out"):
        Target("x86_64-linux-gnu", "", "-avx512f,+avx512bf16").check()


def test_names_of_cpus():
    assert Target.parse("cpu") == HOST == Target.parse("cpu:native")
    assert Target.parse("cpu:generic") == Target.for_cpu("generic") == Target(HOST.triple, "generic")
    assert not Target.parse("cpu:generic").required_features
    feature = HOST.required_features[-1]
    target = Target.parse(f"cpu:native,-{feature}")
    assert (target.triple, target.cpu) == (HOST.triple, HOST.cpu)
    assert set(target.required_features) <= {*HOST.required_features} - {feature}


# --- every way to run code


def test_a_cpu_that_is_named_by_hand():
    name, target = lacking()
    lists = rf"\(the code needs .*{re.escape(name)}.*; this CPU has .*{re.escape(HOST.required_features[-1])}.*\)"
    message = rf"code for the CPU '.*' needs {re.escape(name)}.*, which this CPU lacks; .* {lists}"
    with pytest.raises(RelaxError, match=message):
        relax_mlir.compile(relax_mlir.parse(MODULE), target=target)


def test_code_in_this_process(refused):
    name, code = refused
    with pytest.raises(RelaxError, match=rf"the code needs {re.escape(name)}.*, which this CPU lacks"):
        Executable(code)


def test_an_exported_folder(refused, tmp_path):
    name, code = refused
    export(code, tmp_path, WEIGHTS)
    with pytest.raises(ModelError, match=rf"was compiled for a CPU with {re.escape(name)}.*, which this one lacks"):
        relax_mlir.load_exported(tmp_path)


# In a separate process, since an illegal instruction would end it.
@needs_linker
@pytest.mark.parametrize("function", ["bind_weight", "main"])
def test_the_library_alone(refused, tmp_path, function):
    name, code = refused
    export(code, tmp_path, WEIGHTS)
    program = f"""
import numpy as np, tvm_ffi
model = tvm_ffi.load_module({str(tmp_path / "model.so")!r})
x = tvm_ffi.from_dlpack(np.ones((2, 4), np.float32))
for _ in range(2):
    try:
        print(model.bind_weight("w", x) if {function!r} == "bind_weight" else model.main(x))
    except RuntimeError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, (run.returncode, run.stderr)
    message = "the code was compiled for a CPU with features that this one lacks: "
    assert "; this CPU has " in run.stdout
    assert [line.startswith(message) and name in line for line in run.stdout.splitlines()] == [True, True]


HOST_PROGRAM = """
#include "TVMFFI.h"
extern "C" int __tvm_ffi_main(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);
int main() {
  TVMFFIAny result{};
  return __tvm_ffi_main(nullptr, nullptr, 0, &result) == -1 ? 0 : 1;
}
"""


@needs_linker
@pytest.mark.skipif(not shutil.which("g++"), reason="the program is compiled by g++, which is not installed")
def test_a_program_in_c(refused, tmp_path):
    name, code = refused
    export(code, tmp_path, WEIGHTS)
    (tmp_path / "host.cpp").write_text(HOST_PROGRAM)
    command = ["g++", "-std=c++17", f"-I{ROOT / 'lib' / 'Runtime' / 'Core'}", str(tmp_path / "host.cpp")]
    command += [str(tmp_path / "model.o"), str(tmp_path / "librelax_runtime.so"), f"-Wl,-rpath,{tmp_path}", "-lm"]
    subprocess.run([*command, "-o", str(tmp_path / "host")], check=True)
    run = subprocess.run([tmp_path / "host"], capture_output=True, text=True)
    assert run.returncode == 0
    assert "features that this one lacks" in run.stderr and name in run.stderr


# Code before the feature check must run on any CPU: neither the entries nor their callees may use an extension.
@pytest.mark.skipif(not IS_X86 or not shutil.which("objdump"), reason="reads the code of x86-64 by objdump")
def test_entries_are_for_the_baseline(refused, tmp_path):
    _, code = refused
    (tmp_path / "model.o").write_bytes(code.object)
    text = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", tmp_path / "model.o"], capture_output=True, text=True, check=True
    ).stdout
    functions = re.split(r"^[0-9a-f]+ <(.*)>:$", text, flags=re.MULTILINE)[1:]
    entries = {name: body for name, body in zip(functions[::2], functions[1::2]) if name.startswith("__tvm_ffi_")}
    assert entries.keys() == {"__tvm_ffi_main", "__tvm_ffi_bind_weight"}
    for body in entries.values():
        assert "relax_rt_require_cpu" in body and not re.search(r"[xyz]mm|\bv[a-z]+[ps][sd]\b", body)


# The cost of the check is paid once.
def test_the_check_is_done_once(refused):
    function = ctypes.CDLL(str(library_path())).relax_rt_require_cpu
    is_checked = ctypes.c_int32(0)
    assert function(",".join(HOST.required_features).encode(), ctypes.byref(is_checked)) == 0
    assert is_checked.value == 1
    executable = relax_mlir.compile(relax_mlir.parse(MODULE), weights=WEIGHTS)
    np.testing.assert_allclose(executable["main"](X), np.exp(X) + 1, rtol=1e-5)
    assert _relax.required_features(HOST.triple, HOST.cpu, HOST.features) == list(HOST.required_features)
