//===- State.h - what is there on emulated devices --------------*- C++ -*-===//
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

/// Errors of the driver (CUresult) beyond those that the runtime tells apart.
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

/// A block, with guards before and behind the bytes that were asked for.
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

/// What is to be done at each launch.
using Nodes = std::vector<std::function<Result()>>;

struct EmulatedStream {
  bool isCaptured = false, isInvalid = false;
  Nodes nodes;
};

/// What cuLinkComplete makes of a text.
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

/// Counts a call. The error that is to be injected, or that of a call outside
/// any context where it needs one.
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

/// False where there is none such.
template <typename T>
bool destroyObject(void *object) {
  Lock lock(state().mutex);
  if (!state().objects.erase(object))
    return false;
  delete static_cast<T *>(object);
  return true;
}

/// Lets the host touch the device's memory, for as long as it lives.
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

/// Runs it, or puts it behind the nodes of a stream that is captured.
Result submit(Stream stream, std::function<Result()> work);
/// The error of a call that no stream may be captured in; with a stream, not
/// that one. It ends the capture.
Result refuseInCapture(Stream stream = nullptr);
/// The error of what cannot be put into a stream that is captured.
Result refuseIfCaptured(Stream stream);

/// The image that a text in place of PTX is of; null where it is of none.
const void *imageOf(const void *text);

#define RELAX_REFUSE(call)                                                     \
  if (Result refused = call)                                                   \
  return refused

} // namespace emulator

#endif // RELAX_EMULATOR_STATE_H
