//===- Emulator.h - a device that is emulated on the host -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A substitute for libcuda.so.1, for tests on machines without a GPU, loaded
// through RELAX_CUDA_DRIVER. It exports the driver functions that the runtime
// uses (lib/Runtime/CUDA/CUDADriver.h) under their names, and the functions
// below.
//
// An image begins with "RELAXEM2", followed by a count and that many kernels
// that were compiled for the host. The text ".version emulated <address>"
// stands for the PTX of such an image. Work runs immediately, in the thread
// that submits it; work submitted to a stream that is being captured runs when
// the graph is launched.
//
// During a capture, the emulator refuses the calls that a driver may refuse:
// waiting for the device or for the captured stream, copies from or to the
// host, and freeing memory.
//
// Device memory is host memory that only kernels and copies can access: an
// access by the host ends the process. Writes around a block are detected when
// the block is freed.
//
// It is also a substitute for libcublasLt.so, loaded through RELAX_CUBLASLT.
//
// Environment variables, read at cuInit, with their defaults:
//   RELAX_EMULATOR_DEVICES   number of devices (1)
//   RELAX_EMULATOR_MEMORY    bytes of memory of each device (2^30)
//   RELAX_EMULATOR_VERSION   version of the driver (12080)
//   RELAX_EMULATOR_FAIL      "name:nth:code,…", as in relax_emulator_fail
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_EMULATOR_H
#define RELAX_EMULATOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RelaxEmulatorKernel {
  const char *name;
  /// Runs one thread. `args` as passed to cuLaunchKernelEx.
  void (*body)(void **args);
  /// The number of arguments, each in an 8-byte word.
  int64_t arguments;
} RelaxEmulatorKernel;

// Functions for kernels.

/// 0-2: the thread's x, y, z; 3-5: the block's; 6-8: the size of a block; 9-11:
/// the size of the grid.
int64_t relax_emulator_id(int32_t which);
/// Returns when all threads of the block that are still running have called it.
void relax_emulator_barrier(void);
/// Returns the value of another lane of the 32-lane warp: `lane` is combined by
/// xor (mode 0) or is the number of the lane (mode 1). All lanes that are still
/// running take part.
int32_t relax_emulator_shuffle(int32_t value, int32_t lane, int32_t mode);
/// Copies `bytes` to shared memory, of which only the first `valid` come from
/// `from`; the others become zero. The copy belongs to the group that the
/// thread commits next, and is done when that group has been waited for: until
/// at most the given number of groups is pending.
void relax_emulator_copy(void *to, const void *from, int64_t bytes,
                         int64_t valid);
void relax_emulator_end_group(void);
void relax_emulator_wait(int32_t groups);
/// Tensor cores; all lanes of a warp take part. Loads four 8 x 8 matrices of
/// 16-bit elements: each lane names a line and gets its two elements of each,
/// as in ldmatrix.
void relax_emulator_load_matrices(const void *line, int32_t *words,
                                  int32_t transpose);
/// mma.m16n8k16: four words of a, two of b, and four accumulators.
void relax_emulator_multiply(int32_t *fragments, int32_t is_bf16);
/// The block's shared memory: 48 KiB, followed by the memory requested by the
/// launch. Initially filled with garbage.
void *relax_emulator_shared(int64_t offset);

// Functions for tests.

/// Makes the `nth` call of a function from now on (1: the next; 0: every call)
/// return `code`. Code 0 ends that.
void relax_emulator_fail(const char *function, int32_t nth, int32_t code);
/// The bytes allocated on all devices, and the number of blocks.
int64_t relax_emulator_bytes(void);
int64_t relax_emulator_blocks(void);
/// The number of live modules, streams, graphs and links.
int64_t relax_emulator_objects(void);
/// The number of calls of a function.
int64_t relax_emulator_calls(const char *function);
/// The launches since the log was cleared, one per line: "name grid block
/// shared". The text is valid until the next call.
const char *relax_emulator_log(void);
void relax_emulator_clear_log(void);

#ifdef __cplusplus
}
#endif

#endif // RELAX_EMULATOR_H
