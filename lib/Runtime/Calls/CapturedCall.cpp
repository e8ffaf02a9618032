//===- CapturedCall.cpp - one call of a captured function -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Graphs.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace relax_rt;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

namespace {

/// Calls `visit(type, slots)` for each value that is not a tuple; stops and
/// returns false if a visit does.
template <typename Slot, typename Visit>
bool forEachValue(const Value &type, Slot *&slots, Visit &visit) {
  if (type.kind == RelaxTuple) {
    const int64_t *words = type.members;
    for (int64_t i = 0; i < type.memberCount; ++i)
      if (!forEachValue(Value::read(words), slots, visit))
        return false;
    return true;
  }
  Slot *own = slots;
  slots += type.kind == RelaxTensor  ? 2 + type.rank
           : type.kind == RelaxShape ? type.rank
                                     : 1;
  return visit(type, own);
}

template <typename Slot, typename Visit>
bool forEachValue(const int64_t *words, int64_t count, Slot *slots,
                  Visit visit) {
  for (int64_t i = 0; i < count; ++i)
    if (!forEachValue(Value::read(words), slots, visit))
      return false;
  return true;
}

RelaxStorage *storageOf(int64_t slot) {
  return reinterpret_cast<RelaxStorage *>(slot);
}

} // namespace

CapturedCall::CapturedCall(CapturedFunction *function, RelaxContext &context,
                           const Signature &signature, int64_t *in,
                           const TVMFFIAny *destinations)
    : function(function), context(context), signature(signature), in(in),
      destinations(destinations) {}

/// Collects everything that the host code depends on: numbers, sizes and
/// addresses. The key stays empty if an argument is a function.
void CapturedCall::makeKey() {
  key.reserve(signature.inSlots + 16);
  bool isPlain =
      forEachValue(signature.parameters, signature.parameterCount, in,
                   [&](const Value &type, const int64_t *slots) {
                     if (type.kind == RelaxTensor) {
                       // It does not matter which storage it is, but whether
                       // there is one does: a result may be this storage.
                       key.push_back(slots[0] != 0);
                       key.insert(key.end(), slots + 1, slots + 2 + type.rank);
                     } else if (type.kind == RelaxShape) {
                       key.insert(key.end(), slots, slots + type.rank);
                     } else {
                       key.push_back(slots[0]);
                     }
                     return type.kind != RelaxCallable;
                   });
  if (!isPlain) {
    key.clear();
    return;
  }
  key.push_back(destinations ? signature.resultCount : 0);
  for (int64_t i = 0; destinations && i < signature.resultCount; ++i) {
    const DLTensor &to = *tensorOf(destinations[i]);
    key.push_back(reinterpret_cast<int64_t>(dataOf(to)));
    key.insert(key.end(), to.shape, to.shape + to.ndim);
  }
  hash = 0x9E3779B97F4A7C15;
  for (int64_t word : key) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0xFF51AFD7ED558CCD;
    hash ^= hash >> 32;
  }
}

