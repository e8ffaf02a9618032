//===- Emulator.cpp - a device that is emulated on the host ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "State.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace emulator;

thread_local std::vector<Context> emulator::contexts;

State &emulator::state() {
  static State &state = *new State; // threads may end after static objects
  return state;
}

Result emulator::enter(const char *name, bool needsContext) {
  State &all = state();
  Lock lock(all.mutex);
  ++all.calls[name];
  if (auto rule = all.rules.find(name); rule != all.rules.end()) {
    int32_t code = rule->second.code;
    if (rule->second.nth == 0)
      return code;
    if (--rule->second.nth == 0) {
      all.rules.erase(rule);
      return code;
    }
  }
  return needsContext && contexts.empty() ? kInvalidContext : kSuccess;
}

namespace {

constexpr size_t kArenaBytes = size_t(8) << 30;
constexpr size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0xA5, kFresh = 0xCD;
constexpr unsigned kMaxThreads = 1024, kMaxGridYZ = 65535;
constexpr unsigned kMostShared = 227 << 10;

Device currentDevice() {
  return static_cast<Device>(reinterpret_cast<intptr_t>(contexts.back())) - 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The first gap with room for `bytes`; null if there is none.
char *findRoom(State &all, size_t bytes) {
  char *at = all.arena;
  for (auto &[begin, block] : all.blocks) {
    if (begin - at >= static_cast<ptrdiff_t>(bytes))
      return at;
    at = begin + block.whole;
  }
  return all.arena + kArenaBytes - at >= static_cast<ptrdiff_t>(bytes)
             ? at
             : nullptr;
}

/// Returns the pages within the range to the system.
void giveBack(char *begin, char *end) {
  constexpr uintptr_t page = 4096;
  auto first = (reinterpret_cast<uintptr_t>(begin) + page - 1) & ~(page - 1);
  auto last = reinterpret_cast<uintptr_t>(end) & ~(page - 1);
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

size_t usedBy(const State &all, Device device) {
  size_t total = 0;
  for (auto &[begin, block] : all.blocks)
    if (block.device == device)
      total += block.bytes;
  return total;
}

} // namespace

emulator::Access::Access() {
  State &all = state();
  Lock lock(all.mutex);
  if (all.accesses++ == 0 && all.arena)
    mprotect(all.arena, kArenaBytes, PROT_READ | PROT_WRITE);
}

emulator::Access::~Access() {
  State &all = state();
  Lock lock(all.mutex);
  if (--all.accesses == 0 && all.arena)
    mprotect(all.arena, kArenaBytes, PROT_NONE);
}

bool emulator::isInside(const void *data, size_t bytes) {
  State &all = state();
  Lock lock(all.mutex);
  auto *first = static_cast<const char *>(data);
  auto next = all.blocks.upper_bound(const_cast<char *>(first));
  if (next == all.blocks.begin())
    return false;
  auto &[begin, block] = *std::prev(next);
  return first >= begin + kGuardBytes &&
         bytes <= block.bytes && // so that the sum cannot overflow
         first + bytes <= begin + kGuardBytes + block.bytes;
}

namespace {

void *asHost(Pointer data) { return reinterpret_cast<void *>(data); }

Result copy(void *to, const void *from, size_t bytes, bool checksTo,
            bool checksFrom) {
  if ((checksTo && !isInside(to, bytes)) ||
      (checksFrom && !isInside(from, bytes)))
    return kInvalidValue;
  Access access;
  memmove(to, from, bytes);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

void readSettings(State &all) {
  auto number = [](const char *name, int64_t otherwise) {
    const char *text = std::getenv(name);
    return text ? std::strtoll(text, nullptr, 10) : otherwise;
  };
  all.devices = static_cast<int>(number("RELAX_EMULATOR_DEVICES", 1));
  all.memory = number("RELAX_EMULATOR_MEMORY", int64_t(1) << 30);
  std::string rules = std::getenv("RELAX_EMULATOR_FAIL")
                          ? std::getenv("RELAX_EMULATOR_FAIL")
                          : "";
  for (size_t at = 0; at < rules.size();) {
    size_t end = std::min(rules.find(',', at), rules.size());
    char name[64];
    int nth, code;
    if (std::sscanf(rules.substr(at, end - at).c_str(), "%63[^:]:%d:%d", name,
                    &nth, &code) == 3)
      all.rules[name] = {nth, code};
    at = end + 1;
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// The driver's functions
//===----------------------------------------------------------------------===//

RELAX_EXPORT Result cuInit(unsigned) {
  State &all = state();
  Lock lock(all.mutex);
  if (!all.isInitialized)
    readSettings(all);
  RELAX_ENTER("cuInit", false);
  if (all.devices == 0)
    return kNoDevice;
  if (!all.arena) {
    void *arena = mmap(nullptr, kArenaBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
      return kOutOfMemory;
    all.arena = static_cast<char *>(arena);
  }
  all.isInitialized = true;
  return kSuccess;
}

RELAX_EXPORT Result cuDriverGetVersion(int *version) {
  RELAX_ENTER("cuDriverGetVersion", false);
  const char *text = std::getenv("RELAX_EMULATOR_VERSION");
  *version = text ? std::atoi(text) : state().version;
  return kSuccess;
}

RELAX_EXPORT Result cuGetErrorName(Result result, const char **text) {
  static const std::map<Result, const char *> names = {
      {kSuccess, "CUDA_SUCCESS"},
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
      {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kNoBinaryForGPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {kInvalidPTX, "CUDA_ERROR_INVALID_PTX"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
  };
  auto found = names.find(result);
  *text = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : kSuccess;
}

RELAX_EXPORT Result cuGetErrorString(Result result, const char **text) {
  return cuGetErrorName(result, text);
}

RELAX_EXPORT Result cuDeviceGetCount(int *count) {
  RELAX_ENTER("cuDeviceGetCount", false);
  *count = state().devices;
  return kSuccess;
}

RELAX_EXPORT Result cuDeviceGet(Device *device, int ordinal) {
  RELAX_ENTER("cuDeviceGet", false);
  if (!state().isInitialized)
    return kNotInitialized;
  if (ordinal < 0 || ordinal >= state().devices)
    return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

RELAX_EXPORT Result cuDeviceGetName(char *name, int size, Device device) {
  RELAX_ENTER("cuDeviceGetName", false);
  std::snprintf(name, size, "emulated device %d", device);
  return kSuccess;
}

RELAX_EXPORT Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  RELAX_ENTER("cuDeviceGetAttribute", false);
  *value = attribute == kComputeCapabilityMajor ? 9 : 0;
  return kSuccess;
}

RELAX_EXPORT Result cuDeviceTotalMem_v2(size_t *bytes, Device) {
  RELAX_ENTER("cuDeviceTotalMem_v2", false);
  *bytes = state().memory;
  return kSuccess;
}

RELAX_EXPORT Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  RELAX_ENTER("cuDevicePrimaryCtxRetain", false);
  *context = reinterpret_cast<Context>(static_cast<intptr_t>(device) + 1);
  return kSuccess;
}

RELAX_EXPORT Result cuCtxPushCurrent_v2(Context context) {
  RELAX_ENTER("cuCtxPushCurrent_v2", false);
  contexts.push_back(context);
  return kSuccess;
}

RELAX_EXPORT Result cuCtxPopCurrent_v2(Context *context) {
  RELAX_ENTER("cuCtxPopCurrent_v2");
  *context = contexts.back();
  contexts.pop_back();
  return kSuccess;
}

RELAX_EXPORT Result cuCtxSynchronize(void) {
  RELAX_ENTER("cuCtxSynchronize");
  RELAX_REFUSE(refuseInCapture());
  return kSuccess;
}

RELAX_EXPORT Result cuStreamSynchronize(Stream stream) {
  RELAX_ENTER("cuStreamSynchronize");
  RELAX_REFUSE(refuseIfCaptured(stream));
  return kSuccess;
}

RELAX_EXPORT Result cuMemAlloc_v2(Pointer *data, size_t bytes) {
  RELAX_ENTER("cuMemAlloc_v2");
  if (!bytes)
    return kInvalidValue;
  State &all = state();
  Lock lock(all.mutex);
  if (bytes > all.memory || usedBy(all, currentDevice()) + bytes > all.memory)
    return kOutOfMemory;
  size_t whole = (bytes + 255) / 256 * 256 + 2 * kGuardBytes;
  char *begin = findRoom(all, whole);
  if (!begin)
    return kOutOfMemory;
  Access access;
  all.blocks[begin] = {whole, bytes, currentDevice()};
  memset(begin, kGuard, whole);
  memset(begin + kGuardBytes, kFresh, bytes);
  *data = reinterpret_cast<Pointer>(begin + kGuardBytes);
  return kSuccess;
}

RELAX_EXPORT Result cuMemFree_v2(Pointer data) {
  RELAX_ENTER("cuMemFree_v2");
  RELAX_REFUSE(refuseInCapture());
  if (!data)
    return kSuccess;
  State &all = state();
  Lock lock(all.mutex);
  char *begin = static_cast<char *>(asHost(data)) - kGuardBytes;
  auto found = all.blocks.find(begin);
  if (found == all.blocks.end())
    return kInvalidValue;
  Access access;
  auto check = [](const char *from, const char *to, const char *where) {
    for (; from < to; ++from)
      if (static_cast<unsigned char>(*from) != kGuard) {
        std::fprintf(stderr,
                     "emulator: memory %s a block of the device was written\n",
                     where);
        std::abort();
      }
  };
  check(begin, begin + kGuardBytes, "before");
  check(begin + kGuardBytes + found->second.bytes, begin + found->second.whole,
        "after");
  giveBack(begin, begin + found->second.whole);
  all.blocks.erase(found);
  return kSuccess;
}

RELAX_EXPORT Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from,
                                         size_t bytes, Stream stream) {
  RELAX_ENTER("cuMemcpyHtoDAsync_v2");
  RELAX_REFUSE(refuseIfCaptured(stream));
  return copy(asHost(to), from, bytes, true, false);
}

RELAX_EXPORT Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes,
                                         Stream stream) {
  RELAX_ENTER("cuMemcpyDtoHAsync_v2");
  RELAX_REFUSE(refuseIfCaptured(stream));
  return copy(to, asHost(from), bytes, false, true);
}

RELAX_EXPORT Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes,
                                         Stream stream) {
  RELAX_ENTER("cuMemcpyDtoDAsync_v2");
  return submit(stream, [=] {
    return copy(asHost(to), asHost(from), bytes, true, true);
  });
}

RELAX_EXPORT Result cuMemsetD32Async(Pointer to, uint32_t value, size_t count,
                                     Stream stream) {
  RELAX_ENTER("cuMemsetD32Async");
  if (to % sizeof(uint32_t) || !isInside(asHost(to), count * sizeof(uint32_t)))
    return kInvalidValue;
  return submit(stream, [=] {
    Access access;
    std::fill_n(static_cast<uint32_t *>(asHost(to)), count, value);
    return kSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

RELAX_EXPORT Result cuModuleLoadDataEx(void **module, const void *image,
                                       unsigned count, JitOption *options,
                                       void **values) {
  RELAX_ENTER("cuModuleLoadDataEx");
  if (const void *known = imageOf(image))
    image = known;
  else if (memcmp(image, "CUBINEMU", 8) == 0)
    memcpy(&image, static_cast<const char *>(image) + offsetof(Cubin, image),
           sizeof(image));
  if (memcmp(image, "RELAXEM2", 8) != 0) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]),
                    "the image is for no emulated device");
    return kInvalidImage;
  }
  auto *words = static_cast<const int64_t *>(image);
  *module = makeObject(LoadedModule{
      words[1], reinterpret_cast<const RelaxEmulatorKernel *>(words + 2), {}});
  return kSuccess;
}

RELAX_EXPORT Result cuModuleUnload(void *module) {
  RELAX_ENTER("cuModuleUnload");
  return destroyObject<LoadedModule>(module) ? kSuccess : kInvalidValue;
}

RELAX_EXPORT Result cuModuleGetFunction(void **function, void *from,
                                        const char *name) {
  RELAX_ENTER("cuModuleGetFunction");
  auto *module = static_cast<LoadedModule *>(from);
  for (int64_t i = 0; i < module->count; ++i)
    if (!strcmp(module->kernels[i].name, name)) {
      LoadedFunction &known = module->functions[name];
      known.kernel = &module->kernels[i];
      *function = &known;
      return kSuccess;
    }
  return kNotFound;
}

RELAX_EXPORT Result cuFuncSetAttribute(void *function, FunctionOption option,
                                       int value) {
  RELAX_ENTER("cuFuncSetAttribute");
  if (option != kMaxDynamicSharedBytes || value < 0 ||
      unsigned(value) > kMostShared)
    return kInvalidValue;
  static_cast<LoadedFunction *>(function)->mostShared = value;
  return kSuccess;
}

RELAX_EXPORT Result cuTensorMapEncodeTiled(void *map, int, uint32_t rank,
                                           void *data, const uint64_t *sizes,
                                           const uint64_t *strides,
                                           const uint32_t *box,
                                           const uint32_t *steps,
                                           int interleave, int, int, int) {
  RELAX_ENTER("cuTensorMapEncodeTiled");
  bool isRight = reinterpret_cast<uintptr_t>(map) % 64 == 0 &&
                 reinterpret_cast<uintptr_t>(data) % 16 == 0 && rank > 0 &&
                 rank <= 5 && interleave == 0;
  for (uint32_t i = 0; isRight && i < rank; ++i)
    isRight = sizes[i] > 0 && box[i] > 0 && box[i] <= 256 && steps[i] == 1 &&
              (i + 1 == rank || strides[i] % 16 == 0);
  if (!isRight)
    return kInvalidValue;
  // Encodes the address and the sizes of the tensor and the box.
  auto *words = static_cast<uint64_t *>(map);
  std::fill_n(words, 16, 0);
  words[0] = reinterpret_cast<uintptr_t>(data);
  words[1] = rank;
  for (uint32_t i = 0; i < rank; ++i) {
    words[2 + i] = sizes[i];
    words[2 + rank + i] = box[i];
  }
  return kSuccess;
}

RELAX_EXPORT Result cuLaunchKernelEx(const LaunchConfig *config, void *launched,
                                     void **args, void **) {
  RELAX_ENTER("cuLaunchKernelEx");
  auto *function = static_cast<LoadedFunction *>(launched);
  emulator::Size grid{config->gridX, config->gridY, config->gridZ};
  emulator::Size block{config->blockX, config->blockY, config->blockZ};
  unsigned sharedBytes = config->sharedBytes;
  // The driver's attribute layout: a 4-byte id, and the value at byte 8.
  bool overlaps = config->count > 0;
  int attribute[3] = {kProgrammaticStreamSerialization, 0, 1};
  if (overlaps)
    memcpy(attribute, config->attributes, sizeof(attribute));
  if (!grid.count() || !block.count() || block.count() > kMaxThreads ||
      block.z > 64 || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ ||
      sharedBytes > function->mostShared || config->count > 1 ||
      attribute[0] != kProgrammaticStreamSerialization || attribute[2] != 1)
    return kInvalidValue;
  // A graph has its own copy of the arguments.
  const RelaxEmulatorKernel *kernel = function->kernel;
  std::vector<int64_t> words(kernel->arguments);
  for (int64_t i = 0; i < kernel->arguments; ++i)
    memcpy(&words[i], args[i], sizeof(int64_t));
  return submit(config->stream, [=]() mutable {
    {
      Lock lock(state().mutex);
      char line[160];
      std::snprintf(line, sizeof(line),
                    "%s %" PRId64 "x%" PRId64 "x%" PRId64 " %" PRId64
                    "x%" PRId64 "x%" PRId64 " %u%s\n",
                    kernel->name, grid.x, grid.y, grid.z, block.x, block.y,
                    block.z, sharedBytes, overlaps ? " overlaps" : "");
      state().log += line;
    }
    std::vector<void *> args;
    for (int64_t &word : words)
      args.push_back(&word);
    Access access;
    emulator::Block threads(grid, block, sharedBytes, kernel->body,
                            args.data());
    for (int64_t z = 0; z < grid.z; ++z)
      for (int64_t y = 0; y < grid.y; ++y)
        for (int64_t x = 0; x < grid.x; ++x)
          if (!threads.run({x, y, z}))
            return Result(kLaunchTimeout);
    return Result(kSuccess);
  });
}

//===----------------------------------------------------------------------===//
// Functions for tests
//===----------------------------------------------------------------------===//

RELAX_EXPORT void relax_emulator_fail(const char *function, int32_t nth,
                                      int32_t code) {
  State &all = state();
  Lock lock(all.mutex);
  if (code)
    all.rules[function] = {nth, code};
  else
    all.rules.erase(function);
}

RELAX_EXPORT int64_t relax_emulator_bytes(void) {
  State &all = state();
  Lock lock(all.mutex);
  int64_t total = 0;
  for (Device device = 0; device < all.devices; ++device)
    total += usedBy(all, device);
  return total;
}

RELAX_EXPORT int64_t relax_emulator_blocks(void) {
  State &all = state();
  Lock lock(all.mutex);
  return all.blocks.size();
}

RELAX_EXPORT int64_t relax_emulator_objects(void) {
  State &all = state();
  Lock lock(all.mutex);
  return all.objects.size();
}

RELAX_EXPORT int64_t relax_emulator_calls(const char *function) {
  State &all = state();
  Lock lock(all.mutex);
  return all.calls[function];
}

RELAX_EXPORT const char *relax_emulator_log(void) {
  State &all = state();
  Lock lock(all.mutex);
  all.shownLog = all.log;
  return all.shownLog.c_str();
}

RELAX_EXPORT void relax_emulator_clear_log(void) {
  State &all = state();
  Lock lock(all.mutex);
  all.log.clear();
}
