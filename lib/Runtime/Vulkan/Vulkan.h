//===- Vulkan.h - the Vulkan interface (subset) -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our own declarations, so that the build needs neither headers nor libraries
// of Vulkan. The functions are in VulkanFunctions.h.
//
// A structure begins with its type and a pointer to the next one; `Chained`
// declares both and sets the type.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKAN_H
#define RELAX_RUNTIME_VULKAN_VULKAN_H

#include <cstddef>
#include <cstdint>

namespace relax_rt::vk {

using Result = int32_t;
using Flags = uint32_t;
using Size = uint64_t;
using Instance = void *;
using Physical = void *;
using Device = void *;
using Queue = void *;
using Commands = void *;
// Non-dispatchable handles are 64 bits wide on all platforms.
using Memory = uint64_t;
using Buffer = uint64_t;
using Semaphore = uint64_t;
using Shader = uint64_t;
using Layout = uint64_t;
using Pipeline = uint64_t;
using Cache = uint64_t;
using CommandPool = uint64_t;
using SetLayout = uint64_t;
using SetPool = uint64_t;
using Set = uint64_t;
using QueryPool = uint64_t;

constexpr uint32_t version(uint32_t major, uint32_t minor) {
  return major << 22 | minor << 12;
}
constexpr uint32_t majorOf(uint32_t version) { return version >> 22 & 0x7f; }
constexpr uint32_t minorOf(uint32_t version) { return version >> 12 & 0x3ff; }

// VkResult
constexpr Result kSuccess = 0, kTimeout = 2, kOutOfHostMemory = -1,
                 kOutOfDeviceMemory = -2, kInitializationFailed = -3,
                 kDeviceLost = -4, kMapFailed = -5, kLayerNotPresent = -6,
                 kExtensionNotPresent = -7, kFeatureNotPresent = -8,
                 kIncompatibleDriver = -9, kTooManyObjects = -10,
                 kInvalidShader = -1000012000, kOutOfPoolMemory = -1000069000;

// VkPhysicalDeviceType
constexpr int32_t kIntegrated = 1, kDiscrete = 2, kVirtual = 3, kCPU = 4;
// VkQueueFlagBits
constexpr Flags kGraphics = 1, kCompute = 2;
// VkMemoryPropertyFlagBits
constexpr Flags kDeviceLocal = 1, kHostVisible = 2, kHostCoherent = 4,
                kHostCached = 8;
// VkBufferUsageFlagBits
constexpr Flags kTransferSource = 1, kTransferTarget = 2, kStorage = 0x20,
                kAddressed = 0x20000;
// VkMemoryAllocateFlagBits
constexpr Flags kAddressedMemory = 2;
// VkShaderStageFlagBits, VkPipelineBindPoint
constexpr Flags kComputeStage = 0x20;
constexpr int32_t kComputePoint = 1;
// VkPipelineShaderStageCreateFlagBits
constexpr Flags kFullSubgroups = 2;
// VkPipelineCreateFlagBits, VkPipelineExecutableStatisticFormatKHR
constexpr Flags kWithStatistics = 0x40;
constexpr int32_t kUnsigned64 = 2;
// VkPipelineStageFlagBits
constexpr Flags kAtCompute = 0x800, kAtTransfer = 0x1000, kAtEnd = 0x2000,
                kAtHost = 0x4000;
// VkAccessFlagBits
constexpr Flags kShaderRead = 0x20, kShaderWrite = 0x40, kTransferRead = 0x800,
                kTransferWrite = 0x1000, kHostRead = 0x2000;
// VkCommandPoolCreateFlagBits, VkCommandBufferUsageFlagBits
constexpr Flags kResettable = 2, kOnce = 1, kSimultaneous = 4;
// VkQueryResultFlagBits
constexpr Flags kWide = 1;
constexpr Size kWhole = ~Size(0);
// VkDescriptorType
constexpr int32_t kStorageBuffers = 7;

template <int32_t which>
struct Chained {
  int32_t type = which;
  const void *next = nullptr;
};

struct ApplicationInfo : Chained<0> {
  const char *name = nullptr;
  uint32_t version = 0;
  const char *engine = nullptr;
  uint32_t engineVersion = 0, api = 0;
};
struct InstanceInfo : Chained<1> {
  Flags flags = 0;
  const ApplicationInfo *application = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
};

struct Properties : Chained<1000059001> {
  uint32_t api = 0, driver = 0, vendor = 0, device = 0;
  int32_t kind = 0;
  char name[256] = "";
  uint8_t cacheID[16] = {};
  alignas(8) uint8_t limits[504] = {};
  uint32_t sparse[5] = {};
};
/// Offsets of limits in the limits of `Properties`.
constexpr size_t kMaxRange = 28, kMaxPushed = 32, kMaxBindings = 76,
                 kMaxSharedBytes = 216, kMaxGroups = 220, kMaxThreads = 232,
                 kMaxBlock = 236, kTick = 424;

struct SubgroupProperties : Chained<1000094000> {
  uint32_t size = 0;
  Flags stages = 0, operations = 0;
  uint32_t quads = 0;
};
/// VkSubgroupFeatureFlagBits
constexpr Flags kShuffles = 0x10;
struct Maintenance3Properties : Chained<1000168000> {
  uint32_t maxDescriptors = 0;
  Size maxAllocation = 0;
};
struct FloatProperties : Chained<1000197000> {
  int32_t independence[2] = {};
  uint32_t preserves16 = 0, preserves32 = 0, preserves64 = 0;
  uint32_t others[12] = {};
};
struct DriverProperties : Chained<1000196000> {
  int32_t driver = 0;
  char name[256] = "", info[256] = "";
  uint8_t conformance[4] = {};
};
/// VK_DRIVER_ID_NVIDIA_PROPRIETARY
constexpr int32_t kDriverOfNVIDIA = 4;
/// Reported by NVIDIA GPUs.
struct MultiprocessorProperties : Chained<1000154001> {
  uint32_t count = 0, subgroups = 0;
};
struct SubgroupSizeProperties : Chained<1000225000> {
  uint32_t least = 0, most = 0, maxPerBlock = 0;
  Flags stages = 0;
};

struct Features : Chained<1000059000> {
  uint32_t all[55] = {};
};
/// Indices into `Features`.
constexpr int kFloat64 = 39, kInt64 = 40, kInt16 = 41;
struct Features11 : Chained<49> {
  uint32_t storage16 = 0, uniformStorage16 = 0, pushed16 = 0, io16 = 0;
  uint32_t others[8] = {};
};
struct Features12 : Chained<51> {
  uint32_t all[47] = {};
};
/// Indices into `Features12`.
constexpr int kStorage8 = 2, kFloat16 = 7, kInt8 = 8, kTimeline = 37,
              kAddresses = 38, kMemoryModel = 41, kMemoryOfDevice = 42;
struct SubgroupSizeFeatures : Chained<1000225002> {
  uint32_t sizeControl = 0, fullSubgroups = 0;
};
struct MatrixFeatures : Chained<1000506000> {
  uint32_t matrices = 0, robust = 0;
};
struct BFloat16Features : Chained<1000141000> {
  uint32_t type = 0, dot = 0, matrices = 0;
};
struct ExecutableFeatures : Chained<1000269000> {
  uint32_t info = 0;
};
/// A matrix product that the threads of a scope compute together.
struct MatrixProperties : Chained<1000506001> {
  uint32_t m = 0, n = 0, k = 0;
  int32_t a = 0, b = 0, c = 0, result = 0;
  uint32_t saturates = 0;
  int32_t scope = 0;
};
// VkComponentTypeKHR, VkScopeKHR
constexpr int32_t kOfFloat16 = 0, kOfFloat32 = 1, kOfBFloat16 = 1000141000,
                  kOfSubgroup = 3;
struct ExtensionProperties {
  char name[256] = "";
  uint32_t version = 0;
};

struct MemoryType {
  Flags properties;
  uint32_t heap;
};
struct MemoryHeap {
  Size bytes;
  Flags flags;
};
struct MemoryProperties {
  uint32_t typeCount;
  MemoryType types[32];
  uint32_t heapCount;
  MemoryHeap heaps[16];
};
struct QueueFamily {
  Flags flags;
  uint32_t count, timestampBits, granularity[3];
};

struct QueueInfo : Chained<2> {
  Flags flags = 0;
  uint32_t family = 0, count = 1;
  const float *priorities = nullptr;
};
struct DeviceInfo : Chained<3> {
  Flags flags = 0;
  uint32_t queueCount = 0;
  const QueueInfo *queues = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
  const void *features = nullptr;
};
struct SubmitInfo : Chained<4> {
  uint32_t waitCount = 0;
  const Semaphore *waits = nullptr;
  const Flags *waitStages = nullptr;
  uint32_t commandCount = 0;
  const Commands *commands = nullptr;
  uint32_t signalCount = 0;
  const Semaphore *signals = nullptr;
};
struct TimelineSubmit : Chained<1000207003> {
  uint32_t waitCount = 0;
  const uint64_t *waits = nullptr;
  uint32_t signalCount = 0;
  const uint64_t *signals = nullptr;
};
struct AllocateInfo : Chained<5> {
  Size bytes = 0;
  uint32_t memoryType = 0;
};
struct AllocateFlags : Chained<1000060000> {
  Flags flags = 0;
  uint32_t devices = 0;
};
struct SemaphoreInfo : Chained<9> {
  Flags flags = 0;
};
struct SemaphoreKind : Chained<1000207002> {
  int32_t kind = 0; // 1: a timeline
  uint64_t initial = 0;
};
struct SemaphoreWait : Chained<1000207004> {
  Flags flags = 0;
  uint32_t count = 0;
  const Semaphore *semaphores = nullptr;
  const uint64_t *values = nullptr;
};
struct QueryInfo : Chained<11> {
  Flags flags = 0;
  int32_t kind = 2; // a time
  uint32_t count = 0;
  Flags statistics = 0;
};
struct BufferInfo : Chained<12> {
  Flags flags = 0;
  Size bytes = 0;
  Flags usage = 0;
  int32_t sharing = 0;
  uint32_t familyCount = 0;
  const uint32_t *families = nullptr;
};
struct BufferAddressInfo : Chained<1000244001> {
  Buffer buffer = 0;
};
struct Requirements {
  Size bytes, align;
  uint32_t memoryTypes;
};
struct ShaderInfo : Chained<16> {
  Flags flags = 0;
  size_t bytes = 0;
  const uint32_t *code = nullptr;
};
struct CacheInfo : Chained<17> {
  Flags flags = 0;
  size_t bytes = 0;
  const void *data = nullptr;
};
struct StageInfo : Chained<18> {
  Flags flags = 0, stage = kComputeStage;
  Shader shader = 0;
  const char *entry = "main";
  const void *constants = nullptr;
};
struct RequiredSubgroup : Chained<1000225001> {
  uint32_t size = 0;
};
struct ComputeInfo : Chained<29> {
  Flags flags = 0;
  StageInfo stage;
  Layout layout = 0;
  Pipeline base = 0;
  int32_t baseIndex = -1;
};
struct ExecutableInfo : Chained<1000269003> {
  Pipeline pipeline = 0;
  uint32_t which = 0;
};
struct ExecutableStatistic : Chained<1000269004> {
  char name[256] = "", description[256] = "";
  int32_t format = 0;
  uint64_t value = 0;
};
struct PushRange {
  Flags stages;
  uint32_t offset, bytes;
};
struct LayoutInfo : Chained<30> {
  Flags flags = 0;
  uint32_t setCount = 0;
  const SetLayout *sets = nullptr;
  uint32_t rangeCount = 0;
  const PushRange *ranges = nullptr;
};
struct Binding {
  uint32_t number = 0;
  int32_t kind = kStorageBuffers;
  uint32_t count = 1;
  Flags stages = kComputeStage;
  const void *samplers = nullptr;
};
struct SetLayoutInfo : Chained<32> {
  Flags flags = 0;
  uint32_t count = 0;
  const Binding *bindings = nullptr;
};
struct SetPoolSize {
  int32_t kind = kStorageBuffers;
  uint32_t count = 0;
};
struct SetPoolInfo : Chained<33> {
  Flags flags = 0;
  uint32_t mostSets = 0, sizeCount = 1;
  const SetPoolSize *sizes = nullptr;
};
struct SetInfo : Chained<34> {
  SetPool pool = 0;
  uint32_t count = 1;
  const SetLayout *layouts = nullptr;
};
struct BoundBuffer {
  Buffer buffer = 0;
  Size offset = 0, bytes = kWhole;
};
struct SetWrite : Chained<35> {
  Set set = 0;
  uint32_t first = 0, element = 0, count = 0;
  int32_t kind = kStorageBuffers;
  const void *images = nullptr;
  const BoundBuffer *buffers = nullptr;
  const void *views = nullptr;
};
struct CommandPoolInfo : Chained<39> {
  Flags flags = 0;
  uint32_t family = 0;
};
struct CommandsInfo : Chained<40> {
  CommandPool pool = 0;
  int32_t level = 0;
  uint32_t count = 1;
};
struct BeginInfo : Chained<42> {
  Flags flags = 0;
  const void *inheritance = nullptr;
};
struct MemoryBarrier : Chained<46> {
  Flags before = 0, after = 0;
};
struct CopyRegion {
  Size from, to, bytes;
};

} // namespace relax_rt::vk

#endif // RELAX_RUNTIME_VULKAN_VULKAN_H
