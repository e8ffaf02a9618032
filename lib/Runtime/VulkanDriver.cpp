//===- VulkanDriver.cpp - devices of Vulkan as the runtime sees them ------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is put into a stream is recorded into a list of commands, which is
// submitted when a call ends, when it is long, or when somebody waits. All
// streams share a queue: each list begins with a barrier, as does whatever may
// read what came before it. A timeline counts the submissions; lists, and the
// host's memory that they use, are used again when theirs has been reached.
//
// A graph is a list that is kept, with its memory, to be submitted again.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "VulkanDevice.h"
#include "VulkanImage.h"
#include "VulkanKernels.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>

using namespace relax_rt;

namespace {

/// Commands, and the memory of the host that they read or write.
struct Recording {
  vk::Commands commands = nullptr;
  std::vector<VulkanBlock> blocks;
  vk::Size used = 0; // of the last block
  int launches = 0;
};

struct Stream {
  Recording recording;
  bool isCaptured = false;
};

class VulkanDriver final : public DeviceDriver {
public:
  VulkanDriver(std::unique_ptr<VulkanDevice> opened, int index)
      : device(std::move(opened)), vk(device->vk), memory(*device),
        kernels(*device, index) {}

  /// What the device needs to work. False with the error set.
  bool start(Error &error) {
    vk::SemaphoreKind kind;
    kind.kind = 1;
    vk::SemaphoreInfo info;
    info.next = &kind;
    vk::CommandPoolInfo poolInfo;
    poolInfo.flags = vk::kResettable;
    poolInfo.family = device->family;
    return device->check(
               vk.createSemaphore(device->device, &info, nullptr, &timeline),
               "making a timeline", error) &&
           device->check(
               vk.createCommandPool(device->device, &poolInfo, nullptr, &pool),
               "making a pool of commands", error) &&
           kernels.start(error);
  }

  Description describe() const override {
    return {device->name, vk::majorOf(device->api), vk::minorOf(device->api),
            device->bytes, device->hasShuffles ? device->subgroup : 1};
  }

  bool enter(Error &) override { return true; }
  void leave() override {}

  bool allocate(size_t bytes, void *&data, Error &error) override {
    return memory.allocate(bytes, data, error);
  }
  void free(void *data) override { memory.free(data); }
  void unloadModule(void *) override {}

  bool synchronize(Error &error) override {
    uint64_t value;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (Stream *stream : streams)
        if (!stream->isCaptured && !submit(*stream, error))
          return false;
      value = submitted;
    }
    return wait(value, error);
  }

  void flush(void *handle, Error &error) override {
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    if (!stream.isCaptured)
      submit(stream, error);
  }

  bool upload(void *to, const void *from, size_t bytes, void *handle,
              Error &error) override {
    auto *target = static_cast<char *>(to);
    auto *source = static_cast<const char *>(from);
    while (bytes) {
      size_t piece = std::min<size_t>(bytes, kPiece);
      std::unique_lock<std::mutex> lock(mutex);
      Stream &stream = of(handle);
      VulkanMemory::Place place;
      vk::Size offset;
      if (!findBuffer(target, piece, place, error) || !begin(stream, error) ||
          !reserve(stream.recording, piece, offset, error))
        return false;
      const VulkanBlock &block = stream.recording.blocks.back();
      memcpy(block.data + offset, source, piece);
      vk::CopyRegion region{offset, place.offset, piece};
      order(stream.recording);
      vk.copy(stream.recording.commands, block.buffer, place.buffer, 1,
              &region);
      target += piece;
      source += piece;
      bytes -= piece;
      // The host's copies of what is large are bounded.
      uint64_t before = submitted;
      if (bytes && !stream.isCaptured) {
        if (!submit(stream, error))
          return false;
        lock.unlock();
        if (!wait(before, error))
          return false;
      }
    }
    return true;
  }

