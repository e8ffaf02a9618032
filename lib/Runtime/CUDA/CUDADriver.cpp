//===- CUDADriver.cpp - the CUDA device driver ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/CUDA/CUDADriver.h"
#include "Runtime/CUDA/CubinCache.h"
#include "Runtime/Calls/Device.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace relax_rt;

namespace {

/// The first driver version that accepts the PTX version we emit.
constexpr int kLeastVersion = 12000;
/// A loaded function and the dynamic shared memory that it may use.
struct Kernel {
  void *function;
  std::atomic<int64_t> sharedBytes;
};

/// Dynamic shared memory that a kernel may use without raising its limit, with
/// room left for its static shared memory.
constexpr int64_t kPlainSharedBytes = 32 << 10;

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

ForkResetMutex opening, loading, sharedMemory;

/// Returns null with `error` set on failure; the next call tries again.
const cuda::Library *openLibrary(Error &error) {
  static const cuda::Library *opened = nullptr;
  std::lock_guard<std::mutex> lock(opening);
  if (opened)
    return opened;
  const char *given = std::getenv("RELAX_CUDA_DRIVER");
  const char *path = given && *given ? given : "libcuda.so.1";
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    fail(error, "DeviceError",
         std::string("no CUDA driver: ") + (reason ? reason : path));
    return nullptr;
  }
  cuda::Library library;
#define RELAX_CUDA_FIND(field, name, parameters)                               \
  library.field =                                                              \
      reinterpret_cast<decltype(library.field)>(dlsym(handle, #name));         \
  if (!library.field) {                                                        \
    fail(error, "DeviceError",                                                 \
         std::string("the CUDA driver ") + path +                              \
             " is too old or not a CUDA driver: it lacks " #name);             \
    return nullptr;                                                            \
  }
  RELAX_CUDA_FUNCTIONS(RELAX_CUDA_FIND)
#undef RELAX_CUDA_FIND
  int version = 0;
  if (!library.driverVersion(&version) && version < kLeastVersion) {
    fail(error, "DeviceError",
         "the CUDA driver has version " + versionText(version) +
             ", but at least " + versionText(kLeastVersion) +
             " is required; install a newer one");
    return nullptr;
  }
  if (int result = library.init(0)) {
    const char *text = nullptr;
    library.errorText(result, &text);
    fail(error, "DeviceError",
         result == cuda::kNoDevice
             ? std::string("the CUDA driver finds no device")
             : std::string("the CUDA driver does not start: ") +
                   (text ? text : "error " + std::to_string(result)));
    return nullptr;
  }
  return opened = new cuda::Library(library);
}

//===----------------------------------------------------------------------===//
// A device
//===----------------------------------------------------------------------===//

cuda::Pointer asPointer(const void *data) {
  return reinterpret_cast<cuda::Pointer>(data);
}

class CUDADevice final : public DeviceDriver {
public:
  CUDADevice(const cuda::Library &cuda, int32_t id, int index,
             cuda::Context context, Description description)
      : cuda(cuda), id(id), index(index), context(context),
        description(std::move(description)) {}

  Description describe() const override { return description; }

  bool enter(Error &error) override {
    return check(cuda.pushContext(context), "entering the device", error);
  }
  void leave() override {
    cuda::Context popped;
    cuda.popContext(&popped);
  }

  bool allocate(size_t bytes, void *&data, Error &error) override {
    cuda::Pointer pointer = 0;
    int result = cuda.allocate(&pointer, bytes);
    data = reinterpret_cast<void *>(pointer);
    if (result != cuda::kOutOfMemory)
      return check(result, "allocation", error);
    data = nullptr;
    return true;
  }
  void free(void *data) override { cuda.free(asPointer(data)); }
  void unloadModule(void *module) override { cuda.unloadModule(module); }
  bool synchronize(Error &error) override {
    return check(cuda.synchronize(), "waiting for the device", error);
  }

  bool upload(void *to, const void *from, size_t bytes, void *stream,
              Error &error) override {
    // Small uploads travel inside the command, so the host does not wait.
    if (bytes <= kCommandBytes && bytes % sizeof(uint32_t) == 0) {
      uint32_t words[kCommandBytes / sizeof(uint32_t)];
      memcpy(words, from, bytes);
      for (size_t i = 0; i < bytes / sizeof(uint32_t); ++i)
        if (!check(cuda.fill(asPointer(to) + i * sizeof(uint32_t), words[i], 1,
                             stream),
                   "copy to the device", error))
          return false;
      return true;
    }
    return check(cuda.upload(asPointer(to), from, bytes, stream),
                 "copy to the device", error) &&
           wait(stream, error); // the source may be pinned, and then is read
                                // asynchronously
  }
  bool download(void *to, const void *from, size_t bytes, void *stream,
                Error &error) override {
    return !bytes || (check(cuda.download(to, asPointer(from), bytes, stream),
                            "copy from the device", error) &&
                      wait(stream, error));
  }
  bool copy(void *to, const void *from, size_t bytes, void *stream,
            Error &error) override {
    return !bytes ||
           check(cuda.copy(asPointer(to), asPointer(from), bytes, stream),
                 "copy on the device", error);
  }

  bool launch(RelaxDeviceKernel &kernel, const int64_t *shape, void **args,
              void *stream, Error &error) override {
    auto *known =
        static_cast<Kernel *>(placeOf(kernel).load(std::memory_order_acquire));
    if (!known && !(known = load(kernel, error)))
      return false;
    unsigned sizes[7];
    for (int i = 0; i < 7; ++i) {
      if (shape[i] < 0 || shape[i] > INT32_MAX)
        return fail(
            error, "DeviceError",
            std::string("launch of '") + kernel.name +
                "': a grid, a block or shared memory cannot have size " +
                std::to_string(shape[i]));
      sizes[i] = static_cast<unsigned>(shape[i]);
    }
    int result = cuda::kSuccess;
    if (shape[6] > known->sharedBytes.load(std::memory_order_acquire))
      result = allowShared(*known, shape[6]);
    if (result == cuda::kSuccess) {
      // Read at each launch, so that one process can compare both settings.
      bool mayOverlap = shape[7] != 0 && isOn("RELAX_DEVICE_OVERLAP", true);
      cuda::LaunchAttribute overlaps{cuda::kProgrammaticStreamSerialization,
                                     {1}};
      cuda::LaunchConfig config{
          sizes[0], sizes[1], sizes[2], sizes[3],  sizes[4],
          sizes[5], sizes[6], stream,   &overlaps, mayOverlap ? 1u : 0u};
      result = cuda.launch(&config, known->function, args, nullptr);
    }
    if (result == cuda::kSuccess && waitsForKernels())
      result = cuda.synchronizeStream(stream);
    return result == cuda::kSuccess ||
           report(result, std::string("launch of '") + kernel.name + "'",
                  error);
  }

  bool makeTensorMap(void *map, const void *data, const int64_t *shape,
                     Error &error) override {
    constexpr int kMaxRank = 5;
    uint64_t sizes[kMaxRank], strides[kMaxRank];
    uint32_t box[kMaxRank], steps[kMaxRank];
    int64_t rank = shape[1];
    uint64_t bytes = sizeof(uint16_t);
    // Sizes innermost first. The map of an empty tensor is valid but unused.
    for (int64_t i = 0; i < rank; ++i) {
      int64_t size = shape[2 + rank - 1 - i];
      sizes[i] = size > 0 ? size : 1;
      strides[i] = bytes *= sizes[i];
      box[i] = static_cast<uint32_t>(shape[2 + 2 * rank - 1 - i]);
      steps[i] = 1;
    }
    int result = cuda.makeTensorMap(
        map, shape[0] ? cuda::kBFloat16 : cuda::kFloat16,
        static_cast<uint32_t>(rank), const_cast<void *>(data), sizes, strides,
        box, steps, /*interleave=*/0, cuda::kSwizzle128, cuda::kPromote128,
        /*beyond=*/0);
    return check(result, "creating a tensor map", error);
  }

  bool canCapture() const override { return !waitsForKernels(); }
  void *createStream(Error &error) override {
    void *stream = nullptr;
    return check(cuda.createStream(&stream, cuda::kNonBlocking),
                 "creating a stream", error)
               ? stream
               : nullptr;
  }
  void destroyStream(void *stream) override { cuda.destroyStream(stream); }
  bool beginCapture(void *stream, Error &error) override {
    return check(cuda.beginCapture(stream, cuda::kCaptureRelaxed),
                 "beginning a capture", error);
  }
  void *endCapture(void *stream, bool wanted, Error &error) override {
    void *graph = nullptr, *executable = nullptr;
    bool ended =
        check(cuda.endCapture(stream, &graph), "ending a capture", error);
    if (ended && wanted &&
        !check(cuda.instantiate(&executable, graph, 0), "creating a graph",
               error))
      executable = nullptr;
    if (graph)
      cuda.destroyGraph(graph);
    return executable;
  }
  bool launchGraph(void *graph, void *stream, Error &error) override {
    return check(cuda.launchGraph(graph, stream), "launch of a graph", error);
  }
  void destroyGraph(void *graph) override { cuda.destroyExecutable(graph); }

private:
  static constexpr size_t kCommandBytes = 64;

  /// Whether to wait after each launch, so that an error is attributed to the
  /// kernel that caused it.
  static bool waitsForKernels() {
    static const bool waits = isOn("RELAX_DEVICE_SYNCHRONIZE");
    return waits;
  }

  bool wait(void *stream, Error &error) {
    return check(cuda.synchronizeStream(stream), "waiting for the stream",
                 error);
  }

  /// The message is built only if there is an error.
  bool check(int result, const char *what, Error &error) {
    return result == cuda::kSuccess || report(result, what, error);
  }

  bool report(int result, const std::string &what, Error &error) {
    const char *name = nullptr, *text = nullptr;
    cuda.errorName(result, &name);
    cuda.errorText(result, &text);
    return fail(error,
                result == cuda::kOutOfMemory ? "MemoryError" : "DeviceError",
                what + " failed on cuda:" + std::to_string(id) + ": " +
                    (text ? text : "unknown error") + " (" +
                    (name ? name : std::to_string(result)) + ")");
  }

  std::atomic<void *> &placeOf(RelaxDeviceKernel &kernel) {
    auto unload = [](relax_rt::Device &, void *kernel) {
      delete static_cast<Kernel *>(kernel);
    };
    return Loaded::of(kernel.loaded, unload).on[index];
  }

  /// Raises the limit of dynamic shared memory of a kernel. Never lowers it,
  /// since another thread may be about to launch.
  int allowShared(Kernel &kernel, int64_t bytes) {
    std::lock_guard<std::mutex> lock(sharedMemory);
    if (bytes <= kernel.sharedBytes.load(std::memory_order_relaxed))
      return cuda::kSuccess;
    int result = cuda.setOption(kernel.function, cuda::kMaxDynamicSharedBytes,
                                static_cast<int>(bytes));
    if (result == cuda::kSuccess)
      kernel.sharedBytes.store(bytes, std::memory_order_release);
    return result;
  }

  /// Loads a kernel. Returns null with `error` set on failure.
  Kernel *load(RelaxDeviceKernel &kernel, Error &error) {
    std::lock_guard<std::mutex> lock(loading);
    std::atomic<void *> &place = placeOf(kernel);
    if (void *loaded = place.load(std::memory_order_acquire))
      return static_cast<Kernel *>(loaded);
    auto unload = [](relax_rt::Device &device, void *module) {
      device.driver->unloadModule(module);
    };
    std::atomic<void *> &module =
        Loaded::of(kernel.module->loaded, unload).on[index];
    if (!module.load(std::memory_order_relaxed)) {
      void *loaded = loadModule(*kernel.module, error);
      if (!loaded)
        return nullptr;
      module.store(loaded, std::memory_order_release);
    }
    void *found = nullptr;
    int result = cuda.findFunction(
        &found, module.load(std::memory_order_relaxed), kernel.name);
    if (result != cuda::kSuccess) {
      report(result, std::string("the search for kernel '") + kernel.name + "'",
             error);
      return nullptr;
    }
    auto *made = new Kernel{found, {kPlainSharedBytes}};
    place.store(made, std::memory_order_release);
    return made;
  }

  /// Links PTX to machine code, or takes it from the cache. Returns null if
  /// that fails.
  void *loadAssembly(const CubinCache::Text &text) {
    int version = 0;
    cuda.driverVersion(&version);
    std::string key =
        CubinCache::keyOf(text, description.major * 10 + description.minor,
                          version, description.name);
    void *loaded = nullptr;
    std::string cubin;
    if (CubinCache::read(key, cubin) &&
        cuda.loadModule(&loaded, cubin.data(), 0, nullptr, nullptr) ==
            cuda::kSuccess)
      return loaded;
    void *link = nullptr, *made = nullptr;
    size_t bytes = 0;
    if (cuda.createLink(0, nullptr, nullptr, &link))
      return nullptr;
    if (!cuda.addToLink(link, cuda::kInputPTX, const_cast<char *>(text.data),
                        text.bytes + 1, "module", 0, nullptr, nullptr) &&
        !cuda.completeLink(link, &made, &bytes) &&
        !cuda.loadModule(&loaded, made, 0, nullptr, nullptr))
      CubinCache::write(key, made, bytes);
    else
      loaded = nullptr;
    cuda.destroyLink(link); // and the machine code with it
    return loaded;
  }

  void *loadModule(RelaxDeviceModule &module, Error &error) {
    // Without a cache, or if the cache fails, the driver compiles the PTX.
    CubinCache::Text text;
    if (DiskCache::isEnabled() && CubinCache::isAssembly(module.image, text))
      if (void *loaded = loadAssembly(text))
        return loaded;
    char log[4096] = "";
    int options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    void *loaded = nullptr;
    int result = cuda.loadModule(&loaded, module.image, 2, options, values);
    if (result == cuda::kSuccess)
      return loaded;
    check(result, "loading the code of a module", error);
    bool isOther =
        result == cuda::kInvalidImage || result == cuda::kNoBinaryForGPU ||
        result == cuda::kInvalidPTX || result == cuda::kUnsupportedPTXVersion;
    if (isOther)
      error.message += "; the device is an " + description.architecture +
                       "; the code may be for another GPU";
    log[sizeof(log) - 1] = 0;
    if (*log)
      error.message += std::string("\n") + log;
    return nullptr;
  }

  const cuda::Library &cuda;
  const int32_t id;
  const int index; // index of the device in the runtime
  const cuda::Context context;
  const Description description;
};

} // namespace

static std::unique_ptr<DeviceDriver> openDevice(int32_t id, int index,
                                                Error &error) {
  const cuda::Library *library = openLibrary(error);
  if (!library)
    return nullptr;
  int count = 0;
  library->deviceCount(&count);
  if (id < 0 || id >= count) {
    fail(error, "DeviceError",
         "there is no device cuda:" + std::to_string(id) + "; the driver has " +
             std::to_string(count));
    return nullptr;
  }
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  DeviceDriver::Description description{};
  char name[256] = "";
  int major = 0, minor = 0;
  size_t bytes = 0;
  int result = library->deviceGet(&device, id);
  if (!result)
    result = library->deviceName(name, sizeof(name), device);
  if (!result)
    result =
        library->deviceAttribute(&major, cuda::kComputeCapabilityMajor, device);
  if (!result)
    result =
        library->deviceAttribute(&minor, cuda::kComputeCapabilityMinor, device);
  if (!result)
    result = library->deviceMemory(&bytes, device);
  if (!result)
    result = library->retainContext(&context, device);
  if (result) {
    const char *text = nullptr;
    library->errorText(result, &text);
    fail(error, "DeviceError",
         "cuda:" + std::to_string(id) + " cannot be used: " +
             (text ? text : "error " + std::to_string(result)));
    return nullptr;
  }
  // Only Hopper has an architecture-specific target ("sm_90a") that no later
  // chip runs.
  description = {name,
                 major,
                 minor,
                 static_cast<int64_t>(bytes),
                 /*subgroup=*/32,
                 "sm_" + std::to_string(major * 10 + minor) +
                     (major == 9 && minor == 0 ? "a" : "")};
  return std::make_unique<CUDADevice>(*library, id, index, context,
                                      description);
}

static const DeviceKind kind(kDLCUDA, "cuda", openDevice);
