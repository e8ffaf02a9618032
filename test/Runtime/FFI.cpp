//===- FFI.cpp - TVM FFI, as a caller of compiled code uses it ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FFI.h"

#include <dlfcn.h>

using namespace relax_test;
using relax_rt::contentOf;

namespace {

/// The start of the payload of an error object.
struct ErrorCell {
  TVMFFIByteArray kind, message;
};

int (*incRef)(void *object);
int (*decRef)(void *object);
void (*moveFromRaised)(void **out);
int (*fromDLPack)(DLManagedTensorVersioned *from, int32_t alignment,
                  int32_t contiguous, void **out);
int (*callFunction)(void *function, TVMFFIAny *args, int32_t count,
                    TVMFFIAny *result);

template <typename Function>
bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function;
}

/// Whether the value is a reference to an object.
bool isObject(const TVMFFIAny &any) { return any.typeIndex >= 64; }

} // namespace

bool relax_test::loadFFI(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  return library && find(library, "TVMFFIObjectIncRef", incRef) &&
         find(library, "TVMFFIObjectDecRef", decRef) &&
         find(library, "TVMFFIErrorMoveFromRaised", moveFromRaised) &&
         find(library, "TVMFFITensorFromDLPackVersioned", fromDLPack) &&
         find(library, "TVMFFIFunctionCall", callFunction);
}

std::string relax_test::takeError() {
  void *object = nullptr;
  moveFromRaised(&object);
  if (!object)
    return "no error";
  auto *cell = contentOf<ErrorCell>(static_cast<TVMFFIObject *>(object));
  std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                     std::string(cell->message.data, cell->message.size);
  decRef(object);
  return text;
}

FloatTensor::FloatTensor(std::vector<int64_t> shape, float value)
    : shape(std::move(shape)) {
  int64_t count = 1;
  for (int64_t size : this->shape)
    count *= size;
  elements.assign(count, value);
  tensor = {elements.data(),
            {relax_rt::kDLCPU, 0},
            static_cast<int32_t>(this->shape.size()),
            {relax_rt::kDLFloat, 32, 1},
            this->shape.data(),
            nullptr,
            0};
}

TVMFFIAny FloatTensor::arg() {
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kTensorPointer;
  any.pointer = &tensor;
  return any;
}

Value::~Value() {
  if (isObject(any))
    decRef(any.object);
}

Value Value::makeTensor(int64_t count, float value,
                        std::atomic<int64_t> *freed) {
  struct Owner {
    DLManagedTensorVersioned managed;
    int64_t count, stride;
    std::vector<float> elements;
    std::atomic<int64_t> *freed;
  };
  auto *owner = new Owner{{},
                          count,
                          1,
                          std::vector<float>(static_cast<size_t>(count), value),
                          freed};
  owner->managed.major = 1;
  owner->managed.context = owner;
  owner->managed.deleter = [](DLManagedTensorVersioned *self) {
    auto *owner = static_cast<Owner *>(self->context);
    // Late readers would see it without a sanitizer, too.
    owner->elements.assign(owner->elements.size(), -1.0f);
    owner->freed->fetch_add(1);
    delete owner;
  };
  owner->managed.tensor = {owner->elements.data(),
                           {relax_rt::kDLCPU, 0},
                           1,
                           {relax_rt::kDLFloat, 32, 1},
                           &owner->count,
                           &owner->stride,
                           0};
  void *object = nullptr;
  if (fromDLPack(&owner->managed, 0, 0, &object)) {
    owner->managed.deleter(&owner->managed);
    return Value();
  }
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kTensor;
  any.object = static_cast<TVMFFIObject *>(object);
  return Value(any);
}

Value Value::copy() const {
  if (isObject(any))
    incRef(any.object);
  return Value(any);
}

Value Value::call(std::vector<TVMFFIAny> args) const {
  TVMFFIAny result{};
  callFunction(any.object, args.data(), static_cast<int32_t>(args.size()),
               &result);
  return Value(result);
}

Value Function::call(std::vector<TVMFFIAny> args) const {
  TVMFFIAny result{};
  relax_rt_call(words.data(), names.data(), code, args.data(),
                static_cast<int32_t>(args.size()), &result);
  return Value(result);
}
