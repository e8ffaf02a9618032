//===- Weights.cpp - the tensors a module refers to by name ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Weights.h"
#include "Runtime/Calls/Device.h"
#include "Runtime/Calls/Graphs.h"
#include "Runtime/Core/Pool.h"
#include "Runtime/Core/Process.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

/// Held to take a reference from a table, and to modify a table or a set that
/// only its table refers to.
static ForkSafeMutex tables;

static WeightSet *&setOf(void **table) {
  return *reinterpret_cast<WeightSet **>(table);
}

WeightSet *WeightSet::pin(void **table) {
  std::lock_guard<std::mutex> lock(tables);
  WeightSet *set = setOf(table);
  if (set)
    set->references.fetch_add(1, std::memory_order_relaxed);
  return set;
}

bool WeightSet::isBoundIn(void **table) const {
  std::lock_guard<std::mutex> lock(tables);
  return setOf(table) == this;
}

WeightSet *WeightSet::create(int64_t count) {
  auto *set = new (std::nothrow) WeightSet;
  if (!set)
    return nullptr;
  set->count = count;
  set->data = static_cast<void **>(calloc(count, sizeof(void *)));
  set->keepers =
      static_cast<RelaxStorage **>(calloc(count, sizeof(RelaxStorage *)));
  set->isBound = static_cast<bool *>(calloc(count, sizeof(bool)));
  if (set->data && set->keepers && set->isBound)
    return set;
  set->destroy();
  return nullptr;
}

void WeightSet::waitFor(DLDevice device) {
  if (device.type == kDLCPU)
    return;
  Error
      ignored; // the device may have failed, or belong to the parent of a fork
  Device *used = Device::find(device, ignored);
  DeviceScope scope;
  if (used && scope.enter(*used, ignored))
    used->synchronize(ignored);
}

void WeightSet::destroy() {
  if (keepers) {
    if (std::any_of(keepers, keepers + count,
                    [](RelaxStorage *keeper) { return keeper; }))
      waitFor(where);
    std::for_each(keepers, keepers + count, relax_rt_release);
  }
  free(data);
  free(keepers);
  free(isBound);
  delete this;
}

void WeightSet::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1 &&
      !isProcessEnding())
    destroy();
}

/// The `destroy` of storages that hold a reference to a set.
static void destroyKeeper(RelaxStorage *storage) {
  auto *set = static_cast<WeightSet *>(storage->owner);
  Pool::free(storage, sizeof(RelaxStorage));
  set->release();
}

RelaxStorage *WeightSet::keep() {
  auto *storage =
      static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
  if (!storage)
    return nullptr;
  retain();
  *storage = {1, nullptr, 0, nullptr, nullptr, nullptr, destroyKeeper, this};
  return storage;
}

WeightSet *WeightSet::keptBy(const RelaxStorage *storage) {
  return storage && storage->destroy == destroyKeeper
             ? static_cast<WeightSet *>(storage->owner)
             : nullptr;
}

int64_t WeightSet::findUnbound() const {
  for (int64_t i = 0; i < count; ++i)
    if (!isBound[i])
      return i;
  return -1;
}

