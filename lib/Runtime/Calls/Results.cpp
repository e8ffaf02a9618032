//===- Results.cpp - results of compiled functions ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"
#include "Runtime/Calls/Call.h"
#include "Runtime/Calls/Device.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace relax_rt;

namespace {

/// Owns the memory of a result and describes it.
struct ResultTensor {
  DLManagedTensorVersioned managed;
  RelaxStorage *storage;
  int64_t shape[1]; // followed by the strides
};

} // namespace

bool relax_rt::makeView(const Value &type, DLDevice device,
                        RelaxStorage *storage, const int64_t *slots,
                        TVMFFIAny *out) {
  size_t size = sizeof(ResultTensor) + 2 * type.rank * sizeof(int64_t);
  auto *result = static_cast<ResultTensor *>(malloc(size));
  if (!result) {
    relax_rt_release(storage);
    return false;
  }
  int64_t *shape = result->shape, *strides = shape + type.rank;
  int64_t stride = 1;
  for (int64_t i = type.rank; i-- > 0;) {
    shape[i] = slots[2 + i];
    strides[i] = stride;
    // Exceeds 64 bits only if there are no elements; then it is unused.
    if (__builtin_mul_overflow(stride, shape[i], &stride))
      stride = 0;
  }
  result->storage = storage;
  result->managed = {};
  result->managed.major = 1;
  result->managed.deleter = [](DLManagedTensorVersioned *self) {
    auto *result = reinterpret_cast<ResultTensor *>(self);
    relax_rt_release(result->storage);
    free(result);
  };
  result->managed.tensor = {reinterpret_cast<void *>(slots[1]),
                            device,
                            static_cast<int32_t>(type.rank),
                            type.dtype,
                            shape,
                            strides,
                            0};
  void *object = nullptr;
  if (!TVMFFITensorFromDLPackVersioned ||
      TVMFFITensorFromDLPackVersioned(&result->managed, 0, 0, &object)) {
    result->managed.deleter(&result->managed);
    return false;
  }
  out->typeIndex = kTensor;
  out->object = static_cast<TVMFFIObject *>(object);
  return true;
}

namespace {

bool makeTensor(RelaxContext &context, const Value &type, int64_t *slots,
                TVMFFIAny *out) {
  auto *storage = reinterpret_cast<RelaxStorage *>(slots[0]);
  // A parameter that is returned is passed back as the same object.
  if (TVMFFIObject *object = storage ? objectOf(storage) : nullptr) {
    auto *tensor = contentOf<DLTensor>(object);
    bool same = tensor->ndim == type.rank &&
                static_cast<char *>(tensor->data) + tensor->byteOffset ==
                    reinterpret_cast<char *>(slots[1]);
    for (int64_t i = 0; same && i < type.rank; ++i)
      same = tensor->shape[i] == slots[2 + i];
    if (same) {
      TVMFFIObjectIncRef(object);
      relax_rt_release(storage);
      out->typeIndex = kTensor;
      out->object = object;
      return true;
    }
  }
  // Memory without a reference count is returned as a copy: a weight, a
  // constant, or a parameter passed as a bare pointer.
  if (!storage) {
    int64_t bytes = type.countBytes(slots);
    storage = allocateTensor(context, type.device(), bytes);
    if (!storage || !copyTensor(context, type.device(), storage->data,
                                reinterpret_cast<void *>(slots[1]), bytes))
      return false;
    slots[1] = reinterpret_cast<int64_t>(storage->data);
    unlink(storage); // owned by the object from here on
  }
  return makeView(type, deviceOf(context, type), storage, slots, out);
}

} // namespace

bool relax_rt::makeObject(const char *name, std::vector<TVMFFIAny> &args,
                          TVMFFIAny *out) {
  TVMFFIByteArray text{name, strlen(name)};
  void *function = nullptr;
  if (!TVMFFIFunctionGetGlobal || TVMFFIFunctionGetGlobal(&text, &function) ||
      !function)
    return false;
  bool made = !TVMFFIFunctionCall(function, args.data(),
                                  static_cast<int32_t>(args.size()), out);
  TVMFFIObjectDecRef(function);
  return made;
}

