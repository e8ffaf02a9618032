//===- Device.cpp - devices and their calls -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Device.h"
#include "Runtime/Calls/Graphs.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Intrusive list of all kinds. Zero-initialized before any static constructor
/// runs.
static const DeviceKind *kinds;

DeviceKind::DeviceKind(int32_t type, const char *name, Open open)
    : type(type), name(name), open(open), next(kinds) {
  kinds = this;
}

const DeviceKind *DeviceKind::find(int32_t type) {
  const DeviceKind *kind = kinds;
  while (kind && kind->type != type)
    kind = kind->next;
  return kind;
}

std::string Device::nameOf(DLDevice which) {
  if (which.type == kDLCPU)
    return "the CPU";
  const DeviceKind *known = DeviceKind::find(which.type);
  std::string kind =
      known ? known->name : "device type " + std::to_string(which.type) + " ";
  return kind + ":" + std::to_string(which.id);
}

/// Indexed by device; read without a lock, written under one.
static std::atomic<Device *> devices[kMaxDevices];

Device *Device::at(int index) {
  return devices[index].load(std::memory_order_acquire);
}

static ForkSafeMutex toldMutex;

bool relax_rt::isOn(const char *variable, bool otherwise) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return otherwise;
  if (!strcmp(text, "0") || !strcmp(text, "1"))
    return *text == '1';
  // Variables are read often, but reported once.
  static auto &told = *new std::set<std::string>; // never destroyed
  bool isFirst;
  {
    std::lock_guard<std::mutex> lock(toldMutex);
    isFirst = told.insert(variable).second;
  }
  if (isFirst)
    fprintf(stderr, "relax-mlir: %s is '%s'; expected 0 or 1\n", variable,
            text);
  return otherwise;
}

/// Number of forks between the process that first opened a device and this one.
static std::atomic<int> forksUntilNow{0};

Device::Device(DLDevice id, int index, std::unique_ptr<DeviceDriver> driver)
    : id(id), index(index), driver(std::move(driver)),
      forks(forksUntilNow.load(std::memory_order_relaxed)) {}

bool Device::isOwn() const {
  return forks == forksUntilNow.load(std::memory_order_relaxed);
}

bool Device::checkOwn(Error &error) const {
  return isOwn() ||
         fail(error, "DeviceError",
              nameOf(id) + " was opened before this process was forked, and "
                           "works in the parent only: start processes with "
                           "'spawn', or open devices after the fork only");
}

static ForkResetMutex opening;

Device *Device::find(DLDevice which, Error &error) {
  auto search = [&](int &count) -> Device * {
    for (count = 0; count < kMaxDevices; ++count) {
      Device *device = at(count);
      if (!device)
        return nullptr;
      if (device->id.type == which.type && device->id.id == which.id)
        return device;
    }
    return nullptr;
  };
  int count;
  if (Device *device = search(count))
    return device;
  std::lock_guard<std::mutex> lock(opening);
  if (Device *device = search(count))
    return device;
  std::unique_ptr<DeviceDriver> driver;
  const DeviceKind *kind = DeviceKind::find(which.type);
  if (kind && count < kMaxDevices)
    driver = kind->open(which.id, count, error);
  else
    fail(error, "DeviceError", "there is no device " + nameOf(which));
  if (!driver)
    return nullptr;
  // Registered here so that it runs before compiled code is unloaded.
  watchProcessEnd();
  if (count == 0) {
    pthread_atfork(nullptr, nullptr, [] {
      forksUntilNow.fetch_add(1, std::memory_order_relaxed);
    });
  }
  auto *device = new Device(which, count, std::move(driver));
  devices[count].store(device, std::memory_order_release);
  return device;
}

