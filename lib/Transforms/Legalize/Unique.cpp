//===- Unique.cpp - kernels with data-dependent sizes ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op has two kernels: one that counts, and one that fills results of that
// size. `relax.unique` sorts the numbers of its slices by their elements in
// both: equal slices become adjacent, the first occurrence first.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Slice.h"
#include "Relax/Ops/Sort.h"
#include "Transforms/Legalize/Counting.h"
#include "Transforms/Legalize/MergeSort.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// NonzeroOp
//===----------------------------------------------------------------------===//

static Value isNonzero(Scalars &s, Value x) {
  Value zero = s.number(x.getType(), 0);
  return isa<FloatType>(x.getType()) ? s.compare(CmpFPredicate::UNE, x, zero)
                                     : s.compare(CmpIPredicate::ne, x, zero);
}

/// Loops over all positions of `x`, in row-major order.
static Values
forEach(KernelBuilder &kernel, Value x, ValueRange state,
        function_ref<Values(Scalars &, ValueRange position, ValueRange state)>
            body) {
  Scalars &s = kernel.builder();
  Values sizes;
  for (SymExprAttr dim : SymDims(kernel.dims(x)))
    sizes.push_back(kernel.size(dim));
  Values zeros(sizes.size(), s.index(0)), ones(sizes.size(), s.index(1));
  auto nest = scf::buildLoopNest(
      s, s.getLoc(), zeros, sizes, ones, state,
      [&](OpBuilder &builder, Location loc, ValueRange position,
          ValueRange state) -> scf::ValueVector {
        Scalars s(loc, builder);
        Values next = body(s, position, state);
        return scf::ValueVector(next.begin(), next.end());
      });
  return Values(ArrayRef<Value>(nest.results));
}

/// Stores a number as the only element of the destination.
static LogicalResult yieldCount(KernelBuilder &kernel, Value count) {
  Scalars &s = kernel.builder();
  Value number = arith::IndexCastOp::create(s, s.getI64Type(), count);
  return kernel.yield(
      writeElement(s, number, kernel.destination(), s.index(0)));
}

static LogicalResult countNonzero(NonzeroOp op, KernelBuilder &kernel) {
  Scalars &s = kernel.builder();
  Value x = kernel.input(op.getX());
  Values count = forEach(
      kernel, x, s.index(0),
      [&](Scalars &s, ValueRange position, ValueRange state) -> Values {
        Value counts = isNonzero(s, readElement(s, x, position));
        return {s.select(counts, s.add(state[0], s.index(1)), state[0])};
      });
  return yieldCount(kernel, count[0]);
}

static LogicalResult nonzero(NonzeroOp op, KernelBuilder &kernel) {
  Scalars &s = kernel.builder();
  Value x = kernel.input(op.getX());
  Values results =
      forEach(kernel, x, {s.index(0), kernel.destination()},
              [&](Scalars &s, ValueRange position, ValueRange state) {
                auto found = scf::IfOp::create(
                    s, isNonzero(s, readElement(s, x, position)),
                    [&](OpBuilder &builder, Location loc) {
                      Scalars s(loc, builder);
                      Value result = state[1];
                      for (auto [row, at] : llvm::enumerate(position)) {
                        Value number =
                            arith::IndexCastOp::create(s, s.getI64Type(), at);
                        result = writeElement(s, number, result,
                                              {s.index(row), state[0]});
                      }
                      Value next = s.add(state[0], s.index(1));
                      scf::YieldOp::create(s, ValueRange{next, result});
                    },
                    [&](OpBuilder &builder, Location loc) {
                      scf::YieldOp::create(builder, loc, state);
                    });
                return llvm::to_vector_of<Value>(found.getResults());
              });
  return kernel.yield(results[1]);
}

//===----------------------------------------------------------------------===//
// UniqueOp
//===----------------------------------------------------------------------===//

