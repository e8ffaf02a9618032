//===- Destinations.cpp - tensors of the caller that calls write into -----===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call may give destinations behind its arguments. The results are copied
// there after the call, so a destination may lie in an argument's memory. Two
// things would lose data, and are errors: destinations that overlap each other,
// and one that overlaps a result which is a view of memory that the caller
// sees, an argument that comes back.
//
// A function in place writes into its parameters while it reads others, so
// there no two arguments may overlap of which it writes into one.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"

#include <algorithm>
#include <vector>

using namespace relax_rt;

namespace {

/// An argument's memory.
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

/// Calls `visit(index, type, tensor)` until it is false.
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
  // Of those that begin before: the one that reaches furthest, and the same of
  // those that are written.
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
  // Fewer than a hundred, nearly always one.
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
        // Copying the results before this one must leave it as it is. A
        // device cannot move it within memory that overlaps.
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