DeviceStream &Device::currentStream() {
  void *handle =
      TVMFFIEnvGetStream ? TVMFFIEnvGetStream(id.type, id.id) : nullptr;
  // Fast path: nearly always the stream of the previous call.
  DeviceStream *last = lastStream.load(std::memory_order_acquire);
  if (last && last->handle == handle)
    return *last;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<DeviceStream> &stream = streams[handle];
  if (!stream)
    stream = std::make_unique<DeviceStream>(*this, handle);
  lastStream.store(stream.get(), std::memory_order_release);
  return *stream;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The innermost device call of this thread.
static thread_local RelaxContext *currentDeviceCall = nullptr;

/// The number of the first device of this type that holds a tensor of `arg`, or
/// -1.
static int32_t findDevice(int32_t type, const TVMFFIAny &arg) {
  if (const DLTensor *tensor = tensorOf(arg))
    return tensor->device.type == type ? tensor->device.id : -1;
  if (arg.typeIndex == kArray || arg.typeIndex == kList) {
    auto *cell = contentOf<TVMFFISequenceCell>(arg.object);
    for (int64_t i = 0; i < cell->size; ++i)
      if (int32_t id = findDevice(type, cell->data[i]); id >= 0)
        return id;
  }
  return -1;
}

bool DeviceCall::enter(RelaxContext &context, const Signature &signature,
                       const TVMFFIAny *args, int32_t count) {
  DLDevice which{signature.device, 0};
  for (int32_t i = 0; i < count; ++i)
    if (int32_t id = findDevice(which.type, args[i]); id >= 0) {
      which.id = id;
      break;
    }
  Device *device = Device::find(which, context.error);
  if (!device || !scope.enter(*device, context.error))
    return false;
  context.stream = &device->currentStream();
  outer = currentDeviceCall;
  currentDeviceCall = &context;
  entered = true;
  return true;
}

bool DeviceCall::finish(RelaxContext &context) {
  if (!entered || outer)
    return true;
  context.error.location = context.lastLaunch;
  return context.stream->device.driver->flush(context.stream->handle,
                                              context.error);
}

DeviceCall::~DeviceCall() {
  if (!entered)
    return;
  Error ignored; // the call has already failed or finished
  if (!outer)
    currentDeviceCall->stream->device.driver->flush(
        currentDeviceCall->stream->handle, ignored);
  currentDeviceCall = outer;
}

Loaded &Loaded::of(void *&loaded, void (*unload)(Device &, void *)) {
  static_assert(sizeof(std::atomic<void *>) == sizeof(void *), "");
  auto &published = reinterpret_cast<std::atomic<void *> &>(loaded);
  void *known = published.load(std::memory_order_acquire);
  if (!known) {
    auto *made = new Loaded{unload};
    if (published.compare_exchange_strong(known, made,
                                          std::memory_order_acq_rel))
      return *made;
    delete made; // another thread created it first
  }
  return *static_cast<Loaded *>(known);
}

static ForkResetMutex constants;

/// Uploads a constant. Returns null with `error` set.
static void *loadConstant(RelaxDeviceConstant &constant, DeviceStream &stream,
                          Error &error) {
  Device &device = stream.device;
  auto unload = [](Device &device, void *data) { device.driver->free(data); };
  std::atomic<void *> &loaded =
      Loaded::of(constant.loaded, unload).on[device.index];
  if (void *data = loaded.load(std::memory_order_acquire))
    return data;
  std::lock_guard<std::mutex> lock(constants);
  if (void *data = loaded.load(std::memory_order_acquire))
    return data;
  void *data = device.allocate(constant.bytes, error);
  if (!data)
    return nullptr;
  // Other streams may be the next to read it.
  if (!device.driver->upload(data, constant.data, constant.bytes, stream.handle,
                             error) ||
      !device.synchronize(error)) {
    device.driver->free(data);
    return nullptr;
  }
  loaded.store(data, std::memory_order_release);
  return data;
}

/// Ends the call, whose error is already set.
[[noreturn]] static void leave(RelaxContext *context, const char *location) {
  context->error.location = location;
  longjmp(context->escape, 1);
}

extern "C" {

RelaxStorage *relax_rt_device_alloc(RelaxContext *context, int64_t bytes,
                                    int64_t align, const char *location) {
  if (align > 256)
    relax_rt_fail(context, "DeviceError",
                  "memory of devices is aligned to 256 bytes, not to %0",
                  location, align, 0);
  RelaxStorage *storage = nullptr;
  if (Recorder *recorder = context->recorder)
    storage = recorder->allocate(*context, bytes, align);
  else
    storage = context->stream->allocate(context, bytes, context->error);
  if (storage)
    return storage;
  leave(context, location);
}

void relax_rt_device_unload(void **loaded) {
  std::unique_ptr<Loaded> all(static_cast<Loaded *>(*loaded));
  *loaded = nullptr;
  if (isProcessEnding())
    return;
  GraphPool::dropUsersOf(loaded);
  if (!all || !all->unload)
    return;
  for (int index = 0; Device *device = Device::at(index); ++index) {
    Error ignored; // the device may be gone, e.g. at process exit
    DeviceScope scope;
    void *what = all->on[index].load(std::memory_order_acquire);
    if (!what || !scope.enter(*device, ignored))
      continue;
    device->synchronize(ignored);
    all->unload(*device, what);
  }
}

void relax_rt_device_launch(RelaxDeviceKernel *kernel, const int64_t *shape,
                            void **args, const char *location) {
  if (!shape[0] || !shape[1] || !shape[2])
    return;
  RelaxContext *context = currentDeviceCall;
  if (!context) {
    // Compiled code launches only in the thread of its call.
    fprintf(stderr, "relax-mlir: '%s' launched outside a call\n", kernel->name);
    abort();
  }
  // Some drivers load modules, others individual kernels.
  if (context->recorder) {
    context->recorder->use(&kernel->module->loaded);
    context->recorder->use(&kernel->loaded);
  }
  context->lastLaunch = location;
  DeviceStream &stream = *context->stream;
  if (!stream.device.driver->launch(*kernel, shape, args, stream.handle,
                                    context->error))
    leave(context, location);
}

RelaxStorage *relax_rt_device_scratch(int64_t bytes, const char *location) {
  return relax_rt_device_alloc(currentDeviceCall, bytes, /*align=*/256,
                               location);
}

void *relax_rt_device_tensor_map(void *place, const void *data,
                                 const int64_t *shape, const char *location) {
  uintptr_t aligned = (reinterpret_cast<uintptr_t>(place) + 63) / 64 * 64;
  void *map = reinterpret_cast<void *>(aligned);
  RelaxContext *context = currentDeviceCall;
  if (context && !context->stream->device.driver->makeTensorMap(
                     map, data, shape, context->error))
    leave(context, location);
  return map;
}

void *relax_rt_device_constant(RelaxContext *context,
                               RelaxDeviceConstant *constant,
                               const char *location) {
  if (context->recorder && !context->recorder->mayLoad(*context, *constant))
    leave(context, location);
  if (void *data = loadConstant(*constant, *context->stream, context->error))
    return data;
  leave(context, location);
}

int64_t relax_rt_device_read(RelaxContext *context, const void *data,
                             int64_t bytes) {
  int64_t word = 0;
  if (context->recorder && !context->recorder->mayWait(*context))
    leave(context, nullptr);
  DeviceStream &stream = *context->stream;
  if (!stream.device.driver->download(&word, data, bytes, stream.handle,
                                      context->error))
    leave(context, nullptr);
  return word;
}

void relax_rt_device_write(RelaxContext *context, void *data,
                           const int64_t *words, int64_t count) {
  // Split into pieces small enough that no driver blocks.
  DeviceStream &stream = *context->stream;
  char *to = static_cast<char *>(data);
  for (; count > 0; count -= 8, words += 8, to += 8 * sizeof(int64_t))
    if (!stream.device.driver->upload(to, words,
                                      (count < 8 ? count : 8) * sizeof(int64_t),
                                      stream.handle, context->error))
      leave(context, nullptr);
}

} // extern "C"
