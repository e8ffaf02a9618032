//===- VulkanWork.cpp - work submitted to a Vulkan device -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanWork.h"

#include <algorithm>
#include <cstring>

using namespace relax_rt;

bool VulkanWork::start(Error &error) {
  vk::SemaphoreKind kind;
  kind.kind = 1;
  vk::SemaphoreInfo info;
  info.next = &kind;
  vk::CommandPoolInfo poolInfo;
  poolInfo.flags = vk::kResettable;
  poolInfo.family = device->family;
  return device->check(
             vk.createSemaphore(device->device, &info, nullptr, &timeline),
             "creating a timeline", error) &&
         device->check(
             vk.createCommandPool(device->device, &poolInfo, nullptr, &pool),
             "creating a command pool", error);
}

// Runs only if the device failed to start; other devices are never destroyed.
VulkanWork::~VulkanWork() {
  if (timeline)
    vk.destroySemaphore(device->device, timeline, nullptr);
  if (pool)
    vk.destroyCommandPool(device->device, pool, nullptr);
  stuck.destroy(*device);
}

bool VulkanWork::begin(Stream &stream, Error &error) {
  Recording &recording = stream.recording;
  if (recording.commands)
    return true;
  if (!freeCommands.empty()) {
    recording.commands = freeCommands.back();
    freeCommands.pop_back();
  } else {
    vk::CommandsInfo info;
    info.pool = pool;
    if (!device->check(
            vk.allocateCommands(device->device, &info, &recording.commands),
            "creating a command list", error)) {
      recording.commands = nullptr;
      return false;
    }
  }
  vk::BeginInfo info;
  info.flags = stream.isCaptured ? vk::kSimultaneous : vk::kOnce;
  if (!device->check(vk.begin(recording.commands, &info),
                     "beginning a command list", error)) {
    recycle(recording);
    return false;
  }
  if (!stream.isCaptured)
    times.begin(recording.times, recording.commands);
  return true;
}

void VulkanWork::order(Recording &recording) {
  finish(recording);
  vk::MemoryBarrier barrier;
  barrier.before = vk::kShaderWrite | vk::kTransferWrite;
  barrier.after = vk::kShaderRead | vk::kShaderWrite | vk::kTransferRead |
                  vk::kTransferWrite;
  vk::Flags stages = vk::kAtCompute | vk::kAtTransfer;
  vk.barrier(recording.commands, stages, stages, 0, 1, &barrier, 0, nullptr, 0,
             nullptr);
}

void VulkanWork::dispatch(Recording &recording, VulkanLaunch &launch) {
  vk.bindPipeline(recording.commands, vk::kComputePoint, launch.pipeline);
  // A grid may exceed the limit of one dispatch.
  uint64_t head = launch.pushed[0];
  for (int64_t first = 0; first < launch.grid[0];
       first += device->maxGroups[0]) {
    launch.pushed[0] = head | first;
    vk.push(recording.commands, launch.layout, vk::kComputeStage, 0,
            launch.bytes, launch.pushed);
    int64_t blocks =
        std::min<int64_t>(launch.grid[0] - first, device->maxGroups[0]);
    vk.dispatch(recording.commands, static_cast<uint32_t>(blocks),
                static_cast<uint32_t>(launch.grid[1]),
                static_cast<uint32_t>(launch.grid[2]));
  }
}

void VulkanWork::finish(Recording &recording) {
  if (!recording.last)
    return;
  dispatch(recording, *recording.last);
  recording.last.reset();
}

bool VulkanWork::makeStuck(Error &error) {
  if (stuck.buffer)
    return true;
  VulkanBlock made;
  if (!makeBlock(made, sizeof(uint64_t), "of the host for " + device->title,
                 error))
    return false;
  memset(made.data, 0, sizeof(uint64_t));
  stuck = made;
  stuckWord.store(reinterpret_cast<volatile uint32_t *>(made.data),
                  std::memory_order_release);
  return true;
}

bool VulkanWork::follow(Recording &recording, const VulkanLaunch &launch,
                        Error &error) {
  int64_t blocks = launch.blocks(),
          awaited = recording.last ? recording.last->blocks() : 0;
  bool waits = (blocks <= kMostWaiting || launch.isStrided) && awaited &&
               awaited <= kMostAwaited;
  if (blocks <= kMostAwaited && recording.counter == recording.counterEnd) {
    uint64_t *words;
    if (!makeStuck(error) || !reserveParameters(recording, kCounters, words,
                                                recording.counter, error))
      return false;
    recording.counterEnd = recording.counter + kCounters;
    order(recording);
    vk.fill(recording.commands, recording.parameters.back().buffer,
            recording.parametersUsed - kCounters, kCounters, 0);
    waits = false;
  }
  if (waits) {
    recording.last->pushed[1] = recording.counter;
    finish(recording);
  } else {
    order(recording);
  }
  recording.last = launch;
  if (waits) {
    uint64_t *head = recording.last->pushed;
    head[0] = uint64_t(awaited) << 32;
    head[2] = recording.counter;
    head[3] = stuck.address;
    recording.counter += kCounterBytes;
  }
  return true;
}

bool VulkanWork::reserve(Recording &recording, vk::Size bytes, vk::Size &offset,
                         Error &error) {
  bytes = (bytes + 15) / 16 * 16;
  if (recording.blocks.empty() ||
      recording.used + bytes > recording.blocks.back().bytes) {
    VulkanBlock block;
    if (!takeBlock(bytes, block, error))
      return false;
    recording.blocks.push_back(block);
    recording.used = 0;
  }
  offset = recording.used;
  recording.used += bytes;
  return true;
}

