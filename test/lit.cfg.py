# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""lit configuration: runs relax-opt and the LLVM test tools that come with the wheels."""

import importlib.util
import os
import shutil
import sys

import lit.formats


def package_bin(name):
    """The bin folder of an installed toolchain wheel, or None."""
    spec = importlib.util.find_spec(name)
    return os.path.join(list(spec.submodule_search_locations)[0], "bin") if spec else None


config.name = "relax"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get(
    "RELAX_TEST_OUTPUT", os.path.join(config.test_source_root, "..", "build", "test")
)

# RELAX_TOOLS_DIR takes precedence over the tools that are installed in the environment.
tools = os.environ.get("RELAX_TOOLS_DIR") or os.path.dirname(
    shutil.which("relax-opt") or shutil.which("relax-opt", path=os.path.dirname(sys.executable)) or ""
)
if not tools:
    lit_config.fatal("relax-opt is not on PATH; install the package or set RELAX_TOOLS_DIR")
path = [tools, package_bin("llvm"), package_bin("mlir"), os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(entry for entry in path if entry)

# The mutant of tools/mutate that the tools activate.
if "RELAX_MUTANT" in os.environ:
    config.environment["RELAX_MUTANT"] = os.environ["RELAX_MUTANT"]

# Khronos' SPIR-V validator, from spirv-tools.
if shutil.which("spirv-val"):
    config.available_features.add("spirv-val")
