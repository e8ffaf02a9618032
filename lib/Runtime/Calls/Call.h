//===- Call.h - calls into and out of compiled code -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_CALL_H
#define RELAX_RUNTIME_CALLS_CALL_H

#include "Runtime/Calls/Arguments.h"

namespace relax_rt {

using CompiledCode = void (*)(void *closure, RelaxContext *context, int64_t *in,
                              int64_t *out);

/// Runs the code. False with `context.error` set where it fails; what it had
/// allocated is left to `abandon`.
bool runCompiled(RelaxContext &context, CompiledCode code, void *closure,
                 int64_t *in, int64_t *out);
/// Frees what a failed call had allocated, whoever held it.
void abandon(RelaxContext &context);

/// Unpacks the arguments, runs the code, and packs its results. 0, or -1 with
/// an error raised. `weights` are what the call is to use, where it is not to
/// use those that are bound.
int callCompiled(const Signature &signature, const TVMFFIAny *args,
                 int32_t count, TVMFFIAny *result, CompiledCode code,
                 void *closure, WeightSet *weights = nullptr);

/// A library function that the runtime has itself. Each is one static object,
/// which adds itself when the runtime is loaded. They may be captured, but for
/// copies to the host, and functions with these are not
/// (`Signature::hasHostParts`).
class RuntimeFunction {
public:
  /// False with the error of the call set.
  using Call = bool (*)(RelaxContext &context, const int64_t *words,
                        const int64_t *slots);

  RuntimeFunction(const char *name, Call call);

  /// Null where there is none.
  static const RuntimeFunction *find(const char *name);

  const char *const name;
  const Call call;

private:
  const RuntimeFunction *const next;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_CALL_H
