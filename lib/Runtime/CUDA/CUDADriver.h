//===- CUDADriver.h - the CUDA driver interface (subset) --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our own declarations, so that the build needs neither headers nor libraries
// of CUDA. The driver is opened at run time: libcuda.so.1, or the library named
// by the environment variable RELAX_CUDA_DRIVER.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CUDA_CUDADRIVER_H
#define RELAX_RUNTIME_CUDA_CUDADRIVER_H

#include <cstddef>
#include <cstdint>

namespace relax_rt::cuda {

using Result = int;         // CUresult
using Device = int;         // CUdevice
using Pointer = uint64_t;   // CUdeviceptr
using Context = void *;     // CUcontext
using Stream = void *;      // CUstream
using Module = void *;      // CUmodule
using Function = void *;    // CUfunction
using Graph = void *;       // CUgraph
using GraphExec = void *;   // CUgraphExec
using Link = void *;        // CUlinkState
using JitOption = int;      // CUjit_option
using FunctionOption = int; // CUfunction_attribute

// CUresult
constexpr Result kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100,
                 kInvalidImage = 200, kNoBinaryForGPU = 209, kInvalidPTX = 218,
                 kUnsupportedPTXVersion = 222;
// CUdevice_attribute
constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;
// CUjit_option
constexpr JitOption kJitErrorLog = 5, kJitErrorLogBytes = 6;
// CUjitInputType
constexpr int kInputPTX = 1;
// CUstream_flags
constexpr unsigned kNonBlocking = 1;
// CUstreamCaptureMode
constexpr int kCaptureRelaxed = 2;
// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
constexpr int kFloat16 = 6, kBFloat16 = 9, kSwizzle128 = 3, kPromote128 = 2;
// CUfunction_attribute
constexpr FunctionOption kMaxDynamicSharedBytes = 8;

// CUlaunchAttributeID: the kernel may begin before earlier work in the stream
// has ended.
constexpr int kProgrammaticStreamSerialization = 6;

/// CUlaunchAttribute
struct LaunchAttribute {
  int64_t id;
  union {
    int value;
    int64_t words[8];
  };
};
static_assert(sizeof(int64_t) == offsetof(LaunchAttribute, value));
/// CUlaunchConfig
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  const LaunchAttribute *attributes;
  unsigned count;
};

/// The driver functions used: the field, the exported name and the parameters.
#define RELAX_CUDA_FUNCTIONS(X)                                                \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverVersion, cuDriverGetVersion, (int *version))                         \
  X(errorName, cuGetErrorName, (Result result, const char **text))             \
  X(errorText, cuGetErrorString, (Result result, const char **text))           \
  X(deviceCount, cuDeviceGetCount, (int *count))                               \
  X(deviceGet, cuDeviceGet, (Device * device, int ordinal))                    \
  X(deviceName, cuDeviceGetName, (char *name, int size, Device device))        \
  X(deviceAttribute, cuDeviceGetAttribute,                                     \
    (int *value, int attribute, Device device))                                \
  X(deviceMemory, cuDeviceTotalMem_v2, (size_t *bytes, Device device))         \
  X(retainContext, cuDevicePrimaryCtxRetain,                                   \
    (Context * context, Device device))                                        \
  X(pushContext, cuCtxPushCurrent_v2, (Context context))                       \
  X(popContext, cuCtxPopCurrent_v2, (Context * context))                       \
  X(synchronize, cuCtxSynchronize, ())                                         \
  X(allocate, cuMemAlloc_v2, (Pointer * data, size_t bytes))                   \
  X(free, cuMemFree_v2, (Pointer data))                                        \
  X(upload, cuMemcpyHtoDAsync_v2,                                              \
    (Pointer to, const void *from, size_t bytes, Stream stream))               \
  X(download, cuMemcpyDtoHAsync_v2,                                            \
    (void *to, Pointer from, size_t bytes, Stream stream))                     \
  X(copy, cuMemcpyDtoDAsync_v2,                                                \
    (Pointer to, Pointer from, size_t bytes, Stream stream))                   \
  X(fill, cuMemsetD32Async,                                                    \
    (Pointer to, uint32_t value, size_t count, Stream stream))                 \
  X(synchronizeStream, cuStreamSynchronize, (Stream stream))                   \
  X(createStream, cuStreamCreate, (Stream * stream, unsigned flags))           \
  X(destroyStream, cuStreamDestroy_v2, (Stream stream))                        \
  X(beginCapture, cuStreamBeginCapture_v2, (Stream stream, int mode))          \
  X(endCapture, cuStreamEndCapture, (Stream stream, Graph * graph))            \
  X(instantiate, cuGraphInstantiateWithFlags,                                  \
    (GraphExec * executable, Graph graph, unsigned long long flags))           \
  X(destroyGraph, cuGraphDestroy, (Graph graph))                               \
  X(launchGraph, cuGraphLaunch, (GraphExec executable, Stream stream))         \
  X(destroyExecutable, cuGraphExecDestroy, (GraphExec executable))             \
  X(createLink, cuLinkCreate_v2,                                               \
    (unsigned count, JitOption *options, void **values, Link *link))           \
  X(addToLink, cuLinkAddData_v2,                                               \
    (Link link, int type, void *data, size_t bytes, const char *name,          \
     unsigned count, JitOption *options, void **values))                       \
  X(completeLink, cuLinkComplete, (Link link, void **cubin, size_t *bytes))    \
  X(destroyLink, cuLinkDestroy, (Link link))                                   \
  X(loadModule, cuModuleLoadDataEx,                                            \
    (Module * module, const void *image, unsigned count, JitOption *options,   \
     void **values))                                                           \
  X(unloadModule, cuModuleUnload, (Module module))                             \
  X(findFunction, cuModuleGetFunction,                                         \
    (Function * function, Module module, const char *name))                    \
  X(setOption, cuFuncSetAttribute,                                             \
    (Function function, FunctionOption option, int value))                     \
  X(makeTensorMap, cuTensorMapEncodeTiled,                                     \
    (void *map, int element, uint32_t rank, void *data, const uint64_t *sizes, \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps,      \
     int interleave, int swizzle, int promotion, int beyond))                  \
  X(launch, cuLaunchKernelEx,                                                  \
    (const LaunchConfig *config, Function function, void **args,               \
     void **extra))

/// The functions of an opened driver.
struct Library {
#define RELAX_CUDA_FIELD(field, name, parameters) Result(*field) parameters;
  RELAX_CUDA_FUNCTIONS(RELAX_CUDA_FIELD)
#undef RELAX_CUDA_FIELD
};

} // namespace relax_rt::cuda

#endif // RELAX_RUNTIME_CUDA_CUDADRIVER_H
