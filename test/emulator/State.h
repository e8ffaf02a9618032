//===- State.h - state of the emulated devices ------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_EMULATOR_STATE_H
#define RELAX_EMULATOR_STATE_H

#include "Emulator.h"
#include "Runtime/CUDA/CUDADriver.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#define RELAX_EXPORT extern "C" __attribute__((visibility("default")))

namespace emulator {

using namespace relax_rt::cuda;

/// Driver errors (CUresult) that the runtime does not distinguish.
constexpr Result kInvalidValue = 1, kNotInitialized = 3, kInvalidDevice = 101,
                 kInvalidContext = 201, kNotFound = 500, kLaunchTimeout = 702,
                 kLaunchFailed = 719, kCaptureUnsupported = 900,
                 kCaptureInvalidated = 901;

constexpr unsigned kPlainShared = 48 << 10;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

struct Rule {
  int32_t nth, code;
};

/// A block, with guards before and after the requested bytes.
struct Allocation {
  size_t whole, bytes;
  int device;
};

struct LoadedFunction {
  const RelaxEmulatorKernel *kernel;
  unsigned mostShared = kPlainShared;
};

struct LoadedModule {
  int64_t count;
  const RelaxEmulatorKernel *kernels;
  std::map<std::string, LoadedFunction> functions;
};

/// The actions of each launch.
using Nodes = std::vector<std::function<Result()>>;

struct EmulatedStream {
  bool isCaptured = false, isInvalid = false;
  Nodes nodes;
};

/// The result of cuLinkComplete.
struct Cubin {
  char magic[8];
  const void *image;
};

struct EmulatedLink {
  Cubin cubin{};
};

struct State {
  std::recursive_mutex mutex;
  bool isInitialized = false;
  int devices = 1, version = 12080;
  size_t memory = size_t(1) << 30;
  std::map<std::string, Rule> rules;
  std::map<std::string, int64_t> calls;
  std::string log, shownLog;
  char *arena = nullptr;
  std::map<char *, Allocation> blocks; // by their first byte
  int accesses = 0;
  std::set<void *> objects; // modules, streams, graphs, links
  std::set<EmulatedStream *> captured;
};

State &state();

using Lock = std::lock_guard<std::recursive_mutex>;

extern thread_local std::vector<Context> contexts;

/// Counts a call. Returns an injected error, or the error of a call that lacks
/// a required context.
Result enter(const char *name, bool needsContext = true);

#define RELAX_ENTER(...)                                                       \
  if (Result injected = enter(__VA_ARGS__))                                    \
  return injected

template <typename T>
T *makeObject(T object) {
  auto *made = new T(std::move(object));
  Lock lock(state().mutex);
  state().objects.insert(made);
  return made;
}

/// Returns false if there is no such object.
template <typename T>
bool destroyObject(void *object) {
  Lock lock(state().mutex);
  if (!state().objects.erase(object))
    return false;
  delete static_cast<T *>(object);
  return true;
}

/// RAII: lets the host access device memory.
class Access {
public:
  Access();
  ~Access();
};

/// Whether a block holds all of [data, data + bytes).
bool isInside(const void *data, size_t bytes);

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// Runs the work, or appends it to the nodes of a captured stream.
Result submit(Stream stream, std::function<Result()> work);
/// The error of a call that is forbidden while any stream is captured, or any
/// but `stream`. It invalidates the capture.
Result refuseInCapture(Stream stream = nullptr);
/// The error of work that cannot be put into a captured stream.
Result refuseIfCaptured(Stream stream);

/// The image that a fake PTX text stands for, or null.
const void *imageOf(const void *text);

#define RELAX_REFUSE(call)                                                     \
  if (Result refused = call)                                                   \
  return refused

} // namespace emulator

#endif // RELAX_EMULATOR_STATE_H
