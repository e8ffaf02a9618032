//===- Example.cpp - host code as the compiler generates it ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handwritten, so that the devices of the runtime are tested without the
// compiler. The kernels are in an image of another file: ExampleKernels.cpp for
// the emulated device, test/gpu/example.ptx for a real one.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/RelaxRuntime.h"
#include "Runtime/Core/TVMFFI.h"

#include <initializer_list>

#define RELAX_EXPORT extern "C" __attribute__((visibility("default")))

RELAX_EXPORT const char relax_example_image[];
/// Code that the driver must assemble.
RELAX_EXPORT const char *relax_example_assembly(void);

namespace {

constexpr int64_t kCUDA = 2 << RelaxDeviceShift;
// Tensors as words of a signature.
#define VECTOR(type, bits, flags)                                              \
  RelaxTensor, type, bits, kCUDA | (flags), 1, -1
#define SCALAR(type, bits) RelaxTensor, type, bits, kCUDA, 0
#define FLOATS VECTOR(2, 32, 0)

RelaxDeviceModule module = {relax_example_image, 0, nullptr};
RelaxDeviceModule badModule = {"no code at all", 0, nullptr};
RelaxDeviceModule textModule = {relax_example_assembly(), 0, nullptr};
RelaxDeviceKernel addKernel = {&module, "add", nullptr};
RelaxDeviceKernel stuckKernel = {&module, "never_meet", nullptr};
RelaxDeviceKernel missingKernel = {&module, "missing", nullptr};
RelaxDeviceKernel textKernel = {&textModule, "add", nullptr};
RelaxDeviceKernel badKernel = {&badModule, "add", nullptr};

/// Computes x + y into new memory; writes the slots of a tensor.
void emitAdd(RelaxContext *context, RelaxDeviceKernel *kernel, int64_t x,
             int64_t y, int64_t n, int64_t *out) {
  RelaxStorage *storage =
      relax_rt_device_alloc(context, 4 * n, 64, "example.py:3:1");
  void *data = storage->data;
  void *args[] = {&data, &x, &y, &n};
  int64_t shape[] = {(n + 63) / 64, 1, 1, 64, 1, 1, 0, 0};
  relax_rt_device_launch(kernel, shape, args, "example.py:4:1");
  out[0] = reinterpret_cast<int64_t>(storage);
  out[1] = reinterpret_cast<int64_t>(data);
  out[2] = n;
}

void checkSizes(RelaxContext *context, int64_t *in) {
  if (in[2] != in[5])
    relax_rt_fail(context, "ValueError", "sizes differ: %0 and %1",
                  "example.py:2:1", in[2], in[5]);
}

} // namespace

/// Defines `__tvm_ffi_<name>`, with a body of (context, in, out).
#define FUNCTION(name, names, ...)                                             \
  static void name##Body(RelaxContext *context, int64_t *in, int64_t *out);    \
  RELAX_EXPORT int __tvm_ffi_##name(void *, const TVMFFIAny *args,             \
                                    int32_t count, TVMFFIAny *result) {        \
    static const int64_t words[] = {__VA_ARGS__};                              \
    return relax_rt_call(words, #name "\0" names, name##Body, args, count,     \
                         result);                                              \
  }                                                                            \
  void name##Body([[maybe_unused]] RelaxContext *context,                      \
                  [[maybe_unused]] int64_t *in, [[maybe_unused]] int64_t *out)

#define TWO_FLOATS "x\0tensor f32 [n]\0y\0tensor f32 [n]"

FUNCTION(add, TWO_FLOATS, 2, 1, 6, 3, 2, FLOATS, FLOATS, FLOATS) {
  checkSizes(context, in);
  emitAdd(context, &addKernel, in[1], in[4], in[2], out);
}

FUNCTION(add_missing, TWO_FLOATS, 2, 1, 6, 3, 2, FLOATS, FLOATS, FLOATS) {
  emitAdd(context, &missingKernel, in[1], in[4], in[2], out);
}

FUNCTION(add_bad, TWO_FLOATS, 2, 1, 6, 3, 2, FLOATS, FLOATS, FLOATS) {
  emitAdd(context, &badKernel, in[1], in[4], in[2], out);
}

FUNCTION(add_stuck, TWO_FLOATS, 2, 1, 6, 3, 2, FLOATS, FLOATS, FLOATS) {
  emitAdd(context, &stuckKernel, in[1], in[4], in[2], out);
}

FUNCTION(add_text, TWO_FLOATS, 2, 1, 6, 3, 2, FLOATS, FLOATS, FLOATS) {
  emitAdd(context, &textKernel, in[1], in[4], in[2], out);
}

// ((x + y) + y) + … + y, `times` times; intermediate memory is reused.
FUNCTION(add_often, TWO_FLOATS "\0times\0integer", 3, 1, 7, 3, 2, FLOATS,
         FLOATS, RelaxInteger, 64, FLOATS) {
  checkSizes(context, in);
  emitAdd(context, &addKernel, in[1], in[4], in[2], out);
  for (int64_t i = 1; i < in[6]; ++i) {
    auto *last = reinterpret_cast<RelaxStorage *>(out[0]);
    emitAdd(context, &addKernel, out[1], in[4], in[2], out);
    relax_rt_release(last);
  }
}

