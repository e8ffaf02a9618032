//===- Arena.cpp - offsets for buffers of known lifetimes -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace mlir::relax;

/// Places the buffers in `order`, each as low as possible.
static uint64_t place(llvm::MutableArrayRef<ArenaBuffer> buffers,
                      llvm::ArrayRef<unsigned> order, uint64_t alignment) {
  uint64_t height = 0;
  llvm::SmallVector<const ArenaBuffer *> placed; // by offset
  for (unsigned index : order) {
    ArenaBuffer &buffer = buffers[index];
    buffer.offset = 0;
    for (const ArenaBuffer *other : placed) {
      if (!buffer.lifetime.overlaps(other->lifetime))
        continue;
      if (buffer.offset + buffer.bytes <= other->offset)
        break;
      buffer.offset =
          std::max(buffer.offset,
                   llvm::alignTo(other->offset + other->bytes, alignment));
    }
    placed.insert(
        llvm::upper_bound(placed, &buffer,
                          [](const ArenaBuffer *lhs, const ArenaBuffer *rhs) {
                            return lhs->offset < rhs->offset;
                          }),
        &buffer);
    height = std::max(height, buffer.offset + buffer.bytes);
  }
  return height;
}

uint64_t mlir::relax::packArena(llvm::MutableArrayRef<ArenaBuffer> buffers,
                                uint64_t alignment) {
  using Key = std::function<uint64_t(const ArenaBuffer &)>;
  auto length = [](const ArenaBuffer &buffer) {
    return uint64_t{buffer.lifetime.end} - buffer.lifetime.start + 1;
  };
  const Key keys[] = {
      [](const ArenaBuffer &buffer) { return buffer.bytes; },
      [&](const ArenaBuffer &buffer) {
        return llvm::SaturatingMultiply(buffer.bytes, length(buffer));
      },
      [&](const ArenaBuffer &buffer) { return length(buffer); },
  };
  uint64_t best = UINT64_MAX;
  llvm::SmallVector<uint64_t> offsets(buffers.size());
  for (const Key &key : keys) {
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, buffers.size()));
    llvm::stable_sort(order, [&](unsigned lhs, unsigned rhs) {
      return key(buffers[lhs]) > key(buffers[rhs]);
    });
    uint64_t height = place(buffers, order, alignment);
    if (height >= best)
      continue;
    best = height;
    for (auto [offset, buffer] : llvm::zip(offsets, buffers))
      offset = buffer.offset;
  }
  for (auto [offset, buffer] : llvm::zip(offsets, buffers))
    buffer.offset = offset;
  return buffers.empty() ? 0 : best;
}
