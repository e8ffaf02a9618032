//===- VulkanDriver.cpp - the Vulkan device driver ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work submitted to a stream is recorded into a command list (VulkanWork.h),
// which is submitted when a call ends, when the list is long, or when the host
// waits.
//
// A graph is a command list that is kept, with its memory, to be resubmitted.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Device.h"
#include "Runtime/Vulkan/VulkanDevice.h"
#include "Runtime/Vulkan/VulkanImage.h"
#include "Runtime/Vulkan/VulkanKernels.h"
#include "Runtime/Vulkan/VulkanWork.h"

#include <algorithm>
#include <cstring>

using namespace relax_rt;

namespace {

class VulkanDriver final : public DeviceDriver, private VulkanWork {
public:
  VulkanDriver(std::unique_ptr<VulkanDevice> opened, int index)
      : VulkanWork(std::move(opened)), memory(*device),
        kernels(*device, index) {}

  /// Creates what the device needs to work. Returns false with `error` set.
  bool start(Error &error) {
    return VulkanWork::start(error) && kernels.start(error);
  }

  Description describe() const override {
    return {
        device->name,  vk::majorOf(device->api),    vk::minorOf(device->api),
        device->bytes, device->exchangingThreads(), device->architecture()};
  }

  bool enter(Error &) override { return true; }
  void leave() override {}

  bool allocate(size_t bytes, void *&data, Error &error) override {
    return memory.allocate(bytes, data, error);
  }
  void free(void *data) override { memory.free(data); }
  void unloadModule(void *) override {}
  bool owns(const void *data, size_t bytes) override {
    return memory.find(data).left >= bytes;
  }

  bool synchronize(Error &error) override {
    uint64_t value;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (Stream *stream : streams)
        if (!stream->isCaptured && !submit(*stream, error))
          return false;
      value = submitted;
    }
    bool done = wait(value, error);
    std::lock_guard<std::mutex> lock(mutex);
    retire();
    return done;
  }

  void reportTimes() override {
    std::lock_guard<std::mutex> lock(mutex);
    times.report();
  }

  bool flush(void *handle, Error &error) override {
    std::lock_guard<std::mutex> lock(mutex);
    Stream &stream = of(handle);
    return stream.isCaptured || submit(stream, error);
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
      // Bounds the host's copies of large tensors.
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
                        " exceeds the limits of " + device->title);
    if (!shape[0] || !shape[1] || !shape[2])
      return true;
    VulkanLaunch made;
    std::copy_n(shape, 3, made.grid);
    // Captured streams are used by a single thread.
    Stream &stream = of(handle);
    bool waits = mayWait(stream, *known->image);
    if (waits && known->image->stridedOffset && made.blocks() > kMostAwaited) {
      known = chooseStrided(*known, made, error);
      if (!known)
        return false;
    }
    made.pipeline = known->pipeline;
    made.layout = known->layout;
    const VulkanKernelImage &image = *known->image;
    std::lock_guard<std::mutex> lock(mutex);
    if (!begin(stream, error))
      return false;
    Recording &recording = stream.recording;
    uint64_t *pushed = made.pushed;
    int64_t before = image.headWords, count = image.parameterCount;
    uint64_t *words = pushed + before;
    bool inMemory = before + count > image.pushedWords;
    if (inMemory) {
      uint64_t address;
      if (!reserveParameters(recording, count * sizeof(uint64_t), words,
                             address, error))
        return false;
      pushed[before] = address;
    }
    for (int64_t i = 0; i < count; ++i)
      memcpy(&words[i], args[image.parameters[i]], sizeof(uint64_t));
    if (!fitNarrow(image, words, error))
      return false;
    if (image.bindingCount >= 0 &&
        !bind(recording, *known, words, inMemory ? &pushed[before] : nullptr,
              error))
      return false;
    made.bytes = (before + (inMemory ? 1 : count)) * sizeof(uint64_t);
    if (waits) {
      if (!follow(recording, made, error))
        return false;
    } else {
      order(recording);
      times.noteBegin(recording.times, recording.commands);
      dispatch(recording, made);
      times.noteEnd(recording.times, recording.commands, kernel.name);
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
                "Vulkan devices do not support tensor maps");
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
    bool begun = begin(stream, error); // an empty graph is a list, too
    stream.isCaptured = false;
    if (!begun)
      return nullptr;
    finish(stream.recording);
    auto *graph = new Recording(std::move(stream.recording));
    stream.recording = {};
    if (!device->check(vk.end(graph->commands), "ending a capture", error) ||
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
    // The graph may still be executing.
    underWay.push_back({submitted, std::move(*graph)});
    delete graph;
    retire();
  }

private:
  static constexpr int kMostLaunches = 64;

  static bool waitsForKernels() {
    static const bool waits = isOn("RELAX_DEVICE_SYNCHRONIZE");
    return waits;
  }

