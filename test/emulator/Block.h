//===- Block.h - the threads of a block, one after the other ----*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads run on fibers: stacks between which the host thread switches. A fiber
// runs one thread after the other, so a kernel that never waits needs only one
// fiber. A thread that waits keeps its fiber, and another fiber continues.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_EMULATOR_BLOCK_H
#define RELAX_EMULATOR_BLOCK_H

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace emulator {

struct Size {
  int64_t x, y, z;
  int64_t count() const { return x * y * z; }
};

constexpr int64_t kWarp = 32;
constexpr int64_t kStaticShared = 48 << 10;

class Block {
public:
  Block(Size grid, Size block, int64_t sharedBytes, void (*body)(void **),
        void **args)
      : grid(grid), block(block), body(body), args(args),
        shared(kStaticShared + sharedBytes),
        warps((block.count() + kWarp - 1) / kWarp) {}

  /// Runs a block of the grid. Returns false if its threads deadlock.
  bool run(Size position);

  int64_t id(int which) const;
  void barrier();
  int32_t shuffle(int32_t value, int32_t lane, int mode);
  void *sharedAt(int64_t offset);
  void copy(void *to, const void *from, int64_t bytes, int64_t valid);
  void endGroup();
  void wait(int32_t groups);
  void loadMatrices(const void *line, int32_t *words, bool transpose);
  void multiply(int32_t *fragments, bool isBF16);

  /// The block that runs in this host thread.
  static thread_local Block *current;

private:
  /// A barrier of threads; counts its rounds.
  struct Meeting {
    int64_t members = 0, arrived = 0, round = 0;
  };
  struct Warp : Meeting {
    /// The values of even and odd rounds: a lane may enter the next round
    /// before another lane has read this one's.
    int32_t values[2][kWarp];
    const void *lines[2][kWarp];
    int32_t operands[2][kWarp][6];
  };
  struct Fiber {
    std::unique_ptr<char[]> stack;
    std::jmp_buf place;
    bool isStarted = false;
    /// The barrier whose round the thread waits for.
    const Meeting *waitsFor = nullptr;
    int64_t round = 0;
    int64_t thread = 0;

    bool isReady() const { return !waitsFor || waitsFor->round != round; }
  };

  /// A pending asynchronous copy.
  struct Copy {
    void *to;
    const void *from;
    int64_t bytes, valid;
  };
  using Group = std::vector<Copy>;

  Warp &warp() { return warps[running->thread / kWarp]; }
  static void enter();
  void runThreads();
  /// Waits until all members have arrived.
  void meet(Meeting &meeting);
  static void endRoundIfComplete(Meeting &meeting);
  void resume(Fiber &fiber);

  const Size grid, block;
  void (*const body)(void **);
  void **const args;
  std::vector<char> shared;
  bool sharedIsUsed = false;
  /// For each thread: the committed groups of copies, and the open one.
  std::vector<std::vector<Group>> copies;
  Size position{};

  Meeting all;
  std::vector<Warp> warps;
  int64_t next = 0; // the first thread that has not started
  std::vector<std::unique_ptr<Fiber>> idle, waiting;
  Fiber *running = nullptr;
  std::jmp_buf scheduler;
  ucontext_t start;
};

} // namespace emulator

#endif // RELAX_EMULATOR_BLOCK_H
