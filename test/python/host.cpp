//===- host.cpp - a program that runs a compiled model alone --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls `main(x [n, 4], w [4, 3]) -> [n, 3]` for some n, without TVM FFI, and
// prints the sums of the results; then makes an invalid call. It does so with
// the code that it is linked with, and again with the object file that it links
// itself.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Linker.h"
#include "TVMFFI.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using Function = int(void *self, const TVMFFIAny *args, int32_t count,
                     TVMFFIAny *result);
extern "C" Function __tvm_ffi_main;

static TVMFFIAny wrap(DLTensor &tensor) {
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kTensorPointer;
  any.pointer = &tensor;
  return any;
}

static int run(Function *function) {
  for (int64_t n : {0, 1, 7, 65}) {
    std::vector<float> x(n * 4, 1.0f), w(12, 0.5f), out(n * 3);
    int64_t shapes[3][2] = {{n, 4}, {4, 3}, {n, 3}};
    float *data[] = {x.data(), w.data(), out.data()};
    DLTensor tensors[3];
    std::vector<TVMFFIAny> args;
    for (int i = 0; i < 3; ++i) {
      tensors[i] = {data[i],   {relax_rt::kDLCPU, 0},
                    2,         {relax_rt::kDLFloat, 32, 1},
                    shapes[i], nullptr,
                    0};
      args.push_back(wrap(tensors[i]));
    }
    TVMFFIAny result{};
    if (function(nullptr, args.data(), 3, &result))
      return 1;
    float sum = 0;
    for (float value : out)
      sum += value;
    std::printf("%g\n", sum);
  }
  TVMFFIAny result{};
  return function(nullptr, nullptr, 0, &result) == -1 ? 0 : 1;
}

int main(int, char **argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::string object(std::istreambuf_iterator<char>(file), {});
  char error[256];
  void *code = relax_rt_link(object.data(), object.size(), "", nullptr, 0,
                             error, sizeof(error));
  if (!code) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  auto *linked = reinterpret_cast<Function *>(
      relax_rt_find_linked(code, "__tvm_ffi_main"));
  if (run(__tvm_ffi_main) || run(linked))
    return 1;
  relax_rt_unlink(code);
  return 0;
}
