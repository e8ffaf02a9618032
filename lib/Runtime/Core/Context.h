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
#include <string>

namespace relax_rt {

class DeviceStream;
class WeightSet;
struct Recorder;

struct Error {
  /// The name of a Python exception.
  const char *kind = "RuntimeError";
  std::string message;
  /// "file:line:column", or null.
  const char *location = nullptr;
  const char *function = nullptr;
  /// Another library has raised it already.
  bool raised = false;
  /// The caller's language has it as an exception already, as one of a signal.
  bool isPending = false;
};

/// Sets the error, and returns false.
bool fail(Error &error, const char *kind, std::string message);

/// Hands an error to the caller's language.
void raise(const Error &error);

/// Lets a call free the storage where it fails.
void link(RelaxContext *context, RelaxStorage *storage);
void unlink(RelaxStorage *storage);

/// A storage of that call, or of none where that is null; null where there is
/// no memory.
RelaxStorage *allocate(RelaxContext *context, int64_t bytes, int64_t align);

/// Memory for a tensor of that call, on a device of this type of DLPack. Null
/// with the call's error set.
RelaxStorage *allocateTensor(RelaxContext &context, int32_t device,
                             int64_t bytes);
/// Copies within the memory of such tensors; on a device, nothing is
/// moved to memory that overlaps. False with the call's error set.
bool copyTensor(RelaxContext &context, int32_t device, void *to,
                const void *from, int64_t bytes);

/// The `destroy` of storages from the pool.
void destroyPooled(RelaxStorage *storage);
/// A storage that keeps an object of TVM FFI whose data it is, and belongs to
/// no call; null where there is no memory.
RelaxStorage *borrow(TVMFFIObject *object, void *data);
/// The object that a storage keeps; null where it keeps none.
TVMFFIObject *objectOf(const RelaxStorage *storage);
/// A reference for somebody outside the call, who may keep it for any time and
/// drop it in any thread, whatever becomes of the call. Null where there is no
/// memory.
RelaxStorage *share(RelaxStorage *storage);
/// The same of a callable.
RelaxStorage *shareClosure(RelaxStorage *storage);
/// Whether it is a callable.
bool isClosure(const RelaxStorage *storage);
/// The weights that a callable was made with, which its slots may point to;
/// null where its call had used none.
WeightSet *weightsOf(const RelaxStorage *closure);

} // namespace relax_rt

struct RelaxContext {
  std::jmp_buf escape;
  RelaxStorage *storages = nullptr;
  /// The device that the function uses, and the caller's stream there; null
  /// where all of it runs on the host.
  relax_rt::DeviceStream *stream = nullptr;
  /// The line of what was launched last, or null.
  const char *lastLaunch = nullptr;
  /// Of a call of a captured function, that is watched or captured.
  relax_rt::Recorder *recorder = nullptr;
  /// The weights that the call uses from the first time on; null before.
  relax_rt::WeightSet *weights = nullptr;
  relax_rt::Error error;
};

#endif // RELAX_RUNTIME_CORE_CONTEXT_H