namespace {

/// The slices of `x` along an axis, or its elements: the items compared.
class Slices {
public:
  Slices(UniqueOp op, KernelBuilder &kernel, bool manyThreads)
      : op(op), kernel(kernel), manyThreads(manyThreads),
        x(kernel.input(op.getX())), element(getElementType(op.getX())),
        dims(kernel.dims(x)) {
    SymBuilder &math = kernel.math();
    if (std::optional<int64_t> given = op.getAxis()) {
      axis = *given < 0 ? *given + int64_t(dims.size()) : *given;
      number = dims[*axis];
      SymDims others(dims);
      others.erase(others.begin() + *axis);
      size = math.product(others);
    } else {
      number = math.product(dims);
      size = kernel.constant(1);
    }
  }

  /// The number of slices, and the size of each.
  SymExprAttr number, size;

  /// Sorts the numbers of the slices.
  void sort();
  /// The number of the slice that is `rank`-th in order.
  Value inOrder(Scalars &s, Value rank) {
    Values position{rank};
    if (!manyThreads)
      position.insert(position.begin(), order.half);
    return s.toIndex(readElement(s, order.scratch[0], position));
  }
  /// Whether the slice differs from the previous one.
  Value isNew(Scalars &s, Value rank);
  /// The position of element `at` of a slice in a tensor shaped like `x`.
  Values position(Scalars &s, Value slice, Value at);
  /// Copies a slice to a slice of `target`.
  Value copy(Scalars &s, Value from, Value target, Value to);

private:
  Value isBefore(Scalars &s, Value lhs, Value rhs);

  UniqueOp op;
  KernelBuilder &kernel;
  bool manyThreads;
  Value x;
  Type element; // graph type
  SymDims dims;
  std::optional<int64_t> axis;
  Sorted order;
};

} // namespace

Values Slices::position(Scalars &s, Value slice, Value at) {
  Values result(dims.size());
  Value rest = axis ? at : slice;
  int64_t first = axis == 0 ? 1 : 0;
  for (int64_t dim = dims.size() - 1; dim >= 0; --dim) {
    if (dim == axis) {
      result[dim] = slice;
      continue;
    }
    Value extent = kernel.size(dims[dim]);
    result[dim] =
        dim == first ? rest : Value(arith::RemUIOp::create(s, rest, extent));
    if (dim != first)
      rest = arith::DivUIOp::create(s, rest, extent);
  }
  return result;
}

/// Compares element by element until two differ.
Value Slices::isBefore(Scalars &s, Value lhs, Value rhs) {
  auto elements = [&](Scalars &s, Value at) {
    return std::pair(readElement(s, x, position(s, lhs, at)),
                     readElement(s, x, position(s, rhs, at)));
  };
  if (!axis) {
    auto [left, right] = elements(s, {});
    return isLess(s, left, right, element);
  }
  Value count = kernel.size(size);
  Type index = s.getIndexType(), flag = s.getI1Type();
  Value no = s.number(flag, 0);
  auto search = scf::WhileOp::create(
      s, TypeRange{index, flag, flag}, ValueRange{s.index(0), no, no},
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        Scalars s(loc, builder);
        Value isEnd = s.compare(CmpIPredicate::sge, state[0], count);
        Value goesOn = s.negate(s.either(isEnd, s.either(state[1], state[2])));
        scf::ConditionOp::create(s, goesOn, state);
      },
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        Scalars s(loc, builder);
        auto [left, right] = elements(s, state[0]);
        scf::YieldOp::create(s, ValueRange{s.add(state[0], s.index(1)),
                                           isLess(s, left, right, element),
                                           isLess(s, right, left, element)});
      });
  return search.getResult(1);
}

