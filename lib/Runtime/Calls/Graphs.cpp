//===- Graphs.cpp - graphs, their memory and captured functions -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Graphs.h"

#include <algorithm>
#include <utility>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Actions of host code
//===----------------------------------------------------------------------===//

RelaxStorage *Recorder::allocate(RelaxContext &context, int64_t bytes,
                                 int64_t align) {
  int64_t index = allocations++;
  for (auto &[allocation, place] : given) {
    if (allocation != index || bytes > place.bytes ||
        reinterpret_cast<uintptr_t>(place.begin) % align)
      continue;
    auto *storage =
        static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
    if (!storage) {
      fail(context.error, "MemoryError", "no memory for a destination");
      return nullptr;
    }
    auto destroy = [](RelaxStorage *storage) {
      Pool::free(storage, sizeof(RelaxStorage));
    };
    *storage = {1,       place.begin, bytes,   nullptr,
                nullptr, nullptr,     destroy, nullptr};
    link(&context, storage);
    return storage;
  }
  RelaxStorage *storage =
      context.stream->allocate(&context, bytes, context.error);
  if (!isCapture)
    allocated.push_back(storage);
  return storage;
}

bool Recorder::mayWait(RelaxContext &context) {
  waits = true;
  return !isCapture ||
         fail(context.error, "DeviceError", "host code waits within a capture");
}

bool Recorder::mayLoad(RelaxContext &context,
                       const RelaxDeviceConstant &constant) {
  use(&constant.loaded);
  auto &loaded =
      reinterpret_cast<const std::atomic<Loaded *> &>(constant.loaded);
  Loaded *all = loaded.load(std::memory_order_acquire);
  return !isCapture ||
         (all && all->on[context.stream->device.index].load(
                     std::memory_order_acquire)) ||
         fail(context.error, "DeviceError",
              "a constant is uploaded within a capture");
}

void Recorder::use(const void *loaded) {
  if (uses.empty() || uses.back() != loaded)
    if (std::find(uses.begin(), uses.end(), loaded) == uses.end())
      uses.push_back(loaded);
}

void Recorder::useWeights(const int64_t *words, void **table) {
  use(table);
  std::pair<const int64_t *, void **> entry(words, table);
  if (std::find(weights.begin(), weights.end(), entry) == weights.end())
    weights.push_back(entry);
}

//===----------------------------------------------------------------------===//
// Graphs of a stream
//===----------------------------------------------------------------------===//

DeviceStream *GraphPool::open(Error &error) {
  Device &device = target.device;
  if (!stream)
    if (void *handle = device.driver->createStream(error))
      stream = std::make_unique<DeviceStream>(device, handle,
                                              /*isCapture=*/true);
  return stream.get();
}

void GraphPool::closeIfUnused() {
  if (!stream)
    return;
  for (const std::shared_ptr<Graph> &graph : graphs)
    if (graph->executable)
      return;
  Error ignored; // a failed device takes its memory back, too
  target.device.driver->synchronize(ignored);
  target.device.giveBack(*stream);
  target.device.driver->destroyStream(stream->handle);
  stream = nullptr;
}

std::shared_ptr<Graph> GraphPool::find(CapturedFunction *function,
                                       uint64_t hash,
                                       const std::vector<int64_t> &key) {
  // Decay the counts, so that old calls lose weight.
  if (++uses % (16 * function->limit) == 0)
    for (const std::shared_ptr<Graph> &graph : graphs)
      graph->calls /= 2;
  for (const std::shared_ptr<Graph> &graph : graphs)
    if (graph->hash == hash && graph->function == function &&
        graph->key == key) {
      graph->lastUse = uses;
      ++graph->calls;
      return graph;
    }
  return nullptr;
}

std::shared_ptr<Graph>
GraphPool::remove(std::list<std::shared_ptr<Graph>>::iterator at) {
  std::shared_ptr<Graph> graph = std::move(*at);
  graphs.erase(at);
  if (void *executable = std::exchange(graph->executable, nullptr))
    target.device.driver->destroyGraph(executable);
  graph->isRefused = true; // another thread may hold it
  return graph;
}

std::shared_ptr<Graph> GraphPool::insert(std::shared_ptr<Graph> graph) {
  if (find(graph->function, graph->hash, graph->key))
    return graph; // captured by another thread
  int64_t count = 0;
  auto oldest = graphs.end();
  for (auto at = graphs.begin(); at != graphs.end(); ++at) {
    if ((*at)->function != graph->function || (*at)->executable)
      continue;
    ++count;
    if (oldest == graphs.end() || (*at)->lastUse < (*oldest)->lastUse)
      oldest = at;
  }
  // Keeps this many candidates, so that alternating calls are recognized when
  // they recur.
  std::shared_ptr<Graph> dropped;
  if (count >= 4 * graph->function->limit + 16)
    dropped = remove(oldest);
  graph->lastUse = uses;
  graph->calls = 1;
  graphs.push_back(std::move(graph));
  return dropped;
}

bool GraphPool::makeRoom(const Graph &candidate,
                         std::shared_ptr<Graph> &dropped) {
  int64_t count = 0;
  auto rarest = graphs.end();
  for (auto at = graphs.begin(); at != graphs.end(); ++at) {
    if ((*at)->function != candidate.function || !(*at)->executable)
      continue;
    ++count;
    if (rarest == graphs.end() || (*at)->calls < (*rarest)->calls)
      rarest = at;
  }
  if (count < candidate.function->limit)
    return true;
  // Alternating calls differ in count by at most one.
  if (candidate.calls < (*rarest)->calls + 2) {
    ++candidate.function->crowded;
    return false;
  }
  dropped = remove(rarest);
  return true;
}

