//===- Graphs.h - calls that are captured and replayed ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work that host code submits to a stream depends on its slots and on
// numbers that it reads from the device. A function that reads no such numbers
// does the same work whenever it is called with the same slots, so the work can
// be captured once, as a graph, and launched in one step:
//
//   first call with these slots    runs, and is observed
//   second call                    runs into a separate stream, which is
//                                  captured; the graph is launched
//   later calls                    launch the graph
//
// A function keeps a limited number of graphs. When the limit is reached, a
// call is captured in place of another only if it is made more often
// (`GraphPool::makeRoom`): otherwise, alternating calls would only evict each
// other's graphs. Calls for which there is no room run uncaptured, and are
// counted.
//
// All graphs of a stream share the memory of the capturing stream: the contents
// that one graph leaves there are lost when the next one starts. So results are
// copied out. If the caller gives destinations, they are part of the key, and
// kernels write there directly, unless the call reads from the same memory.
//
// The runtime itself never waits for the device during a capture
// (`Device::captures`). Another library that does so in another thread gets an
// error from the driver and breaks the capture, which lasts as long as one run
// of the host code.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_GRAPHS_H
#define RELAX_RUNTIME_CALLS_GRAPHS_H

#include "Runtime/Calls/Call.h"
#include "Runtime/Calls/Device.h"
#include "Runtime/Calls/Weights.h"

#include <functional>
#include <list>

namespace relax_rt {

/// Records the actions of host code during a call that is observed or captured.
struct Recorder {
  /// Allocates device memory for host code. Returns null with the call's error
  /// set.
  RelaxStorage *allocate(RelaxContext &context, int64_t bytes, int64_t align);
  /// Whether host code may wait for the device, or call something that may.
  /// Returns false with the call's error set.
  bool mayWait(RelaxContext &context);
  /// The same for the upload of a constant.
  bool mayLoad(RelaxContext &context, const RelaxDeviceConstant &constant);
  /// Notes that host code uses the loaded instance of a global.
  void use(const void *loaded);
  void useWeights(const int64_t *words, void **table);

  bool isCapture = false;
  /// Whether host code has waited.
  bool waits = false;
  /// The allocated storages in order; during a capture only their number
  /// matters.
  std::vector<RelaxStorage *> allocated;
  int64_t allocations = 0;
  /// For a capture: indices and memory of allocations that bypass the pool.
  std::vector<std::pair<int64_t, Span>> given;
  std::vector<const void *> uses;
  std::vector<std::pair<const int64_t *, void **>> weights;
};

class CapturedFunction;

/// The calls of a captured function with equal slots on one stream.
struct Graph {
  /// The source of a result that lies in the graph's memory.
  struct Copy {
    int64_t slot;
    void *from;
    int64_t bytes;
  };
  /// A result that is one of the arguments.
  struct Return {
    int64_t slot, argument;
  };

  CapturedFunction *function = nullptr;
  uint64_t hash = 0;
  std::vector<int64_t> key;
  /// Null before the capture and after the graph was released.
  void *executable = nullptr;
  /// Capturing failed, or the graph was released.
  bool isRefused = false;
  int64_t lastUse = 0;
  /// How often it was called recently (`GraphPool::find`).
  int64_t calls = 0;
  /// Observed in the first call: globals, weights, and for each result the
  /// index of its allocation, or -1.
  std::vector<const void *> uses;
  std::vector<std::pair<const int64_t *, void **>> weights;
  /// The weights that the captured kernels read.
  PinnedWeights pinned;
  std::vector<int64_t> resultAllocations;
  /// The slots of the results, and the indices of those that differ at each
  /// call.
  std::vector<int64_t> out;
  std::vector<Copy> copies;
  std::vector<Return> returns;
};

/// The graphs that are launched into a stream, and their memory.
class GraphPool {
public:
  explicit GraphPool(DeviceStream &target) : target(target) {}

