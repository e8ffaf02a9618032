//===- Arguments.h - signatures and arguments -------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_ARGUMENTS_H
#define RELAX_RUNTIME_ARGUMENTS_H

#include "Context.h"

#include <vector>

namespace relax_rt {

/// The type of a parameter or a result, read from the words of a signature.
struct Value {
  int64_t kind = 0;
  int64_t bits = 0;
  int64_t flags = 0;
  DLDataType dtype{0, 0, 1};
  int64_t rank = 0;
  /// `rank` sizes, -1 where unknown.
  const int64_t *dims = nullptr;
  std::vector<Value> members;

  static Value read(const int64_t *&words);
  /// "f32", "bool", …
  static std::string nameOf(DLDataType dtype);
};

struct Signature {
  Signature(const int64_t *words, const char *names);

  /// Fills `slots` from the arguments. False with `context.error` set where an
  /// argument is not what its parameter says.
  bool unpack(RelaxContext &context, const TVMFFIAny *args, int32_t count,
              int64_t *slots) const;

  const char *function;
  int64_t inSlots = 0, outSlots = 0;
  std::vector<Value> parameters, results;
  /// Name and type of each parameter.
  std::vector<std::pair<const char *, const char *>> names;
};

/// Checks a tensor argument; null with `error` set where it is something else.
/// `what` begins the message.
const DLTensor *readTensor(const Value &type, const TVMFFIAny &arg,
                           const std::string &what, Error &error);

} // namespace relax_rt

#endif // RELAX_RUNTIME_ARGUMENTS_H