void GraphPool::drop(const std::function<bool(const Graph &)> &test,
                     std::list<std::shared_ptr<Graph>> &dropped) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto at = graphs.begin(); at != graphs.end();) {
    auto next = std::next(at);
    if (test(**at))
      dropped.push_back(remove(at));
    at = next;
  }
  closeIfUnused();
}

void GraphPool::dropAll(Device &device,
                        const std::function<bool(const Graph &)> &test) {
  if (!device.isOwn())
    return; // they belong to the parent process
  std::vector<GraphPool *> pools = device.graphPools();
  Error ignored; // the device may be gone, e.g. at process exit
  DeviceScope scope;
  if (pools.empty() || !scope.enter(device, ignored))
    return;
  std::list<std::shared_ptr<Graph>> dropped;
  std::lock_guard<std::mutex> quiet(device.captures);
  for (GraphPool *pool : pools)
    pool->drop(test, dropped);
}

void GraphPool::dropAll(const std::function<bool(const Graph &)> &test) {
  for (int index = 0; Device *device = Device::at(index); ++index)
    dropAll(*device, test);
}

void GraphPool::dropUsersOf(const void *used) {
  dropAll([&](const Graph &graph) {
    return std::find(graph.uses.begin(), graph.uses.end(), used) !=
           graph.uses.end();
  });
}

//===----------------------------------------------------------------------===//
// Captured functions
//===----------------------------------------------------------------------===//

/// The captured function that this thread is about to call.
static thread_local CapturedFunction *current = nullptr;

CapturedFunction *CapturedFunction::takeCurrent() {
  return std::exchange(current, nullptr);
}

CapturedFunction::CapturedFunction(TVMFFIObject *function, int64_t limit)
    : limit(limit), function(function) {
  TVMFFIObjectIncRef(function);
}

CapturedFunction::~CapturedFunction() {
  GraphPool::dropAll(
      [&](const Graph &graph) { return graph.function == this; });
  TVMFFIObjectDecRef(function);
}

int CapturedFunction::call(const TVMFFIAny *args, int32_t count,
                           TVMFFIAny *result) {
  current = this;
  int failed = TVMFFIFunctionCall(function, const_cast<TVMFFIAny *>(args),
                                  count, result);
  current = nullptr; // in case the function was not compiled code
  return failed;
}

int64_t CapturedFunction::countGraphs() const {
  int64_t count = 0;
  for (int index = 0; Device *device = Device::at(index); ++index)
    for (GraphPool *pool : device->graphPools()) {
      std::lock_guard<std::mutex> lock(pool->mutex);
      for (const std::shared_ptr<Graph> &graph : pool->graphs)
        count += graph->function == this && graph->executable;
    }
  return count;
}

//===----------------------------------------------------------------------===//
// Functions of TVM FFI
//===----------------------------------------------------------------------===//

using Shared = std::shared_ptr<CapturedFunction>;

/// Makes a function object of `call` that keeps a captured function alive.
static bool makeFunction(const Shared &captured,
                         int (*call)(void *self, const TVMFFIAny *args,
                                     int32_t count, TVMFFIAny *result),
                         TVMFFIAny &out) {
  auto destroy = [](void *self) { delete static_cast<Shared *>(self); };
  auto *self = new Shared(captured);
  void *object = nullptr;
  if (!TVMFFIFunctionCreate ||
      TVMFFIFunctionCreate(self, call, destroy, &object)) {
    delete self;
    return false;
  }
  out = {};
  out.typeIndex = kFunction;
  out.object = static_cast<TVMFFIObject *>(object);
  return true;
}

static int callCaptured(void *self, const TVMFFIAny *args, int32_t count,
                        TVMFFIAny *result) {
  return (*static_cast<Shared *>(self))->call(args, count, result);
}

static int readCaptured(void *self, const TVMFFIAny *, int32_t,
                        TVMFFIAny *result) {
  CapturedFunction &captured = **static_cast<Shared *>(self);
  std::vector<TVMFFIAny> numbers;
  for (int64_t number : {captured.captures.load(), captured.replays.load(),
                         captured.failures.load(), captured.countGraphs(),
                         static_cast<int64_t>(!captured.isExcluded.load()),
                         captured.crowded.load()}) {
    TVMFFIAny any{};
    any.typeIndex = kInteger;
    any.integer = number;
    numbers.push_back(any);
  }
  *result = {};
  return makeObject("ffi.Array", numbers, result) ? 0 : -1;
}

extern "C" int relax_rt_capture(void *, const TVMFFIAny *args, int32_t count,
                                TVMFFIAny *result) {
  *result = {};
  Error error;
  error.function = "relax";
  auto failed = [&](const char *kind, const char *message) {
    fail(error, kind, message);
    raise(error);
    return -1;
  };
  if (count != 2 || args[0].typeIndex != kFunction ||
      args[1].typeIndex != kInteger)
    return failed("TypeError", "capture: expected a function and an integer");
  // Every call searches a list of this length.
  if (args[1].integer < 1 || args[1].integer > 1 << 16)
    return failed("ValueError", "capture: expected from 1 to 65536 graphs");
  auto captured =
      std::make_shared<CapturedFunction>(args[0].object, args[1].integer);
  std::vector<TVMFFIAny> functions(2);
  bool made = makeFunction(captured, callCaptured, functions[0]) &&
              makeFunction(captured, readCaptured, functions[1]) &&
              makeObject("ffi.Array", functions, result);
  for (TVMFFIAny &function : functions)
    if (function.object)
      TVMFFIObjectDecRef(function.object);
  return made ? 0
              : failed("RuntimeError",
                       "no function could be made; is libtvm_ffi in the "
                       "process?");
}
