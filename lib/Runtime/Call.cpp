//===- Call.cpp - calls of compiled functions from outside ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Context.h"
#include "Pool.h"

#include <atomic>
#include <cstring>
#include <memory>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Storages and failures
//===----------------------------------------------------------------------===//

namespace {

std::atomic<int64_t> &countOf(RelaxStorage *storage) {
  static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t), "");
  return reinterpret_cast<std::atomic<int64_t> &>(storage->references);
}

/// A call's storages are touched by its own thread only.
void unlink(RelaxStorage *storage) {
  if (!storage->context)
    return;
  (storage->previous ? storage->previous->next : storage->context->storages) =
      storage->next;
  if (storage->next)
    storage->next->previous = storage->previous;
  storage->context = nullptr;
}

void destroyPooled(RelaxStorage *storage) {
  void *block = storage->owner;
  Pool::free(block, storage->bytes);
}

} // namespace

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
  // The header lies in front of the data, in the same block.
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
  if (!storage ||
      countOf(storage).fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  unlink(storage);
  storage->destroy(storage);
}

void relax_rt_fail(RelaxContext *context, const char *kind,
                   const char *message, const char *location, int64_t first,
                   int64_t second) {
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
  if (!TVMFFIErrorCreate) {
    fprintf(stderr, "relax-mlir: %s: %s\n", error.kind, error.message.c_str());
    return;
  }
  // "file:line:column" becomes a frame of the exception's traceback.
  std::string frame;
  std::string location = error.location ? error.location : "";
  size_t column = location.rfind(':');
  size_t line = column == std::string::npos ? column
                                            : location.rfind(':', column - 1);
  if (line != std::string::npos && column > line + 1)
    frame = "File \"" + location.substr(0, line) + "\", line " +
            location.substr(line + 1, column - line - 1) + ", in " +
            (error.function ? error.function : "relax") + "\n";
  TVMFFIByteArray kind{error.kind, strlen(error.kind)};
  TVMFFIByteArray message{error.message.data(), error.message.size()};
  TVMFFIByteArray backtrace{frame.data(), frame.size()};
  void *object = nullptr;
  if (TVMFFIErrorCreate(&kind, &message, &backtrace, &object))
    return;
  TVMFFIErrorSetRaised(object);
  TVMFFIObjectDecRef(object);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// What keeps a result's memory and describes it.
struct ResultTensor {
  DLManagedTensorVersioned managed;
  RelaxStorage *storage;
  int64_t shape[1]; // and strides, as many as dimensions
};

bool makeTensor(RelaxContext &context, const Value &type, int64_t *slots,
                TVMFFIAny *out) {
  auto *storage = reinterpret_cast<RelaxStorage *>(slots[0]);
  // A parameter that comes back is the same object.
  if (storage && storage->destroy == destroyBorrowed) {
    auto *object = static_cast<TVMFFIObject *>(storage->owner);
    auto *tensor = contentOf<DLTensor>(object);
    bool same = tensor->ndim == type.rank && static_cast<char *>(tensor->data) +
                                                     tensor->byteOffset ==
                                                 reinterpret_cast<char *>(slots[1]);
    for (int64_t i = 0; same && i < type.rank; ++i)
      same = tensor->shape[i] == slots[2 + i];
    if (same) {
      TVMFFIObjectIncRef(object);
      relax_rt_release(storage);
      out->typeIndex = kTensor;
      out->object = object;
      return true;
    }
  }
  // What nobody counts is given out as a copy: a weight, a constant, or a
  // parameter that came as a bare pointer.
  if (!storage) {
    int64_t bytes = (type.dtype.bits + 7) / 8;
    for (int64_t i = 0; i < type.rank; ++i)
      bytes *= slots[2 + i];
    storage = allocate(&context, bytes, kAlignment);
    if (!storage)
      return false;
    memcpy(storage->data, reinterpret_cast<void *>(slots[1]), bytes);
    slots[1] = reinterpret_cast<int64_t>(storage->data);
  }
  size_t size = sizeof(ResultTensor) + 2 * type.rank * sizeof(int64_t);
  auto *result = static_cast<ResultTensor *>(malloc(size));
  if (!result)
    return false;
  int64_t *shape = result->shape, *strides = shape + type.rank;
  int64_t stride = 1;
  for (int64_t i = type.rank; i-- > 0;) {
    shape[i] = slots[2 + i];
    strides[i] = stride;
    stride *= shape[i];
  }
  result->storage = storage;
  result->managed = {};
  result->managed.major = 1;
  result->managed.deleter = [](DLManagedTensorVersioned *self) {
    auto *result = reinterpret_cast<ResultTensor *>(self);
    relax_rt_release(result->storage);
    free(result);
  };
  result->managed.tensor = {reinterpret_cast<void *>(slots[1]),
                            {kDLCPU, 0},
                            static_cast<int32_t>(type.rank),
                            type.dtype,
                            shape,
                            strides,
                            0};
  void *object = nullptr;
  if (!TVMFFITensorFromDLPackVersioned ||
      TVMFFITensorFromDLPackVersioned(&result->managed, 0, 0, &object)) {
    result->managed.deleter(&result->managed);
    return false;
  }
  out->typeIndex = kTensor;
  out->object = static_cast<TVMFFIObject *>(object);
  return true;
}

/// Calls a global function that makes an object of its arguments.
bool makeObject(const char *name, std::vector<TVMFFIAny> &args,
                TVMFFIAny *out) {
  TVMFFIByteArray text{name, strlen(name)};
  void *function = nullptr;
  if (!TVMFFIFunctionGetGlobal || TVMFFIFunctionGetGlobal(&text, &function) ||
      !function)
    return false;
  bool made = !TVMFFIFunctionCall(function, args.data(),
                                  static_cast<int32_t>(args.size()), out);
  TVMFFIObjectDecRef(function);
  return made;
}

bool makeValue(RelaxContext &context, const Value &type, int64_t *&slots,
               TVMFFIAny *out) {
  *out = {};
  switch (type.kind) {
  case RelaxInteger:
    out->typeIndex = kInteger;
    out->integer = *slots++;
    return true;
  case RelaxBoolean:
    out->typeIndex = kBoolean;
    out->integer = *slots++ & 1;
    return true;
  case RelaxReal:
    out->typeIndex = kReal;
    memcpy(&out->real, slots++, sizeof(double));
    return true;
  case RelaxTensor: {
    int64_t *own = slots;
    slots += 2 + type.rank;
    return makeTensor(context, type, own, out);
  }
  case RelaxShape: {
    std::vector<TVMFFIAny> dims(type.rank);
    for (TVMFFIAny &dim : dims) {
      dim.typeIndex = kInteger;
      dim.integer = *slots++;
    }
    return makeObject("ffi.Shape", dims, out);
  }
  case RelaxTuple: {
    std::vector<TVMFFIAny> members(type.members.size());
    bool made = true;
    for (size_t i = 0; i < members.size(); ++i)
      made &= makeValue(context, type.members[i], slots, &members[i]);
    made = made && makeObject("ffi.Array", members, out);
    for (TVMFFIAny &member : members)
      if (member.typeIndex >= 64 && member.object)
        TVMFFIObjectDecRef(member.object);
    return made;
  }
  }
  return false;
}

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void relax_rt::destroyBorrowed(RelaxStorage *storage) {
  TVMFFIObjectDecRef(storage->owner);
  Pool::free(storage, sizeof(RelaxStorage));
}

/// Frees what a failed call had allocated, whoever held it.
static void abandon(RelaxContext &context) {
  while (RelaxStorage *storage = context.storages) {
    unlink(storage);
    storage->destroy(storage);
  }
}

/// What outlives the call has no call any more.
static void detach(RelaxContext &context) {
  while (RelaxStorage *storage = context.storages)
    unlink(storage);
}

extern "C" int relax_rt_call(const int64_t *words, const char *names,
                             void (*thunk)(RelaxContext *, int64_t *,
                                           int64_t *),
                             const TVMFFIAny *args, int32_t count,
                             TVMFFIAny *result) {
  // Nothing with a destructor lives in this frame between setjmp and longjmp
  // but what was made before it.
  RelaxContext context;
  Signature signature(words, names);
  std::vector<int64_t> slots(signature.inSlots + signature.outSlots);
  int64_t *in = slots.data(), *out = in + signature.inSlots;
  context.error.function = names;
  if (!signature.unpack(context, args, count, in)) {
    abandon(context);
    raise(context.error);
    return -1;
  }
  // The parameters' own references, given back after the call.
  std::vector<RelaxStorage *> borrowed;
  for (RelaxStorage *at = context.storages; at; at = at->next)
    borrowed.push_back(at);
  if (setjmp(context.escape)) {
    abandon(context);
    raise(context.error);
    return -1;
  }
  thunk(&context, in, out);
  bool made = true;
  int64_t *next = out;
  *result = {};
  if (signature.results.size() == 1) {
    made = makeValue(context, signature.results.front(), next, result);
  } else if (!signature.results.empty()) {
    Value tuple;
    tuple.kind = RelaxTuple;
    tuple.members = signature.results;
    made = makeValue(context, tuple, next, result);
  }
  for (RelaxStorage *storage : borrowed)
    relax_rt_release(storage);
  detach(context);
  if (!made) {
    context.error.kind = "RuntimeError";
    context.error.message =
        std::string(names) + ": the results could not be handed over; is "
                             "libtvm_ffi in the process?";
    raise(context.error);
    return -1;
  }
  return 0;
}
