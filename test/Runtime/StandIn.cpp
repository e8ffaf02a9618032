//===- StandIn.cpp - a stand-in for libtvm_ffi that sanitizers see --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ThreadSanitizer has to see every atomic operation that orders threads, and so
// cannot watch references that the real libtvm_ffi counts: that library is not
// built with it. This one implements the functions that the runtime's tests
// need, with the same layouts. The other builds use the real library.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/TVMFFI.h"

#include <cstring>
#include <string>
#include <utility>

using relax_rt::kFunction, relax_rt::kNone, relax_rt::kTensor;
using relax_rt::TypeIndex;

namespace {

template <typename Content>
struct Object {
  TVMFFIObject header;
  Content content;
  std::string kind, message;
  DLManagedTensorVersioned *managed = nullptr;
  void (*deleter)(void *self) = nullptr;
};

struct ErrorContent {
  TVMFFIByteArray kind, message, backtrace;
};
struct FunctionContent {
  void *self;
  int (*call)(void *self, const TVMFFIAny *args, int32_t count,
              TVMFFIAny *result);
};

using ErrorObject = Object<ErrorContent>;
using TensorObject = Object<DLTensor>;
using FunctionObject = Object<FunctionContent>;

std::atomic<uint64_t> &countOf(void *object) {
  return reinterpret_cast<std::atomic<uint64_t> &>(
      static_cast<TVMFFIObject *>(object)->references);
}

template <typename Content>
Object<Content> *make(TypeIndex type, Content content,
                      void (*deleter)(void *self, int flags)) {
  auto *object = new Object<Content>{};
  object->header = {1, type, 0, deleter};
  object->content = content;
  return object;
}

thread_local void *raised = nullptr;

} // namespace

extern "C" {

int TVMFFIObjectIncRef(void *object) {
  countOf(object).fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int TVMFFIObjectDecRef(void *object) {
  if (countOf(object).fetch_sub(1, std::memory_order_acq_rel) == 1)
    static_cast<TVMFFIObject *>(object)->deleter(object, 0);
  return 0;
}

int TVMFFIErrorCreate(const TVMFFIByteArray *kind,
                      const TVMFFIByteArray *message, const TVMFFIByteArray *,
                      void **out) {
  auto *error = make<ErrorContent>(kNone, {}, [](void *self, int) {
    delete static_cast<ErrorObject *>(self);
  });
  error->kind.assign(kind->data, kind->size);
  error->message.assign(message->data, message->size);
  error->content.kind = {error->kind.data(), error->kind.size()};
  error->content.message = {error->message.data(), error->message.size()};
  *out = error;
  return 0;
}

void TVMFFIErrorSetRaised(void *error) {
  TVMFFIObjectIncRef(error);
  if (void *old = std::exchange(raised, error))
    TVMFFIObjectDecRef(old);
}

void TVMFFIErrorMoveFromRaised(void **out) {
  *out = std::exchange(raised, nullptr);
}

int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned *from, int32_t,
                                    int32_t, void **out) {
  auto *tensor = make(kTensor, from->tensor, [](void *self, int) {
    auto *tensor = static_cast<TensorObject *>(self);
    tensor->managed->deleter(tensor->managed);
    delete tensor;
  });
  tensor->managed = from;
  *out = tensor;
  return 0;
}

int TVMFFIFunctionCreate(void *self,
                         int (*call)(void *self, const TVMFFIAny *args,
                                     int32_t count, TVMFFIAny *result),
                         void (*deleter)(void *self), void **out) {
  auto *function =
      make<FunctionContent>(kFunction, {self, call}, [](void *self, int) {
        auto *function = static_cast<FunctionObject *>(self);
        function->deleter(function->content.self);
        delete function;
      });
  function->deleter = deleter;
  *out = function;
  return 0;
}

int TVMFFIFunctionCall(void *function, TVMFFIAny *args, int32_t count,
                       TVMFFIAny *result) {
  FunctionContent &content = static_cast<FunctionObject *>(function)->content;
  return content.call(content.self, args, count, result);
}

} // extern "C"