  bool download(void *to, const void *from, size_t bytes, void *handle,
                Error &error) override {
    auto *target = static_cast<char *>(to);
    auto *source = static_cast<const char *>(from);
    while (bytes) {
      size_t piece = std::min<size_t>(bytes, kPiece);
      VulkanBlock block;
      uint64_t value;
      {
        std::lock_guard<std::mutex> lock(mutex);
        Stream &stream = of(handle);
        VulkanMemory::Place place;
        if (!findBuffer(source, piece, place, error) ||
            !takeBlock(piece, block, error))
          return false;
        if (!begin(stream, error)) {
          giveBlock(block);
          return false;
        }
        vk::CopyRegion region{place.offset, 0, piece};
        order(stream.recording);
        vk.copy(stream.recording.commands, place.buffer, block.buffer, 1,
                &region);
        vk::MemoryBarrier barrier;
        barrier.before = vk::kTransferWrite;
        barrier.after = vk::kHostRead;
        vk.barrier(stream.recording.commands, vk::kAtTransfer, vk::kAtHost, 0,
                   1, &barrier, 0, nullptr, 0, nullptr);
        if (!submit(stream, error)) {
          giveBlock(block);
          return false;
        }
        value = submitted;
      }
      bool arrived = wait(value, error);
      if (arrived)
        memcpy(target, block.data, piece);
      {
        std::lock_guard<std::mutex> lock(mutex);
        giveBlock(block);
      }
      if (!arrived)
        return false;
      target += piece;
      source += piece;
      bytes -= piece;
    }
    return true;
  }

  bool copy(void *to, const void *from, size_t bytes, void *handle,
            Error &error) override {
    if (!bytes)
      return true;
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    VulkanMemory::Place source, target;
    if (!findBuffer(from, bytes, source, error) ||
        !findBuffer(to, bytes, target, error) || !begin(stream, error))
      return false;
    vk::CopyRegion region{source.offset, target.offset, bytes};
    order(stream.recording);
    vk.copy(stream.recording.commands, source.buffer, target.buffer, 1,
            &region);
    return true;
  }

  bool launch(RelaxDeviceKernel &kernel, const int64_t *shape, void **args,
              void *handle, Error &error) override {
    const VulkanKernel *known = kernels.get(kernel, error);
    if (!known)
      return false;
    for (int i = 0; i < 3; ++i)
      if (shape[i] < 0 || shape[i] > INT32_MAX ||
          (i > 0 && shape[i] > device->maxGroups[i]))
        return fail(error, "DeviceError",
                    std::string("launch of '") + kernel.name +
                        "': a grid of size " + std::to_string(shape[i]) +
                        " cannot be had on " + device->title);
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    if (!begin(stream, error))
      return false;
    Recording &recording = stream.recording;
    const VulkanKernelImage &image = *known->image;
    uint64_t pushed[kPushedWords];
    int64_t count = image.parameterCount;
    uint64_t *words = pushed + 1;
    bool inMemory = count + 1 > kPushedWords;
    if (inMemory) {
      vk::Size offset;
      if (!reserve(recording, count * sizeof(uint64_t), offset, error))
        return false;
      const VulkanBlock &block = recording.blocks.back();
      words = reinterpret_cast<uint64_t *>(block.data + offset);
      pushed[1] = block.address + offset;
    }
    for (int64_t i = 0; i < count; ++i)
      memcpy(&words[i], args[image.parameters[i]], sizeof(uint64_t));
    order(recording);
    vk.bindPipeline(recording.commands, vk::kComputePoint, known->pipeline);
    // A grid may be larger than what is dispatched at once.
    uint32_t bytes = (inMemory ? 2 : count + 1) * sizeof(uint64_t);
    for (int64_t first = 0; first < shape[0]; first += device->maxGroups[0]) {
      pushed[0] = first;
      vk.push(recording.commands, kernels.getLayout(), vk::kComputeStage, 0,
              bytes, pushed);
      int64_t groups =
          std::min<int64_t>(shape[0] - first, device->maxGroups[0]);
      vk.dispatch(recording.commands, static_cast<uint32_t>(groups),
                  static_cast<uint32_t>(shape[1]),
                  static_cast<uint32_t>(shape[2]));
    }
    ++recording.launches;
    if (stream.isCaptured)
      return true;
    if (waitsForKernels())
      return submit(stream, error) && wait(submitted, error);
    return recording.launches < kMostLaunches || submit(stream, error);
  }