namespace {

/// A callable that has left compiled code.
struct ExportedClosure {
  Signature signature;
  RelaxStorage *storage;
};

bool makeFunction(const Value &type, RelaxStorage *storage, TVMFFIAny *out) {
  auto *exported = new ExportedClosure{Signature(type.signature), storage};
  auto call = [](void *self, const TVMFFIAny *args, int32_t count,
                 TVMFFIAny *result) {
    auto *exported = static_cast<ExportedClosure *>(self);
    return callCompiled(
        exported->signature, args, count, result,
        [](void *storage, RelaxContext *context, int64_t *in, int64_t *out) {
          auto *closure = static_cast<RelaxClosure *>(
              static_cast<RelaxStorage *>(storage)->data);
          closure->body(context, reinterpret_cast<int64_t *>(closure + 1), in,
                        out);
        },
        exported->storage, weightsOf(exported->storage));
  };
  auto destroy = [](void *self) {
    auto *exported = static_cast<ExportedClosure *>(self);
    relax_rt_release(exported->storage);
    delete exported;
  };
  void *object = nullptr;
  if (!TVMFFIFunctionCreate ||
      TVMFFIFunctionCreate(exported, call, destroy, &object)) {
    destroy(exported);
    return false;
  }
  out->typeIndex = kFunction;
  out->object = static_cast<TVMFFIObject *>(object);
  return true;
}

} // namespace

bool relax_rt::makeValue(RelaxContext &context, const Value &type,
                         int64_t *&slots, TVMFFIAny *out) {
  *out = {};
  switch (type.kind) {
  case RelaxInteger:
    out->typeIndex = kInteger;
    out->integer = *slots++;
    return true;
  case RelaxBoolean:
    out->typeIndex = kBoolean;
    out->integer = *slots++ & 1;
    return true;
  case RelaxReal:
    out->typeIndex = kReal;
    memcpy(&out->real, slots++, sizeof(double));
    return true;
  case RelaxTensor: {
    int64_t *own = slots;
    slots += 2 + type.rank;
    return makeTensor(context, type, own, out);
  }
  case RelaxShape: {
    std::vector<TVMFFIAny> dims(type.rank);
    for (TVMFFIAny &dim : dims) {
      dim.typeIndex = kInteger;
      dim.integer = *slots++;
    }
    return makeObject("ffi.Shape", dims, out);
  }
  case RelaxTuple: {
    std::vector<TVMFFIAny> members(type.memberCount);
    const int64_t *words = type.members;
    bool made = true;
    for (TVMFFIAny &member : members)
      made &= makeValue(context, Value::read(words), slots, &member);
    made = made && makeObject("ffi.Array", members, out);
    for (TVMFFIAny &member : members)
      if (member.typeIndex >= 64 && member.object)
        TVMFFIObjectDecRef(member.object);
    return made;
  }
  case RelaxCallable:
    return makeFunction(type, reinterpret_cast<RelaxStorage *>(*slots++), out);
  }
  return false;
}

/// Calls `visit` for each slot that holds a storage or null.
template <typename Slot, typename Visit>
static void visitStorages(const Value &type, Slot *&slots, Visit visit) {
  switch (type.kind) {
  case RelaxTensor:
  case RelaxCallable:
    visit(*slots);
    slots += type.kind == RelaxTensor ? 2 + type.rank : 1;
    return;
  case RelaxShape:
    slots += type.rank;
    return;
  case RelaxTuple: {
    const int64_t *words = type.members;
    for (int64_t i = 0; i < type.memberCount; ++i)
      visitStorages(Value::read(words), slots, visit);
    return;
  }
  default:
    ++slots;
  }
}

bool relax_rt::shareSlots(const Value &type, int64_t *&slots) {
  bool isDone = true;
  visitStorages(type, slots, [&](int64_t &slot) {
    auto *storage = reinterpret_cast<RelaxStorage *>(slot);
    RelaxStorage *shared = isDone && storage ? share(storage) : nullptr;
    isDone = isDone && (shared || !storage);
    slot = reinterpret_cast<int64_t>(shared);
  });
  return isDone;
}

void relax_rt::releaseSlots(const Value &type, const int64_t *&slots) {
  visitStorages(type, slots, [](int64_t slot) {
    relax_rt_release(reinterpret_cast<RelaxStorage *>(slot));
  });
}

bool relax_rt::makeResult(RelaxContext &context, const Signature &signature,
                          int64_t *slots, TVMFFIAny *out) {
  *out = {};
  if (!signature.resultCount ||
      makeValue(context, signature.result(), slots, out))
    return true;
  if (context.error.message.empty())
    context.error.message =
        std::string(signature.function) +
        ": the results could not be handed over; is libtvm_ffi in the process?";
  return false;
}
