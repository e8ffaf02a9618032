//===- VulkanFunctions.h - the Vulkan functions in use ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader is opened at run time: libvulkan.so.1, or the library named by the
// environment variable RELAX_VULKAN_LOADER.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_VULKAN_VULKANFUNCTIONS_H
#define RELAX_RUNTIME_VULKAN_VULKANFUNCTIONS_H

#include "Runtime/Vulkan/Vulkan.h"

namespace relax_rt::vk {

using Function = void (*)();

/// The functions used, by the level at which they are looked up: the field, the
/// exported name, the result and the parameters. None has allocation callbacks.
#define RELAX_VULKAN_GLOBALS(X)                                                \
  X(enumerateVersion, vkEnumerateInstanceVersion, Result, (uint32_t *version)) \
  X(createInstance, vkCreateInstance, Result,                                  \
    (const InstanceInfo *info, const void *, Instance *instance))
#define RELAX_VULKAN_OF_INSTANCE(X)                                            \
  X(destroyInstance, vkDestroyInstance, void,                                  \
    (Instance instance, const void *))                                         \
  X(enumerate, vkEnumeratePhysicalDevices, Result,                             \
    (Instance instance, uint32_t *count, Physical *devices))                   \
  X(getProperties, vkGetPhysicalDeviceProperties2, void,                       \
    (Physical device, Properties * properties))                                \
  X(getFeatures, vkGetPhysicalDeviceFeatures2, void,                           \
    (Physical device, Features * features))                                    \
  X(enumerateExtensions, vkEnumerateDeviceExtensionProperties, Result,         \
    (Physical device, const char *layer, uint32_t *count,                      \
     ExtensionProperties *properties))                                         \
  X(getMemory, vkGetPhysicalDeviceMemoryProperties, void,                      \
    (Physical device, MemoryProperties * properties))                          \
  X(getFamilies, vkGetPhysicalDeviceQueueFamilyProperties, void,               \
    (Physical device, uint32_t *count, QueueFamily *families))                 \
  X(createDevice, vkCreateDevice, Result,                                      \
    (Physical physical, const DeviceInfo *info, const void *, Device *device)) \
  X(getDeviceFunction, vkGetDeviceProcAddr, Function,                          \
    (Device device, const char *name))
#define RELAX_VULKAN_OF_DEVICE(X)                                              \
  X(destroyDevice, vkDestroyDevice, void, (Device device, const void *))       \
  X(getQueue, vkGetDeviceQueue, void,                                          \
    (Device device, uint32_t family, uint32_t index, Queue *queue))            \
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
    (Device device, Cache cache, size_t *bytes, void *data))                   \
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
    (Device device, Semaphore semaphore, uint64_t *value))                     \
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
  X(createQueries, vkCreateQueryPool, Result,                                  \
    (Device device, const QueryInfo *info, const void *, QueryPool *pool))     \
  X(destroyQueries, vkDestroyQueryPool, void,                                  \
    (Device device, QueryPool pool, const void *))                             \
  X(resetQueries, vkCmdResetQueryPool, void,                                   \
    (Commands commands, QueryPool pool, uint32_t first, uint32_t count))       \
  X(noteTime, vkCmdWriteTimestamp, void,                                       \
    (Commands commands, Flags stage, QueryPool pool, uint32_t which))          \
  X(getQueries, vkGetQueryPoolResults, Result,                                 \
    (Device device, QueryPool pool, uint32_t first, uint32_t count,            \
     size_t bytes, void *data, Size stride, Flags flags))                      \
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
  X(fill, vkCmdFillBuffer, void,                                               \
    (Commands commands, Buffer buffer, Size offset, Size bytes,                \
     uint32_t word))                                                           \
  X(copy, vkCmdCopyBuffer, void,                                               \
    (Commands commands, Buffer from, Buffer to, uint32_t count,                \
     const CopyRegion *regions))

/// The functions of a loader, of its one instance, and of a device.
struct Library {
#define RELAX_VULKAN_FIELD(field, name, result, parameters)                    \
  result(*field) parameters = nullptr;
  RELAX_VULKAN_GLOBALS(RELAX_VULKAN_FIELD)
  RELAX_VULKAN_OF_INSTANCE(RELAX_VULKAN_FIELD)
  RELAX_VULKAN_OF_DEVICE(RELAX_VULKAN_FIELD)
#undef RELAX_VULKAN_FIELD
  /// vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR, or null.
  Result (*getMatrices)(Physical device, uint32_t *count,
                        MatrixProperties *properties) = nullptr;
  /// vkGetPipelineExecutableStatisticsKHR, or null.
  Result (*getStatistics)(Device device, const ExecutableInfo *info,
                          uint32_t *count,
                          ExecutableStatistic *statistics) = nullptr;
};

} // namespace relax_rt::vk

#endif // RELAX_RUNTIME_VULKAN_VULKANFUNCTIONS_H
