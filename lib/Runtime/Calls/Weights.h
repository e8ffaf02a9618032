//===- Weights.h - the tensors a module refers to by name -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module has a pointer to the set of weights that are bound. A call pins the
// set when it first needs a weight, and uses it to its end; a call of a closure
// uses the set that the closure was made with. Binding replaces the set while
// calls run:
//
//   table ──▶ set 2 ◀── later calls
//             set 1 ◀── calls that began before, and graphs captured from them
//
// So no call sees weights of two sets, and what a set holds lives as long as
// anybody uses it: objects of TVM FFI, and memory that weights were copied to.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_WEIGHTS_H
#define RELAX_RUNTIME_CALLS_WEIGHTS_H

#include "Runtime/Core/Context.h"

#include <atomic>
#include <utility>

namespace relax_rt {

/// A weight that is given: its place in the table, its data, and what keeps the
/// data, which may be null.
struct BoundWeight {
  int64_t index;
  void *data;
  RelaxStorage *keeper;
};

/// What the weights of a module are for a call.
class WeightSet {
public:
  /// The set that is bound, with a reference; null where none is.
  static WeightSet *pin(void **table);
  /// Whether it is the one that is bound.
  bool isBoundIn(void **table) const;

  /// Binds weights of a table of `count`; `device` has those that are not on
  /// the host. Takes over the references of their keepers. False with the error
  /// set, where nothing is bound.
  static bool bind(void **table, int64_t count, DLDevice device,
                   BoundWeight *begin, BoundWeight *end, Error &error);
  /// Takes the set out of the table.
  static void unbind(void **table);

  WeightSet *retain() {
    references.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  /// What was last used may be under way on a device, and is waited for.
  void release();
  /// A storage that holds a reference; null where there is no memory.
  RelaxStorage *keep();
  /// The set that such a storage holds; null of any other storage.
  static WeightSet *keptBy(const RelaxStorage *storage);

  void *const *addresses() const { return data; }
  /// The place of a weight that is not bound, or -1.
  int64_t findUnbound() const;
  /// Where those are that are not on the host; of type `kDLCPU` where none is.
  DLDevice device() const { return where; }

private:
  static WeightSet *create(int64_t count);
  void destroy();
  /// Waits for what may use weights on a device.
  static void waitFor(DLDevice device);

  std::atomic<int64_t> references{1};
  int64_t count = 0;
  DLDevice where{kDLCPU, 0};
  void **data = nullptr;
  RelaxStorage **keepers = nullptr;
  bool *isBound = nullptr;
};

/// A reference of a set, or of none.
class PinnedWeights {
public:
  PinnedWeights() = default;
  /// Takes over a reference.
  explicit PinnedWeights(WeightSet *set) : set(set) {}
  PinnedWeights(PinnedWeights &&other)
      : set(std::exchange(other.set, nullptr)) {}
  PinnedWeights &operator=(PinnedWeights &&other) {
    std::swap(set, other.set);
    return *this;
  }
  ~PinnedWeights() {
    if (set)
      set->release();
  }
  WeightSet *operator->() const { return set; }
  explicit operator bool() const { return set; }

private:
  WeightSet *set = nullptr;
};

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_WEIGHTS_H
