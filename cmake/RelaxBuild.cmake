# Helpers for the CMakeLists of the tree.

# relax_ods(<base> <td> GENERATORS <file-suffix> <mlir-tblgen options...>...)
# is spelled out with mlir_tablegen; this only collects the outputs.
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

# relax_tool(<name> <sources...> LIBS <extra libraries...>): an executable on top of MLIR's shared library.
function(relax_tool name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE RelaxCompiler ${arg_LIBS} ${RELAX_TOOL_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
