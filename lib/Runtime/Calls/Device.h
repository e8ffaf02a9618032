//===- Device.h - devices, their memory and their calls ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is the same for every kind of device: which there are, a pool of memory
// for each stream, what globals of compiled code have become there, and the
// calls of functions that run there. A kind of device is a `DeviceDriver`.
//
// Memory that the host frees is used again by what comes later in the same
// stream, whatever of it the device has reached by then; so a call frees
// without waiting. Only what goes back to the driver waits for the device.
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

/// Whether an environment variable is "1" and not "0"; `otherwise` where it has
/// no value, or another one, which the standard error is told.
bool isOn(const char *variable, bool otherwise = false);

/// What a device can do. All but the descriptions is called between `enter` and
/// `leave`, which nest, by several threads at a time. False with the error set
/// where something fails.
class DeviceDriver {
public:
  virtual ~DeviceDriver() = default;

  struct Description {
    std::string name;
    int64_t major, minor, bytes;
    /// Threads that exchange values; 1 where none do.
    int64_t subgroup;
    /// What code is compiled for, as a target names it: "sm_90a".
    std::string architecture;
  };
  virtual Description describe() const = 0;

  virtual bool enter(Error &error) = 0;
  virtual void leave() = 0;

  /// True with a null pointer where there is no memory. At least 256 aligned.
  virtual bool allocate(size_t bytes, void *&data, Error &error) = 0;
  /// Nothing under way uses it.
  virtual void free(void *data) = 0;
  /// Of a module that `launch` has loaded; nothing under way uses it.
  virtual void unloadModule(void *module) = 0;
  /// Whether kernels can use this memory. That of others is as good, unless
  /// only the runtime has any: what else there is would end the device.
  virtual bool owns(const void *data, size_t bytes) {
    (void)data;
    (void)bytes;
    return true;
  }
  /// Waits for all streams.
  virtual bool synchronize(Error &error) = 0;
  /// Tells what kernels took, if that is asked for.
  virtual void reportTimes() {}

  // In the order of the stream.

  /// A call has ended: what it has put into the stream may begin.
  virtual bool flush(void *stream, Error &error) {
    (void)stream;
    (void)error;
    return true;
  }
  /// `from` is in the host's memory, and has been read on return.
  virtual bool upload(void *to, const void *from, size_t bytes, void *stream,
                      Error &error) = 0;
  /// `to` is in the host's memory, and is written on return.
  virtual bool download(void *to, const void *from, size_t bytes, void *stream,
                        Error &error) = 0;
  /// Within the device, or from another of the same kind.
  virtual bool copy(void *to, const void *from, size_t bytes, void *stream,
                    Error &error) = 0;
  /// As `relax_rt_device_launch`; the grid is not empty.
  virtual bool launch(RelaxDeviceKernel &kernel, const int64_t *shape,
                      void **args, void *stream, Error &error) = 0;

  /// As `relax_rt_device_tensor_map`; `map` is aligned to 64 bytes.
  virtual bool makeTensorMap(void *map, const void *data, const int64_t *shape,
                             Error &error) = 0;

  // Graphs: what was put into a stream, to be put into others again.

  /// Whether streams can be captured at all.
  virtual bool canCapture() const = 0;
  /// A stream that waits for no other one; null with the error set.
  virtual void *createStream(Error &error) = 0;
  virtual void destroyStream(void *stream) = 0;
  /// From here to `endCapture` nothing that is put into the stream runs. No
  /// thread waits for the device meanwhile.
  virtual bool beginCapture(void *stream, Error &error) = 0;
  /// The graph; null with the error set, or where it is not `wanted`.
  virtual void *endCapture(void *stream, bool wanted, Error &error) = 0;
  virtual bool launchGraph(void *graph, void *stream, Error &error) = 0;
  /// It may be under way still.
  virtual void destroyGraph(void *graph) = 0;
};

class Device;
class GraphPool;

/// A stream of a device, with the free memory that is used in its order.
class DeviceStream {
public:
  /// Where all is captured, no memory is given back to get more.
  DeviceStream(Device &device, void *handle, bool isCapture = false)
      : device(device), handle(handle), isCapture(isCapture) {}

  /// Counted, and freed by the call if it fails; `context` may be null for a
  /// block of no call. Null with the error set.
  RelaxStorage *allocate(RelaxContext *context, int64_t bytes, Error &error);

  /// The graphs that are launched into it.
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

/// A device that is there. It is never destroyed.
class Device {
public:
  /// Null with the error set where there is none such.
  static Device *find(DLDevice which, Error &error);
  /// The one of an index; null where there is none.
  static Device *at(int index);
  /// "cuda:0".
  static std::string nameOf(DLDevice which);

  Device(DLDevice id, int index, std::unique_ptr<DeviceDriver> driver);

  /// Whether this process has opened it, and was not forked since: drivers have
  /// threads and state that a child has not.
  bool isOwn() const;
  /// False with the error set where it is not.
  bool checkOwn(Error &error) const;

  /// That on which the caller works now.
  DeviceStream &currentStream();

  /// Memory that is not from a pool, unused memory of which is given back where
  /// there is no other. Null with the error set.
  void *allocate(size_t bytes, Error &error);

  /// Waits for all streams. Not within a capture.
  bool synchronize(Error &error);

  void trim();
  /// Gives back the memory that is free in one stream, that nothing uses.
  void giveBack(DeviceStream &stream);
  /// Those of all streams.
  std::vector<GraphPool *> graphPools();
  RelaxPoolStatistics readStatistics();
  void resetPeak();
  void setLimit(int64_t bytes);

  const DLDevice id;
  /// Counts the devices of all kinds in this process.
  const int index;
  const std::unique_ptr<DeviceDriver> driver;
  /// Held while a stream is captured, and while the device is waited for: a
  /// driver takes no such wait within a capture of any thread. It comes before
  /// the mutexes of graphs, and those before the device's own.
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

/// Makes a device the current one of this thread, for as long as it lives.
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

/// A call of a function that runs on a device, for as long as it lives.
class DeviceCall {
public:
  DeviceCall() = default;
  ~DeviceCall();

  /// Finds the device that the arguments are on. False with `context.error`
  /// set.
  bool enter(RelaxContext &context, const Signature &signature,
             const TVMFFIAny *args, int32_t count);

  /// All has been put into the stream. False with `context.error` set.
  bool finish(RelaxContext &context);

private:
  DeviceScope scope;
  RelaxContext *outer = nullptr;
  bool entered = false;
};

/// Of all kinds together; no machine has as many.
constexpr int kMaxDevices = 32;

/// What a global of compiled code has become on each device, by its index; null
/// at first.
struct Loaded {
  void (*unload)(Device &device, void *what);
  std::atomic<void *> on[kMaxDevices] = {};

  /// That of a global, made where there is none yet. `unload` may be null.
  static Loaded &of(void *&loaded, void (*unload)(Device &device, void *what));
};

/// A kind of device. Its driver has one static object, which adds itself to the
/// kinds when the runtime is loaded.
class DeviceKind {
public:
  /// Opens a device that will have this index. Null with the error set.
  using Open = std::unique_ptr<DeviceDriver> (*)(int32_t id, int index,
                                                 Error &error);

  /// `type` is DLPack's number of the kind.
  DeviceKind(int32_t type, const char *name, Open open);

  /// Null where there is no driver for a kind.
  static const DeviceKind *find(int32_t type);

  const int32_t type;
  const char *const name;
  const Open open;

private:
  const DeviceKind *const next;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_DEVICE_H
