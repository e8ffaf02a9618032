//===- Block.cpp - the threads of a block, one after the other ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Emulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace emulator;

thread_local Block *Block::current = nullptr;

static constexpr size_t kStackBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

// A fiber is entered once through ucontext, which sets up its stack; from then
// on `_setjmp` and `_longjmp` switch stacks without system calls.

void Block::enter() {
  Block &block = *current;
  Fiber &fiber = *block.running;
  for (;;) {
    block.runThreads();
    // The fiber has finished: wait for the next block.
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
    // The remaining threads no longer wait for this one.
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
  copies.clear();
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
// Functions for kernels
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
              char(0xCB)); // an unlikely value
  return shared.data() + offset;
}

//===----------------------------------------------------------------------===//
// Copies that take their time
//===----------------------------------------------------------------------===//

void Block::copy(void *to, const void *from, int64_t bytes, int64_t valid) {
  copies.resize(block.count(), {Group()});
  copies[running->thread].back().push_back({to, from, bytes, valid});
}

void Block::endGroup() {
  copies.resize(block.count(), {Group()});
  copies[running->thread].emplace_back();
}

void Block::wait(int32_t groups) {
  if (copies.empty())
    return;
  std::vector<Group> &own = copies[running->thread];
  while (int64_t(own.size()) - 1 > groups) {
    for (const Copy &copy : own.front()) {
      memcpy(copy.to, copy.from, copy.valid);
      memset(static_cast<char *>(copy.to) + copy.valid, 0,
             copy.bytes - copy.valid);
    }
    own.erase(own.begin());
  }
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

void Block::loadMatrices(const void *line, int32_t *words, bool transpose) {
  int64_t own = running->thread % kWarp;
  const void **lines = warp().lines[warp().round % 2];
  lines[own] = line;
  meet(warp());
  for (int matrix = 0; matrix < 4; ++matrix) {
    uint16_t pair[2];
    for (int part = 0; part < 2; ++part) {
      int64_t row = own / 4, column = own % 4 * 2 + part;
      if (transpose)
        std::swap(row, column);
      pair[part] =
          static_cast<const uint16_t *>(lines[matrix * 8 + row])[column];
    }
    memcpy(&words[matrix], pair, sizeof pair);
  }
}

static float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float fraction = bits & 1023;
  float value = exponent == 0    ? std::ldexp(fraction, -24)
                : exponent == 31 ? (fraction ? NAN : INFINITY)
                                 : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

void Block::multiply(int32_t *fragments, bool isBF16) {
  int64_t own = running->thread % kWarp;
  auto &operands = warp().operands[warp().round % 2];
  memcpy(operands[own], fragments, sizeof operands[own]);
  meet(warp());
  auto element = [&](int64_t lane, int64_t word, int64_t part) {
    uint16_t bits = uint32_t(operands[lane][word]) >> 16 * part;
    return isBF16 ? fromBits(uint32_t(bits) << 16) : fromHalf(bits);
  };
  for (int64_t sum = 0; sum < 4; ++sum) {
    int64_t row = own / 4 + sum / 2 * 8, column = own % 4 * 2 + sum % 2;
    float value;
    memcpy(&value, &fragments[6 + sum], sizeof value);
    for (int64_t k = 0; k < 16; ++k) {
      int64_t lane = k % 8 / 2, part = k % 2;
      value += element(row % 8 * 4 + lane, row / 8 + k / 8 * 2, part) *
               element(column * 4 + lane, 4 + k / 8, part);
    }
    memcpy(&fragments[6 + sum], &value, sizeof value);
  }
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

__attribute__((visibility("default"))) void
relax_emulator_copy(void *to, const void *from, int64_t bytes, int64_t valid) {
  Block::current->copy(to, from, bytes, valid);
}

__attribute__((visibility("default"))) void relax_emulator_end_group(void) {
  Block::current->endGroup();
}

__attribute__((visibility("default"))) void
relax_emulator_wait(int32_t groups) {
  Block::current->wait(groups);
}

__attribute__((visibility("default"))) void
relax_emulator_load_matrices(const void *line, int32_t *words,
                             int32_t transpose) {
  Block::current->loadMatrices(line, words, transpose);
}

__attribute__((visibility("default"))) void
relax_emulator_multiply(int32_t *fragments, int32_t is_bf16) {
  Block::current->multiply(fragments, is_bf16);
}

__attribute__((visibility("default"))) void *
relax_emulator_shared(int64_t offset) {
  return Block::current->sharedAt(offset);
}

} // extern "C"
