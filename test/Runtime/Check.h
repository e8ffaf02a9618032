//===- Check.h - checks of the runtime's test program -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TEST_RUNTIME_CHECK_H
#define RELAX_TEST_RUNTIME_CHECK_H

#include <functional>
#include <string>

namespace relax_test {

/// Registers a test case when the program is loaded.
struct Case {
  Case(const char *name, void (*run)());

  const char *name;
  void (*run)();
  const Case *next;
};

/// Reports a failed check and continues. Any thread may call it.
void reportFailure(const char *file, int line, const std::string &what);

/// Runs `work(0)` to `work(count - 1)` in a thread each, and waits for all.
void inThreads(int count, const std::function<void(int)> &work);

} // namespace relax_test

#define RELAX_CASE(name)                                                       \
  static void name();                                                          \
  static const relax_test::Case name##Case(#name, name);                       \
  static void name()

#define RELAX_CHECK(condition)                                                 \
  do {                                                                         \
    if (!(condition))                                                          \
      relax_test::reportFailure(__FILE__, __LINE__, #condition);               \
  } while (false)

#endif // RELAX_TEST_RUNTIME_CHECK_H
