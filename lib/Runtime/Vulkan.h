//===- Vulkan.h - the interface of Vulkan, as far as used -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of our own, so that neither headers nor libraries of Vulkan are
// needed to build. The loader is opened at run time: libvulkan.so.1, or what
// the environment variable RELAX_VULKAN_LOADER names.
//
// A structure begins with its type and a pointer to the next one; `Chained`
// says so, and sets the type.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_H
#define RELAX_RUNTIME_VULKAN_H

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
// Handles that loaders do not look into are 64 bits wide everywhere.
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
constexpr Flags kCompute = 2;
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
// VkPipelineStageFlagBits
constexpr Flags kAtCompute = 0x800, kAtTransfer = 0x1000, kAtHost = 0x4000;
// VkAccessFlagBits
constexpr Flags kShaderRead = 0x20, kShaderWrite = 0x40, kTransferRead = 0x800,
                kTransferWrite = 0x1000, kHostRead = 0x2000;
// VkCommandPoolCreateFlagBits, VkCommandBufferUsageFlagBits
constexpr Flags kResettable = 2, kOnce = 1, kSimultaneous = 4;
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
/// Where limits are within those of `Properties`.
constexpr size_t kMaxRange = 28, kMaxBindings = 76, kMaxSharedBytes = 216,
                 kMaxGroups = 220, kMaxThreads = 232, kMaxBlock = 236;

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
struct SubgroupSizeProperties : Chained<1000225000> {
  uint32_t least = 0, most = 0, maxPerBlock = 0;
  Flags stages = 0;
};

struct Features : Chained<1000059000> {
  uint32_t all[55] = {};
};
/// Places in `Features`.
constexpr int kFloat64 = 39, kInt64 = 40, kInt16 = 41;
struct Features11 : Chained<49> {
  uint32_t storage16 = 0, uniformStorage16 = 0, pushed16 = 0, io16 = 0;
  uint32_t others[8] = {};
};
struct Features12 : Chained<51> {
  uint32_t all[47] = {};
};
/// Places in `Features12`.
constexpr int kStorage8 = 2, kFloat16 = 7, kInt8 = 8, kTimeline = 37,
              kAddresses = 38;