void Slices::sort() {
  Scalars &s = kernel.builder();
  Type i64 = s.getI64Type();
  Value zero = s.index(0), one = s.index(1), count = kernel.size(number);
  auto comesFirst = [&](Scalars &s, ValueRange scratch, ValueRange right,
                        ValueRange left) {
    return isBefore(s, s.toIndex(readElement(s, scratch[0], right)),
                    s.toIndex(readElement(s, scratch[0], left)));
  };
  if (manyThreads) {
    Value numbers = kernel.generate(
        kernel.empty(number, i64), [&](Scalars &s, ValueRange at) -> Value {
          return arith::IndexCastOp::create(s, i64, at[0]);
        });
    order.scratch = {sortInParallel(s, count, numbers,
                                    kernel.empty(number, i64), comesFirst)};
    return;
  }
  Value scratch = kernel.empty({kernel.constant(2), number}, i64);
  Values filled =
      forLoop(s, zero, count, one, scratch,
              [&](Scalars &s, Value index, ValueRange state) -> Values {
                Value number = arith::IndexCastOp::create(s, i64, index);
                return {writeElement(s, number, state[0], {zero, index})};
              });
  order = mergeSort(s, count, filled, comesFirst);
}

Value Slices::isNew(Scalars &s, Value rank) {
  Value zero = s.index(0);
  Value before = s.max(s.sub(rank, s.index(1)), zero);
  Value isFirst = s.compare(CmpIPredicate::eq, rank, zero);
  return s.either(isFirst, isBefore(s, inOrder(s, before), inOrder(s, rank)));
}

Value Slices::copy(Scalars &s, Value from, Value target, Value to) {
  if (!axis)
    return writeElement(s, readElement(s, x, position(s, from, {})), target,
                        to);
  return forLoop(
      s, s.index(0), kernel.size(size), s.index(1), target,
      [&](Scalars &s, Value at, ValueRange state) -> Values {
        Values source = position(s, from, at), place(source);
        place[*axis] = to;
        return {writeElement(s, readElement(s, x, source), state[0], place)};
      })[0];
}

static LogicalResult countUnique(UniqueOp op, KernelBuilder &kernel,
                                 bool manyThreads) {
  Scalars &s = kernel.builder();
  Slices slices(op, kernel, manyThreads);
  slices.sort();
  Value none = s.index(0), one = s.index(1);
  auto count = [&](Scalars &s, Value from, Value length) {
    return forLoop(s, none, length, one, none,
                   [&](Scalars &s, Value at, ValueRange state) -> Values {
                     Value isNew = slices.isNew(s, s.add(from, at));
                     return {s.select(isNew, s.add(state[0], one), state[0])};
                   })[0];
  };
  if (!manyThreads)
    return yieldCount(kernel, count(s, none, kernel.size(slices.number)));
  Type i64 = s.getI64Type();
  Chunks chunks(kernel, slices.number);
  Value before = scanChunks(kernel, chunks, {}, s.number(i64, 0), Running{},
                            [&](Scalars &s, ValueRange, Value chunk) -> Value {
                              Value found = count(s, chunks.first(s, chunk),
                                                  chunks.length(s, chunk));
                              return arith::IndexCastOp::create(s, i64, found);
                            });
  return yieldCount(kernel, s.toIndex(readElement(s, before, chunks.number)));
}

/// For each slice that is the first of its value, its rank in the order of
/// first occurrences.
static Value numberFirstOccurrences(KernelBuilder &kernel, Slices &slices) {
  Scalars &s = kernel.builder();
  Type i64 = s.getI64Type();
  Value zero = s.index(0), one = s.index(1), count = kernel.size(slices.number);
  Value no = s.number(i64, 0), yes = s.number(i64, 1);
  Value marks = kernel.fill(kernel.empty(slices.number, i64), no);
  marks = forLoop(s, zero, count, one, marks,
                  [&](Scalars &s, Value rank, ValueRange state) -> Values {
                    Value slice = slices.inOrder(s, rank);
                    Value mark = s.select(slices.isNew(s, rank), yes, no);
                    return {writeElement(s, mark, state[0], slice)};
                  })[0];
  return forLoop(s, zero, count, one, {marks, no},
                 [&](Scalars &s, Value slice, ValueRange state) -> Values {
                   Value mark = readElement(s, state[0], slice);
                   return {writeElement(s, state[1], state[0], slice),
                           s.add(state[1], mark)};
                 })[0];
}

