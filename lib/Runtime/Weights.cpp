//===- Weights.cpp - the tensors a module refers to by name ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Graphs.h"

#include <cstring>

using namespace relax_rt;

/// Keeps the memory of a weight that was uploaded, or none any more.
static void keepWeight(void **place, RelaxStorage *storage) {
  static std::mutex mutex;
  static auto &kept = *new std::map<void **, RelaxStorage *>;
  std::lock_guard<std::mutex> lock(mutex);
  RelaxStorage *&entry = kept[place];
  relax_rt_release(entry);
  entry = storage;
  if (!storage)
    kept.erase(place);
}

static std::string readString(const TVMFFIAny &arg) {
  if (arg.typeIndex == kRawString)
    return arg.text;
  if (arg.typeIndex == kSmallString)
    return std::string(arg.bytes, arg.smallLength);
  if (arg.typeIndex == kString) {
    auto *cell = contentOf<TVMFFIByteArray>(arg.object);
    return std::string(cell->data, cell->size);
  }
  return {};
}

/// The device of a module's weights: the word behind their addresses is one
/// more than its number, and 0 as long as none is bound.
static DLDevice deviceOf(int32_t type, void *word) {
  int64_t number = reinterpret_cast<int64_t>(word);
  return {type, number ? static_cast<int32_t>(number - 1) : 0};
}

/// Copies a weight from the host to a device. The memory belongs to the place
/// in the module's table: it is given back when that is bound anew. Null with
/// the error set.
static void *upload(void **place, const void *data, int64_t bytes,
                    DLDevice device, Error &error) {
  Device *target = Device::find(device, error);
  DeviceScope scope;
  if (!target || !scope.enter(*target, error))
    return nullptr;
  DeviceStream &stream = target->currentStream();
  RelaxStorage *storage = stream.allocate(nullptr, bytes, error);
  if (!storage)
    return nullptr;
  if (!target->driver->upload(storage->data, data, bytes, stream.handle,
                              error) ||
      !target->synchronize(error)) { // every stream reads it
    relax_rt_release(storage);
    return nullptr;
  }
  keepWeight(place, storage);
  return storage->data;
}

extern "C" int relax_rt_bind_weight(const int64_t *words, const char *names,
                                    void **table, const TVMFFIAny *args,
                                    int32_t count, TVMFFIAny *result) {
  Error error;
  error.function = "bind_weight";
  auto fail = [&](const char *kind, std::string message) {
    error.kind = kind;
    error.message = std::move(message);
    raise(error);
    return -1;
  };
  if (count != 2)
    return fail("TypeError", "bind_weight: expected a name and a tensor");
  std::string name = readString(args[0]);
  *result = {};
  int64_t total = *words++;
  // One that is read on the host and on the device is there twice.
  bool isFound = false;
  for (int64_t i = 0; i < total; ++i) {
    Value type = Value::read(words);
    const char *own = names;
    const char *text = own + strlen(own) + 1;
    names = text + strlen(text) + 1;
    if (name != own)
      continue;
    auto what = [&] { return "weight '" + name + "' (" + text + ")"; };
    // The first weight says which device has them; those of the host are copied
    // there.
    DLDevice device{kDLCPU, 0}, expected = device;
    const DLTensor *given = tensorOf(args[1]);
    if (type.device() != kDLCPU) {
      device = deviceOf(type.device(), table[total]);
      if (given && !table[total] && given->device.type == device.type)
        device.id = given->device.id;
      if (!given || given->device.type != kDLCPU)
        expected = device;
    }
    const DLTensor *tensor = readTensor(type, args[1], what, expected, error);
    if (!tensor) {
      raise(error);
      return -1;
    }
    int64_t stride = 1;
    for (int64_t axis = type.rank; axis-- > 0;) {
      if (tensor->shape[axis] != type.dims[axis])
        return fail("ValueError",
                    what() + ": dimension " + std::to_string(axis) +
                        " must be " + std::to_string(type.dims[axis]) +
                        ", got " + std::to_string(tensor->shape[axis]));
      if (tensor->strides && tensor->shape[axis] != 1 &&
          tensor->strides[axis] != stride)
        return fail("ValueError", what() + ": must be contiguous");
      stride *= tensor->shape[axis];
    }
    if (!isAligned(*tensor))
      return fail("ValueError",
                  what() +
                      ": must begin at a multiple of 16 bytes on a device");
    char *data = dataOf(*tensor);
    // Whoever binds keeps a tensor that is used where it is alive, as long as
    // the module.
    if (device.type != expected.type) {
      void *uploaded =
          upload(&table[i], data, countBytes(*tensor), device, error);
      if (!uploaded) {
        raise(error);
        return -1;
      }
      data = static_cast<char *>(uploaded);
    } else if (device.type != kDLCPU) {
      keepWeight(&table[i], nullptr);
    }
    if (device.type != kDLCPU) {
      GraphPool::dropUsersOf(table);
      table[total] = reinterpret_cast<void *>(int64_t(device.id) + 1);
    }
    table[i] = data;
    isFound = true;
  }
  return isFound
             ? 0
             : fail("ValueError", "the module has no weight '" + name + "'");
}

extern "C" void relax_rt_device_unload_weights(const int64_t *words,
                                               void **table) {
  int64_t total = *words++;
  if (!table[total] || Device::isGone())
    return;
  GraphPool::dropUsersOf(table);
  Error ignored; // the device may have failed
  DeviceScope scope;
  int32_t kind = kDLCPU; // of those that are on the device
  for (int64_t i = 0; i < total && kind == kDLCPU; ++i)
    kind = Value::read(words).device();
  Device *device = Device::find(deviceOf(kind, table[total]), ignored);
  // Other streams than that of the memory may read it still.
  if (device && scope.enter(*device, ignored))
    device->synchronize(ignored);
  for (int64_t i = 0; i < total; ++i) {
    keepWeight(&table[i], nullptr);
    table[i] = nullptr;
  }
  table[total] = nullptr;
}

/// The name of a weight without a value, or null.
static const char *findUnbound(int64_t count, const char *names, void **table) {
  for (int64_t i = 0; i < count; ++i) {
    if (!table[i])
      return names;
    names += strlen(names) + 1; // its name
    names += strlen(names) + 1; // and its type
  }
  return nullptr;
}

extern "C" void relax_rt_require_weights(RelaxContext *context,
                                         const int64_t *words,
                                         const char *names, void **table) {
  if (context->recorder)
    context->recorder->useWeights(words, table);
  const char *name = findUnbound(*words, names, table);
  if (!name && context->stream) {
    DLDevice here = context->stream->device.id;
    DLDevice bound = deviceOf(here.type, table[*words]);
    if (here.id != bound.id)
      relax_rt_fail(context, "ValueError",
                    "the arguments are on device %0, and the module's weights "
                    "on device %1",
                    nullptr, here.id, bound.id);
  }
  if (!name)
    return;
  context->error.kind = "ValueError";
  // In steps, so that no string is left to destroy when control leaves.
  std::string &message = context->error.message;
  message = context->error.function;
  message += ": weight '";
  message += name;
  message += "' is not bound; bind all weights before the first call";
  longjmp(context->escape, 1);
}
