# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Helpers for the CMakeLists of the tree.

# relax_tablegen(<td> OUTPUTS <file> <mlir-tblgen options>...): runs
# mlir_tablegen for each pair of a file and its options, and collects the
# outputs.
function(relax_tablegen td)
  cmake_parse_arguments(arg "" "" "OUTPUTS" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${td})
  while(arg_OUTPUTS)
    list(POP_FRONT arg_OUTPUTS output generator)
    separate_arguments(options UNIX_COMMAND "${generator}")
    mlir_tablegen(${output} ${options} -I${CMAKE_SOURCE_DIR}/dialects)
  endwhile()
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# relax_compile_together(<target> [EXCEPT <folder>...]): groups about eight
# sources of a folder into one compilation, so that MLIR's headers are parsed,
# and their templates instantiated, once per group: otherwise these dominate the
# build time. So a name that is local to one file must not mean something else in
# another file. A source is assigned to its group by a hash of its name, so that
# adding a file leaves the other groups unchanged. Sources of the folders after
# EXCEPT are compiled alone. Few sources use the dialects of NVVM and SPIR-V,
# whose headers would double the time that the precompiled header takes.
function(relax_compile_together target)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder "${source}" ABSOLUTE)
    get_filename_component(folder "${folder}" DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} "${folder}")
    if(folder IN_LIST arg_EXCEPT)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH in_${folder} count)
    set(groups 1)
    while(count GREATER 11) # powers of two, so that the count rarely changes
      math(EXPR groups "${groups} * 2")
      math(EXPR count "${count} / 2")
    endwhile()
    foreach(source ${in_${folder}})
      get_filename_component(name "${source}" NAME)
      string(MD5 hash "${name}")
      string(SUBSTRING "${hash}" 0 4 digits)
      math(EXPR group "0x${digits} % ${groups}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
    endforeach()
  endforeach()
  if(NOT target STREQUAL "RelaxDialect")
    target_precompile_headers(${target} REUSE_FROM RelaxDialect)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Linalg/IR/Linalg.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/Matchers.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Pass/Pass.h>
    <mlir/Transforms/GreedyPatternRewriteDriver.h>)
endfunction()

# relax_tool(<name> <sources...> LIBS <extra libraries...>): an executable that
# links MLIR's shared library.
function(relax_tool name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE RelaxCompiler ${arg_LIBS} ${RELAX_TOOL_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${RELAX_TOOL_RPATH}")
  install(TARGETS ${name} RUNTIME DESTINATION "${RELAX_TOOL_DESTINATION}" COMPONENT tools)
endfunction()

# Where tools are installed, and the path from there to MLIR's shared libraries:
# in a wheel, the scripts folder and the site-packages of the same environment.
if(SKBUILD)
  set(RELAX_TOOL_DESTINATION "${SKBUILD_SCRIPTS_DIR}")
  set(RELAX_TOOL_RPATH)
  set(python_lib "$ORIGIN/../lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}")
  foreach(site "${python_lib}/site-packages" "${python_lib}/dist-packages")
    list(APPEND RELAX_TOOL_RPATH "${site}/mlir/lib" "${site}/llvm/lib")
  endforeach()
  if(SKBUILD_STATE STREQUAL "editable")
    list(APPEND RELAX_TOOL_RPATH "${RELAX_MLIR_PACKAGE}/lib" "${RELAX_LLVM_PACKAGE}/lib")
  endif()
else()
  set(RELAX_TOOL_DESTINATION bin)
  get_target_property(mlir_library MLIR LOCATION)
  get_filename_component(mlir_library_dir "${mlir_library}" DIRECTORY)
  set(RELAX_TOOL_RPATH "${mlir_library_dir}" "${LLVM_LIBRARY_DIR}")
endif()
