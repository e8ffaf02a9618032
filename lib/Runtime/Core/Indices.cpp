//===- Indices.cpp - bounds checks of index tensors -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A first pass over the tensor finds out whether any index is invalid. It is
// branch-free and uses only additions, which all vector units have: the sum or
// difference of an invalid index and its bound has the sign bit set. Only if
// one has, a second pass looks for the index.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/Context.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

/// Whether any of `count` indices, `step` apart, may be outside [-back, size).
/// May report false positives for very large sizes.
template <typename T>
bool mayBeInvalid(const T *indices, int64_t count, int64_t step, int64_t back,
                  int64_t size) {
  using Word = std::make_unsigned_t<T>;
  constexpr int64_t most = std::numeric_limits<T>::max();
  // No index of this type is further from 0 than this size.
  Word low = static_cast<Word>(std::min(back, most));
  Word last = static_cast<Word>(std::min(size - 1, most));
  Word signs = 0;
  if (step == 1) {
    for (int64_t at = 0; at < count; ++at) {
      Word index = static_cast<Word>(indices[at]);
      signs |= (index + low) | (last - index);
    }
  } else {
    for (int64_t at = 0; at < count; ++at) {
      Word index = static_cast<Word>(indices[at * step]);
      signs |= (index + low) | (last - index);
    }
  }
  return signs >> (std::numeric_limits<Word>::digits - 1);
}

/// The string after a zero-terminated one.
const char *next(const char *text) { return text + strlen(text) + 1; }

class Check {
public:
  Check(RelaxContext *context, const int64_t *words, const char *text,
        const char *location)
      : context(context), countsFromEnd(words[1]), rank(words[2]),
        boundCount(words[3]), sizes(words + 4), bounds(words + 4 + words[2]),
        text(text), location(location) {}

  template <typename T>
  void run(const T *indices) {
    int64_t count = 1;
    for (int64_t axis = 0; axis < rank; ++axis)
      count *= sizes[axis];
    if (count == 0)
      return;
    bool isValid = true;
    for (int64_t which = 0; which < boundCount; ++which)
      isValid &= !mayBeInvalid(indices + which, count / boundCount, boundCount,
                               getBack(which), getSize(which));
    if (isValid)
      return;
    for (int64_t at = 0; at < count; ++at) {
      int64_t which = at % boundCount, index = indices[at];
      if (index < -getBack(which) || index >= getSize(which))
        fail(index, at, which);
    }
  }

private:
  int64_t getSize(int64_t which) const {
    return std::max<int64_t>(bounds[which], 0);
  }
  /// The number of valid negative indices.
  int64_t getBack(int64_t which) const {
    return countsFromEnd ? getSize(which) : 0;
  }

  [[noreturn]] void fail(int64_t index, int64_t at, int64_t which) const;

  RelaxContext *context;
  bool countsFromEnd;
  int64_t rank, boundCount;
  const int64_t *sizes, *bounds;
  const char *text, *location;
};

/// Appends in place: the `longjmp` would skip the destructors of temporaries.
void append(std::string &to, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof(digits), "%lld", static_cast<long long>(value));
  to += digits;
}

void Check::fail(int64_t index, int64_t at, int64_t which) const {
  context->error.kind = "IndexError";
  context->error.location = location;
  std::string &message = context->error.message;
  const char *operand = next(text), *target = next(operand);
  for (int64_t skipped = 0; skipped < which; ++skipped)
    target = next(target);
  message = text;
  message += ": index ";
  append(message, index);
  message += " of ";
  message += operand;
  if (rank) {
    int64_t stride = 1;
    for (int64_t axis = 0; axis < rank; ++axis)
      stride *= sizes[axis];
    message += " at [";
    for (int64_t axis = 0; axis < rank; ++axis) {
      stride /= sizes[axis];
      append(message, at / stride % sizes[axis]);
      message += axis + 1 < rank ? ", " : "]";
    }
  }
  message += " is out of range for ";
  message += target;
  append(message, bounds[which]);
  int64_t size = getSize(which);
  if (size) {
    message += "; expected ";
    append(message, -getBack(which));
    message += " to ";
    append(message, size - 1);
  } else {
    message += "; expected no index";
  }
  longjmp(context->escape, 1);
}

} // namespace

extern "C" void relax_rt_check_indices(RelaxContext *context,
                                       const void *indices,
                                       const int64_t *words, const char *text,
                                       const char *location) {
  Check check(context, words, text, location);
  if (words[0] == 32)
    check.run(static_cast<const int32_t *>(indices));
  else
    check.run(static_cast<const int64_t *>(indices));
}