static LogicalResult unique(UniqueOp op, KernelBuilder &kernel,
                            bool manyThreads) {
  Scalars &s = kernel.builder();
  Slices slices(op, kernel, manyThreads);
  slices.sort();
  Value numbers;
  if (!op.getSorted())
    numbers = numberFirstOccurrences(kernel, slices);

  // State: the number of distinct slices so far, the current one, the results.
  Values state = {s.index(0), s.index(0)};
  int64_t results = op->getNumResults();
  for (int64_t result = 0; result < results; ++result)
    state.push_back(kernel.destination(result));
  Type i64 = s.getI64Type();
  auto step = [&](Scalars &s, Value rank, ValueRange state) {
    Value slice = slices.inOrder(s, rank), isNew = slices.isNew(s, rank);
    Value number = arith::IndexCastOp::create(s, i64, slice);
    Value kind = numbers ? s.toIndex(readElement(s, numbers, slice)) : state[0];
    kind = s.select(isNew, kind, state[1]);
    Values next = {s.select(isNew, s.add(state[0], s.index(1)), state[0]),
                   kind};
    auto whenNew = [&](Value result, function_ref<Value(Scalars &)> write,
                       function_ref<Value(Scalars &)> otherwise) {
      auto choice = scf::IfOp::create(
          s, isNew,
          [&](OpBuilder &builder, Location loc) {
            Scalars s(loc, builder);
            scf::YieldOp::create(s, write(s));
          },
          [&](OpBuilder &builder, Location loc) {
            Scalars s(loc, builder);
            scf::YieldOp::create(s, otherwise ? otherwise(s) : result);
          });
      next.push_back(choice.getResult(0));
    };
    unsigned position = 2;
    Value values = state[position++];
    whenNew(
        values, [&](Scalars &s) { return slices.copy(s, slice, values, kind); },
        nullptr);
    if (op.getReturnIndex()) {
      Value result = state[position++];
      whenNew(
          result,
          [&](Scalars &s) { return writeElement(s, number, result, kind); },
          nullptr);
    }
    if (op.getReturnInverse()) {
      Value kindNumber = arith::IndexCastOp::create(s, i64, kind);
      next.push_back(writeElement(s, kindNumber, state[position++], slice));
    }
    if (op.getReturnCounts()) {
      Value result = state[position++];
      whenNew(
          result,
          [&](Scalars &s) {
            return writeElement(s, s.number(i64, 1), result, kind);
          },
          [&](Scalars &s) {
            Value more = s.add(readElement(s, result, kind), s.number(i64, 1));
            return writeElement(s, more, result, kind);
          });
    }
    return next;
  };
  Values done = forLoop(s, s.index(0), kernel.size(slices.number), s.index(1),
                        state, step);
  return kernel.yield(ValueRange(done).drop_front(2));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

bool relax::hasCountedSize(Operation *op) {
  return isa<NonzeroOp, UniqueOp, DynamicStridedSliceOp>(op);
}

Counts relax::getCounts(Operation *op) {
  if (auto slice = dyn_cast<DynamicStridedSliceOp>(op))
    return {cast<RankedTensorType>(slice.getX().getType()).getRank(), 1,
            "a stride must not be 0"};
  return {};
}

void relax::buildCount(Operation *op, KernelBuilder &kernel, bool manyThreads) {
  if (isa<DynamicStridedSliceOp>(op))
    countDynamicSlice(op, kernel);
  else if (auto unique = dyn_cast<UniqueOp>(op))
    (void)countUnique(unique, kernel, manyThreads);
  else if (manyThreads)
    countNonzeroByChunks(cast<NonzeroOp>(op), kernel);
  else
    (void)countNonzero(cast<NonzeroOp>(op), kernel);
}

void relax::populateUniqueKernels(KernelRegistry &registry, bool manyThreads) {
  registry.add<NonzeroOp>(nonzero);
  registry.add<UniqueOp>([=](UniqueOp op, KernelBuilder &kernel) {
    return unique(op, kernel, manyThreads);
  });
}
