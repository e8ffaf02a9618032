# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DTEXT=<file> -DLITERAL=<file> -P TextToLiteral.cmake: writes a string
# literal of C++ with the text of a file.
file(READ "${TEXT}" text)
file(WRITE "${LITERAL}" "R\"relax_text(${text})relax_text\"\n")
