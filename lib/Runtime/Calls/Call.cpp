//===- Call.cpp - calls of compiled functions from outside ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Call.h"
#include "Runtime/Calls/Device.h"
#include "Runtime/Calls/Graphs.h"
#include "Runtime/Calls/Weights.h"
#include "Runtime/Core/KernelTimes.h"
#include "Runtime/Core/Kernels.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Storages and failures
//===----------------------------------------------------------------------===//

namespace {

std::atomic<int64_t> &countOf(RelaxStorage *storage) {
  static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t), "");
  return reinterpret_cast<std::atomic<int64_t> &>(storage->references);
}

} // namespace

void relax_rt::destroyPooled(RelaxStorage *storage) {
  Pool::free(storage->owner, storage->bytes);
}

/// The list of a call's storages is only accessed by the call's own thread.
void relax_rt::unlink(RelaxStorage *storage) {
  if (!storage->context)
    return;
  (storage->previous ? storage->previous->next : storage->context->storages) =
      storage->next;
  if (storage->next)
    storage->next->previous = storage->previous;
  storage->context = nullptr;
}

void relax_rt::link(RelaxContext *context, RelaxStorage *storage) {
  storage->context = context;
  storage->previous = nullptr;
  storage->next = context->storages;
  if (storage->next)
    storage->next->previous = storage;
  context->storages = storage;
}

RelaxStorage *relax_rt::allocate(RelaxContext *context, int64_t bytes,
                                 int64_t align) {
  // The header precedes the data in the same block.
  static_assert(sizeof(RelaxStorage) <= kAlignment, "");
  size_t front = align > static_cast<int64_t>(kAlignment) ? align : kAlignment;
  void *block = nullptr;
  if (bytes >= 0 && bytes < (int64_t(1) << 46))
    block = Pool::allocate(bytes + front + (front - kAlignment));
  if (!block)
    return nullptr;
  uintptr_t begin = reinterpret_cast<uintptr_t>(block) + kAlignment;
  begin = (begin + front - 1) / front * front;
  auto *storage = reinterpret_cast<RelaxStorage *>(begin - kAlignment);
  storage->references = 1;
  storage->data = reinterpret_cast<void *>(begin);
  storage->bytes = bytes + front + (front - kAlignment);
  storage->destroy = destroyPooled;
  storage->owner = block;
  storage->context = nullptr;
  storage->previous = storage->next = nullptr;
  if (context)
    link(context, storage);
  return storage;
}