bool WeightSet::bind(void **table, int64_t count, DLDevice device,
                     BoundWeight *begin, BoundWeight *end, Error &error) {
  watchProcessEnd();
  WeightSet *made = create(count), *old = nullptr;
  // Whether another thread bound weights on another device first.
  bool isElsewhere = false, isBound = made;
  if (made) {
    std::lock_guard<std::mutex> lock(tables);
    WeightSet *current = setOf(table);
    isElsewhere = current && device.type != kDLCPU &&
                  current->where.type != kDLCPU &&
                  current->where.id != device.id;
    if (!isElsewhere) {
      WeightSet *set = current;
      if (!current || current->references.load(std::memory_order_acquire) > 1) {
        set = std::exchange(made, nullptr);
        for (int64_t i = 0; current && i < count; ++i) {
          set->data[i] = current->data[i];
          set->isBound[i] = current->isBound[i];
          relax_rt_retain(set->keepers[i] = current->keepers[i]);
        }
        old = std::exchange(setOf(table), set);
      }
      // Binding host weights does not change the device of the others.
      if (device.type == kDLCPU && current)
        device = current->where;
      set->where = device;
      // Replaced weights are released below, where no lock is held.
      for (BoundWeight *weight = begin; weight != end; ++weight) {
        set->data[weight->index] = weight->data;
        set->isBound[weight->index] = true;
        std::swap(set->keepers[weight->index], weight->keeper);
      }
    }
  }
  bool isDone = isBound && !isElsewhere;
  if (isElsewhere)
    fail(error, "ValueError",
         "another thread has bound weights of the module on another device");
  else if (!isBound)
    fail(error, "MemoryError", "no memory for the table of weights");
  bool isReplaced = std::any_of(
      begin, end, [](const BoundWeight &weight) { return weight.keeper; });
  if (isDone && isReplaced)
    waitFor(device);
  for (; begin != end; ++begin)
    relax_rt_release(begin->keeper);
  if (made)
    made->destroy();
  if (old)
    old->release();
  return isDone;
}

void WeightSet::unbind(void **table) {
  WeightSet *set = nullptr;
  {
    std::lock_guard<std::mutex> lock(tables);
    std::swap(set, setOf(table));
  }
  if (set)
    set->release();
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

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

/// Copies a weight from the host to a device. Returns null with `error` set.
static RelaxStorage *upload(const void *data, int64_t bytes, DLDevice device,
                            Error &error) {
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
      !target->synchronize(error)) { // any stream may read it
    relax_rt_release(storage);
    return nullptr;
  }
  return storage;
}

namespace {

/// Checks weights and collects them for binding. The destructor releases those
/// that were not bound.
class Binding {
public:
  Binding(const int64_t *words, const char *names, void **table, Error &error)
      : words(words), names(names), error(error) {
    PinnedWeights bound(WeightSet::pin(table));
    if (bound)
      device = bound->device();
  }
  ~Binding() {
    for (const BoundWeight &weight : weights)
      relax_rt_release(weight.keeper);
  }

  /// Returns false with `error` set.
  bool add(const std::string &name, const TVMFFIAny &arg);

  /// Binds all collected weights, or returns false with `error` set and binds
  /// none.
  bool bind(void **table) {
    BoundWeight *begin = weights.data();
    bool isDone = WeightSet::bind(table, *words, device, begin,
                                  begin + weights.size(), error);
    weights.clear();
    return isDone;
  }

  bool isOnDevice() const { return device.type != kDLCPU; }

private:
  bool addOne(int64_t index, const Value &type, const TVMFFIAny &arg,
              const Place &what);

  const int64_t *words;
  const char *names;
  Error &error;
  /// The device of the weights that are not on the host, set by the first.
  DLDevice device{kDLCPU, 0};
  std::vector<BoundWeight> weights;
};

} // namespace

bool Binding::add(const std::string &name, const TVMFFIAny &arg) {
  const int64_t *next = words;
  const char *nextName = names;
  // A weight that both host and device read has two entries.
  bool isFound = false;
  for (int64_t i = 0, total = *next++; i < total; ++i) {
    Value type = Value::read(next);
    const char *own = nextName;
    const char *text = own + strlen(own) + 1;
    nextName = text + strlen(text) + 1;
    if (name != own)
      continue;
    auto what = [&] { return "weight '" + name + "' (" + text + ")"; };
    if (!addOne(i, type, arg, what))
      return false;
    isFound = true;
  }
  return isFound ||
         fail(error, "ValueError", "the module has no weight '" + name + "'");
}