// x + y, x itself, the size of x, and two results that share memory.
FUNCTION(many, TWO_FLOATS, 2, 5, 6, 13, 2, FLOATS, FLOATS, FLOATS, FLOATS,
         RelaxInteger, 64, FLOATS, FLOATS) {
  checkSizes(context, in);
  emitAdd(context, &addKernel, in[1], in[4], in[2], out);
  relax_rt_retain(reinterpret_cast<RelaxStorage *>(in[0]));
  for (int i = 0; i < 3; ++i)
    out[3 + i] = in[i];
  out[6] = in[2];
  emitAdd(context, &addKernel, in[4], in[4], in[5], out + 7);
  relax_rt_retain(reinterpret_cast<RelaxStorage *>(out[7]));
  for (int i = 0; i < 3; ++i)
    out[10 + i] = out[7 + i];
}

// Writes to x and returns it. The kernel may begin early.
FUNCTION(add_to, TWO_FLOATS, 2, 1, 6, 3, 2, VECTOR(2, 32, RelaxMutable), FLOATS,
         FLOATS) {
  checkSizes(context, in);
  int64_t x = in[1], y = in[4], n = in[2];
  void *args[] = {&x, &x, &y, &n};
  int64_t shape[] = {(n + 63) / 64, 1, 1, 64, 1, 1, 0, 1};
  relax_rt_device_launch(&addKernel, shape, args, "example.py:4:1");
  relax_rt_retain(reinterpret_cast<RelaxStorage *>(in[0]));
  for (int i = 0; i < 3; ++i)
    out[i] = in[i];
}

// x + y if a tensor of rank 0 is true, else x.
FUNCTION(add_if, "c\0tensor bool []\0" TWO_FLOATS, 3, 1, 8, 3, 2, SCALAR(6, 8),
         FLOATS, FLOATS, FLOATS) {
  if (relax_rt_device_read(context, reinterpret_cast<void *>(in[1]), 1)) {
    emitAdd(context, &addKernel, in[3], in[6], in[4], out);
    return;
  }
  relax_rt_retain(reinterpret_cast<RelaxStorage *>(in[2]));
  for (int i = 0; i < 3; ++i)
    out[i] = in[2 + i];
}

static const float data[] = {1, 2, 3, 4};
static RelaxDeviceConstant constant = {data, sizeof(data), nullptr};

// A constant, and the size of x as a tensor.
FUNCTION(constants, "x\0tensor f32 [n]", 1, 2, 3, 6, 2, FLOATS, FLOATS,
         VECTOR(0, 64, 0)) {
  out[0] = 0;
  out[1] = reinterpret_cast<int64_t>(
      relax_rt_device_constant(context, &constant, "example.py:9:1"));
  out[2] = 4;
  RelaxStorage *storage =
      relax_rt_device_alloc(context, 8, 64, "example.py:10:1");
  relax_rt_device_write(context, storage->data, &in[2], 1);
  out[3] = reinterpret_cast<int64_t>(storage);
  out[4] = reinterpret_cast<int64_t>(storage->data);
  out[5] = 1;
}

// f(x) + y, where f is a function of the caller.
static const int64_t kOneToOne[] = {1, 1, 3, 3, 2, FLOATS, FLOATS};
FUNCTION(add_after, "f\0function\0" TWO_FLOATS, 3, 1, 7, 3, 2, RelaxCallable,
         17, 1, 1, 3, 3, 2, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS) {
  static_assert(sizeof(kOneToOne) == 17 * sizeof(int64_t), "");
  auto *closure = static_cast<RelaxClosure *>(
      reinterpret_cast<RelaxStorage *>(in[0])->data);
  int64_t result[3];
  closure->body(context, reinterpret_cast<int64_t *>(closure + 1), in + 1,
                result);
  emitAdd(context, &addKernel, result[1], in[5], result[2], out);
  relax_rt_release(reinterpret_cast<RelaxStorage *>(result[0]));
}

// x + the weight w.
static void *weights[1];
static const int64_t kWeights[] = {1, RelaxTensor, 2, 32, kCUDA, 1, 4};
static const char kWeightNames[] = "w\0tensor f32 [4]";

RELAX_EXPORT void relax_unload() {
  for (void **loaded :
       {&module.loaded, &badModule.loaded, &textModule.loaded,
        &addKernel.loaded, &stuckKernel.loaded, &missingKernel.loaded,
        &badKernel.loaded, &textKernel.loaded, &constant.loaded})
    relax_rt_device_unload(loaded);
  relax_rt_unload_weights(kWeights, weights);
}

RELAX_EXPORT int __tvm_ffi_bind_weight(void *, const TVMFFIAny *args,
                                       int32_t count, TVMFFIAny *result) {
  return relax_rt_bind_weights(kWeights, kWeightNames, weights, args, count,
                               result);
}

FUNCTION(add_weight, "x\0tensor f32 [4]", 1, 1, 3, 3, 2, FLOATS, FLOATS) {
  void *const *bound =
      relax_rt_weights(context, kWeights, kWeightNames, weights);
  emitAdd(context, &addKernel, in[1], reinterpret_cast<int64_t>(bound[0]),
          in[2], out);
}
