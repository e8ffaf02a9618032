//===- main.cpp - calls a compiled model from C++ -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds the weight `bias [3]`, then calls `layer(x [n, 4], w [4, 3])`, which
// export.py has compiled, for several `n`. The tensors are DLTensors, and the
// result is written into one that the caller gives after the arguments.
//
//===----------------------------------------------------------------------===//

#include "TVMFFI.h"
#include "model.h" // __tvm_ffi_layer and __tvm_ffi_bind_weight

#include <cstdio>
#include <vector>

/// A view of float data in row-major order. `shape` must outlive it.
static DLTensor view(std::vector<float> &data, std::vector<int64_t> &shape) {
  DLTensor tensor{};
  tensor.data = data.data();
  tensor.device = {relax_rt::kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.dtype = {relax_rt::kDLFloat, 32, 1};
  tensor.shape = shape.data();
  return tensor;
}

static TVMFFIAny argument(DLTensor &tensor) {
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kTensorPointer;
  any.pointer = &tensor;
  return any;
}

static TVMFFIAny argument(const char *text) {
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kRawString;
  any.text = text;
  return any;
}

int main() {
  // The memory of a weight must stay as long as it is bound.
  std::vector<float> bias = {0.0f, 0.5f, 1.0f}, w(12, 0.25f);
  std::vector<int64_t> biasShape = {3}, wShape = {4, 3};
  DLTensor biasTensor = view(bias, biasShape), wTensor = view(w, wShape);

  TVMFFIAny none{};
  TVMFFIAny binding[] = {argument("bias"), argument(biasTensor)};
  if (__tvm_ffi_bind_weight(nullptr, binding, 2, &none))
    return 1;

  for (int64_t n : {1, 7, 64}) {
    std::vector<float> x(n * 4, 1.0f), out(n * 3);
    std::vector<int64_t> xShape = {n, 4}, outShape = {n, 3};
    DLTensor xTensor = view(x, xShape), outTensor = view(out, outShape);
    TVMFFIAny args[] = {argument(xTensor), argument(wTensor),
                        argument(outTensor)};
    if (__tvm_ffi_layer(nullptr, args, 3, &none))
      return 1;
    std::printf("n = %d: last row %.4f %.4f %.4f\n", static_cast<int>(n),
                out[n * 3 - 3], out[n * 3 - 2], out[n * 3 - 1]);
  }

  // A size that the model was not declared for is an error, not a wrong result.
  // The message goes to stderr where the process has no TVM FFI.
  std::vector<float> x(65 * 4), out(65 * 3);
  std::vector<int64_t> xShape = {65, 4}, outShape = {65, 3};
  DLTensor xTensor = view(x, xShape), outTensor = view(out, outShape);
  TVMFFIAny args[] = {argument(xTensor), argument(wTensor),
                      argument(outTensor)};
  int code = __tvm_ffi_layer(nullptr, args, 3, &none);
  std::printf("n = 65: the function returns %d\n", code);
  return code == -1 ? 0 : 1;
}
