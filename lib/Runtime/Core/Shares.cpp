//===- Shares.cpp - storages shared beyond a call -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The storages of a call belong to its thread: they are in its list, and a
// failed call frees them whatever their reference counts are, since the code
// that held the references is gone. But a callback or a library may keep a
// reference for any time and drop it in any thread. So each such reference is a
// separate storage, in no list, that shares the memory:
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

/// The memory of a storage that is shared.
struct Shared {
  /// Counts the original storage, while it lives, and those that share it.
  std::atomic<int64_t> holders;
  RelaxStorage *storage;
  /// Saved from the original storage.
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

/// The `destroy` of the original storage, whose header lives as long as the
/// memory.
void destroyOriginal(RelaxStorage *storage) {
  static_cast<Shared *>(storage->owner)->drop();
}

/// The `destroy` of storages that share.
void destroySharing(RelaxStorage *storage) {
  auto *shared = static_cast<Shared *>(storage->owner);
  Pool::free(storage, sizeof(RelaxStorage));
  shared->drop();
}

/// The `destroy` of storages that keep an object alive.
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
  if (!storage->context) { // belongs to no call: its reference count suffices
    relax_rt_retain(storage);
    return storage;
  }
  if (isClosure(storage))
    return shareClosure(storage);
  auto *sharing =
      static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
  if (!sharing)
    return nullptr;
  // No lock: only the thread of the call gets here.
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
