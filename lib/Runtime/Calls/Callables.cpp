//===- Callables.cpp - closures, library and foreign functions ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"
#include "Runtime/Calls/Graphs.h"
#include "Runtime/Calls/Weights.h"
#include "Runtime/Core/KernelTimes.h"

#include <algorithm>
#include <alloca.h>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Closures
//===----------------------------------------------------------------------===//

static int64_t *boundOf(RelaxClosure *closure) {
  return reinterpret_cast<int64_t *>(closure + 1);
}

/// Closures may hold the last reference to other closures. Pending destructions
/// are queued instead of recursed into, so that long chains cannot overflow the
/// stack.
static void destroyClosure(RelaxStorage *storage) {
  static thread_local RelaxStorage *waiting = nullptr;
  static thread_local bool isAtWork = false;
  storage->next = waiting;
  waiting = storage;
  if (isAtWork)
    return;
  isAtWork = true;
  while (RelaxStorage *next = waiting) {
    waiting = next->next;
    auto *closure = static_cast<RelaxClosure *>(next->data);
    int64_t *kept = boundOf(closure) + closure->bound;
    for (int64_t i = 0; i < closure->storages; ++i)
      relax_rt_release(reinterpret_cast<RelaxStorage *>(kept[i]));
    destroyPooled(next);
  }
  isAtWork = false;
}

bool relax_rt::isClosure(const RelaxStorage *storage) {
  return storage->destroy == destroyClosure;
}

/// Returns null if out of memory.
static RelaxStorage *makeClosure(RelaxContext *context, RelaxClosureBody body,
                                 int64_t bound, const int64_t *slots,
                                 int64_t storages, RelaxStorage *const *kept) {
  int64_t bytes = sizeof(RelaxClosure) + (bound + storages) * sizeof(int64_t);
  RelaxStorage *storage = allocate(context, bytes, 64);
  if (!storage)
    return nullptr;
  auto *closure = static_cast<RelaxClosure *>(storage->data);
  *closure = {body, bound, storages};
  memcpy(boundOf(closure), slots, bound * sizeof(int64_t));
  memcpy(boundOf(closure) + bound, kept, storages * sizeof(int64_t));
  storage->destroy = destroyClosure;
  return storage;
}

static RelaxStorage **keptOf(RelaxClosure *closure) {
  return reinterpret_cast<RelaxStorage **>(boundOf(closure) + closure->bound);
}

static RelaxClosure *closureOf(RelaxStorage *storage) {
  return static_cast<RelaxClosure *>(storage->data);
}

namespace {

/// Copies closures of a call, and everything they hold, for use outside the
/// call. They may be nested to any depth and share captured closures.
class ClosureCopies {
public:
  /// Returns a reference to the copy, or null if out of memory.
  RelaxStorage *of(RelaxStorage *original) {
    RelaxStorage *&copy = copies[original];
    if (copy) {
      relax_rt_retain(copy);
      return copy;
    }
    RelaxClosure *closure = closureOf(original);
    copy = makeClosure(nullptr, closure->body, closure->bound, boundOf(closure),
                       closure->storages, keptOf(closure));
    if (!copy)
      return nullptr;
    closureOf(copy)->storages = 0; // it holds nothing yet
    waiting.push_back(original);
    return copy;
  }

  /// Gives the copies references to copies of what the originals hold.
  bool finish() {
    while (!waiting.empty()) {
      RelaxStorage *original = waiting.back();
      waiting.pop_back();
      if (!fill(closureOf(original), closureOf(copies[original])))
        return false;
    }
    return true;
  }

private:
  bool fill(RelaxClosure *original, RelaxClosure *copy) {
    // The slots list the same storages in the same order.
    int64_t *slot = boundOf(copy), *end = slot + copy->bound;
    for (int64_t i = 0; i < original->storages; ++i) {
      RelaxStorage *kept = keptOf(original)[i];
      RelaxStorage *&own = keptOf(copy)[i];
      if (kept &&
          !(own = kept->context && isClosure(kept) ? of(kept) : share(kept)))
        return false;
      copy->storages = i + 1;
      int64_t *found = std::find(slot, end, reinterpret_cast<int64_t>(kept));
      if (!kept || found == end)
        continue;
      *found = reinterpret_cast<int64_t>(own);
      slot = found + 1;
    }
    return true;
  }

  std::map<RelaxStorage *, RelaxStorage *> copies;
  std::vector<RelaxStorage *> waiting;
};

} // namespace