  bool makeTensorMap(void *, const void *, const int64_t *,
                     Error &error) override {
    return fail(error, "DeviceError",
                "devices of Vulkan have no maps of tensors");
  }

  bool canCapture() const override { return !waitsForKernels(); }
  void *createStream(Error &) override {
    auto *stream = new Stream;
    std::lock_guard<std::mutex> lock(mutex);
    streams.push_back(stream);
    return stream;
  }
  void destroyStream(void *handle) override {
    auto *stream = static_cast<Stream *>(handle);
    std::lock_guard<std::mutex> lock(mutex);
    Error ignored;
    if (!stream->isCaptured)
      submit(*stream, ignored);
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete stream;
  }
  bool beginCapture(void *handle, Error &error) override {
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    if (!submit(stream, error))
      return false;
    stream.isCaptured = true;
    return true;
  }
  void *endCapture(void *handle, bool wanted, Error &error) override {
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    stream.isCaptured = false;
    if (!begin(stream, error)) // an empty one is a list as well
      return nullptr;
    auto *graph = new Recording(std::move(stream.recording));
    stream.recording = {};
    if (!device->check(vk.end(graph->commands), "the end of a capture",
                       error) ||
        !wanted) {
      recycle(*graph);
      delete graph;
      return nullptr;
    }
    return graph;
  }
  bool launchGraph(void *graph, void *handle, Error &error) override {
    std::lock_guard<std::mutex> lock(mutex);
    return submit(of(handle), error) &&
           submitCommands(static_cast<Recording *>(graph)->commands, error);
  }
  void destroyGraph(void *handle) override {
    auto *graph = static_cast<Recording *>(handle);
    std::lock_guard<std::mutex> lock(mutex);
    // It may be under way.
    underWay.push_back({submitted, std::move(*graph)});
    delete graph;
    retire();
  }

private:
  /// Bytes that are copied from or to the host at once, and of a block of its
  /// memory at least; launches of a list.
  static constexpr vk::Size kPiece = 16 << 20, kBlock = 1 << 20;
  static constexpr int kMostLaunches = 64;
  /// Free blocks that are kept.
  static constexpr size_t kKept = 16;

  static bool waitsForKernels() {
    static const bool waits = [] {
      const char *text = std::getenv("RELAX_DEVICE_SYNCHRONIZE");
      return text && *text && *text != '0';
    }();
    return waits;
  }

  Stream &of(void *handle) {
    return handle ? *static_cast<Stream *>(handle) : first;
  }

  // All of these under the mutex.

  bool findBuffer(const void *data, size_t bytes, VulkanMemory::Place &place,
                  Error &error) {
    place = memory.find(data);
    if (place.buffer && place.left >= bytes)
      return true;
    return fail(error, "ValueError",
                "the memory is none of " + device->title +
                    "; copy through the host from another device");
  }

