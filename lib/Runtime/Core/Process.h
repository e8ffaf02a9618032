//===- Process.h - forks and the end of the process -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_PROCESS_H
#define RELAX_RUNTIME_CORE_PROCESS_H

#include <mutex>

namespace relax_rt {

/// A mutex that is unlocked in a forked child, with the data that it guards in
/// a consistent state: a fork first acquires every such mutex. For static
/// objects only. A thread that holds one must not take another mutex of the
/// runtime or call foreign code.
class ForkSafeMutex : public std::mutex {
public:
  ForkSafeMutex();

private:
  friend struct ForkHandlers;
  ForkSafeMutex *next;
};

/// A mutex that is reset in a forked child, whatever the parent's other threads
/// were doing. For data that is published only when complete, and operations
/// that may take long. For static objects only.
class ForkResetMutex : public std::mutex {
public:
  ForkResetMutex();

private:
  friend struct ForkHandlers;
  ForkResetMutex *next;
};

/// Arranges for `isProcessEnding` to detect the end of the process.
void watchProcessEnd();
/// Whether static objects are being destroyed, so that neither drivers nor
/// other libraries may be called.
bool isProcessEnding();

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_PROCESS_H