RelaxStorage *relax_rt::shareClosure(RelaxStorage *storage) {
  ClosureCopies copies;
  RelaxStorage *copy = copies.of(storage);
  if (!copy || copies.finish())
    return copy;
  relax_rt_release(copy);
  return nullptr;
}

WeightSet *relax_rt::weightsOf(const RelaxStorage *closure) {
  auto *content = static_cast<RelaxClosure *>(closure->data);
  RelaxStorage **kept = keptOf(content);
  for (int64_t i = 0; i < content->storages; ++i)
    if (WeightSet *set = WeightSet::keptBy(kept[i]))
      return set;
  return nullptr;
}

extern "C" RelaxStorage *
relax_rt_make_closure(RelaxContext *context, RelaxClosureBody body,
                      int64_t bound, const int64_t *slots, int64_t storages,
                      RelaxStorage *const *kept, const char *location) {
  // Includes the weights of the call, which the slots may point to.
  auto **all = static_cast<RelaxStorage **>(
      alloca((storages + 1) * sizeof(RelaxStorage *)));
  std::copy(kept, kept + storages, all);
  RelaxStorage *weights = nullptr;
  if (context->weights)
    weights = all[storages++] = context->weights->keep();
  if (weights || !context->weights)
    if (RelaxStorage *storage =
            makeClosure(context, body, bound, slots, storages, all))
      return storage;
  relax_rt_release(weights);
  relax_rt_fail(context, "MemoryError", "no memory for a callable", location, 0,
                0);
}

//===----------------------------------------------------------------------===//
// Functions of the caller's language
//===----------------------------------------------------------------------===//

/// Calls a function and stores its results in `out`. Leaves an error in the
/// context.
static bool callForeign(RelaxContext *context, void *function,
                        const int64_t *words, int64_t *in, int64_t *out) {
  Signature signature(words);
  std::vector<TVMFFIAny> args(signature.parameterCount);
  std::vector<int64_t> slots(in, in + signature.inSlots);
  int64_t *next = slots.data();
  const int64_t *parameters = signature.parameters;
  bool made = true;
  for (TVMFFIAny &arg : args) {
    // The function borrows its arguments; the objects made of them own.
    Value type = Value::read(parameters);
    int64_t *own = next;
    made = shareSlots(type, next);
    if (made)
      made = makeValue(*context, type, own, &arg);
    else
      releaseSlots(type, const_cast<const int64_t *&>(own));
    if (!made)
      break;
  }
  TVMFFIAny result{};
  int status =
      made ? TVMFFIFunctionCall(function, args.data(),
                                static_cast<int32_t>(args.size()), &result)
           : -1;
  bool called = !status;
  for (TVMFFIAny &arg : args)
    if (arg.typeIndex >= 64 && arg.object)
      TVMFFIObjectDecRef(arg.object);
  if (!called) {
    context->error.raised = made;
    context->error.isPending = status == -2;
    if (!made && context->error.message.empty())
      fail(context->error, "MemoryError",
           "no memory to pass arguments to a function that was given to '" +
               std::string(context->error.function) + "'");
    return false;
  }
  auto what = [] { return std::string("result of a function"); };
  bool unpacked = !signature.resultCount ||
                  unpackValue(*context, signature.result(), result, what, out);
  if (result.typeIndex >= 64)
    TVMFFIObjectDecRef(result.object);
  return unpacked;
}

static void foreignBody(RelaxContext *context, int64_t *bound, int64_t *in,
                        int64_t *out) {
  if (!callForeign(context, reinterpret_cast<void *>(bound[0]),
                   reinterpret_cast<const int64_t *>(bound[1]), in, out))
    longjmp(context->escape, 1);
}

