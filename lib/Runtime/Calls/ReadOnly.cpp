//===- ReadOnly.cpp - read-only tensors -----------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DLPack marks tensors that are read-only. TVM FFI's tensor objects have no
// field for that, but they hold the DLPack tensor that they were made from,
// right after the fields that the ABI describes. Such objects are recognized by
// their deleter: it equals the deleter of an object that is created here for
// comparison.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"

using namespace relax_rt;

namespace {

using Deleter = void (*)(void *self, int flags);

struct DLPackObject {
  TVMFFIObject header;
  DLTensor tensor;
  DLManagedTensorVersioned *made;
};

/// The deleter of objects made from a DLPack tensor, with or without strides;
/// null if another build of the library stores it elsewhere.
Deleter findDeleter(bool hasStrides) {
  int64_t one[] = {1};
  DLManagedTensorVersioned managed{};
  managed.major = 1;
  managed.tensor = {
      one, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, one, hasStrides ? one : nullptr, 0};
  void *object = nullptr;
  if (!TVMFFITensorFromDLPackVersioned ||
      TVMFFITensorFromDLPackVersioned(&managed, 0, 0, &object))
    return nullptr;
  auto *known = static_cast<DLPackObject *>(object);
  Deleter deleter = known->made == &managed ? known->header.deleter : nullptr;
  TVMFFIObjectDecRef(object);
  return deleter;
}

} // namespace

bool relax_rt::isReadOnly(const TVMFFIAny &arg) {
  constexpr uint64_t kReadOnly = 1; // a DLPack flag
  if (arg.typeIndex != kTensor)
    return false;
  static const Deleter known[] = {findDeleter(true), findDeleter(false)};
  Deleter deleter = arg.object->deleter;
  if (!deleter || (deleter != known[0] && deleter != known[1]))
    return false;
  return reinterpret_cast<DLPackObject *>(arg.object)->made->flags & kReadOnly;
}