  /// Whether a kernel itself waits for the previous one. Only in captures:
  /// otherwise recording takes longer than the overlap saves.
  bool mayWait(const Stream &stream, const VulkanKernelImage &image) const {
    return image.headWords == kWaitingWords && stream.isCaptured &&
           isOn("RELAX_DEVICE_OVERLAP", device->takesBlocksInOrder);
  }

  /// Splits a launch evenly among as many blocks as are resident at a time,
  /// using the strided variant of the kernel. Returns null with `error` set.
  /// Returns the kernel unchanged if more blocks are resident than may be
  /// awaited, since part of the device would be idle otherwise.
  const VulkanKernel *chooseStrided(const VulkanKernel &kernel,
                                    VulkanLaunch &launch, Error &error) {
    const VulkanKernel *known = kernels.getStrided(kernel, error);
    if (!known)
      return nullptr;
    int64_t blocks = launch.grid[0], most = known->blocksAtOnce;
    if (most > kMostAwaited)
      return &kernel;
    int64_t rounds = (blocks + most - 1) / most;
    launch.grid[0] = (blocks + rounds - 1) / rounds;
    launch.isStrided = true;
    return known;
  }

  Stream &of(void *handle) {
    return handle ? *static_cast<Stream *>(handle) : first;
  }

  // The following functions must be called under the mutex.

  bool findBuffer(const void *data, size_t bytes, VulkanMemory::Place &place,
                  Error &error) {
    place = memory.find(data);
    if (place.buffer && place.left >= bytes)
      return true;
    return fail(error, "ValueError",
                "the memory is not on " + device->title +
                    "; copy from another device through the host");
  }

  /// Binds the buffers of a kernel, whose pointer parameters become byte
  /// offsets; `inMemory` becomes the offset of the parameters in words.
  bool bind(Recording &recording, const VulkanKernel &kernel, uint64_t *words,
            uint64_t *inMemory, Error &error) {
    const VulkanKernelImage &image = *kernel.image;
    std::vector<vk::BoundBuffer> buffers(image.bindingCount);
    for (int64_t i = 0; i < image.bindingCount; ++i) {
      uint64_t &word = words[image.bindings[i]];
      VulkanMemory::Place place = memory.find(reinterpret_cast<void *>(word));
      // Empty tensors need no buffer.
      if (!place.buffer && word)
        return fail(error, "ValueError",
                    std::string("launch of '") + image.name +
                        "': a buffer is not in the memory of " + device->title);
      if (!place.buffer && !findEmpty(place, error))
        return false;
      if (place.offset + place.left > device->maxBound)
        return fail(error, "DeviceError",
                    std::string("launch of '") + image.name +
                        "': " + device->title + " binds buffers of at most " +
                        std::to_string(device->maxBound) + " bytes, not of " +
                        std::to_string(place.offset + place.left));
      buffers[i].buffer = place.buffer;
      word = place.offset;
    }
    if (inMemory) {
      const VulkanBlock &block = recording.parameters.back();
      buffers.emplace_back();
      buffers.back().buffer = block.buffer;
      *inMemory = (*inMemory - block.address) / sizeof(uint64_t);
    }
    // Prefer to reuse pools of finished work.
    if (recording.sets.empty())
      retire();
    return buffers.empty() ||
           bindings.bind(recording.commands, recording.sets, kernel.layout,
                         kernel.setLayout, buffers, error);
  }

  /// Checks that numbers which the kernel treats as 32-bit fit.
  bool fitNarrow(const VulkanKernelImage &image, const uint64_t *words,
                 Error &error) {
    for (int64_t i = 0; i < image.narrowCount; ++i) {
      auto value = static_cast<int64_t>(words[image.narrow[i]]);
      if (value < INT32_MIN || value > INT32_MAX)
        return fail(
            error, "DeviceError",
            std::string("launch of '") + image.name + "': " + device->title +
                " supports only 32-bit integers, got " + std::to_string(value));
    }
    return true;
  }

  bool findEmpty(VulkanMemory::Place &place, Error &error) {
    if (!empty && (!memory.allocate(1, empty, error) || !empty))
      return error.message.empty()
                 ? fail(error, "MemoryError",
                        "no memory for 1 byte on " + device->title)
                 : false;
    place = memory.find(empty);
    return true;
  }

  VulkanMemory memory;
  VulkanKernels kernels;
  /// A dummy buffer, bound in place of empty tensors.
  void *empty = nullptr;
};

} // namespace

static std::unique_ptr<DeviceDriver> openDevice(int32_t id, int index,
                                                Error &error) {
  std::unique_ptr<VulkanDevice> device = VulkanDevice::open(id, error);
  if (!device)
    return nullptr;
  auto driver = std::make_unique<VulkanDriver>(std::move(device), index);
  return driver->start(error) ? std::move(driver) : nullptr;
}

static const DeviceKind kind(kDLVulkan, "vulkan", openDevice);
