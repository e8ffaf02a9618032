# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standalone programs that fork, with a device that the parent or only the child has opened."""

PROGRAM = '''
import os, select, signal
import numpy as np
import relax_mlir
from relax_mlir import Device, DeviceError

X = np.arange(5, dtype=np.float32)

def open_device():
    source = """
        relax.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
          %0 = relax.add %x, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
          relax.return %0 : tensor<5xf32>
        }"""
    return Device(KIND), relax_mlir.compile(relax_mlir.parse(source), target=TARGET)

def check(device, executable):
    for function in (executable["main"], executable.captured("main")):
        for _ in range(3):
            assert device.get(function(device.put(X))).tolist() == (2 * X).tolist()

def in_child(body):
    "What the child says, which may take a minute."
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        try:
            body()
            os.write(send, b"passed")
        except BaseException as error:
            os.write(send, repr(error).encode())
        os._exit(0)
    ready, _, _ = select.select([receive], [], [], 60)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert ready, "the child waits forever"
    said = os.read(receive, 1000).decode()
    assert said == "passed", said

in_child(lambda: check(*open_device()))

device, executable = open_device()
check(device, executable)
captured, arguments = executable.captured("main"), [device.put(X)]
captured(*arguments)

def use_the_parents():
    uses = [
        lambda: Device(KIND),
        lambda: device.put(X),
        lambda: device.get(arguments[0]),
        lambda: device.write(X, arguments[0]),
        lambda: executable["main"](*arguments),
        lambda: captured(*arguments),
        device.synchronize,
        device.trim_memory,
    ]
    for number, use in enumerate(uses):
        try:
            use()
        except DeviceError as error:
            assert f"{KIND}:0 was opened before this process was forked" in str(error), error
            assert "'spawn'" in str(error), error
        else:
            raise AssertionError(f"use {number} passes")
    # The child releases its tensors, code and graphs without the device.
    global executable, captured
    arguments.clear()
    executable = captured = None

in_child(use_the_parents)
check(device, executable)
print("passed")
'''


def program(kind: str, target: str) -> str:
    """A program that prints "passed" if a forked child can open a device, and is refused its parent's."""
    return f"KIND, TARGET = {kind!r}, {target!r}\n{PROGRAM}"
