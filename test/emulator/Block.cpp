//===- Block.cpp - the threads of a block, one after the other ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Emulator.h"

#include <algorithm>
#include <utility>

using namespace emulator;

thread_local Block *Block::current = nullptr;

static constexpr size_t kStackBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

// A fiber is entered once through ucontext, which makes its stack; from then on
// `_setjmp` and `_longjmp` change between stacks, without asking the system.

void Block::enter() {
  Block &block = *current;
  Fiber &fiber = *block.running;
  for (;;) {
    block.runThreads();
    // There is nothing left to do: wait for the next block.
    if (!_setjmp(fiber.place))
      _longjmp(block.scheduler, 1);
  }
}

void Block::resume(Fiber &fiber) {
  running = &fiber;
  fiber.waitsFor = nullptr;
  if (_setjmp(scheduler))
    return;
  if (fiber.isStarted)
    _longjmp(fiber.place, 1);
  fiber.isStarted = true;
  getcontext(&start);
  start.uc_stack.ss_sp = fiber.stack.get();
  start.uc_stack.ss_size = kStackBytes;
  start.uc_link = nullptr;
  makecontext(&start, enter, 0);
  setcontext(&start);
}

void Block::runThreads() {
  while (next < block.count()) {
    int64_t thread = running->thread = next++;
    body(args);
    // Those that still wait no longer wait for this one.
    for (Meeting *meeting :
         {&all, static_cast<Meeting *>(&warps[thread / kWarp])}) {
      --meeting->members;
      endRoundIfComplete(*meeting);
    }
  }
}

bool Block::run(Size at) {
  position = at;
  next = 0;
  sharedIsUsed = false;
  all = {block.count(), 0, 0};
  for (size_t i = 0; i < warps.size(); ++i)
    static_cast<Meeting &>(warps[i]) = {
        std::min<int64_t>(kWarp, block.count() - int64_t(i) * kWarp), 0, 0};
  Block *outer = std::exchange(current, this);
  auto step = [&](std::unique_ptr<Fiber> fiber) {
    resume(*fiber);
    (fiber->waitsFor ? waiting : idle).push_back(std::move(fiber));
  };
  while (next < block.count()) {
    std::unique_ptr<Fiber> fiber;
    if (!idle.empty()) {
      fiber = std::move(idle.back());
      idle.pop_back();
    } else {
      fiber = std::make_unique<Fiber>();
      fiber->stack.reset(new char[kStackBytes]);
    }
    step(std::move(fiber));
  }
  bool goesOn = true;
  while (!waiting.empty() && goesOn) {
    goesOn = false;
    for (std::unique_ptr<Fiber> &fiber : std::exchange(waiting, {})) {
      if (fiber->isReady()) {
        goesOn = true;
        step(std::move(fiber));
      } else {
        waiting.push_back(std::move(fiber));
      }
    }
  }
  current = outer;
  return waiting.empty();
}

//===----------------------------------------------------------------------===//
// What threads call
//===----------------------------------------------------------------------===//

int64_t Block::id(int which) const {
  auto part = [&](const Size &size) {
    return which % 3 == 0 ? size.x : which % 3 == 1 ? size.y : size.z;
  };
  if (which >= 9)
    return part(grid);
  if (which >= 6)
    return part(block);
  if (which >= 3)
    return part(position);
  int64_t thread = running->thread;
  return which == 0   ? thread % block.x
         : which == 1 ? thread / block.x % block.y
                      : thread / (block.x * block.y);
}

void Block::endRoundIfComplete(Meeting &meeting) {
  if (!meeting.members || meeting.arrived < meeting.members)
    return;
  meeting.arrived = 0;
  ++meeting.round;
}

void Block::meet(Meeting &meeting) {
  int64_t round = meeting.round;
  ++meeting.arrived;
  endRoundIfComplete(meeting);
  if (meeting.round != round)
    return;
  Fiber &fiber = *running;
  fiber.waitsFor = &meeting;
  fiber.round = round;
  if (!_setjmp(fiber.place))
    _longjmp(scheduler, 1);
}

void Block::barrier() { meet(all); }

int32_t Block::shuffle(int32_t value, int32_t lane, int mode) {
  int64_t own = running->thread % kWarp;
  Warp &warp = warps[running->thread / kWarp];
  int32_t *values = warp.values[warp.round % 2];
  values[own] = value;
  meet(warp);
  return values[(mode == 0 ? own ^ lane : lane) & (kWarp - 1)];
}

void *Block::sharedAt(int64_t offset) {
  if (!std::exchange(sharedIsUsed, true))
    std::fill(shared.begin(), shared.end(),
              char(0xCB)); // no number one expects
  return shared.data() + offset;
}

extern "C" {

__attribute__((visibility("default"))) int64_t
relax_emulator_id(int32_t which) {
  return Block::current->id(which);
}

__attribute__((visibility("default"))) void relax_emulator_barrier(void) {
  Block::current->barrier();
}

__attribute__((visibility("default"))) int32_t
relax_emulator_shuffle(int32_t value, int32_t lane, int32_t mode) {
  return Block::current->shuffle(value, lane, mode);
}

__attribute__((visibility("default"))) void *
relax_emulator_shared(int64_t offset) {
  return Block::current->sharedAt(offset);
}

} // extern "C"