std::vector<RelaxStorage *> CapturedCall::argumentStorages() const {
  std::vector<RelaxStorage *> storages;
  forEachValue(signature.parameters, signature.parameterCount, in,
               [&](const Value &type, const int64_t *slots) {
                 if (type.kind == RelaxTensor && slots[0])
                   storages.push_back(storageOf(slots[0]));
                 return true;
               });
  return storages;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

CapturedCall::Outcome CapturedCall::begin(CompiledCode code, void *closure,
                                          int64_t *out) {
  if (!function)
    return Run;
  if (signature.hasHostParts)
    function->isExcluded = true;
  if (!context.stream || function->isExcluded.load(std::memory_order_relaxed) ||
      !context.stream->device.driver->canCapture()) {
    function = nullptr;
    return Run;
  }
  makeKey();
  if (key.empty()) {
    function->isExcluded = true;
    function = nullptr;
    return Run;
  }
  pool = &context.stream->graphs();
  std::shared_ptr<Graph> graph, stale;
  bool isReady = false, isRefused = false;
  {
    std::lock_guard<std::mutex> lock(pool->mutex);
    if ((graph = pool->find(function, hash, key))) {
      // The graph was captured while other weights were bound.
      if (graph->pinned && !graph->pinned->isBoundIn(graph->weights[0].second))
        stale = pool->remove(
            std::find(pool->graphs.begin(), pool->graphs.end(), graph));
      if (stale)
        graph = nullptr;
      isReady = graph && graph->executable;
      isRefused = graph && graph->isRefused;
    }
  }
  if (!graph) {
    bool isPlain = forEachValue(signature.results(), signature.resultCount, out,
                                [](const Value &type, const int64_t *) {
                                  return type.kind != RelaxCallable;
                                });
    if (!isPlain) {
      function->isExcluded = true;
      return Run;
    }
    watched = std::make_shared<Graph>();
    context.recorder = &recorder;
    return Run;
  }
  // If memory runs out, free memory cached by earlier calls, then retry.
  if (!isReady && !isRefused &&
      !capture(*graph, code, closure, out, /*isLast=*/false)) {
    context.stream->device.trim();
    capture(*graph, code, closure, out, /*isLast=*/true);
  }
  return replay(graph, out);
}

void CapturedCall::observe(const int64_t *out) {
  context.recorder = nullptr;
  if (!watched)
    return;
  Graph &graph = *watched;
  graph.function = function;
  graph.hash = hash;
  graph.key = std::move(key);
  graph.uses = std::move(recorder.uses);
  graph.weights = std::move(recorder.weights);
  // Finds which allocations become results; each must be exactly one result.
  std::vector<RelaxStorage *> storages;
  if (destinations)
    forEachValue(signature.results(), signature.resultCount, out,
                 [&](const Value &, const int64_t *slots) {
                   RelaxStorage *storage = storageOf(slots[0]);
                   bool isWhole =
                       storage &&
                       storage->data == reinterpret_cast<void *>(slots[1]);
                   storages.push_back(storage);
                   auto last = std::find(recorder.allocated.rbegin(),
                                         recorder.allocated.rend(), storage);
                   graph.resultAllocations.push_back(
                       isWhole && last != recorder.allocated.rend()
                           ? recorder.allocated.rend() - last - 1
                           : -1);
                   return true;
                 });
  for (size_t i = 0; i < storages.size(); ++i)
    if (std::count(storages.begin(), storages.end(), storages[i]) > 1)
      graph.resultAllocations[i] = -1;
}

void CapturedCall::end() {
  if (!watched)
    return;
  if (recorder.waits) {
    function->isExcluded = true;
    return;
  }
  std::shared_ptr<Graph> dropped;
  std::lock_guard<std::mutex> lock(pool->mutex);
  dropped = pool->insert(std::move(watched));
}

//===----------------------------------------------------------------------===//
// Replays
//===----------------------------------------------------------------------===//

CapturedCall::Outcome CapturedCall::replay(const std::shared_ptr<Graph> &graph,
                                           int64_t *out) {
  // If there is no graph, or it was released in the meantime, the code runs.
  std::vector<Graph::Copy> copies;
  {
    std::lock_guard<std::mutex> lock(pool->mutex);
    if (!graph->executable)
      return Run;
    if (destinations)
      return launch(*graph, out) ? Replayed : graph->executable ? Failed : Run;
    copies = graph->copies;
  }
  // Allocates new results without the lock. If memory runs out, the memory of
  // graphs is released.
  std::vector<RelaxStorage *> storages;
  for (const Graph::Copy &copy : copies) {
    RelaxStorage *storage =
        context.stream->allocate(&context, copy.bytes, context.error);
    if (!storage)
      return Failed;
    storages.push_back(storage);
  }
  std::shared_ptr<Graph> dropped;
  std::lock_guard<std::mutex> lock(pool->mutex);
  bool isThere = graph->executable;
  if (isThere && launch(*graph, out)) {
    DeviceDriver &driver = *context.stream->device.driver;
    for (size_t i = 0; i < copies.size(); ++i) {
      if (!driver.copy(storages[i]->data, copies[i].from, copies[i].bytes,
                       context.stream->handle, context.error))
        return Failed;
      out[copies[i].slot] = reinterpret_cast<int64_t>(storages[i]);
      out[copies[i].slot + 1] = reinterpret_cast<int64_t>(storages[i]->data);
    }
    return Replayed;
  }
  if (isThere && graph->executable)
    return Failed;
  // Its results took over the graph's memory, and would do so at each replay.
  if (!isThere) {
    ++function->failures;
    dropped = pool->insert(graph);
  }
  for (RelaxStorage *storage : storages)
    relax_rt_release(storage);
  return Run;
}

/// Must hold the mutex. Returns false with the error set, or with the graph
/// released if the device has no memory for it.
bool CapturedCall::launch(Graph &graph, int64_t *out) {
  DeviceDriver &driver = *context.stream->device.driver;
  if (!driver.launchGraph(graph.executable, context.stream->handle,
                          context.error)) {
    if (!strcmp(context.error.kind, "MemoryError")) {
      driver.destroyGraph(std::exchange(graph.executable, nullptr));
      graph.isRefused = true;
      ++function->failures;
      context.error = Error();
      context.error.function = signature.function;
    }
    return false;
  }
  ++function->replays;
  std::copy(graph.out.begin(), graph.out.end(), out);
  for (const Graph::Return &result : graph.returns) {
    out[result.slot] = in[result.argument];
    relax_rt_retain(storageOf(out[result.slot]));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// Lets kernels write results directly to their destinations, unless the call
/// reads memory there.
void CapturedCall::placeResults(Graph &graph, Recorder &recorder) {
  std::vector<Span> read;
  forEachValue(signature.parameters, signature.parameterCount, in,
               [&](const Value &type, int64_t *slots) {
                 if (type.kind == RelaxTensor)
                   read.push_back({reinterpret_cast<char *>(slots[1]),
                                   type.countBytes(slots)});
                 return true;
               });
  for (auto [words, table] : graph.weights) {
    // The weights that the code will use; without bound weights the code fails.
    if (!context.weights)
      context.weights = WeightSet::pin(table);
    if (!context.weights)
      continue;
    int64_t count = *words++;
    for (int64_t i = 0; i < count; ++i) {
      Value type = Value::read(words);
      std::vector<int64_t> slots(2);
      slots.insert(slots.end(), type.dims, type.dims + type.rank);
      read.push_back({static_cast<char *>(context.weights->addresses()[i]),
                      type.countBytes(slots.data())});
    }
  }
  for (size_t i = 0; i < graph.resultAllocations.size(); ++i) {
    if (graph.resultAllocations[i] < 0)
      continue;
    const DLTensor &tensor = *tensorOf(destinations[i]);
    Span to = spanOf(tensor);
    if (std::none_of(read.begin(), read.end(),
                     [&](const Span &span) { return span.overlaps(to); }))
      recorder.given.emplace_back(graph.resultAllocations[i], to);
  }
}

/// Records how later calls derive their results from the captured ones.
void CapturedCall::describeResults(Graph &graph, const int64_t *out) const {
  graph.out.assign(out, out + signature.outSlots);
  forEachValue(
      signature.results(), signature.resultCount, out,
      [&](const Value &type, const int64_t *slots) {
        if (type.kind != RelaxTensor || !slots[0])
          return true;
        int64_t slot = slots - out;
        int64_t argument = -1;
        forEachValue(signature.parameters, signature.parameterCount, in,
                     [&](const Value &type, int64_t *own) {
                       if (type.kind == RelaxTensor && own[0] == slots[0])
                         argument = own - in;
                       return argument < 0;
                     });
        if (argument >= 0)
          graph.returns.push_back({slot, argument});
        else
          graph.copies.push_back({slot, reinterpret_cast<void *>(slots[1]),
                                  type.countBytes(slots)});
        return true;
      });
}

/// Captures the code into the pool's stream. On failure the graph is refused,
/// the error is dropped and the code runs as usual. Returns false if memory
/// runs out and this is not the last attempt.
bool CapturedCall::capture(Graph &graph, CompiledCode code, void *closure,
                           int64_t *out, bool isLast) {
  Device &device = context.stream->device;
  std::shared_ptr<Graph> dropped;
  std::lock_guard<std::mutex> quiet(device.captures);
  std::lock_guard<std::mutex> lock(pool->mutex);
  if (graph.executable || graph.isRefused)
    return true; // another thread captured it first
  if (!pool->makeRoom(graph, dropped))
    return true;
  DeviceDriver &driver = *device.driver;
  DeviceStream *stream = pool->open(context.error);
  if (stream && driver.beginCapture(stream->handle, context.error)) {
    // The arguments still belong to the call: the storages of the capture are
    // undone separately, and a failed capture does not release arguments.
    RelaxStorage *outer = std::exchange(context.storages, nullptr);
    DeviceStream *caller = std::exchange(context.stream, stream);
    std::vector<RelaxStorage *> arguments = argumentStorages();
    std::vector<int64_t> references;
    for (RelaxStorage *storage : arguments)
      references.push_back(storage->references);
    Recorder recorder;
    recorder.isCapture = true;
    placeResults(graph, recorder);
    context.recorder = &recorder;
    bool ran = runCompiled(context, code, closure, in, out);
    if (ran && destinations)
      ran = signature.copyResults(context, out, destinations);
    else if (ran)
      describeResults(graph, out);
    context.recorder = nullptr;
    abandon(context);
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i]->references = references[i];
    context.storages = outer;
    context.stream = caller;
    Error ended;
    graph.executable =
        driver.endCapture(stream->handle, ran, ran ? context.error : ended);
  }
  memset(out, 0, signature.outSlots * sizeof(int64_t));
  if (graph.executable) {
    if (context.weights && !graph.weights.empty())
      graph.pinned = PinnedWeights(context.weights->retain());
    ++function->captures;
    return true;
  }
  bool isRetried = !isLast && !strcmp(context.error.kind, "MemoryError");
  if (!isRetried) {
    graph.isRefused = true;
    ++function->failures;
  }
  graph.copies.clear();
  graph.returns.clear();
  context.error = Error();
  context.error.function = signature.function;
  pool->closeIfUnused();
  return !isRetried;
}
