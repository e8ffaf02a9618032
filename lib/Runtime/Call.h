//===- Call.h - calls into and out of compiled code -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALL_H
#define RELAX_RUNTIME_CALL_H

#include "Arguments.h"

namespace relax_rt {

using CompiledCode = void (*)(void *closure, RelaxContext *context, int64_t *in,
                              int64_t *out);

/// Unpacks the arguments, runs the code, and packs its results. 0, or -1 with
/// an error raised.
int callCompiled(const Signature &signature, const TVMFFIAny *args,
                 int32_t count, TVMFFIAny *result, CompiledCode code,
                 void *closure);

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALL_H
