//===- CublasLt.h - the cuBLASLt interface (subset) -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our own declarations, as for the driver (CUDADriver.h). The library is opened
// on first use: libcublasLt.so of CUDA 11 to 13, preferably one that is already
// loaded, or the library named by the environment variable RELAX_CUBLASLT.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CUDA_CUBLASLT_H
#define RELAX_RUNTIME_CUDA_CUBLASLT_H

#include <cstddef>
#include <cstdint>

namespace relax_rt::cublaslt {

using Result = int;        // cublasStatus_t
using Handle = void *;     // cublasLtHandle_t
using Operation = void *;  // cublasLtMatmulDesc_t
using Layout = void *;     // cublasLtMatrixLayout_t
using Preference = void *; // cublasLtMatmulPreference_t

// cublasStatus_t
constexpr Result kSuccess = 0, kNotInitialized = 1, kAllocFailed = 3,
                 kInvalidValue = 7, kNotSupported = 15;
// cudaDataType_t
constexpr int kF32 = 0, kF16 = 2, kBF16 = 14;
// cublasComputeType_t
constexpr int kComputeF32 = 68;
// cublasOperation_t
constexpr int kPlain = 0, kTransposed = 1;
// cublasLtMatmulDescAttributes_t
constexpr int kTransposeA = 3, kEpilogue = 7, kBiasPointer = 8;
// cublasLtEpilogue_t; the bias is a separate bit.
constexpr int kNoEpilogue = 1, kRelu = 2, kBias = 4, kGelu = 32;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMaxWorkspaceBytes = 1, kMinAlignmentA = 5, kMinAlignmentB = 6,
              kMinAlignmentC = 7, kMinAlignmentD = 8;

/// cublasLtMatmulAlgo_t
struct Algorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t
struct Choice {
  Algorithm algorithm;
  size_t workspaceBytes;
  Result state;
  float waves;
  int reserved[4];
};

/// The library functions used: the field, the exported name and the parameters.
#define RELAX_CUBLASLT_FUNCTIONS(X)                                            \
  X(create, cublasLtCreate, (Handle * handle))                                 \
  X(createOperation, cublasLtMatmulDescCreate,                                 \
    (Operation * operation, int computeType, int scaleType))                   \
  X(setOperation, cublasLtMatmulDescSetAttribute,                              \
    (Operation operation, int attribute, const void *value, size_t bytes))     \
  X(destroyOperation, cublasLtMatmulDescDestroy, (Operation operation))        \
  X(createLayout, cublasLtMatrixLayoutCreate,                                  \
    (Layout * layout, int type, uint64_t rows, uint64_t columns,               \
     int64_t step))                                                            \
  X(destroyLayout, cublasLtMatrixLayoutDestroy, (Layout layout))               \
  X(createPreference, cublasLtMatmulPreferenceCreate,                          \
    (Preference * preference))                                                 \
  X(setPreference, cublasLtMatmulPreferenceSetAttribute,                       \
    (Preference preference, int attribute, const void *value, size_t bytes))   \
  X(destroyPreference, cublasLtMatmulPreferenceDestroy,                        \
    (Preference preference))                                                   \
  X(choose, cublasLtMatmulAlgoGetHeuristic,                                    \
    (Handle handle, Operation operation, Layout a, Layout b, Layout c,         \
     Layout d, Preference preference, int wanted, Choice *choices,             \
     int *found))                                                              \
  X(multiply, cublasLtMatmul,                                                  \
    (Handle handle, Operation operation, const void *alpha, const void *a,     \
     Layout aLayout, const void *b, Layout bLayout, const void *beta,          \
     const void *c, Layout cLayout, void *d, Layout dLayout,                   \
     const Algorithm *algorithm, void *workspace, size_t workspaceBytes,       \
     void *stream))

struct Library {
#define RELAX_CUBLASLT_FIELD(field, name, parameters) Result(*field) parameters;
  RELAX_CUBLASLT_FUNCTIONS(RELAX_CUBLASLT_FIELD)
#undef RELAX_CUBLASLT_FIELD
};

} // namespace relax_rt::cublaslt

#endif // RELAX_RUNTIME_CUDA_CUBLASLT_H
