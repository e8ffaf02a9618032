//===- Main.cpp - runs the cases of the runtime's test program ------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// relax_runtime_test <libtvm_ffi.so> [case...]
//
// Tests the C interface of the runtime as compiled code and its callers use it,
// from many threads at a time. The cases need neither the compiler nor Python,
// so that sanitizers can watch all of the code (`make sanitize`).
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "FFI.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

using namespace relax_test;

/// Zero-initialized before any case registers itself.
static const Case *allCases;
static std::atomic<int> failureCount{0};

Case::Case(const char *name, void (*run)())
    : name(name), run(run), next(allCases) {
  allCases = this;
}

void relax_test::reportFailure(const char *file, int line,
                               const std::string &what) {
  // A check that fails in a loop would hide the others.
  if (failureCount.fetch_add(1) < 20)
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what.c_str());
}

void relax_test::inThreads(int count, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

int main(int argc, char **argv) {
  if (argc < 2 || !loadFFI(argv[1])) {
    fprintf(stderr, "usage: %s <path of libtvm_ffi.so> [case...]\n", argv[0]);
    return 2;
  }
  auto isWanted = [&](const Case *one) {
    return argc == 2 || std::any_of(argv + 2, argv + argc, [&](char *name) {
             return !strcmp(name, one->name);
           });
  };
  int caseCount = 0;
  for (const Case *one = allCases; one; one = one->next) {
    if (!isWanted(one))
      continue;
    int before = failureCount;
    one->run();
    printf("%s %s\n", failureCount == before ? "ok" : "FAILED", one->name);
    fflush(stdout); // a forked child must not print it again
    ++caseCount;
  }
  if (!caseCount)
    fprintf(stderr, "no case has one of these names\n");
  return failureCount || !caseCount ? 1 : 0;
}
