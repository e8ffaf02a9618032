//===- DeviceFunctions.cpp - device functions for other languages ---------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions with TVM FFI's calling convention: the caller's language turns
// their errors into exceptions.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Device.h"

#include <algorithm>
#include <cstring>

using namespace relax_rt;

namespace {

/// Runs `body(error)` and raises its error.
template <typename Body>
int guarded(Body body) {
  Error error;
  error.function = "relax";
  if (body(error))
    return 0;
  raise(error);
  return -1;
}

/// Reads a device from two arguments, which `more` arguments follow.
bool readDevice(const TVMFFIAny *args, int32_t count, int32_t first,
                int32_t more, DLDevice &device, Error &error) {
  if (count != first + 2 + more || args[first].typeIndex != kInteger ||
      args[first + 1].typeIndex != kInteger)
    return fail(error, "TypeError",
                "expected a device: its type and its number, two integers");
  int64_t type = args[first].integer, id = args[first + 1].integer;
  device = {static_cast<int32_t>(type), static_cast<int32_t>(id)};
  return (device.type == type && device.id == id) ||
         fail(error, "DeviceError",
              "there is no device of type " + std::to_string(type) +
                  " with the number " + std::to_string(id));
}

/// Runs `body(device, error)` with the device made current.
template <typename Body>
int onDevice(const TVMFFIAny *args, int32_t count, int32_t more, Body body) {
  return guarded([&](Error &error) {
    DLDevice which;
    if (!readDevice(args, count, 0, more, which, error))
      return false;
    Device *device = Device::find(which, error);
    DeviceScope scope;
    return device && scope.enter(*device, error) && body(*device, error);
  });
}

TVMFFIAny makeInteger(int64_t value) {
  TVMFFIAny any{};
  any.typeIndex = kInteger;
  any.integer = value;
  return any;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies a tensor's elements to new memory on a device, possibly the same one.
/// `target` is null for the host.
RelaxStorage *copyTo(Device *target, const DLTensor &tensor,
                     RelaxContext &context) {
  Error &error = context.error;
  int64_t bytes = countBytes(tensor);
  char *data = dataOf(tensor);
  Device *source = nullptr;
  if (tensor.device.type != kDLCPU) {
    if (!isContiguous(tensor)) {
      fail(error, "ValueError",
           "a tensor on " + Device::nameOf(tensor.device) +
               " must be contiguous to be copied");
      return nullptr;
    }
    if (!(source = Device::find(tensor.device, error)))
      return nullptr;
  }
  if (source && target && source->id.type != target->id.type) {
    fail(error, "ValueError",
         "devices of two kinds copy through the host: copy to the CPU first");
    return nullptr;
  }
  // Also handles host-to-host copies, and makes strided tensors contiguous.
  RelaxStorage *storage = nullptr;
  if (!source && (!target || !isContiguous(tensor))) {
    if (!(storage = allocateTensor(context, kDLCPU, bytes)))
      return nullptr;
    data = static_cast<char *>(storage->data);
    copyElements(tensor, data);
    if (!target)
      return storage;
  }
  DeviceScope scope;
  Device &worker = target ? *target : *source;
  if (!scope.enter(worker, error))
    return nullptr;
  DeviceStream &stream = worker.currentStream();
  DeviceDriver &driver = *worker.driver;
  RelaxStorage *result = target ? stream.allocate(&context, bytes, error)
                                : allocateTensor(context, kDLCPU, bytes);
  if (!result)
    return nullptr;
  bool copied =
      !source ? driver.upload(result->data, data, bytes, stream.handle, error)
      : !target
          ? driver.download(result->data, data, bytes, stream.handle, error)
          : driver.copy(result->data, data, bytes, stream.handle, error);
  if (storage)
    relax_rt_release(storage);
  // Report a failure here, not in a later call.
  copied = copied && driver.flush(stream.handle, error);
  return copied ? result : nullptr;
}

/// Wraps the result of `copyTo` in a TVM FFI object.
bool makeCopy(const DLTensor &tensor, DLDevice where, TVMFFIAny *result,
              RelaxContext &context) {
  Device *target = nullptr;
  if (where.type != kDLCPU && !(target = Device::find(where, context.error)))
    return false;
  RelaxStorage *storage = copyTo(target, tensor, context);
  if (!storage)
    return false;
  unlink(storage);
  Value type;
  type.dtype = tensor.dtype;
  type.rank = tensor.ndim;
  std::vector<int64_t> slots = {0, reinterpret_cast<int64_t>(storage->data)};
  slots.insert(slots.end(), tensor.shape, tensor.shape + tensor.ndim);
  // `makeView` releases the storage on failure.
  return makeView(type, where, storage, slots.data(), result) ||
         fail(context.error, "RuntimeError",
              "the copy could not be handed over; is libtvm_ffi in the "
              "process?");
}

/// Formats the shape and element type: "[2, 3] of f32".
std::string describe(const DLTensor &tensor) {
  std::string text;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    text += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return "[" + text + "] of " + Value::nameOf(tensor.dtype);
}

/// Writes the elements of a tensor into a device tensor.
bool writeInto(const DLTensor &from, const DLTensor &to, Error &error) {
  if (from.ndim != to.ndim ||
      !std::equal(from.shape, from.shape + from.ndim, to.shape) ||
      memcmp(&from.dtype, &to.dtype, sizeof(from.dtype)))
    return fail(error, "ValueError",
                "write: expected elements " + describe(to) + ", got " +
                    describe(from));
  if (!isContiguous(from) || !isContiguous(to))
    return fail(error, "ValueError", "write: the tensors must be contiguous");
  if (to.device.type == kDLCPU)
    return fail(error, "ValueError",
                "write: expected a tensor of a device to write into, got one "
                "on the CPU");
  Device *target = Device::find(to.device, error);
  DeviceScope scope;
  if (!target || !scope.enter(*target, error))
    return false;
  void *stream = target->currentStream().handle;
  DeviceDriver &driver = *target->driver;
  int64_t bytes = countBytes(from);
  if (from.device.type == kDLCPU)
    return driver.upload(dataOf(to), dataOf(from), bytes, stream, error) &&
           driver.flush(stream, error);
  if (from.device.type != to.device.type)
    return fail(error, "ValueError",
                "devices of two kinds copy through the host: copy to the CPU "
                "first");
  return driver.copy(dataOf(to), dataOf(from), bytes, stream, error) &&
         driver.flush(stream, error);
}

} // namespace

extern "C" {

int relax_rt_write(void *, const TVMFFIAny *args, int32_t count,
                   TVMFFIAny *result) {
  *result = {};
  return guarded([&](Error &error) {
    const DLTensor *from = count == 2 ? tensorOf(args[0]) : nullptr;
    const DLTensor *to = count == 2 ? tensorOf(args[1]) : nullptr;
    if (!from || !to)
      return fail(error, "TypeError", "write: expected two tensors");
    auto what = [] { return std::string("write"); };
    if (!checkSizes(*from, what, error) || !checkSizes(*to, what, error))
      return false;
    if (isReadOnly(args[1]))
      return fail(
          error, "ValueError",
          "write: the tensor to write into is read-only; pass a writable copy");
    return writeInto(*from, *to, error);
  });
}

int relax_rt_copy(void *, const TVMFFIAny *args, int32_t count,
                  TVMFFIAny *result) {
  *result = {};
  return guarded([&](Error &error) {
    DLDevice where;
    const DLTensor *tensor = count ? tensorOf(args[0]) : nullptr;
    if (!tensor)
      return fail(error, "TypeError", "copy: expected a tensor and a device");
    auto what = [] { return std::string("copy"); };
    if (!readDevice(args, count, 1, 0, where, error) ||
        !checkSizes(*tensor, what, error) ||
        !checkOffsets(*tensor, what, error))
      return false;
    RelaxContext context;
    bool made = makeCopy(*tensor, where, result, context);
    while (context.storages)
      relax_rt_release(context.storages);
    if (!made)
      error = context.error;
    return made;
  });
}

int relax_rt_device_describe(void *, const TVMFFIAny *args, int32_t count,
                             TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 0, [&](Device &device, Error &error) {
    DeviceDriver::Description is = device.driver->describe();
    bool isMade = true;
    auto text = [&](const std::string &text) {
      TVMFFIByteArray bytes{text.data(), text.size()};
      TVMFFIAny made{};
      isMade = isMade && TVMFFIStringFromByteArray &&
               !TVMFFIStringFromByteArray(&bytes, &made);
      return made;
    };
    std::vector<TVMFFIAny> members = {
        text(is.name),         makeInteger(is.major),    makeInteger(is.minor),
        makeInteger(is.bytes), makeInteger(is.subgroup), text(is.architecture)};
    isMade = isMade && makeObject("ffi.Array", members, result);
    for (TVMFFIAny &member : members)
      if (member.typeIndex >= 64)
        TVMFFIObjectDecRef(member.object);
    return isMade ||
           fail(error, "RuntimeError", "no description could be made");
  });
}

int relax_rt_device_synchronize(void *, const TVMFFIAny *args, int32_t count,
                                TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 0, [&](Device &device, Error &error) {
    bool done = device.synchronize(error);
    device.driver->reportTimes();
    return done;
  });
}