  bool begin(Stream &stream, Error &error) {
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
              "making a list of commands", error))
        return false;
    }
    vk::BeginInfo info;
    info.flags = stream.isCaptured ? vk::kSimultaneous : vk::kOnce;
    return device->check(vk.begin(recording.commands, &info),
                         "beginning a list of commands", error);
  }

  /// What follows sees what came before.
  void order(Recording &recording) {
    vk::MemoryBarrier barrier;
    barrier.before = vk::kShaderWrite | vk::kTransferWrite;
    barrier.after = vk::kShaderRead | vk::kShaderWrite | vk::kTransferRead |
                    vk::kTransferWrite;
    vk::Flags stages = vk::kAtCompute | vk::kAtTransfer;
    vk.barrier(recording.commands, stages, stages, 0, 1, &barrier, 0, nullptr,
               0, nullptr);
  }

  /// Memory of the host for a list: its last block has it at `offset`.
  bool reserve(Recording &recording, vk::Size bytes, vk::Size &offset,
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

  bool takeBlock(vk::Size bytes, VulkanBlock &block, Error &error) {
    retire();
    vk::Size size = bytes <= kBlock ? kBlock : kPiece;
    for (size_t i = 0; i < freeBlocks.size(); ++i)
      if (freeBlocks[i].bytes == size) {
        block = freeBlocks[i];
        freeBlocks.erase(freeBlocks.begin() + i);
        return true;
      }
    switch (block.make(*device, size, /*forHost=*/true, error)) {
    case VulkanBlock::Result::Made:
      return true;
    case VulkanBlock::Result::Failed:
      return false;
    case VulkanBlock::Result::NoMemory:
      break;
    }
    return fail(error, "MemoryError",
                "no memory of the host for a copy of " + std::to_string(bytes) +
                    " bytes to or from " + device->title);
  }
  void giveBlock(VulkanBlock &block) {
    if (freeBlocks.size() < kKept)
      freeBlocks.push_back(block);
    else
      block.destroy(*device);
  }

  void recycle(Recording &recording) {
    if (recording.commands) {
      vk.reset(recording.commands, 0);
      freeCommands.push_back(recording.commands);
    }
    for (VulkanBlock &block : recording.blocks)
      giveBlock(block);
    recording = {};
  }

  /// Takes back what the device is done with.
  void retire() {
    uint64_t reached = 0;
    if (underWay.empty() ||
        vk.getCounter(device->device, timeline, &reached) != vk::kSuccess)
      return;
    while (!underWay.empty() && underWay.front().value <= reached) {
      recycle(underWay.front().recording);
      underWay.pop_front();
    }
  }

  bool submitCommands(vk::Commands commands, Error &error) {
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
                       "handing work to the device", error))
      return false;
    submitted = value;
    return true;
  }

  bool submit(Stream &stream, Error &error) {
    Recording &recording = stream.recording;
    if (!recording.commands)
      return true;
    bool done = device->check(vk.end(recording.commands),
                              "the end of a list of commands", error) &&
                submitCommands(recording.commands, error);
    if (done)
      underWay.push_back({submitted, std::move(recording)});
    else
      recycle(recording);
    recording = {};
    retire();
    return done;
  }

  /// Looks for a while, since waiting takes long to wake up.
  bool wait(uint64_t value, Error &error) {
    uint64_t reached = 0;
    for (int i = 0; i < 2000; ++i) {
      vk::Result result = vk.getCounter(device->device, timeline, &reached);
      if (result != vk::kSuccess)
        return device->report(result, "waiting for the device", error);
      if (reached >= value)
        return true;
    }
    vk::SemaphoreWait info;
    info.count = 1;
    info.semaphores = &timeline;
    info.values = &value;
    return device->check(vk.waitSemaphores(device->device, &info, ~uint64_t(0)),
                         "waiting for the device", error);
  }

  struct UnderWay {
    uint64_t value;
    Recording recording;
  };

  const std::unique_ptr<VulkanDevice> device;
  const vk::Library &vk;
  VulkanMemory memory;
  VulkanKernels kernels;

  std::mutex mutex;
  Stream first;
  std::vector<Stream *> streams = {&first};
  vk::Semaphore timeline = 0;
  vk::CommandPool pool = 0;
  /// The timeline's value when all that was submitted is done.
  uint64_t submitted = 0;
  std::deque<UnderWay> underWay;
  std::vector<vk::Commands> freeCommands;
  std::vector<VulkanBlock> freeBlocks;
};

} // namespace

std::unique_ptr<DeviceDriver> relax_rt::openVulkanDevice(int32_t id, int index,
                                                         Error &error) {
  std::unique_ptr<VulkanDevice> device = VulkanDevice::open(id, error);
  if (!device)
    return nullptr;
  auto driver = std::make_unique<VulkanDriver>(std::move(device), index);
  return driver->start(error) ? std::move(driver) : nullptr;
}
