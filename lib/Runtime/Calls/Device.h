//===- Device.h - devices, their memory and their calls ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a device that are common to all kinds: the list of devices, a
// memory pool for each stream, the loaded instances of globals of compiled
// code, and calls of device functions. A kind of device is a `DeviceDriver`.
//
// Memory that the host frees is reused by later work in the same stream,
// however far the device has got; so a call frees memory without waiting. Only
// returning memory to the driver waits for the device.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_DEVICE_H
#define RELAX_RUNTIME_CALLS_DEVICE_H

#include "Runtime/Calls/Arguments.h"
#include "Runtime/Core/Pool.h"
#include "Runtime/Core/Process.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace relax_rt {

/// Reads a Boolean environment variable, "1" or "0". Returns `otherwise` if it
/// is unset or has another value, which is reported on standard error.
bool isOn(const char *variable, bool otherwise = false);

/// The operations of a device. Everything except the descriptions is called
/// between `enter` and `leave`, which nest, and by several threads
/// concurrently. Functions that fail return false with `error` set.
class DeviceDriver {
public:
  virtual ~DeviceDriver() = default;

  struct Description {
    std::string name;
    int64_t major, minor, bytes;
    /// Threads that can exchange values (shuffles); 1 if unsupported.
    int64_t subgroup;
    /// The architecture that code is compiled for, as targets name it:
    /// "sm_90a".
    std::string architecture;
  };
  virtual Description describe() const = 0;

  virtual bool enter(Error &error) = 0;
  virtual void leave() = 0;

  /// Returns true with a null pointer if out of memory. Aligned to 256 bytes or
  /// more.
  virtual bool allocate(size_t bytes, void *&data, Error &error) = 0;
  /// No work in flight may use the memory.
  virtual void free(void *data) = 0;
  /// Unloads a module that `launch` has loaded; no work in flight may use it.
  virtual void unloadModule(void *module) = 0;
  /// Whether kernels can access this memory. True by default; overridden where
  /// only memory of the runtime is valid and any other pointer would crash the
  /// device.
  virtual bool owns(const void *data, size_t bytes) {
    (void)data;
    (void)bytes;
    return true;
  }
  /// Waits for all streams.
  virtual bool synchronize(Error &error) = 0;
  /// Prints kernel times if profiling is enabled.
  virtual void reportTimes() {}

  // The following operations execute in stream order.

  /// Called when a call has ended: work submitted to the stream may start.
  virtual bool flush(void *stream, Error &error) {
    (void)stream;
    (void)error;
    return true;
  }
  /// `from` is host memory and has been read on return.
  virtual bool upload(void *to, const void *from, size_t bytes, void *stream,
                      Error &error) = 0;
  /// `to` is host memory and has been written on return.
  virtual bool download(void *to, const void *from, size_t bytes, void *stream,
                        Error &error) = 0;
  /// Copies within the device, or from another device of the same kind.
  virtual bool copy(void *to, const void *from, size_t bytes, void *stream,
                    Error &error) = 0;
  /// See `relax_rt_device_launch`; the grid is not empty.
  virtual bool launch(RelaxDeviceKernel &kernel, const int64_t *shape,
                      void **args, void *stream, Error &error) = 0;

  /// See `relax_rt_device_tensor_map`; `map` is 64-byte aligned.
  virtual bool makeTensorMap(void *map, const void *data, const int64_t *shape,
                             Error &error) = 0;

  // Graphs: work recorded from one stream, to be replayed in others.

  /// Whether streams support capture.
  virtual bool canCapture() const = 0;
  /// Creates a stream that waits for no other. Returns null with `error` set.
  virtual void *createStream(Error &error) = 0;
  virtual void destroyStream(void *stream) = 0;
  /// Until `endCapture`, work submitted to the stream is recorded, not run. No
  /// thread waits for the device meanwhile.
  virtual bool beginCapture(void *stream, Error &error) = 0;
  /// Returns the graph; null with `error` set, or if it is not `wanted`.
  virtual void *endCapture(void *stream, bool wanted, Error &error) = 0;
  virtual bool launchGraph(void *graph, void *stream, Error &error) = 0;
  /// The graph may still be executing.
  virtual void destroyGraph(void *graph) = 0;
};

class Device;
class GraphPool;

/// A stream of a device, with the free memory that is reused in its order.
class DeviceStream {
public:
  /// A capture stream does not release memory in order to get more.
  DeviceStream(Device &device, void *handle, bool isCapture = false)
      : device(device), handle(handle), isCapture(isCapture) {}