RelaxStorage *relax_rt::makeForeignClosure(RelaxContext &context,
                                           const Value &type,
                                           TVMFFIObject *function) {
  // The caller keeps the function alive during the call; a callable that is
  // returned or captured outlives it.
  int64_t bound[] = {reinterpret_cast<int64_t>(function),
                     reinterpret_cast<int64_t>(type.signature)};
  RelaxStorage *kept = allocate(&context, 0, 64);
  if (!kept)
    return nullptr;
  RelaxStorage *storage =
      makeClosure(&context, foreignBody, 2, bound, 1, &kept);
  if (!storage)
    return nullptr;
  // Only the closure owns it.
  unlink(kept);
  TVMFFIObjectIncRef(function);
  kept->bytes = reinterpret_cast<int64_t>(function);
  kept->destroy = [](RelaxStorage *kept) {
    TVMFFIObjectDecRef(reinterpret_cast<void *>(kept->bytes));
    kept->bytes = 64;
    destroyPooled(kept);
  };
  return storage;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// Copies the first tensor into the second. Returns false with the call's error
/// set.
static bool copyAcross(RelaxContext &context, const int64_t *words,
                       const int64_t *slots) {
  ++words; // number of tensors
  Value from = Value::read(words), to = Value::read(words);
  const int64_t *toSlots = slots + 2 + from.rank;
  int64_t bytes = from.countBytes(slots);
  auto *source = reinterpret_cast<void *>(slots[1]);
  auto *target = reinterpret_cast<void *>(toSlots[1]);
  if (!bytes || from.device() == to.device())
    return copyTensor(context, to.device(), target, source, bytes);
  DeviceStream &stream = *context.stream;
  DeviceDriver &driver = *stream.device.driver;
  return to.device() == kDLCPU ? driver.download(target, source, bytes,
                                                 stream.handle, context.error)
                               : driver.upload(target, source, bytes,
                                               stream.handle, context.error);
}

static const RuntimeFunction copying("relax.copy", copyAcross);

/// Intrusive list of all functions. Zero-initialized before any static
/// constructor runs.
static const RuntimeFunction *runtimeFunctions;

RuntimeFunction::RuntimeFunction(const char *name, Call call)
    : name(name), call(call), next(runtimeFunctions) {
  runtimeFunctions = this;
}

const RuntimeFunction *RuntimeFunction::find(const char *name) {
  const RuntimeFunction *function = runtimeFunctions;
  while (function && strcmp(function->name, name) != 0)
    function = function->next;
  return function;
}

/// Calls the function. Returns false with `context.error` set.
static bool callForeignLibrary(RelaxContext *context, const char *name,
                               const int64_t *words, const int64_t *slots,
                               int64_t integers) {
  Error &error = context->error;
  TVMFFIByteArray text{name, strlen(name)};
  void *function = nullptr;
  if (!TVMFFIFunctionGetGlobal || TVMFFIFunctionGetGlobal(&text, &function) ||
      !function) {
    error.message = std::string("library function '") + name +
                    "' is not registered with TVM FFI; load the library that "
                    "has it before the call";
    return false;
  }
  int64_t count = *words++;
  std::vector<TVMFFIAny> args(count + integers);
  bool made = true;
  for (int64_t i = 0; i < count; ++i) {
    Value type = Value::read(words);
    if (made) {
      // Weights have no storage.
      auto *storage = reinterpret_cast<RelaxStorage *>(slots[0]);
      RelaxStorage *shared = storage            ? share(storage)
                             : context->weights ? context->weights->keep()
                                                : nullptr;
      made = (shared || !(storage || context->weights)) &&
             makeView(type, deviceOf(*context, type), shared, slots, &args[i]);
    }
    slots += 2 + type.rank;
  }
  for (int64_t i = 0; i < integers; ++i) {
    args[count + i].typeIndex = kInteger;
    args[count + i].integer = slots[i];
  }
  TVMFFIAny result{};
  if (!made)
    fail(error, "MemoryError",
         std::string("no memory to pass tensors to library function '") + name +
             "'");
  int status =
      made ? TVMFFIFunctionCall(function, args.data(),
                                static_cast<int32_t>(args.size()), &result)
           : -1;
  bool called = !status;
  error.raised = made && !called;
  error.isPending = status == -2;
  for (int64_t i = 0; i < count; ++i)
    if (args[i].object)
      TVMFFIObjectDecRef(args[i].object);
  TVMFFIObjectDecRef(function);
  if (result.typeIndex >= 64)
    TVMFFIObjectDecRef(result.object);
  return called;
}

static bool callLibrary(RelaxContext *context, const char *name,
                        const int64_t *words, const int64_t *slots,
                        int64_t integers) {
  if (const RuntimeFunction *own = RuntimeFunction::find(name))
    return own->call(*context, words, slots);
  if (context->recorder && !context->recorder->mayWait(*context))
    return false;
  return callForeignLibrary(context, name, words, slots, integers);
}

/// Whether a library function has tensors of the host alone: work on a device
/// goes on after the call.
static bool runsOnHost(const int64_t *words) {
  for (int64_t left = *words++; left > 0; --left)
    if (Value::read(words).device() != kDLCPU)
      return false;
  return true;
}

extern "C" void relax_rt_call_library(RelaxContext *context, const char *name,
                                      const char *location,
                                      const int64_t *words,
                                      const int64_t *slots, int64_t integers) {
  context->error.location = location;
  LibraryClock clock(context->isTimed && runsOnHost(words));
  if (!callLibrary(context, name, words, slots, integers))
    longjmp(context->escape, 1);
  clock.stop(name, context->error.function, location);
}
