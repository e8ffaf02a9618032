//===- Scratch.cpp - scratch memory of kernels ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels allocate memory of sizes that their callers cannot know. They have no
// way to report a failed allocation, so it leaves the kernel by `longjmp`: to
// the call, or in a worker thread to its piece of the job (Threads.cpp). All
// live allocations of the kernel are in a list, and are freed there.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Kernels.h"
#include "Runtime/Core/Pool.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

using namespace relax_rt;

namespace {

/// The header in front of each block. A block is freed by the thread that
/// allocated it.
struct Header {
  size_t bytes;
  Header *previous, *next;
};
static_assert(sizeof(Header) <= kAlignment, "");

struct Escape {
  std::jmp_buf place;
  Escape *outer;
  /// The newest block when the kernel started.
  Header *newest;
};

thread_local Header *newest = nullptr;
thread_local Escape *innermost = nullptr;

void giveBack(Header *header) {
  (header->next ? header->next->previous : newest) = header->previous;
  if (header->previous)
    header->previous->next = header->next;
  Pool::free(header, header->bytes + kAlignment);
}

/// `setjmp` and objects with destructors must not share a frame.
bool runUntilLeft(Escape &escape, void (*code)(void *), void *closure) {
  if (setjmp(escape.place))
    return false;
  code(closure);
  return true;
}

} // namespace

bool relax_rt::runKernel(void (*code)(void *), void *closure) {
  Escape escape;
  escape.outer = innermost;
  escape.newest = newest;
  innermost = &escape;
  bool isDone = runUntilLeft(escape, code, closure);
  innermost = escape.outer;
  while (!isDone && newest && newest != escape.newest)
    giveBack(newest);
  return isDone;
}

void relax_rt::leaveKernel() {
  if (innermost)
    longjmp(innermost->place, 1);
  fprintf(stderr, "relax-mlir: no memory for the scratch buffers of a kernel "
                  "that runs outside a call\n");
  abort();
}

extern "C" {

void *_mlir_memref_to_llvm_aligned_alloc(size_t align, size_t bytes) {
  void *block = nullptr;
  if (align <= kAlignment && bytes <= SizeClass::kMost - kAlignment)
    block = Pool::allocate(bytes + kAlignment);
  if (!block)
    leaveKernel();
  auto *header = static_cast<Header *>(block);
  *header = {bytes, newest, nullptr};
  if (newest)
    newest->next = header;
  newest = header;
  return static_cast<char *>(block) + kAlignment;
}

void *_mlir_memref_to_llvm_alloc(size_t bytes) {
  return _mlir_memref_to_llvm_aligned_alloc(kAlignment, bytes);
}

void _mlir_memref_to_llvm_free(void *data) {
  if (data)
    giveBack(
        reinterpret_cast<Header *>(static_cast<char *>(data) - kAlignment));
}

} // extern "C"
