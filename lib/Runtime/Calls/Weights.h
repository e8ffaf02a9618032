//===- Weights.h - the tensors a module refers to by name -------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module has a pointer to the set of bound weights. A call pins the set when
// it first needs a weight and uses that set until it ends; a call of a closure
// uses the set that the closure was created with. Binding replaces the set
// while calls run:
//
//   table ──▶ set 2 ◀── later calls
//             set 1 ◀── calls that began before, and graphs captured from them
//
// So no call sees weights of two sets. Everything that a set holds (TVM FFI
// objects, and memory that weights were copied to) lives as long as the set is
// in use.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_WEIGHTS_H
#define RELAX_RUNTIME_CALLS_WEIGHTS_H

#include "Runtime/Core/Context.h"

#include <atomic>
#include <utility>

namespace relax_rt {

/// A weight to bind: its index in the table, its data, and the owner of the
/// data, which may be null.
struct BoundWeight {
  int64_t index;
  void *data;
  RelaxStorage *keeper;
};

/// A consistent set of weights of a module, as seen by one call.
class WeightSet {
public:
  /// Returns a reference to the bound set, or null if there is none.
  static WeightSet *pin(void **table);
  /// Returns whether this set is the bound one.
  bool isBoundIn(void **table) const;

  /// Binds weights of a table of `count` entries; `device` holds those that are
  /// not on the host. Takes over the references to their keepers. On failure
  /// binds nothing and returns false with `error` set.
  static bool bind(void **table, int64_t count, DLDevice device,
                   BoundWeight *begin, BoundWeight *end, Error &error);
  /// Removes the set from the table.
  static void unbind(void **table);

  WeightSet *retain() {
    references.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  /// Drops a reference. The last one waits for the device, which may still use
  /// the weights.
  void release();
  /// Returns a storage that holds a reference to the set; null if out of
  /// memory.
  RelaxStorage *keep();
  /// Returns the set that such a storage holds; null for any other storage.
  static WeightSet *keptBy(const RelaxStorage *storage);

  void *const *addresses() const { return data; }
  /// Returns the index of an unbound weight, or -1.
  int64_t findUnbound() const;
  /// The device of the weights that are not on the host; `kDLCPU` if there are
  /// none.
  DLDevice device() const { return where; }

private:
  static WeightSet *create(int64_t count);
  void destroy();
  /// Waits for work that may use weights on a device.
  static void waitFor(DLDevice device);

  std::atomic<int64_t> references{1};
  int64_t count = 0;
  DLDevice where{kDLCPU, 0};
  void **data = nullptr;
  RelaxStorage **keepers = nullptr;
  bool *isBound = nullptr;
};

/// An owning reference to a set, or null.
class PinnedWeights {
public:
  PinnedWeights() = default;
  /// Takes over a reference.
  explicit PinnedWeights(WeightSet *set) : set(set) {}
  PinnedWeights(PinnedWeights &&other) noexcept
      : set(std::exchange(other.set, nullptr)) {}
  PinnedWeights &operator=(PinnedWeights &&other) noexcept {
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