extern "C" {

RelaxStorage *relax_rt_alloc(RelaxContext *context, int64_t bytes,
                             int64_t align, const char *location) {
  if (RelaxStorage *storage = allocate(context, bytes, align))
    return storage;
  relax_rt_fail(context, "MemoryError", "no memory for %0 bytes", location,
                bytes, 0);
}

void relax_rt_retain(RelaxStorage *storage) {
  if (storage)
    countOf(storage).fetch_add(1, std::memory_order_relaxed);
}

void relax_rt_release(RelaxStorage *storage) {
  if (!storage || countOf(storage).fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  unlink(storage);
  storage->destroy(storage);
}

void relax_rt_fail(RelaxContext *context, const char *kind, const char *message,
                   const char *location, int64_t first, int64_t second) {
  context->error.kind = kind;
  context->error.location = location;
  context->error.message.clear();
  for (const char *at = message; *at; ++at) {
    if (at[0] == '%' && (at[1] == '0' || at[1] == '1')) {
      context->error.message += std::to_string(at[1] == '0' ? first : second);
      ++at;
    } else {
      context->error.message += *at;
    }
  }
  longjmp(context->escape, 1);
}

} // extern "C"

void relax_rt::raise(const Error &error) {
  if (error.raised)
    return;
  if (!TVMFFIErrorCreate) {
    fprintf(stderr, "relax-mlir: %s: %s\n", error.kind, error.message.c_str());
    return;
  }
  // "file:line:column" becomes a frame of the exception's traceback.
  std::string frame;
  std::string location = error.location ? error.location : "";
  size_t column = location.rfind(':');
  size_t line =
      column == std::string::npos ? column : location.rfind(':', column - 1);
  if (line != std::string::npos && column > line + 1)
    frame = "File \"" + location.substr(0, line) + "\", line " +
            location.substr(line + 1, column - line - 1) + ", in " +
            (error.function ? error.function : "relax") + "\n";
  std::string text = error.message;
  if (!location.empty())
    text += "\n  at " + location;
  TVMFFIByteArray kind{error.kind, strlen(error.kind)};
  TVMFFIByteArray message{text.data(), text.size()};
  TVMFFIByteArray backtrace{frame.data(), frame.size()};
  void *object = nullptr;
  if (TVMFFIErrorCreate(&kind, &message, &backtrace, &object))
    return;
  TVMFFIErrorSetRaised(object);
  TVMFFIObjectDecRef(object);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void relax_rt::abandon(RelaxContext &context) {
  while (RelaxStorage *storage = context.storages) {
    unlink(storage);
    storage->destroy(storage);
  }
}

/// Storages that outlive the call no longer belong to it.
static void detach(RelaxContext &context) {
  while (RelaxStorage *storage = context.storages)
    unlink(storage);
}

namespace {

/// Zero-initialized words, on the stack if there are few. Null if out of
/// memory.
struct Slots {
  explicit Slots(int64_t count)
      : data(count <= kFew
                 ? few
                 : static_cast<int64_t *>(calloc(count, sizeof(int64_t)))) {
    if (data == few)
      memset(few, 0, count * sizeof(int64_t));
  }
  ~Slots() {
    if (data != few)
      free(data);
  }

  static constexpr int64_t kFew = 64;
  int64_t few[kFew];
  int64_t *data;
};

/// Releases the weights that a call has used.
struct WeightsOfCall {
  WeightsOfCall(RelaxContext &context, WeightSet *given) : context(context) {
    context.weights = given ? given->retain() : nullptr;
  }
  ~WeightsOfCall() {
    if (context.weights)
      context.weights->release();
  }

  RelaxContext &context;
};

struct Run {
  RelaxContext &context;
  CompiledCode code;
  void *closure;
  int64_t *in, *out;
  bool hasError;

  /// `setjmp` and objects with destructors must not share a frame.
  static void start(void *self) {
    auto *run = static_cast<Run *>(self);
    if (setjmp(run->context.escape)) {
      run->hasError = true;
      leaveKernel(); // scratch memory may be live
    }
    run->code(run->closure, &run->context, run->in, run->out);
  }
};

} // namespace

static thread_local RelaxContext *innermost = nullptr;

RelaxContext *relax_rt::currentCall() { return innermost; }

bool relax_rt::runCompiled(RelaxContext &context, CompiledCode code,
                           void *closure, int64_t *in, int64_t *out) {
  Run run{context, code, closure, in, out, /*hasError=*/false};
  RelaxContext *outer = std::exchange(innermost, &context);
  bool isDone = runKernel(Run::start, &run);
  innermost = outer;
  if (isDone)
    return true;
  return run.hasError || context.error.isPending
             ? false
             : fail(context.error, "MemoryError",
                    std::string(context.error.function) +
                        ": no memory for the scratch buffers of a kernel");
}

int relax_rt::callCompiled(const Signature &signature, const TVMFFIAny *args,
                           int32_t count, TVMFFIAny *result, CompiledCode code,
                           void *closure, WeightSet *weights) {
  RelaxContext context;
  TimedCall timed(context, signature.function);
  CapturedFunction *captured = CapturedFunction::takeCurrent();
  context.error.function = signature.function;
  WeightsOfCall held(context, weights);
  Slots slots(signature.inSlots + signature.outSlots);
  int64_t *in = slots.data, *out = in + signature.inSlots;
  auto failed = [&] {
    abandon(context);
    raise(context.error);
    return context.error.isPending ? -2 : -1;
  };
  if (!in) {
    fail(context.error, "MemoryError",
         std::string(signature.function) + ": no memory for the arguments");
    return failed();
  }
  DeviceCall call;
  if (signature.device != kDLCPU &&
      !call.enter(context, signature, args, count))
    return failed();
  // The caller may append destinations to the arguments.
  int32_t parameters = static_cast<int32_t>(signature.parameterCount);
  const TVMFFIAny *destinations =
      count > parameters && signature.acceptsDestinations(count - parameters)
          ? args + parameters
          : nullptr;
  if (!signature.unpack(context, args, destinations ? parameters : count, in) ||
      (destinations && !signature.checkDestinations(context, destinations)))
    return failed();
  CapturedCall capture(captured, context, signature, in, destinations);
  CapturedCall::Outcome begun = capture.begin(code, closure, out);
  if (begun == CapturedCall::Failed)
    return failed();
  bool isReplayed = begun == CapturedCall::Replayed;
  if (!isReplayed && !runCompiled(context, code, closure, in, out))
    return failed();
  capture.observe(out);
  *result = {};
  bool done = !destinations || isReplayed ||
              signature.copyResults(context, out, destinations);
  done = done && call.finish(context) &&
         (destinations || makeResult(context, signature, out, result));
  signature.release(in);
  if (!done)
    return failed();
  capture.end();
  detach(context);
  return 0;
}

extern "C" int
relax_rt_call(const int64_t *words, const char *names,
              void (*thunk)(RelaxContext *, int64_t *, int64_t *),
              const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  Signature signature(words, names);
  return callCompiled(
      signature, args, count, result,
      [](void *thunk, RelaxContext *context, int64_t *in, int64_t *out) {
        reinterpret_cast<void (*)(RelaxContext *, int64_t *, int64_t *)>(thunk)(
            context, in, out);
      },
      reinterpret_cast<void *>(thunk));
}
