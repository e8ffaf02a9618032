//===- CublasLt.cpp - a cuBLASLt for the emulated device ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that the runtime calls (lib/Runtime/CUDA/CublasLt.h), computed
// element by element. As in the real library, mismatched matrices, an algorithm
// that was chosen for another problem, and a workspace that is too small are
// errors.
//
//===----------------------------------------------------------------------===//

#include "Runtime/CUDA/CublasLt.h"
#include "State.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace emulator;
using namespace relax_rt::cublaslt;
using Status = relax_rt::cublaslt::Result;

namespace {

constexpr Status kDone = relax_rt::cublaslt::kSuccess;
constexpr Status kWrong = relax_rt::cublaslt::kInvalidValue;
/// The workspace that the emulator's algorithms request.
constexpr size_t kWorkspaceBytes = 4096;

struct EmulatedHandle {};
struct EmulatedPreference {
  uint64_t workspaceBytes = 0;
};
struct EmulatedLayout {
  int type;
  uint64_t rows, columns;
  int64_t step;

  size_t elementBytes() const { return type == kF32 ? 4 : 2; }
  size_t bytes() const { return step * columns * elementBytes(); }
};
struct EmulatedOperation {
  int transposeA = kPlain, epilogue = kNoEpilogue;
  const void *bias = nullptr;
};

float readElement(const void *data, int type, size_t index) {
  if (type == kF32)
    return static_cast<const float *>(data)[index];
  uint16_t bits = static_cast<const uint16_t *>(data)[index];
  if (type == kBF16) {
    uint32_t word = uint32_t(bits) << 16;
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
  }
  _Float16 half;
  memcpy(&half, &bits, sizeof(half));
  return half;
}

void writeElement(void *data, int type, size_t index, float value) {
  if (type == kF32) {
    static_cast<float *>(data)[index] = value;
    return;
  }
  uint16_t bits;
  if (type == kBF16) {
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    bits = (word + 0x7FFF + ((word >> 16) & 1)) >> 16;
  } else {
    auto half = static_cast<_Float16>(value);
    memcpy(&bits, &half, sizeof(bits));
  }
  static_cast<uint16_t *>(data)[index] = bits;
}

float activate(float value, int epilogue) {
  if (epilogue & kRelu)
    return std::max(value, 0.0f);
  if (epilogue & kGelu)
    return value *
           (1 + std::tanh(0.7978845608f *
                          (value + 0.044715f * value * value * value))) /
           2;
  return value;
}

/// A hash of everything an algorithm depends on.
uint64_t signatureOf(const EmulatedOperation &operation,
                     const EmulatedLayout &a, const EmulatedLayout &b) {
  uint64_t hash = operation.epilogue * 2 + operation.transposeA;
  for (uint64_t part :
       {a.rows, a.columns, b.rows, b.columns, static_cast<uint64_t>(a.type)})
    hash = hash * 1000003 + part;
  return hash | 1;
}

bool fits(const EmulatedOperation &operation, const EmulatedLayout &a,
          const EmulatedLayout &b, const EmulatedLayout &d) {
  bool isTransposed = operation.transposeA == kTransposed;
  uint64_t n = isTransposed ? a.columns : a.rows;
  uint64_t k = isTransposed ? a.rows : a.columns;
  return a.type == b.type && k && k == b.rows && n == d.rows &&
         b.columns == d.columns && a.step >= int64_t(a.rows) &&
         b.step >= int64_t(b.rows) && d.step >= int64_t(d.rows);
}

template <typename T>
T *asObject(void *object) {
  Lock lock(state().mutex);
  return state().objects.count(object) ? static_cast<T *>(object) : nullptr;
}

} // namespace

#define RELAX_CUBLASLT_ENTER(name)                                             \
  if (int injected = enter(name))                                              \
  return injected == kInvalidContext ? kWrong : injected

RELAX_EXPORT Status cublasLtCreate(Handle *handle) {
  RELAX_CUBLASLT_ENTER("cublasLtCreate");
  if (refuseInCapture())
    return kWrong;
  *handle = makeObject(EmulatedHandle());
  return kDone;
}

RELAX_EXPORT Status cublasLtMatmulDescCreate(Operation *operation,
                                             int computeType, int scaleType) {
  RELAX_CUBLASLT_ENTER("cublasLtMatmulDescCreate");
  if (computeType != kComputeF32 || scaleType != kF32)
    return kWrong;
  *operation = makeObject(EmulatedOperation());
  return kDone;
}

RELAX_EXPORT Status cublasLtMatmulDescSetAttribute(Operation operation,
                                                   int attribute,
                                                   const void *value,
                                                   size_t bytes) {
  RELAX_CUBLASLT_ENTER("cublasLtMatmulDescSetAttribute");
  auto *own = asObject<EmulatedOperation>(operation);
  if (!own)
    return kWrong;
  auto set = [&](auto &field) {
    if (bytes != sizeof(field))
      return kWrong;
    memcpy(&field, value, bytes);
    return kDone;
  };
  switch (attribute) {
  case kTransposeA:
    return set(own->transposeA);
  case kEpilogue:
    return set(own->epilogue);
  case kBiasPointer:
    return set(own->bias);
  }
  return kWrong;
}

