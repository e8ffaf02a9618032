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

/// A mutex that the child of a fork finds unlocked, with the data it guards in
/// a consistent state: a fork waits until it holds every such mutex. For static
/// objects only. Whoever holds one takes no other mutex of the runtime, and
/// calls no code of others.
class ForkSafeMutex : public std::mutex {
public:
  ForkSafeMutex();

private:
  friend struct ForkHandlers;
  ForkSafeMutex *next;
};

/// A mutex that the child of a fork finds unlocked, whatever the parent's other
/// threads were doing: for what is only set when it is complete, and may take
/// long. For static objects only.
class ForkResetMutex : public std::mutex {
public:
  ForkResetMutex();

private:
  friend struct ForkHandlers;
  ForkResetMutex *next;
};

/// Lets `isProcessEnding` know when the process ends from here on.
void watchProcessEnd();
/// Whether static objects are being destroyed, so that neither drivers nor
/// other libraries may be called any more.
bool isProcessEnding();

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_PROCESS_H
