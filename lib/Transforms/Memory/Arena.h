//===- Arena.h - offsets for buffers of known lifetimes ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bytes ^   +----------+
//         |   | c        |       Each buffer is a box: as wide as it lives, as
//         |   +--+----+--+--+    high as it is large. Boxes must not overlap;
//         |   | a     |  b  |    the arena is as high as the highest.
//         +---+-------+-----+--> time
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_ARENA_H
#define RELAX_TRANSFORMS_MEMORY_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::relax {

/// The interval in which a buffer is live, both ends included.
struct Lifetime {
  unsigned start, end;

  bool overlaps(const Lifetime &other) const {
    return start <= other.end && other.start <= end;
  }
};

struct ArenaBuffer {
  Lifetime lifetime;
  uint64_t bytes;
  uint64_t offset = 0;
};

/// Gives each buffer an offset, a multiple of `alignment`; returns the size of
/// the arena. Takes the best of a few greedy orders; largest first usually
/// wins.
uint64_t packArena(llvm::MutableArrayRef<ArenaBuffer> buffers,
                   uint64_t alignment);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_MEMORY_ARENA_H
