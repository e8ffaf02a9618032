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

/// Runs compiled code. Returns false with `context.error` set if it fails;
/// `abandon` then frees what the code had allocated.
bool runCompiled(RelaxContext &context, CompiledCode code, void *closure,
                 int64_t *in, int64_t *out);
/// Frees everything that a failed call had allocated, whatever references to it
/// exist.
void abandon(RelaxContext &context);

/// Unpacks the arguments, runs the code and packs its results. Returns 0, or -1
/// with an error raised. `weights` overrides the bound weights unless null.
int callCompiled(const Signature &signature, const TVMFFIAny *args,
                 int32_t count, TVMFFIAny *result, CompiledCode code,
                 void *closure, WeightSet *weights = nullptr);

/// A library function built into the runtime. Each is one static object, which
/// registers itself when the runtime is loaded. Calls of it may be captured in
/// graphs, except copies to the host: functions that contain these are not
/// captured (`Signature::hasHostParts`).
class RuntimeFunction {
public:
  /// Returns false with the error of the call set.
  using Call = bool (*)(RelaxContext &context, const int64_t *words,
                        const int64_t *slots);

  RuntimeFunction(const char *name, Call call);

  /// Returns null if there is no function of this name.
  static const RuntimeFunction *find(const char *name);

  const char *const name;
  const Call call;

private:
  const RuntimeFunction *const next;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_CALL_H