int relax_rt_device_pool_statistics(void *, const TVMFFIAny *args,
                                    int32_t count, TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 0, [&](Device &device, Error &error) {
    RelaxPoolStatistics is = device.readStatistics();
    std::vector<TVMFFIAny> members;
    for (int64_t number : {is.used, is.peak, is.held, is.requests})
      members.push_back(makeInteger(number));
    return makeObject("ffi.Array", members, result) ||
           fail(error, "RuntimeError", "no array could be made");
  });
}

int relax_rt_device_pool_reset_peak(void *, const TVMFFIAny *args,
                                    int32_t count, TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 0, [&](Device &device, Error &) {
    device.resetPeak();
    return true;
  });
}

int relax_rt_device_pool_trim(void *, const TVMFFIAny *args, int32_t count,
                              TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 0, [&](Device &device, Error &) {
    device.trim();
    return true;
  });
}

int relax_rt_device_pool_set_limit(void *, const TVMFFIAny *args, int32_t count,
                                   TVMFFIAny *result) {
  *result = {};
  return onDevice(args, count, 1, [&](Device &device, Error &error) {
    if (args[2].typeIndex != kInteger)
      return fail(error, "TypeError", "expected a number of bytes");
    if (args[2].integer < 0)
      return fail(error, "ValueError",
                  "a limit of " + std::to_string(args[2].integer) +
                      " bytes; expected at least 1, or 0 for none");
    device.setLimit(args[2].integer);
    return true;
  });
}

} // extern "C"