  /// Reference-counted, and freed by the call if it fails; `context` may be
  /// null for a block outside calls. Returns null with `error` set.
  RelaxStorage *allocate(RelaxContext *context, int64_t bytes, Error &error);

  /// The graphs that are launched into this stream.
  GraphPool &graphs();

  Device &device;
  void *const handle;

private:
  friend class Device;
  const bool isCapture;
  std::atomic<GraphPool *> graphPool{nullptr};
  static void destroy(RelaxStorage *storage);

  std::vector<void *> free[SizeClass::kCount]; // under the device's mutex
};

/// A device of the machine, never destroyed.
class Device {
public:
  /// Returns null with `error` set if there is no such device.
  static Device *find(DLDevice which, Error &error);
  /// Returns the device of an index, or null.
  static Device *at(int index);
  /// "cuda:0".
  static std::string nameOf(DLDevice which);

  Device(DLDevice id, int index, std::unique_ptr<DeviceDriver> driver);

  /// Whether this process opened the device. A forked child did not: drivers
  /// have threads and state that it lacks.
  bool isOwn() const;
  /// Like `isOwn`, but returns false with `error` set.
  bool checkOwn(Error &error) const;

  /// The stream on which the caller currently works.
  DeviceStream &currentStream();

  /// Allocates outside the pools; if memory runs out, unused memory of the
  /// pools is released. Returns null with `error` set.
  void *allocate(size_t bytes, Error &error);

  /// Waits for all streams. Must not be called during a capture.
  bool synchronize(Error &error);

  void trim();
  /// Releases the free memory of one stream.
  void giveBack(DeviceStream &stream);
  /// The graph pools of all streams.
  std::vector<GraphPool *> graphPools();
  RelaxPoolStatistics readStatistics();
  void resetPeak();
  void setLimit(int64_t bytes);

  const DLDevice id;
  /// The number of the device among devices of all kinds in this process.
  const int index;
  const std::unique_ptr<DeviceDriver> driver;
  /// Held while a stream is captured and while the host waits for the device:
  /// drivers reject such a wait while any thread captures. Lock order: this
  /// mutex, the mutexes of graphs, the device's own mutex.
  std::mutex captures;

private:
  friend class DeviceStream;
  void *take(size_t bytes, bool isPooled, bool mayTrim, Error &error);

  const int forks;
  std::mutex mutex;
  std::atomic<DeviceStream *> lastStream{nullptr};
  std::map<void *, std::unique_ptr<DeviceStream>> streams;
  RelaxPoolStatistics statistics{};
  int64_t limit = 0;
};

/// RAII: makes a device current in this thread.
class DeviceScope {
public:
  DeviceScope() = default;
  ~DeviceScope() {
    if (device)
      device->driver->leave();
  }
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

  bool enter(Device &entered, Error &error) {
    if (!entered.checkOwn(error) || !entered.driver->enter(error))
      return false;
    device = &entered;
    return true;
  }

private:
  Device *device = nullptr;
};

/// RAII: a call of a function that runs on a device.
class DeviceCall {
public:
  DeviceCall() = default;
  ~DeviceCall();

  /// Finds the device that holds the arguments. Returns false with
  /// `context.error` set.
  bool enter(RelaxContext &context, const Signature &signature,
             const TVMFFIAny *args, int32_t count);

  /// Called when all work is in the stream. Returns false with `context.error`
  /// set.
  bool finish(RelaxContext &context);

private:
  DeviceScope scope;
  RelaxContext *outer = nullptr;
  bool entered = false;
};

/// Devices of all kinds together; more than any machine has.
constexpr int kMaxDevices = 32;

/// The loaded instances of a global of compiled code, by device index;
/// initially null.
struct Loaded {
  void (*unload)(Device &device, void *what);
  std::atomic<void *> on[kMaxDevices] = {};

  /// Returns the instances of a global, creating the object if needed. `unload`
  /// may be null.
  static Loaded &of(void *&loaded, void (*unload)(Device &device, void *what));
};

/// A kind of device. Its driver defines one static object, which registers
/// itself when the runtime is loaded.
class DeviceKind {
public:
  /// Opens the device that gets this index. Returns null with `error` set.
  using Open = std::unique_ptr<DeviceDriver> (*)(int32_t id, int index,
                                                 Error &error);

  /// `type` is DLPack's number for the kind.
  DeviceKind(int32_t type, const char *name, Open open);

  /// Returns null if there is no driver for the kind.
  static const DeviceKind *find(int32_t type);

  const int32_t type;
  const char *const name;
  const Open open;

private:
  const DeviceKind *const next;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_DEVICE_H
