//===- Context.h - one call of a compiled function --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_CONTEXT_H
#define RELAX_RUNTIME_CORE_CONTEXT_H

#include "Runtime/Core/RelaxRuntime.h"
#include "Runtime/Core/TVMFFI.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

namespace relax_rt {

class DeviceStream;
class WeightSet;
struct Recorder;

struct Error {
  /// The name of a Python exception type.
  const char *kind = "RuntimeError";
  std::string message;
  /// "file:line:column", or null.
  const char *location = nullptr;
  const char *function = nullptr;
  /// Another library has already raised the error.
  bool raised = false;
  /// The error is already an exception in the caller's language, e.g. from a
  /// signal handler.
  bool isPending = false;
};

/// Sets `error` and returns false.
bool fail(Error &error, const char *kind, std::string message);

/// Passes an error to the caller's language.
void raise(const Error &error);

/// For functions that return text: writes it as a string if it fits into `size`
/// bytes, and returns the number of bytes needed.
inline int64_t writeText(const std::string &text, char *out, int64_t size) {
  int64_t needed = static_cast<int64_t>(text.size()) + 1;
  if (needed <= size)
    std::memcpy(out, text.c_str(), needed);
  return needed;
}

/// Registers a storage with a call, which frees it on failure.
void link(RelaxContext *context, RelaxStorage *storage);
void unlink(RelaxStorage *storage);

/// Allocates a storage for a call, or for none if `context` is null. Returns
/// null if out of memory.
RelaxStorage *allocate(RelaxContext *context, int64_t bytes, int64_t align);

/// Allocates memory for a tensor of the call on a device of this DLPack type.
/// Returns null with the call's error set.
RelaxStorage *allocateTensor(RelaxContext &context, int32_t device,
                             int64_t bytes);
/// Copies between such tensors. On a device, source and destination must not
/// overlap. Returns false with the call's error set.
bool copyTensor(RelaxContext &context, int32_t device, void *to,
                const void *from, int64_t bytes);

/// The `destroy` of pooled storages.
void destroyPooled(RelaxStorage *storage);
/// Returns a storage, owned by no call, that keeps a TVM FFI object alive and
/// exposes its data. Returns null if out of memory.
RelaxStorage *borrow(TVMFFIObject *object, void *data);
/// Returns the object that a storage keeps alive, or null.
TVMFFIObject *objectOf(const RelaxStorage *storage);
/// Returns a reference that may outlive the call and be dropped in any thread
/// at any time. Returns null if out of memory.
RelaxStorage *share(RelaxStorage *storage);
/// The same for a callable.
RelaxStorage *shareClosure(RelaxStorage *storage);
/// Returns whether the storage is a callable.
bool isClosure(const RelaxStorage *storage);
/// Returns the weights that a callable was created with, which its slots may
/// point to; null if its call had used none.
WeightSet *weightsOf(const RelaxStorage *closure);

} // namespace relax_rt

struct RelaxContext {
  /// Whether kernels are timed; compiled code reads this word.
  int32_t isTimed = 0;
  /// The names of the kernel that runs, and when it began, if it is timed; null
  /// otherwise.
  const char *kernel = nullptr;
  int64_t kernelBegin = 0;
  std::jmp_buf escape;
  RelaxStorage *storages = nullptr;
  /// The caller's stream on the device that the function uses; null for a
  /// function that runs on the host.
  relax_rt::DeviceStream *stream = nullptr;
  /// The source location of the last launch, or null.
  const char *lastLaunch = nullptr;
  /// Set if the call is observed or captured (Graphs.h).
  relax_rt::Recorder *recorder = nullptr;
  /// The weights of the call, pinned at the first use; null before.
  relax_rt::WeightSet *weights = nullptr;
  relax_rt::Error error;
};

#endif // RELAX_RUNTIME_CORE_CONTEXT_H
