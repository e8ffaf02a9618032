//===- ExampleKernels.cpp - kernels as the compiler generates them --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handwritten image for the emulator: kernels that test the emulator itself,
// and `add` and `never_meet` for the host code in Example.cpp.
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"

#include <cstdio>

#define RELAX_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <typename T>
T &argument(void **args, int index) {
  return *static_cast<T *>(args[index]);
}

int64_t id(int which) { return relax_emulator_id(which); }

/// (out, x, y, n): out[i] = x[i] + y[i].
void add(void **args) {
  int64_t i = id(3) * id(6) + id(0);
  if (i < argument<int64_t>(args, 3))
    argument<float *>(args, 0)[i] =
        argument<float *>(args, 1)[i] + argument<float *>(args, 2)[i];
}

/// (out): all 12 ids of each thread, in thread order.
void ids(void **args) {
  int64_t block = (id(5) * id(10) + id(4)) * id(9) + id(3);
  int64_t thread = (id(2) * id(7) + id(1)) * id(6) + id(0);
  int64_t threads = id(6) * id(7) * id(8);
  int64_t *out = argument<int64_t *>(args, 0) + 12 * (block * threads + thread);
  for (int which = 0; which < 12; ++which)
    out[which] = id(which);
}

/// (out, x): out[block] = the sum of the block's elements, through shared
/// memory.
void block_sum(void **args) {
  int64_t thread = id(0), threads = id(6);
  auto *shared = static_cast<int64_t *>(relax_emulator_shared(0));
  shared[thread] = argument<int64_t *>(args, 1)[id(3) * threads + thread];
  relax_emulator_barrier();
  for (int64_t half = threads / 2; half > 0; half /= 2) {
    if (thread < half)
      shared[thread] += shared[thread + half];
    relax_emulator_barrier();
  }
  if (thread == 0)
    argument<int64_t *>(args, 0)[id(3)] = shared[0];
}

/// (out, x): out[i] = the sum of the 32 elements around i.
void warp_sum(void **args) {
  int64_t i = id(3) * id(6) + id(0);
  int32_t sum = argument<int32_t *>(args, 1)[i];
  for (int32_t mask = 16; mask > 0; mask /= 2)
    sum += relax_emulator_shuffle(sum, mask, 0);
  argument<int32_t *>(args, 0)[i] = sum;
}

/// (out, x): out[i] = the next lane's element.
void rotate(void **args) {
  int64_t i = id(0);
  argument<int32_t *>(args, 0)[i] = relax_emulator_shuffle(
      argument<int32_t *>(args, 1)[i], int32_t(i + 1) % 32, 1);
}

/// (out): out[i] = the initial bytes of shared memory after the first 48 KiB.
void read_shared(void **args) {
  argument<int64_t *>(args, 0)[id(0)] =
      *static_cast<int64_t *>(relax_emulator_shared((48 << 10) + 8 * id(0)));
}

/// (out): half of the threads exit, the others meet at a barrier.
void leave_early(void **args) {
  if (id(0) % 2)
    return;
  relax_emulator_barrier();
  argument<int64_t *>(args, 0)[id(0)] = 1;
}

/// Threads of one warp wait for different barriers.
void never_meet(void **) {
  if (id(0) % 2)
    relax_emulator_barrier();
  else
    relax_emulator_shuffle(0, 1, 0);
}

/// (out, n): writes after the n bytes of out.
void overrun(void **args) {
  argument<char *>(args, 0)[argument<int64_t>(args, 1)] = 0;
}

struct Image {
  char magic[8];
  int64_t count;
  RelaxEmulatorKernel kernels[9];
};

} // namespace

RELAX_EXPORT const Image relax_example_image;
const Image relax_example_image = {{'R', 'E', 'L', 'A', 'X', 'E', 'M', '2'},
                                   9,
                                   {{"add", add, 4},
                                    {"ids", ids, 1},
                                    {"block_sum", block_sum, 2},
                                    {"warp_sum", warp_sum, 2},
                                    {"rotate", rotate, 2},
                                    {"read_shared", read_shared, 1},
                                    {"leave_early", leave_early, 1},
                                    {"never_meet", never_meet, 0},
                                    {"overrun", overrun, 2}}};

/// The same, assembled by the driver.
RELAX_EXPORT const char *relax_example_assembly(void) {
  static char text[64];
  std::snprintf(text, sizeof(text), ".version emulated %p",
                static_cast<const void *>(&relax_example_image));
  return text;
}