struct SubgroupSizeFeatures : Chained<1000225002> {
  uint32_t sizeControl = 0, fullSubgroups = 0;
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

using Function = void (*)();

/// Each function that is used, by the level that it is looked up at: its field,
/// its name, its result, and its parameters. None has callbacks for memory.
#define RELAX_VULKAN_GLOBALS(X)                                                \
  X(enumerateVersion, vkEnumerateInstanceVersion, Result,                      \
    (uint32_t * version))                                                      \
  X(createInstance, vkCreateInstance, Result,                                  \
    (const InstanceInfo *info, const void *, Instance *instance))
#define RELAX_VULKAN_OF_INSTANCE(X)                                            \
  X(destroyInstance, vkDestroyInstance, void,                                  \
    (Instance instance, const void *))                                         \
  X(enumerate, vkEnumeratePhysicalDevices, Result,                             \
    (Instance instance, uint32_t * count, Physical * devices))                 \
  X(getProperties, vkGetPhysicalDeviceProperties2, void,                       \
    (Physical device, Properties * properties))                                \
  X(getFeatures, vkGetPhysicalDeviceFeatures2, void,                           \
    (Physical device, Features * features))                                    \
  X(getMemory, vkGetPhysicalDeviceMemoryProperties, void,                      \
    (Physical device, MemoryProperties * properties))                          \
  X(getFamilies, vkGetPhysicalDeviceQueueFamilyProperties, void,               \
    (Physical device, uint32_t * count, QueueFamily * families))               \
  X(createDevice, vkCreateDevice, Result,                                      \
    (Physical physical, const DeviceInfo *info, const void *, Device *device)) \
  X(getDeviceFunction, vkGetDeviceProcAddr, Function,                          \
    (Device device, const char *name))
#define RELAX_VULKAN_OF_DEVICE(X)                                              \
  X(destroyDevice, vkDestroyDevice, void, (Device device, const void *))       \
  X(getQueue, vkGetDeviceQueue, void,                                          \
    (Device device, uint32_t family, uint32_t index, Queue * queue))           \
  X(submit, vkQueueSubmit, Result,                                             \
    (Queue queue, uint32_t count, const SubmitInfo *infos, uint64_t fence))    \
  X(allocate, vkAllocateMemory, Result,                                        \
    (Device device, const AllocateInfo *info, const void *, Memory *memory))   \
  X(free, vkFreeMemory, void, (Device device, Memory memory, const void *))    \
  X(map, vkMapMemory, Result,                                                  \
    (Device device, Memory memory, Size offset, Size bytes, Flags flags,       \
     void **data))                                                             \
  X(createBuffer, vkCreateBuffer, Result,                                      \
    (Device device, const BufferInfo *info, const void *, Buffer *buffer))     \
  X(destroyBuffer, vkDestroyBuffer, void,                                      \
    (Device device, Buffer buffer, const void *))                              \
  X(getRequirements, vkGetBufferMemoryRequirements, void,                      \
    (Device device, Buffer buffer, Requirements * requirements))               \
  X(bind, vkBindBufferMemory, Result,                                          \
    (Device device, Buffer buffer, Memory memory, Size offset))                \
  X(getAddress, vkGetBufferDeviceAddress, uint64_t,                            \
    (Device device, const BufferAddressInfo *info))                            \
  X(createShader, vkCreateShaderModule, Result,                                \
    (Device device, const ShaderInfo *info, const void *, Shader *shader))     \
  X(destroyShader, vkDestroyShaderModule, void,                                \
    (Device device, Shader shader, const void *))                              \
  X(createCache, vkCreatePipelineCache, Result,                                \
    (Device device, const CacheInfo *info, const void *, Cache *cache))        \
  X(destroyCache, vkDestroyPipelineCache, void,                                \
    (Device device, Cache cache, const void *))                                \
  X(getCacheData, vkGetPipelineCacheData, Result,                              \
    (Device device, Cache cache, size_t * bytes, void *data))                  \
  X(createLayout, vkCreatePipelineLayout, Result,                              \
    (Device device, const LayoutInfo *info, const void *, Layout *layout))     \
  X(destroyLayout, vkDestroyPipelineLayout, void,                              \
    (Device device, Layout layout, const void *))                              \
  X(createPipelines, vkCreateComputePipelines, Result,                         \
    (Device device, Cache cache, uint32_t count, const ComputeInfo *infos,     \
     const void *, Pipeline *pipelines))                                       \
  X(destroyPipeline, vkDestroyPipeline, void,                                  \
    (Device device, Pipeline pipeline, const void *))                          \
  X(createSemaphore, vkCreateSemaphore, Result,                                \
    (Device device, const SemaphoreInfo *info, const void *,                   \
     Semaphore *semaphore))                                                    \
  X(destroySemaphore, vkDestroySemaphore, void,                                \
    (Device device, Semaphore semaphore, const void *))                        \
  X(waitSemaphores, vkWaitSemaphores, Result,                                  \
    (Device device, const SemaphoreWait *info, uint64_t timeout))              \
  X(getCounter, vkGetSemaphoreCounterValue, Result,                            \
    (Device device, Semaphore semaphore, uint64_t * value))                    \
  X(createCommandPool, vkCreateCommandPool, Result,                            \
    (Device device, const CommandPoolInfo *info, const void *,                 \
     CommandPool *pool))                                                       \
  X(destroyCommandPool, vkDestroyCommandPool, void,                            \
    (Device device, CommandPool pool, const void *))                           \
  X(allocateCommands, vkAllocateCommandBuffers, Result,                        \
    (Device device, const CommandsInfo *info, Commands *commands))             \
  X(freeCommands, vkFreeCommandBuffers, void,                                  \
    (Device device, CommandPool pool, uint32_t count,                          \
     const Commands *commands))                                                \
  X(begin, vkBeginCommandBuffer, Result,                                       \
    (Commands commands, const BeginInfo *info))                                \
  X(end, vkEndCommandBuffer, Result, (Commands commands))                      \
  X(reset, vkResetCommandBuffer, Result, (Commands commands, Flags flags))     \
  X(bindPipeline, vkCmdBindPipeline, void,                                     \
    (Commands commands, int32_t point, Pipeline pipeline))                     \
  X(createSetLayout, vkCreateDescriptorSetLayout, Result,                      \
    (Device device, const SetLayoutInfo *info, const void *,                   \
     SetLayout *layout))                                                       \
  X(createSetPool, vkCreateDescriptorPool, Result,                             \
    (Device device, const SetPoolInfo *info, const void *, SetPool *pool))     \
  X(destroySetPool, vkDestroyDescriptorPool, void,                             \
    (Device device, SetPool pool, const void *))                               \
  X(resetSetPool, vkResetDescriptorPool, Result,                               \
    (Device device, SetPool pool, Flags flags))                                \
  X(allocateSets, vkAllocateDescriptorSets, Result,                            \
    (Device device, const SetInfo *info, Set *sets))                           \
  X(updateSets, vkUpdateDescriptorSets, void,                                  \
    (Device device, uint32_t count, const SetWrite *writes, uint32_t copies,   \
     const void *))                                                            \
  X(bindSets, vkCmdBindDescriptorSets, void,                                   \
    (Commands commands, int32_t point, Layout layout, uint32_t first,          \
     uint32_t count, const Set *sets, uint32_t offsets, const uint32_t *))     \
  X(push, vkCmdPushConstants, void,                                            \
    (Commands commands, Layout layout, Flags stages, uint32_t offset,          \
     uint32_t bytes, const void *values))                                      \
  X(dispatch, vkCmdDispatch, void,                                             \
    (Commands commands, uint32_t x, uint32_t y, uint32_t z))                   \
  X(barrier, vkCmdPipelineBarrier, void,                                       \
    (Commands commands, Flags before, Flags after, Flags dependency,           \
     uint32_t memoryCount, const MemoryBarrier *memory, uint32_t bufferCount,  \
     const void *buffers, uint32_t imageCount, const void *images))            \
  X(copy, vkCmdCopyBuffer, void,                                               \
    (Commands commands, Buffer from, Buffer to, uint32_t count,                \
     const CopyRegion *regions))

/// The functions of an opened loader, of its one instance, and of a device.
struct Library {
#define RELAX_VULKAN_FIELD(field, name, result, parameters)                    \
  result(*field) parameters = nullptr;
  RELAX_VULKAN_GLOBALS(RELAX_VULKAN_FIELD)
  RELAX_VULKAN_OF_INSTANCE(RELAX_VULKAN_FIELD)
  RELAX_VULKAN_OF_DEVICE(RELAX_VULKAN_FIELD)
#undef RELAX_VULKAN_FIELD
};

} // namespace relax_rt::vk

#endif // RELAX_RUNTIME_VULKAN_H
