//===- Shares.cpp - storages that others keep -----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The storages of a call are its own thread's: they are in its list, and a call
// that fails frees them whatever their counts are, since the code that had the
// references is gone. What is given to a callback or to a library may be kept
// there for any time, and dropped in any thread. So each such reference is a
// storage of its own, in no list, that shares the memory:
//
//   compiled code ──▶ storage ──▶ ┌────────┐
//                                 │ Shared │──▶ memory
//   callback, view ─▶ storage ──▶ └────────┘
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Context.h"
#include "Runtime/Core/Pool.h"

#include <atomic>
#include <cstdlib>
#include <new>

using namespace relax_rt;

namespace {

/// The memory of a storage that others share.
struct Shared {
  /// The storage itself, as long as it lives, and those that share.
  std::atomic<int64_t> holders;
  RelaxStorage *storage;
  /// What the storage had.
  void (*destroy)(RelaxStorage *storage);
  void *owner;

  void drop() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return;
    storage->destroy = destroy;
    storage->owner = owner;
    RelaxStorage *last = storage;
    delete this;
    last->destroy(last);
  }
};

/// The `destroy` of the storage itself, whose header stays until the end.
void destroyOriginal(RelaxStorage *storage) {
  static_cast<Shared *>(storage->owner)->drop();
}

/// The `destroy` of those that share.
void destroySharing(RelaxStorage *storage) {
  auto *shared = static_cast<Shared *>(storage->owner);
  Pool::free(storage, sizeof(RelaxStorage));
  shared->drop();
}

/// The `destroy` of storages that keep an object.
void destroyBorrowed(RelaxStorage *storage) {
  TVMFFIObjectDecRef(storage->owner);
  Pool::free(storage, sizeof(RelaxStorage));
}

} // namespace

RelaxStorage *relax_rt::borrow(TVMFFIObject *object, void *data) {
  auto *storage =
      static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
  if (!storage)
    return nullptr;
  TVMFFIObjectIncRef(object);
  *storage = {1, data, 0, nullptr, nullptr, nullptr, destroyBorrowed, object};
  return storage;
}

TVMFFIObject *relax_rt::objectOf(const RelaxStorage *storage) {
  auto destroy = storage->destroy;
  void *owner = storage->owner;
  if (destroy == destroyOriginal || destroy == destroySharing) {
    auto *shared = static_cast<Shared *>(owner);
    destroy = shared->destroy;
    owner = shared->owner;
  }
  return destroy == destroyBorrowed ? static_cast<TVMFFIObject *>(owner)
                                    : nullptr;
}

RelaxStorage *relax_rt::share(RelaxStorage *storage) {
  if (!storage->context) { // of no call: its count is enough
    relax_rt_retain(storage);
    return storage;
  }
  if (isClosure(storage))
    return shareClosure(storage);
  auto *sharing =
      static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
  if (!sharing)
    return nullptr;
  // Only the thread of the call comes here.
  if (storage->destroy != destroyOriginal) {
    auto *shared = new (std::nothrow)
        Shared{{1}, storage, storage->destroy, storage->owner};
    if (!shared) {
      Pool::free(sharing, sizeof(RelaxStorage));
      return nullptr;
    }
    storage->destroy = destroyOriginal;
    storage->owner = shared;
  }
  auto *shared = static_cast<Shared *>(storage->owner);
  shared->holders.fetch_add(1, std::memory_order_relaxed);
  *sharing = {1,       storage->data, storage->bytes, nullptr,
              nullptr, nullptr,       destroySharing, shared};
  return sharing;
}