bool Binding::addOne(int64_t index, const Value &type, const TVMFFIAny &arg,
                     const Place &what) {
  const DLTensor *given = tensorOf(arg);
  DLDevice expected{kDLCPU, 0};
  bool isForDevice = type.device() != kDLCPU;
  if (isForDevice) {
    if (!isOnDevice())
      device = {type.device(), given && given->device.type == type.device()
                                   ? given->device.id
                                   : 0};
    // Host tensors are copied to the device.
    if (!given || given->device.type != kDLCPU)
      expected = device;
  }
  const DLTensor *tensor = readTensor(type, arg, what, expected, error);
  if (!tensor)
    return false;
  for (int64_t axis = 0; axis < type.rank; ++axis)
    if (tensor->shape[axis] != type.dims[axis])
      return fail(error, "ValueError",
                  what.str() + ": dimension " + std::to_string(axis) +
                      " must be " + std::to_string(type.dims[axis]) + ", got " +
                      std::to_string(tensor->shape[axis]));
  if (!isContiguous(*tensor))
    return fail(error, "ValueError", what.str() + ": must be contiguous");
  if (!isAligned(*tensor))
    return fail(error, "ValueError",
                what.str() +
                    ": must begin at a multiple of 16 bytes on a device");
  BoundWeight weight{index, dataOf(*tensor), nullptr};
  if (isForDevice && expected.type == kDLCPU) {
    weight.keeper = upload(weight.data, countBytes(*tensor), device, error);
    if (!weight.keeper)
      return false;
    weight.data = weight.keeper->data;
  } else if (arg.typeIndex == kTensor) {
    weight.keeper = borrow(arg.object, weight.data);
    if (!weight.keeper)
      return fail(error, "MemoryError", what.str() + ": no memory");
  }
  weights.push_back(weight);
  return true;
}

extern "C" int relax_rt_bind_weights(const int64_t *words, const char *names,
                                     void **table, const TVMFFIAny *args,
                                     int32_t count, TVMFFIAny *result) {
  *result = {};
  Error error;
  error.function = "bind_weight";
  Binding binding(words, names, table, error);
  bool isDone = count >= 2 && count % 2 == 0;
  if (!isDone)
    fail(error, "TypeError",
         "bind_weight: expected a name and a tensor, or several such pairs, "
         "got " +
             std::to_string(count) + " arguments");
  for (int32_t i = 0; isDone && i < count; i += 2) {
    int32_t type = args[i].typeIndex;
    if (type != kRawString && type != kSmallString && type != kString)
      isDone = fail(error, "TypeError",
                    "bind_weight: argument " + std::to_string(i) +
                        ": expected the name of a weight");
    else
      isDone = binding.add(readString(args[i]), args[i + 1]);
  }
  if (isDone && binding.bind(table)) {
    if (binding.isOnDevice())
      GraphPool::dropUsersOf(table);
    return 0;
  }
  raise(error);
  return -1;
}

extern "C" void relax_rt_unload_weights(const int64_t *words, void **table) {
  if (isProcessEnding())
    return;
  bool isOnDevice = false;
  for (int64_t i = 0, total = *words++; i < total; ++i)
    isOnDevice |= Value::read(words).device() != kDLCPU;
  if (isOnDevice)
    GraphPool::dropUsersOf(table);
  WeightSet::unbind(table);
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

extern "C" void *const *relax_rt_weights(RelaxContext *context,
                                         const int64_t *words,
                                         const char *names, void **table) {
  if (context->recorder)
    context->recorder->useWeights(words, table);
  // Once the call has a set, every weight in it is bound, and stays so.
  WeightSet *set = context->weights;
  int64_t unbound = -1;
  if (!set) {
    set = context->weights = WeightSet::pin(table);
    unbound = set ? set->findUnbound() : 0;
  }
  if (unbound < 0) {
    DLDevice bound = set->device();
    if (context->stream && bound.type != kDLCPU &&
        bound.id != context->stream->device.id.id)
      relax_rt_fail(context, "ValueError",
                    "the arguments are on device %0, and the module's weights "
                    "on device %1",
                    nullptr, context->stream->device.id.id, bound.id);
    return set->addresses();
  }
  for (; unbound > 0; --unbound) {
    names += strlen(names) + 1; // its name
    names += strlen(names) + 1; // and its type
  }
  context->error.kind = "ValueError";
  // Appends in place: the `longjmp` would skip the destructors of temporaries.
  std::string &message = context->error.message;
  message = context->error.function;
  message += ": weight '";
  message += names;
  message += "' is not bound; bind all weights before the first call";
  longjmp(context->escape, 1);
}
