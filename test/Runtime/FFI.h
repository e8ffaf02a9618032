//===- FFI.h - TVM FFI, as a caller of compiled code uses it ----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TEST_RUNTIME_FFI_H
#define RELAX_TEST_RUNTIME_FFI_H

#include "Runtime/Core/RelaxRuntime.h"
#include "Runtime/Core/TVMFFI.h"

#include <string>
#include <utility>
#include <vector>

namespace relax_test {

/// Loads the library; must be called first. Returns false if it is not there or
/// lacks a function.
bool loadFFI(const char *path);

/// The kind and message of the error that a call has just raised in this
/// thread, as "kind: message".
std::string takeError();

/// Host memory of 32-bit floats that a test lends to calls.
class FloatTensor {
public:
  explicit FloatTensor(std::vector<int64_t> shape, float value = 0);
  FloatTensor(const FloatTensor &) = delete;

  /// A plain pointer argument. The tensor may be modified, to make it wrong.
  TVMFFIAny arg();

  std::vector<int64_t> shape;
  std::vector<float> elements;
  DLTensor tensor;
};

/// An owned TVM FFI value.
class Value {
public:
  Value() = default;
  /// Takes over a reference.
  explicit Value(TVMFFIAny any) : any(any) {}
  Value(Value &&other) noexcept : any(std::exchange(other.any, {})) {}
  Value &operator=(Value &&other) noexcept {
    std::swap(any, other.any);
    return *this;
  }
  ~Value();

  /// A tensor object that owns `count` floats. `*freed` counts those that were
  /// freed; the tensor may be freed in any thread.
  static Value makeTensor(int64_t count, float value,
                          std::atomic<int64_t> *freed);

  /// Another reference to the same object.
  Value copy() const;
  const DLTensor &tensor() const {
    return *relax_rt::contentOf<DLTensor>(any.object);
  }
  const float *floats() const {
    return static_cast<const float *>(tensor().data);
  }
  /// Calls a function object. The result is none if the call failed.
  Value call(std::vector<TVMFFIAny> args) const;

  TVMFFIAny any{};
};

/// A function as the compiler would emit it: the words and names of its
/// signature (RelaxRuntime.h), and its code.
struct Function {
  std::vector<int64_t> words;
  std::string names;
  void (*code)(RelaxContext *context, int64_t *in, int64_t *out);

  /// The result is none if the call failed; `takeError` says why.
  Value call(std::vector<TVMFFIAny> args) const;
};

} // namespace relax_test

#endif // RELAX_TEST_RUNTIME_FFI_H
