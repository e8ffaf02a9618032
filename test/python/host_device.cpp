//===- host_device.cpp - a program that runs a compiled model on a device -===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls `main(x [n, 4]) -> [n, 4]` of a module with the weight `w [4]` in its
// own stream, without TVM FFI, and prints the result; then makes an invalid
// call.
//
//===----------------------------------------------------------------------===//

#include "TVMFFI.h"
#include "model.h"

#include <cstdio>
#include <cstdlib>

// The driver functions that are used.
extern "C" {
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuMemAlloc_v2(uint64_t *data, size_t bytes);
int cuMemFree_v2(uint64_t data);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                         void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
}

static void check(int result, const char *what) {
  if (result) {
    std::fprintf(stderr, "%s: %d\n", what, result);
    std::exit(1);
  }
}
#define CHECK(call) check(call, #call)

static void *stream;
static int timesAsked = 0;

/// The function through which the runtime gets the caller's stream.
extern "C" void *TVMFFIEnvGetStream(int32_t type, int32_t) {
  ++timesAsked;
  return type == relax_rt::kDLCUDA ? stream : nullptr;
}

static DLTensor tensorOf(void *data, int32_t device, int32_t rank,
                         int64_t *shape) {
  DLDataType dtype = {relax_rt::kDLFloat, 32, 1};
  return {data, {device, 0}, rank, dtype, shape, nullptr, 0};
}

static TVMFFIAny wrap(DLTensor &tensor) {
  TVMFFIAny any{};
  any.typeIndex = relax_rt::kTensorPointer;
  any.pointer = &tensor;
  return any;
}

int main() {
  int device;
  void *context;
  uint64_t data[2];
  float w[4] = {0, 1, 2, 3}, x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, out[8] = {};
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxPushCurrent_v2(context));
  CHECK(cuStreamCreate(&stream, 0));
  for (uint64_t &place : data)
    CHECK(cuMemAlloc_v2(&place, sizeof(x)));
  CHECK(cuMemcpyHtoDAsync_v2(data[0], x, sizeof(x), stream));

  // The weight is copied to the device.
  int64_t weightShape[] = {4}, shape[] = {2, 4};
  DLTensor weight = tensorOf(w, relax_rt::kDLCPU, 1, weightShape);
  TVMFFIAny name{}, result{};
  name.typeIndex = relax_rt::kRawString;
  name.text = "w";
  TVMFFIAny binding[] = {name, wrap(weight)};
  CHECK(__tvm_ffi_bind_weight(nullptr, binding, 2, &result));

  DLTensor tensors[2];
  TVMFFIAny args[2];
  for (int i = 0; i < 2; ++i) {
    auto *place = reinterpret_cast<void *>(data[i]);
    tensors[i] = tensorOf(place, relax_rt::kDLCUDA, 2, shape);
    args[i] = wrap(tensors[i]);
  }
  CHECK(__tvm_ffi_main(nullptr, args, 2, &result));
  CHECK(cuMemcpyDtoHAsync_v2(out, data[1], sizeof(out), stream));
  CHECK(cuStreamSynchronize(stream));
  for (float value : out)
    std::printf("%g\n", value);

  // A host tensor is rejected.
  DLTensor wrong = tensorOf(x, relax_rt::kDLCPU, 2, shape);
  args[0] = wrap(wrong);
  if (!__tvm_ffi_main(nullptr, args, 2, &result) || !timesAsked)
    return 1;
  relax_unload();
  for (uint64_t place : data)
    CHECK(cuMemFree_v2(place));
  return 0;
}
