//===- Graphs.h - calls that are captured and replayed ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What host code puts into a stream depends on its slots, and on numbers that
// it reads from the device. A function that reads none does the same whenever
// it is called with the same slots, so what it does can be captured once, as a
// graph, and launched at once:
//
//   first call with these slots    runs, and is watched
//   second call                    runs into a stream of our own, which is
//                                  captured; the graph is launched
//   later calls                    launch the graph
//
// A function keeps a limited number of graphs. When all of them are taken,
// a call is captured in the place of another only if it is made more often
// (`GraphPool::makeRoom`): calls that take turns would only replace each
// other's graphs otherwise. Those that find no room run, and are counted.
//
// All graphs of a stream share their memory, that of the stream which captures:
// what one has in it is of no use when the next one starts. So results are
// copied out; or the caller gives destinations, which are part of the key: then
// kernels write there, where nothing that the call reads lies there too.
//
// Nothing of ours waits for the device meanwhile (`Device::captures`). Another
// library that does so in another thread has an error of the driver, and ends
// the capture, which lasts as long as one run of the host code.
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

/// What host code does in a call that is watched, or captured.
struct Recorder {
  /// Memory for an allocation of host code, of the device. Null with the
  /// call's error set.
  RelaxStorage *allocate(RelaxContext &context, int64_t bytes, int64_t align);
  /// Whether host code may wait for the device, or call what may; false with
  /// the call's error set.
  bool mayWait(RelaxContext &context);
  /// The same of the upload of a constant.
  bool mayLoad(RelaxContext &context, const RelaxDeviceConstant &constant);
  /// Host code uses what a global has become on the device.
  void use(const void *loaded);
  void useWeights(const int64_t *words, void **table);

  bool isCapture = false;
  /// Whether host code has waited.
  bool waits = false;
  /// The storages of allocations in their order; of a capture, how many.
  std::vector<RelaxStorage *> allocated;
  int64_t allocations = 0;
  /// Of a capture: the places of allocations that are not from the pool.
  std::vector<std::pair<int64_t, Span>> given;
  std::vector<const void *> uses;
  std::vector<std::pair<const int64_t *, void **>> weights;
};

class CapturedFunction;

/// A captured function's calls with the same slots on one stream.
struct Graph {
  /// Where a result that lies in the graph's memory is copied from.
  struct Copy {
    int64_t slot;
    void *from;
    int64_t bytes;
  };
  /// A result that is an argument.
  struct Return {
    int64_t slot, argument;
  };

  CapturedFunction *function = nullptr;
  uint64_t hash = 0;
  std::vector<int64_t> key;
  /// Null before it is captured, and when it was given back.
  void *executable = nullptr;
  /// It could not be captured, or was given back.
  bool isRefused = false;
  int64_t lastUse = 0;
  /// How often it was called lately (`GraphPool::find`).
  int64_t calls = 0;
  /// What the watched call has seen: globals, weights, and for each result
  /// which allocation it is, or -1.
  std::vector<const void *> uses;
  std::vector<std::pair<const int64_t *, void **>> weights;
  /// Those that its kernels read, if it is captured.
  PinnedWeights pinned;
  std::vector<int64_t> resultAllocations;
  /// The slots of its results, and those of them that differ at each call.
  std::vector<int64_t> out;
  std::vector<Copy> copies;
  std::vector<Return> returns;
};

/// The graphs that are launched into a stream, and their memory.
class GraphPool {
public:
  explicit GraphPool(DeviceStream &target) : target(target) {}

  /// Gives back those of a device, or of all, that a test holds for. Their
  /// memory goes with the last one.
  static void dropAll(Device &device,
                      const std::function<bool(const Graph &)> &test);
  static void dropAll(const std::function<bool(const Graph &)> &test);
  /// Those that use what a global has become, or a table of weights.
  static void dropUsersOf(const void *used);

private:
  friend class CapturedCall;
  friend class CapturedFunction;

  /// The stream that captures; null with the error set. Under the mutex.
  DeviceStream *open(Error &error);
  /// Gives back memory and stream where no graph is left. Under the mutex, and
  /// `Device::captures`.
  void closeIfUnused();
  /// The graph of a call, which counts as one use of it.
  std::shared_ptr<Graph> find(CapturedFunction *function, uint64_t hash,
                              const std::vector<int64_t> &key);
  /// Keeps what was watched of a call. The function's oldest one that is not
  /// captured goes where there are too many, and is returned: graphs are
  /// destroyed without locks, as what they hold may have to be waited for.
  std::shared_ptr<Graph> insert(std::shared_ptr<Graph> graph);
  /// Whether the function may have one more graph, perhaps in the place of one
  /// that is called less often, which is moved to `dropped`.
  bool makeRoom(const Graph &candidate, std::shared_ptr<Graph> &dropped);
  /// Moves graphs to `dropped`.
  void drop(const std::function<bool(const Graph &)> &test,
            std::list<std::shared_ptr<Graph>> &dropped);
  /// Takes a graph out of the list, and gives it back to the driver.
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
  /// Takes a reference of a function of TVM FFI. At most `limit` graphs are
  /// kept for each stream.
  CapturedFunction(TVMFFIObject *function, int64_t limit);
  ~CapturedFunction();

  int call(const TVMFFIAny *args, int32_t count, TVMFFIAny *result);
  /// That of the call of compiled code that begins in this thread; null for
  /// most.
  static CapturedFunction *takeCurrent();

  /// How many graphs there are.
  int64_t countGraphs() const;

  const int64_t limit;
  /// Its host code waits for the device, or calls functions of others.
  std::atomic<bool> isExcluded{false};
  std::atomic<int64_t> captures{0}, replays{0}, failures{0};
  /// Calls that ran because others have all the graphs.
  std::atomic<int64_t> crowded{0};

private:
  TVMFFIObject *const function;
};

/// A call of compiled code, that may be one of a captured function.
class CapturedCall {
public:
  /// `function` may be null: then nothing happens here.
  CapturedCall(CapturedFunction *function, RelaxContext &context,
               const Signature &signature, int64_t *in,
               const TVMFFIAny *destinations);

  enum Outcome {
    Run,      ///< the code is to be run
    Replayed, ///< `out` holds the results, or the destinations
    Failed,   ///< with `context.error` set
  };
  Outcome begin(CompiledCode code, void *closure, int64_t *out);
  /// After the code has run.
  void observe(const int64_t *out);
  /// The call has succeeded.
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
  /// What becomes of a call that is watched.
  std::shared_ptr<Graph> watched;
  std::vector<int64_t> key;
  uint64_t hash = 0;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_GRAPHS_H
