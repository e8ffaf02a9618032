//===- Destinations.cpp - caller-provided result tensors ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A caller may append destinations to the arguments. The results are copied
// there after the call, so a destination may overlap an argument. Two things
// would lose data, and are errors: destinations that overlap each other, and a
// destination that overlaps a result which is a view of memory visible to the
// caller (a returned argument).
//
// An in-place function writes some parameters while it reads others, so no
// argument that it writes may overlap another argument.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"

#include <algorithm>
#include <vector>

using namespace relax_rt;

namespace {

/// The memory of an argument.
struct Argument {
  Span memory;
  int64_t index;
  bool isWritten;
};

void collect(const Value &type, int64_t index, const int64_t *&slots,
             std::vector<Argument> &arguments) {
  if (type.kind == RelaxTuple) {
    const int64_t *words = type.members;
    for (int64_t i = 0; i < type.memberCount; ++i)
      collect(Value::read(words), index, slots, arguments);
  } else if (type.kind == RelaxTensor) {
    if (int64_t size = type.countBytes(slots))
      arguments.push_back({{reinterpret_cast<char *>(slots[1]), size},
                           index,
                           (type.flags & RelaxMutable) != 0});
    slots += 2 + type.rank;
  } else {
    slots += type.kind == RelaxShape ? type.rank : 1;
  }
}

/// Calls `visit(index, type, tensor)` until a call returns false.
template <typename Visit>
bool forEach(const Signature &signature, const TVMFFIAny *destinations,
             Visit visit) {
  const int64_t *words = signature.results();
  for (int64_t i = 0; i < signature.resultCount; ++i) {
    Value type = Value::read(words);
    if (!visit(i, type, *tensorOf(destinations[i])))
      return false;
  }
  return true;
}

std::string nameOf(const Signature &signature, int64_t index) {
  return std::string(signature.function) + ": destination " +
         std::to_string(index);
}

std::string wrongSize(int64_t axis, int64_t expected, int64_t actual) {
  return ": dimension " + std::to_string(axis) + " must be " +
         std::to_string(expected) + ", got " + std::to_string(actual);
}

} // namespace

bool Signature::checkWritten(RelaxContext &context,
                             const int64_t *slots) const {
  std::vector<Argument> arguments;
  const int64_t *words = parameters;
  for (int64_t i = 0; i < parameterCount; ++i)
    collect(Value::read(words), i, slots, arguments);
  std::sort(arguments.begin(), arguments.end(),
            [](const Argument &a, const Argument &b) {
              return a.memory.begin < b.memory.begin;
            });
  // Among the spans that begin earlier: the one that ends last, and the same
  // for written spans.
  const Argument *furthest = nullptr, *furthestWritten = nullptr;
  for (const Argument &argument : arguments) {
    const Argument *other = argument.isWritten ? furthest : furthestWritten;
    if (other && other->memory.overlaps(argument.memory)) {
      bool isFirst = argument.isWritten &&
                     (!other->isWritten || argument.index < other->index);
      const Argument &written = isFirst ? argument : *other;
      const Argument &second = isFirst ? *other : argument;
      return fail(context.error, "ValueError",
                  describeParameter(written.index) +
                      ": the function writes into this tensor, which overlaps "
                      "argument " +
                      std::to_string(second.index) + " in memory");
    }
    auto reachesFurther = [&](const Argument *known) {
      return !known || argument.memory.begin + argument.memory.bytes >
                           known->memory.begin + known->memory.bytes;
    };
    if (reachesFurther(furthest))
      furthest = &argument;
    if (argument.isWritten && reachesFurther(furthestWritten))
      furthestWritten = &argument;
  }
  return true;
}

bool Signature::acceptsDestinations(int32_t count) const {
  if (count != resultCount)
    return false;
  const int64_t *words = results();
  for (int64_t i = 0; i < resultCount; ++i)
    if (Value::read(words).kind != RelaxTensor)
      return false;
  return true;
}

bool Signature::checkDestinations(RelaxContext &context,
                                  const TVMFFIAny *destinations) const {
  Error &error = context.error;
  const int64_t *words = results();
  for (int64_t i = 0; i < resultCount; ++i) {
    Value type = Value::read(words);
    auto what = [&] { return nameOf(*this, i); };
    const DLTensor *to =
        readTensor(type, destinations[i], what, deviceOf(context, type), error);
    if (!to)
      return false;
    for (int64_t axis = 0; axis < type.rank; ++axis)
      if (type.dims[axis] >= 0 && type.dims[axis] != to->shape[axis])
        return fail(error, "ValueError",
                    what() + wrongSize(axis, type.dims[axis], to->shape[axis]));
    if (!isContiguous(*to))
      return fail(error, "ValueError", what() + ": must be contiguous");
    if (isReadOnly(destinations[i]))
      return fail(error, "ValueError",
                  what() + ": is read-only; pass a writable copy");
  }
  // Quadratic, but there are fewer than a hundred and nearly always one.
  return forEach(
      *this, destinations, [&](int64_t i, const Value &, const DLTensor &to) {
        return forEach(*this, destinations,
                       [&](int64_t j, const Value &, const DLTensor &other) {
                         if (j <= i || !spanOf(to).overlaps(spanOf(other)))
                           return true;
                         return fail(error, "ValueError",
                                     nameOf(*this, i) +
                                         ": overlaps destination " +
                                         std::to_string(j) + " in memory");
                       });
      });
}

bool Signature::copyResults(RelaxContext &context, const int64_t *slots,
                            const TVMFFIAny *destinations) const {
  Error &error = context.error;
  const int64_t *own = slots;
  bool fits = forEach(
      *this, destinations,
      [&](int64_t i, const Value &type, const DLTensor &to) {
        for (int64_t axis = 0; axis < type.rank; ++axis)
          if (to.shape[axis] != own[2 + axis])
            return fail(error, "ValueError",
                        nameOf(*this, i) +
                            wrongSize(axis, own[2 + axis], to.shape[axis]));
        // Copying earlier results must not change this one, and a device cannot
        // copy between overlapping ranges.
        Span from{reinterpret_cast<char *>(own[1]), countBytes(to)};
        own += 2 + type.rank;
        bool isMovedThere = type.device() != kDLCPU && dataOf(to) != from.begin;
        int64_t count = isMovedThere ? i + 1 : i;
        return forEach(*this, destinations,
                       [&](int64_t j, const Value &, const DLTensor &to) {
                         if (j >= count || !spanOf(to).overlaps(from))
                           return true;
                         return fail(error, "ValueError",
                                     nameOf(*this, j) + ": overlaps result " +
                                         std::to_string(i) + " in memory");
                       });
      });
  if (!fits)
    return false;
  return forEach(
      *this, destinations, [&](int64_t, const Value &type, const DLTensor &to) {
        if (!copyTensor(context, type.device(), dataOf(to),
                        reinterpret_cast<void *>(slots[1]), countBytes(to)))
          return false;
        releaseSlots(type, slots);
        return true;
      });
}