  /// Releases the graphs of a device, or of all devices, that satisfy a
  /// predicate. Their memory is freed with the last one.
  static void dropAll(Device &device,
                      const std::function<bool(const Graph &)> &test);
  static void dropAll(const std::function<bool(const Graph &)> &test);
  /// Drops the graphs that use a loaded global or a table of weights.
  static void dropUsersOf(const void *used);

private:
  friend class CapturedCall;
  friend class CapturedFunction;

  /// Returns the capturing stream, or null with `error` set. Must hold the
  /// mutex.
  DeviceStream *open(Error &error);
  /// Frees memory and stream if no graph is left. Must hold the mutex and
  /// `Device::captures`.
  void closeIfUnused();
  /// Finds the graph of a call and counts one use of it.
  std::shared_ptr<Graph> find(CapturedFunction *function, uint64_t hash,
                              const std::vector<int64_t> &key);
  /// Keeps the observation of a call. If there are too many, evicts the
  /// function's oldest graph that is not captured and returns it: graphs are
  /// destroyed without locks, as their destruction may wait.
  std::shared_ptr<Graph> insert(std::shared_ptr<Graph> graph);
  /// Whether the function may have one more graph, possibly in place of one
  /// that is called less often, which is moved to `dropped`.
  bool makeRoom(const Graph &candidate, std::shared_ptr<Graph> &dropped);
  /// Moves graphs that satisfy `test` to `dropped`.
  void drop(const std::function<bool(const Graph &)> &test,
            std::list<std::shared_ptr<Graph>> &dropped);
  /// Removes a graph from the list and returns it to the driver.
  std::shared_ptr<Graph> remove(std::list<std::shared_ptr<Graph>>::iterator at);

  DeviceStream &target;
  std::mutex mutex;
  std::unique_ptr<DeviceStream> stream;
  std::list<std::shared_ptr<Graph>> graphs;
  int64_t uses = 0;
};

/// A function whose calls are captured.
class CapturedFunction {
public:
  /// Takes a reference to a TVM FFI function. Keeps at most `limit` graphs for
  /// each stream.
  CapturedFunction(TVMFFIObject *function, int64_t limit);
  ~CapturedFunction();

  int call(const TVMFFIAny *args, int32_t count, TVMFFIAny *result);
  /// Takes the captured function of the compiled call that begins in this
  /// thread; usually null.
  static CapturedFunction *takeCurrent();

  /// The number of graphs.
  int64_t countGraphs() const;

  const int64_t limit;
  /// The host code waits for the device, or calls foreign functions.
  std::atomic<bool> isExcluded{false};
  std::atomic<int64_t> captures{0}, replays{0}, failures{0};
  /// Calls that ran uncaptured because other calls occupy all graphs.
  std::atomic<int64_t> crowded{0};

private:
  TVMFFIObject *const function;
};

/// A call of compiled code, possibly of a captured function.
class CapturedCall {
public:
  /// With a null `function` this object does nothing.
  CapturedCall(CapturedFunction *function, RelaxContext &context,
               const Signature &signature, int64_t *in,
               const TVMFFIAny *destinations);

  enum Outcome {
    Run,      ///< the code is to be run
    Replayed, ///< `out` holds the results, or the destinations
    Failed,   ///< with `context.error` set
  };
  Outcome begin(CompiledCode code, void *closure, int64_t *out);
  /// Called after the code has run.
  void observe(const int64_t *out);
  /// Called when the call has succeeded.
  void end();

private:
  void makeKey();
  Outcome replay(const std::shared_ptr<Graph> &graph, int64_t *out);
  bool launch(Graph &graph, int64_t *out);
  bool capture(Graph &graph, CompiledCode code, void *closure, int64_t *out,
               bool isLast);
  void placeResults(Graph &graph, Recorder &recorder);
  void describeResults(Graph &graph, const int64_t *out) const;
  std::vector<RelaxStorage *> argumentStorages() const;

  CapturedFunction *function;
  RelaxContext &context;
  const Signature &signature;
  int64_t *in;
  const TVMFFIAny *destinations;
  GraphPool *pool = nullptr;
  Recorder recorder;
  /// The graph under construction from a call that is observed.
  std::shared_ptr<Graph> watched;
  std::vector<int64_t> key;
  uint64_t hash = 0;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_GRAPHS_H
