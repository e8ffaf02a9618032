//===- CublasLt.cpp - matrix products by cuBLASLt -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLASLt stores matrices in column-major order, so it computes the transposed
// product: D' [n, m] = W' [n, k] @ X' [k, m]. The descriptors for each shape,
// and the algorithm that the library chooses, are cached; so a captured call,
// which has run once before, makes no queries.
//
//===----------------------------------------------------------------------===//

#include "Runtime/CUDA/CublasLt.h"
#include "Runtime/Calls/Call.h"
#include "Runtime/Calls/Device.h"

#include <cstdlib>
#include <dlfcn.h>
#include <tuple>

using namespace relax_rt;

namespace {

ForkResetMutex opening;

/// Opens the library. Returns null with `error` set on failure.
const cublaslt::Library *openLibrary(Error &error) {
  static const cublaslt::Library *opened = nullptr;
  std::lock_guard<std::mutex> lock(opening);
  if (opened)
    return opened;
  const char *given = std::getenv("RELAX_CUBLASLT");
  void *handle = nullptr;
  std::string reason;
  for (const char *path : {given ? given : "libcublasLt.so.13",
                           "libcublasLt.so.12", "libcublasLt.so.11"}) {
    // Prefer a copy that is already loaded: it matches the loaded driver.
    for (int flags : {RTLD_NOLOAD, 0})
      if (!handle)
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (const char *text = handle ? nullptr : dlerror(); text && reason.empty())
      reason = text;
    if (handle || given)
      break;
  }
  auto refuse = [&](const std::string &why) {
    fail(error, "DeviceError",
         "the code calls cuBLASLt, which cannot be loaded: " + why +
             "; install it, name it in RELAX_CUBLASLT, or compile without it");
    return nullptr;
  };
  if (!handle)
    return refuse(reason);
  cublaslt::Library library;
#define RELAX_CUBLASLT_FIND(field, name, parameters)                           \
  library.field =                                                              \
      reinterpret_cast<decltype(library.field)>(dlsym(handle, #name));         \
  if (!library.field)                                                          \
    return refuse("it has no " #name);
  RELAX_CUBLASLT_FUNCTIONS(RELAX_CUBLASLT_FIND)
#undef RELAX_CUBLASLT_FIND
  return opened = new cublaslt::Library(library);
}

bool check(cublaslt::Result result, const char *what, const Device &device,
           Error &error) {
  if (result == cublaslt::kSuccess)
    return true;
  return fail(
      error, result == cublaslt::kAllocFailed ? "MemoryError" : "DeviceError",
      std::string(what) + " of cuBLASLt failed on " +
          Device::nameOf(device.id) + ": status " + std::to_string(result));
}

int typeOf(DLDataType dtype) {
  return dtype.code == kDLBfloat ? cublaslt::kBF16
         : dtype.bits == 16      ? cublaslt::kF16
                                 : cublaslt::kF32;
}

/// The key under which an algorithm is chosen.
struct Problem {
  int64_t m, n, k;
  int type, resultType;
  bool isTransposed;
  int epilogue;
  uint32_t alignment; // alignment common to all addresses
  uint64_t workspaceBytes;

  bool operator<(const Problem &other) const {
    auto key = [](const Problem &p) {
      return std::tie(p.m, p.n, p.k, p.type, p.resultType, p.isTransposed,
                      p.epilogue, p.alignment, p.workspaceBytes);
    };
    return key(*this) < key(other);
  }
};

/// A problem expressed as cuBLASLt descriptors, with the chosen algorithm.
class Plan {
public:
  explicit Plan(const cublaslt::Library &library) : library(library) {}
  ~Plan() {
    for (cublaslt::Layout layout : {w, x, y})
      if (layout)
        library.destroyLayout(layout);
    if (operation)
      library.destroyOperation(operation);
  }
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  bool make(cublaslt::Handle handle, const Problem &problem,
            const Device &device, Error &error) {
    auto layout = [&](cublaslt::Layout &made, int type, int64_t rows,
                      int64_t columns) {
      return check(library.createLayout(&made, type, rows, columns, rows),
                   "a layout", device, error);
    };
    int transposed =
        problem.isTransposed ? cublaslt::kTransposed : cublaslt::kPlain;
    return check(library.createOperation(&operation, cublaslt::kComputeF32,
                                         cublaslt::kF32),
                 "an operation", device, error) &&
           set(cublaslt::kTransposeA, transposed, device, error) &&
           set(cublaslt::kEpilogue, problem.epilogue, device, error) &&
           layout(w, problem.type, problem.isTransposed ? problem.k : problem.n,
                  problem.isTransposed ? problem.n : problem.k) &&
           layout(x, problem.type, problem.k, problem.m) &&
           layout(y, problem.resultType, problem.n, problem.m) &&
           choose(handle, problem, device, error);
  }

  template <typename T>
  bool set(int attribute, T value, const Device &device, Error &error) {
    return check(
        library.setOperation(operation, attribute, &value, sizeof(value)),
        "an operation", device, error);
  }

  const cublaslt::Library &library;
  cublaslt::Operation operation = nullptr;
  cublaslt::Layout w = nullptr, x = nullptr, y = nullptr;
  cublaslt::Algorithm algorithm{};

private:
  bool choose(cublaslt::Handle handle, const Problem &problem,
              const Device &device, Error &error) {
    cublaslt::Preference preference = nullptr;
    if (!check(library.createPreference(&preference), "a preference", device,
               error))
      return false;
    library.setPreference(preference, cublaslt::kMaxWorkspaceBytes,
                          &problem.workspaceBytes,
                          sizeof(problem.workspaceBytes));
    for (int attribute : {cublaslt::kMinAlignmentA, cublaslt::kMinAlignmentB,
                          cublaslt::kMinAlignmentC, cublaslt::kMinAlignmentD})
      library.setPreference(preference, attribute, &problem.alignment,
                            sizeof(problem.alignment));
    cublaslt::Choice choice{};
    int found = 0;
    cublaslt::Result result = library.choose(handle, operation, w, x, y, y,
                                             preference, 1, &choice, &found);
    library.destroyPreference(preference);
    if (result == cublaslt::kSuccess && !found)
      result = cublaslt::kNotSupported;
    algorithm = choice.algorithm;
    return check(result, "the choice of an algorithm", device, error);
  }
};

/// The cuBLASLt state of one device. The mutex is held while a plan is used,
/// since each call stores its bias pointer in the plan.
struct OnDevice {
  std::mutex mutex;
  cublaslt::Handle handle = nullptr;
  std::map<Problem, std::unique_ptr<Plan>> plans;
};

/// Upper bound on cached plans, for programs whose sizes differ at each call.
constexpr size_t kMostPlans = 1024;

uint32_t alignmentOf(std::initializer_list<const void *> addresses) {
  uintptr_t bits = 256;
  for (const void *address : addresses)
    bits |= reinterpret_cast<uintptr_t>(address);
  return static_cast<uint32_t>(bits & -bits);
}

} // namespace

/// The library function "relax.cublaslt". Tensors: x (a matrix or a stack of
/// rows), a matrix, an optional bias vector, the result, scratch memory.
/// Numbers: whether the matrix is transposed, the activation (0 none, 1 relu, 2
/// gelu by tanh), whether there is a bias. Returns false with the error of the
/// call set.
static bool multiply(RelaxContext &context, const int64_t *words,
                     const int64_t *slots) {
  Error &error = context.error;
  constexpr int kMost = 5;
  Value types[kMost];
  const int64_t *tensors[kMost];
  int count = static_cast<int>(*words++);
  if (count < 4 || count > kMost || !context.stream ||
      context.stream->device.id.type != kDLCUDA)
    return fail(error, "DeviceError",
                "cuBLASLt multiplies tensors of a CUDA device");
  for (int i = 0; i < count; ++i) {
    types[i] = Value::read(words);
    tensors[i] = slots;
    slots += 2 + types[i].rank;
  }
  auto dataOf = [&](int i) { return reinterpret_cast<void *>(tensors[i][1]); };
  int y = count - 2, workspace = count - 1;
  Problem problem{};
  problem.isTransposed = slots[0];
  const int64_t *matrix = tensors[1] + 2;
  problem.k = matrix[problem.isTransposed];
  problem.n = matrix[!problem.isTransposed];
  problem.m = 1;
  for (int64_t axis = 0; axis + 1 < types[0].rank; ++axis)
    problem.m *= tensors[0][2 + axis];
  if (!problem.m || !problem.n)
    return true;
  problem.type = typeOf(types[0].dtype);
  problem.resultType = typeOf(types[y].dtype);
  bool hasBias = slots[2];
  constexpr int activations[] = {0, cublaslt::kRelu, cublaslt::kGelu};
  problem.epilogue = activations[slots[1]] | (hasBias ? cublaslt::kBias : 0);
  if (!problem.epilogue)
    problem.epilogue = cublaslt::kNoEpilogue;
  problem.alignment = alignmentOf({dataOf(0), dataOf(1), dataOf(y)});
  problem.workspaceBytes = types[workspace].countBytes(tensors[workspace]);

  const cublaslt::Library *library = openLibrary(error);
  if (!library)
    return false;
  Device &device = context.stream->device;
  static OnDevice *all = new OnDevice[kMaxDevices];
  OnDevice &here = all[device.index];
  std::lock_guard<std::mutex> lock(here.mutex);
  if (!here.handle &&
      !check(library->create(&here.handle), "the start", device, error)) {
    here.handle = nullptr;
    return false;
  }
  std::unique_ptr<Plan> &plan = here.plans[problem];
  if (!plan) {
    auto made = std::make_unique<Plan>(*library);
    if (!made->make(here.handle, problem, device, error)) {
      here.plans.erase(problem);
      return false;
    }
    if (here.plans.size() > kMostPlans) {
      here.plans.clear();
      here.plans[problem] = std::move(made);
    } else {
      plan = std::move(made);
    }
  }
  Plan &used = *here.plans[problem];
  if (hasBias && !used.set(cublaslt::kBiasPointer, dataOf(2), device, error))
    return false;
  const float one = 1, zero = 0;
  return check(library->multiply(here.handle, used.operation, &one, dataOf(1),
                                 used.w, dataOf(0), used.x, &zero, dataOf(y),
                                 used.y, dataOf(y), used.y, &used.algorithm,
                                 dataOf(workspace), problem.workspaceBytes,
                                 context.stream->handle),
               "a product", device, error);
}

static const RuntimeFunction product("relax.cublaslt", multiply);
