# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds MLIR and LLVM 22: in MLIR_DIR / LLVM_DIR where given (Debian's libmlir-22-dev,
# a build tree), else in the xtc-* wheels of the Python interpreter that builds us.
#
# Sets RELAX_TOOL_LIBS, what an executable links, and RELAX_EXT_LIBS, what the
# Python extension links. Never both in one process: each holds all of MLIR.

set(Python_FIND_VIRTUALENV FIRST)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

# Prints the folder of a Python package.
function(relax_python_package name result)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('${name}'); print(list(s.submodule_search_locations)[0] if s else '')"
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# A deleted build environment leaves its folders in the cache.
foreach(package MLIR LLVM)
  if(${package}_DIR AND NOT EXISTS "${${package}_DIR}")
    unset(${package}_DIR CACHE)
    unset(${package}_DIR)
  endif()
endforeach()
relax_python_package(mlir RELAX_MLIR_PACKAGE)
relax_python_package(llvm RELAX_LLVM_PACKAGE)
if(NOT MLIR_DIR AND RELAX_MLIR_PACKAGE)
  set(MLIR_DIR "${RELAX_MLIR_PACKAGE}/lib/cmake/mlir")
endif()
if(NOT LLVM_DIR AND RELAX_LLVM_PACKAGE)
  set(LLVM_DIR "${RELAX_LLVM_PACKAGE}/lib/cmake/llvm")
endif()
find_package(LLVM REQUIRED CONFIG)
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "relax-mlir needs MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; "
    "install the xtc-* wheels or point LLVM_DIR and MLIR_DIR at LLVM 22")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
# HandleLLVMOptions forbids undefined symbols, but the interpreter provides
# those of an extension.
foreach(kind SHARED MODULE)
  string(REPLACE "-Wl,-z,defs" "" CMAKE_${kind}_LINKER_FLAGS "${CMAKE_${kind}_LINKER_FLAGS}")
endforeach()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

set(RELAX_TOOL_LIBS MLIR LLVM)