RELAX_EXPORT Status cublasLtMatmulDescDestroy(Operation operation) {
  return destroyObject<EmulatedOperation>(operation) ? kDone : kWrong;
}

RELAX_EXPORT Status cublasLtMatrixLayoutCreate(Layout *layout, int type,
                                               uint64_t rows, uint64_t columns,
                                               int64_t step) {
  RELAX_CUBLASLT_ENTER("cublasLtMatrixLayoutCreate");
  if (type != kF32 && type != kF16 && type != kBF16)
    return kWrong;
  *layout = makeObject(EmulatedLayout{type, rows, columns, step});
  return kDone;
}

RELAX_EXPORT Status cublasLtMatrixLayoutDestroy(Layout layout) {
  return destroyObject<EmulatedLayout>(layout) ? kDone : kWrong;
}

RELAX_EXPORT Status cublasLtMatmulPreferenceCreate(Preference *preference) {
  RELAX_CUBLASLT_ENTER("cublasLtMatmulPreferenceCreate");
  *preference = makeObject(EmulatedPreference());
  return kDone;
}

RELAX_EXPORT Status cublasLtMatmulPreferenceSetAttribute(Preference preference,
                                                         int attribute,
                                                         const void *value,
                                                         size_t bytes) {
  auto *own = asObject<EmulatedPreference>(preference);
  if (!own)
    return kWrong;
  if (attribute != kMaxWorkspaceBytes)
    return bytes == sizeof(uint32_t) ? kDone : kWrong;
  if (bytes != sizeof(uint64_t))
    return kWrong;
  memcpy(&own->workspaceBytes, value, bytes);
  return kDone;
}

RELAX_EXPORT Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroyObject<EmulatedPreference>(preference) ? kDone : kWrong;
}

RELAX_EXPORT Status cublasLtMatmulAlgoGetHeuristic(
    Handle handle, Operation operation, Layout a, Layout b, Layout c, Layout d,
    Preference preference, int wanted, Choice *choices, int *found) {
  RELAX_CUBLASLT_ENTER("cublasLtMatmulAlgoGetHeuristic");
  auto *own = asObject<EmulatedOperation>(operation);
  auto *left = asObject<EmulatedLayout>(a);
  auto *right = asObject<EmulatedLayout>(b);
  auto *result = asObject<EmulatedLayout>(d);
  auto *limit = asObject<EmulatedPreference>(preference);
  if (!asObject<EmulatedHandle>(handle) || !own || !left || !right || !result ||
      c != d || !limit || wanted < 1 || !fits(*own, *left, *right, *result))
    return kWrong;
  *found = limit->workspaceBytes >= kWorkspaceBytes;
  choices[0] = {};
  choices[0].algorithm.data[0] = signatureOf(*own, *left, *right);
  choices[0].workspaceBytes = kWorkspaceBytes;
  return kDone;
}

RELAX_EXPORT Status cublasLtMatmul(Handle handle, Operation operation,
                                   const void *alpha, const void *a,
                                   Layout aLayout, const void *b,
                                   Layout bLayout, const void *beta,
                                   const void *c, Layout cLayout, void *d,
                                   Layout dLayout, const Algorithm *algorithm,
                                   void *workspace, size_t workspaceBytes,
                                   void *stream) {
  RELAX_CUBLASLT_ENTER("cublasLtMatmul");
  auto *left = asObject<EmulatedLayout>(aLayout);
  auto *right = asObject<EmulatedLayout>(bLayout);
  auto *result = asObject<EmulatedLayout>(dLayout);
  auto *own = asObject<EmulatedOperation>(operation);
  if (!asObject<EmulatedHandle>(handle) || !own || !left || !right || !result ||
      c != d || cLayout != dLayout || !fits(*own, *left, *right, *result) ||
      !algorithm || algorithm->data[0] != signatureOf(*own, *left, *right) ||
      *static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0 ||
      workspaceBytes < kWorkspaceBytes)
    return kWrong;
  bool hasBias = own->epilogue & kBias;
  if (!isInside(a, left->bytes()) || !isInside(b, right->bytes()) ||
      !isInside(d, result->bytes()) || !isInside(workspace, workspaceBytes) ||
      (hasBias && !isInside(own->bias, result->rows * result->elementBytes())))
    return kWrong;
  // Capture by value: a graph outlives the objects.
  auto multiply = [=, op = *own, left = *left, right = *right,
                   result = *result]() -> int {
    Access access;
    memset(workspace, 0xEE, workspaceBytes); // overwrites the contents
    bool isTransposed = op.transposeA == kTransposed;
    for (uint64_t column = 0; column < result.columns; ++column)
      for (uint64_t row = 0; row < result.rows; ++row) {
        float sum = 0;
        for (uint64_t k = 0; k < right.rows; ++k)
          sum += readElement(a, left.type,
                             isTransposed ? k + row * left.step
                                          : row + k * left.step) *
                 readElement(b, right.type, k + column * right.step);
        if (hasBias)
          sum += readElement(op.bias, result.type, row);
        writeElement(d, result.type, row + column * result.step,
                     activate(sum, op.epilogue));
      }
    return kDone;
  };
  return submit(stream, multiply);
}