bool VulkanWork::reserveParameters(Recording &recording, vk::Size bytes,
                                   uint64_t *&words, uint64_t &address,
                                   Error &error) {
  bytes = (bytes + 15) / 16 * 16;
  if (recording.parameters.empty() ||
      recording.parametersUsed + bytes > recording.parameters.back().bytes) {
    VulkanBlock block;
    retire();
    if (!freeParameters.empty() && bytes <= kParameters) {
      block = freeParameters.back();
      freeParameters.pop_back();
    } else {
      if (!makeBlock(block, std::max(bytes, kParameters),
                     "for parameters of kernels of " + device->title, error,
                     /*isNear=*/true))
        return false;
    }
    recording.parameters.push_back(block);
    recording.parametersUsed = 0;
  }
  VulkanBlock &block = recording.parameters.back();
  words = reinterpret_cast<uint64_t *>(block.data + recording.parametersUsed);
  address = block.address + recording.parametersUsed;
  recording.parametersUsed += bytes;
  return true;
}

bool VulkanWork::makeBlock(VulkanBlock &block, vk::Size bytes,
                           const std::string &use, Error &error, bool isNear) {
  switch (block.make(*device, bytes, /*forHost=*/true, error, isNear)) {
  case VulkanBlock::Result::Made:
    return true;
  case VulkanBlock::Result::Failed:
    return false;
  case VulkanBlock::Result::NoMemory:
    break;
  }
  return fail(error, "MemoryError", "no memory " + use);
}

bool VulkanWork::takeBlock(vk::Size bytes, VulkanBlock &block, Error &error) {
  retire();
  vk::Size size = bytes <= kBlock ? kBlock : kPiece;
  for (size_t i = 0; i < freeBlocks.size(); ++i)
    if (freeBlocks[i].bytes == size) {
      block = freeBlocks[i];
      freeBlocks.erase(freeBlocks.begin() + i);
      return true;
    }
  return makeBlock(block, size,
                   "of the host for a copy of " + std::to_string(bytes) +
                       " bytes to or from " + device->title,
                   error);
}

void VulkanWork::giveBlock(VulkanBlock &block) {
  if (freeBlocks.size() < kKept)
    freeBlocks.push_back(block);
  else
    block.destroy(*device);
}

void VulkanWork::recycle(Recording &recording, bool isDone) {
  times.end(recording.times, isDone);
  if (recording.commands) {
    vk.reset(recording.commands, 0);
    freeCommands.push_back(recording.commands);
  }
  for (VulkanBlock &block : recording.blocks)
    giveBlock(block);
  bindings.giveBack(recording.sets);
  for (VulkanBlock &block : recording.parameters)
    if (freeParameters.size() < kKept && block.bytes == kParameters)
      freeParameters.push_back(block);
    else
      block.destroy(*device);
  recording = {};
}

void VulkanWork::retire() {
  uint64_t reached = 0;
  if (underWay.empty())
    return;
  vk::Result result = vk.getCounter(device->device, timeline, &reached);
  if (result == vk::kDeviceLost)
    reached = submitted; // nothing runs on it anymore
  else if (result != vk::kSuccess)
    return;
  while (!underWay.empty() && underWay.front().value <= reached) {
    recycle(underWay.front().recording, /*isDone=*/result == vk::kSuccess);
    underWay.pop_front();
  }
}

bool VulkanWork::submitCommands(vk::Commands commands, Error &error) {
  uint64_t value = submitted + 1;
  vk::TimelineSubmit values;
  values.signalCount = 1;
  values.signals = &value;
  vk::SubmitInfo info;
  info.next = &values;
  info.commandCount = 1;
  info.commands = &commands;
  info.signalCount = 1;
  info.signals = &timeline;
  if (!device->check(vk.submit(device->queue, 1, &info, 0),
                     "submitting work to the device", error))
    return false;
  submitted = value;
  return true;
}

bool VulkanWork::submit(Stream &stream, Error &error) {
  Recording &recording = stream.recording;
  if (!recording.commands)
    return true;
  bool done = device->check(vk.end(recording.commands), "ending a command list",
                            error) &&
              submitCommands(recording.commands, error);
  if (done)
    underWay.push_back({submitted, std::move(recording)});
  else
    recycle(recording);
  recording = {};
  retire();
  return done;
}

bool VulkanWork::wait(uint64_t value, Error &error) {
  if (!reach(value, error))
    return false;
  volatile uint32_t *word = stuckWord.load(std::memory_order_acquire);
  if (!word || !*word)
    return true;
  *word = 0;
  return fail(error, "DeviceError",
              "a kernel waited too long for the one before it on " +
                  device->title +
                  "; set RELAX_DEVICE_OVERLAP=0, and kernels do not wait "
                  "themselves");
}

bool VulkanWork::reach(uint64_t value, Error &error) {
  uint64_t reached = 0;
  for (int i = 0; i < 2000; ++i) {
    vk::Result result = vk.getCounter(device->device, timeline, &reached);
    if (result != vk::kSuccess)
      return device->report(result, "waiting for the device", error);
    if (reached >= value)
      return true;
  }
  // Waits with a timeout: some drivers never wake up a thread that waits for a
  // lost device.
  constexpr uint64_t kNanoseconds = 100'000'000;
  vk::SemaphoreWait info;
  info.count = 1;
  info.semaphores = &timeline;
  info.values = &value;
  while (reached < value) {
    vk::Result result = vk.waitSemaphores(device->device, &info, kNanoseconds);
    if (result == vk::kSuccess)
      return true;
    if (result == vk::kTimeout)
      result = vk.getCounter(device->device, timeline, &reached);
    if (result != vk::kSuccess)
      return device->report(result, "waiting for the device", error);
  }
  return true;
}
