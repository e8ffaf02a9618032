//===- Reduction.cpp - kernels of reductions and scans --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Reduction.h"
#include "Relax/Rules.h"
#include "Transforms/Legalize/Moments.h"
#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/Running.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// The operand of a reduction, and how its loops map to the result's.
struct Reduced {
  Value x;
  Type type; // the compute type
  bool isUnsigned;
  SymDims dims;
  SmallVector<int64_t> axes, kept;
  /// The result loop of each kept dimension.
  SmallVector<int64_t> keptInResult;

  template <typename OpT>
  Reduced(OpT op, KernelBuilder &kernel) {
    x = kernel.input(op.getX());
    type = getComputeType(getElementType(x));
    isUnsigned = isUnsignedElement(getElementType(op.getX()));
    dims = SymDims(kernel.dims(x));
    std::optional<ArrayRef<int64_t>> given;
    int64_t single = 0;
    if constexpr (std::is_same_v<decltype(op.getAxis()),
                                 std::optional<uint64_t>>) {
      if (op.getAxis()) {
        single = *op.getAxis();
        given = single;
      }
    } else {
      given = op.getAxis();
    }
    axes = getAxes(given, dims.size());
    kept = allBut(dims.size(), axes);
    keptInResult = op.getKeepdims()
                       ? kept
                       : llvm::to_vector(llvm::seq<int64_t>(kept.size()));
  }

  /// The number of elements per result element, as a float.
  Value count(KernelBuilder &kernel) const {
    SymExprAttr product = kernel.constant(1);
    for (int64_t axis : axes)
      product = kernel.math().mul(product, dims[axis]);
    Value size = kernel.size(product);
    Scalars &s = kernel.builder();
    Value integer = arith::IndexCastOp::create(s, s.getI64Type(), size);
    return arith::SIToFPOp::create(s, type, integer);
  }

  Value reduce(KernelBuilder &kernel, ArrayRef<Access> more, Value identity,
               KernelBuilder::Body body) const {
    SmallVector<Access> reads(more);
    reads.insert(reads.begin(), x);
    return kernel.reduce(dims, reads, kept, identity, body);
  }

  /// Computes the result by applying `body` to each element of `value` over the
  /// kept dimensions.
  LogicalResult yield(KernelBuilder &kernel, Value value,
                      ArrayRef<Value> more = {},
                      KernelBuilder::Body body = nullptr) const {
    SmallVector<Access> reads{{value, keptInResult}};
    for (Value other : more)
      reads.push_back({other, keptInResult});
    return kernel.yield(kernel.map(
        reads, kernel.destination(), [&](Scalars &s, ValueRange x) -> Value {
          return body ? body(s, x.drop_back()) : x[0];
        }));
  }
};

} // namespace

/// Reductions that combine two elements at a time, starting from an identity.
/// They accumulate directly in the destination.
using CombineFn = Value (*)(Scalars &, Value, Value, bool isUnsigned);
using IdentityFn = Value (*)(Scalars &, Type, bool isUnsigned);

template <typename OpT>
static void combining(KernelRegistry &registry, IdentityFn identity,
                      CombineFn combine, bool needsElements = false) {
  registry.add<OpT>([=](OpT op, KernelBuilder &kernel) {
    Reduced r(op, kernel);
    if (needsElements)
      for (int64_t axis : r.axes)
        kernel.require(CmpIPredicate::sle, kernel.constant(1), r.dims[axis],
                       "reduced dimensions must not be empty");
    Value start = identity(kernel.builder(), r.type, r.isUnsigned);
    auto body = [&](Scalars &s, ValueRange x) {
      return combine(s, x[1], x[0], r.isUnsigned);
    };
    Value destination = kernel.destination();
    bool isDirect = getElementType(destination) == r.type &&
                    r.kept.size() == kernel.dims(destination).size();
    if (!isDirect)
      return r.yield(kernel, r.reduce(kernel, {}, start, body));
    return kernel.yield(kernel.loop(
        r.dims, {r.x}, {kernel.fill(destination, start), r.kept}, body));
  });
}

static Value zero(Scalars &s, Type type, bool) { return s.number(type, 0); }
static Value one(Scalars &s, Type type, bool) { return s.number(type, 1); }

static Value least(Scalars &s, Type type, bool isUnsigned) {
  if (isa<FloatType>(type))
    return s.number(type, -INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  return s.number(type, isUnsigned ? APInt::getMinValue(width)
                                   : APInt::getSignedMinValue(width));
}

static Value greatest(Scalars &s, Type type, bool isUnsigned) {
  if (isa<FloatType>(type))
    return s.number(type, INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  return s.number(type, isUnsigned ? APInt::getMaxValue(width)
                                   : APInt::getSignedMaxValue(width));
}

static Value add(Scalars &s, Value l, Value r, bool) { return s.add(l, r); }
static Value mul(Scalars &s, Value l, Value r, bool) { return s.mul(l, r); }
static Value both(Scalars &s, Value l, Value r, bool) { return s.both(l, r); }
static Value either(Scalars &s, Value l, Value r, bool) {
  return s.either(l, r);
}
static Value maximum(Scalars &s, Value l, Value r, bool isUnsigned) {
  return s.max(l, r, isUnsigned);
}
static Value minimum(Scalars &s, Value l, Value r, bool isUnsigned) {
  return s.min(l, r, isUnsigned);
}

static Value sum(KernelBuilder &kernel, const Reduced &r) {
  return r.reduce(kernel, {}, kernel.builder().number(r.type, 0),
                  [](Scalars &s, ValueRange x) { return s.add(x[1], x[0]); });
}

static LogicalResult mean(MeanOp op, KernelBuilder &kernel) {
  Reduced r(op, kernel);
  Value count = r.count(kernel);
  return r.yield(kernel, sum(kernel, r), count,
                 [](Scalars &s, ValueRange x) { return s.div(x[0], x[1]); });
}

/// `variance`, `std`
template <typename OpT, bool isRoot>
static LogicalResult variance(OpT op, KernelBuilder &kernel) {
  Reduced r(op, kernel);
  Moments moments = Moments::of(kernel, r.x, r.kept, r.count(kernel));
  return r.yield(kernel, moments.origin,
                 {moments.unit, moments.shift, moments.spread},
                 isRoot ? Moments::deviation : Moments::variance);
}

/// The greatest element is subtracted first, unless it is infinite.
static LogicalResult logSumExp(LogSumExpOp op, KernelBuilder &kernel) {
  Reduced r(op, kernel);
  auto shift = [](Scalars &s, Value greatest) {
    Type type = greatest.getType();
    Value isFinite =
        s.compare(CmpFPredicate::OLT, math::AbsFOp::create(s, greatest),
                  s.number(type, INFINITY));
    return s.select(isFinite, greatest, s.number(type, 0));
  };
  Value greatest =
      r.reduce(kernel, {}, kernel.builder().number(r.type, -INFINITY),
               [](Scalars &s, ValueRange x) { return s.max(x[1], x[0]); });
  Value sums = r.reduce(kernel, Access(greatest, r.kept),
                        kernel.builder().number(r.type, 0),
                        [&](Scalars &s, ValueRange x) {
                          Value moved = s.sub(x[0], shift(s, x[1]));
                          return s.add(x[2], math::ExpOp::create(s, moved));
                        });
  return r.yield(kernel, sums, greatest, [&](Scalars &s, ValueRange x) {
    return s.add(math::LogOp::create(s, x[0]), shift(s, x[1]));
  });
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Among equal elements, and among NaNs, which come before all others, the
/// first wins. Single-threaded: one loop carries the best element and its
/// position. Multithreaded: two reductions, one for the best element and one
/// for the first element equal to it.
template <typename OpT, bool isGreatest>
static LogicalResult argReduce(OpT op, KernelBuilder &kernel,
                               bool manyThreads) {
  Reduced r(op, kernel);
  for (int64_t axis : r.axes)
    kernel.require(CmpIPredicate::sle, kernel.constant(1), r.dims[axis],
                   "reduced dimensions must not be empty");
  Scalars &builder = kernel.builder();
  Type i64 = builder.getI64Type();
  SmallVector<Value> sizes;
  SymDims keptDims;
  for (int64_t axis : r.axes)
    sizes.push_back(kernel.size(r.dims[axis]));
  for (int64_t loop : r.kept)
    keptDims.push_back(r.dims[loop]);
  auto positionOf = [&](Scalars &s) -> Value {
    Value linear = s.index(0);
    for (auto [axis, size] : llvm::zip(r.axes, sizes))
      linear = s.add(s.mul(linear, size), s.position(axis));
    return arith::IndexCastOp::create(s, i64, linear);
  };

  Value start = isGreatest ? least(builder, r.type, r.isUnsigned)
                           : greatest(builder, r.type, r.isUnsigned);
  Value last = builder.number(i64, APInt::getSignedMaxValue(64));
  Value destination = kernel.destination();
  bool isDirect = r.kept.size() == kernel.dims(destination).size();
  Value positions =
      kernel.fill(isDirect ? destination : kernel.empty(keptDims, i64), last);
  auto yield = [&](Value found) {
    return isDirect ? kernel.yield(found) : r.yield(kernel, found);
  };
  if (manyThreads) {
    Value best = r.reduce(kernel, {}, start, [&](Scalars &s, ValueRange x) {
      return isGreatest ? s.max(x[1], x[0], r.isUnsigned)
                        : s.min(x[1], x[0], r.isUnsigned);
    });
    return yield(kernel.loop(
        r.dims, {r.x, {best, r.kept}}, {positions, r.kept},
        [&](Scalars &s, ValueRange x) {
          Value isBest =
              isa<FloatType>(r.type)
                  ? s.either(s.compare(CmpFPredicate::OEQ, x[0], x[1]),
                             s.compare(CmpFPredicate::UNO, x[0], x[0]))
                  : s.compare(CmpIPredicate::eq, x[0], x[1]);
          return s.min(x[2], s.select(isBest, positionOf(s), last));
        }));
  }
  Value values = kernel.fill(kernel.empty(keptDims, r.type), start);
  SmallVector<Value> results = kernel.nest(
      r.dims, {r.x}, {{values, r.kept}, {positions, r.kept}},
      [&](Scalars &s, ValueRange x) {
        Value position = positionOf(s);
        Value better, equal;
        if (isa<FloatType>(r.type)) {
          Value isNan = s.compare(CmpFPredicate::UNO, x[0], x[0]);
          Value wasNan = s.compare(CmpFPredicate::UNO, x[1], x[1]);
          better = s.compare(
              isGreatest ? CmpFPredicate::OGT : CmpFPredicate::OLT, x[0], x[1]);
          better = s.either(better, s.both(isNan, s.negate(wasNan)));
          equal = s.either(s.compare(CmpFPredicate::OEQ, x[0], x[1]),
                           s.both(isNan, wasNan));
        } else {
          CmpIPredicate predicate =
              isGreatest
                  ? (r.isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt)
                  : (r.isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt);
          better = s.compare(predicate, x[0], x[1]);
          equal = s.compare(CmpIPredicate::eq, x[0], x[1]);
        }
        Value isFirst = s.compare(CmpIPredicate::slt, position, x[2]);
        Value takes = s.either(better, s.both(equal, isFirst));
        return SmallVector<Value>{s.select(takes, x[0], x[1]),
                                  s.select(takes, position, x[2])};
      });
  return yield(results[1]);
}

template <typename OpT, bool isGreatest>
static void positions(KernelRegistry &registry, bool manyThreads) {
  registry.add<OpT>([manyThreads](OpT op, KernelBuilder &kernel) {
    return argReduce<OpT, isGreatest>(op, kernel, manyThreads);
  });
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Loops sequentially along the axis, innermost, and carries the running value.
template <typename OpT, bool isSum>
static LogicalResult scan(OpT op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  Type from = getElementType(op.getData()), to = getElementType(op.getResult()),
       element = getKernelElementType(to), type = getComputeType(element);
  SymDims dims(kernel.dims(data));
  bool isFlat = !op.getAxis();
  SmallVector<int64_t> outer, inner;
  if (isFlat) {
    inner = llvm::to_vector(llvm::seq<int64_t>(dims.size()));
  } else {
    int64_t axis = *op.getAxis();
    inner = {axis < 0 ? axis + int64_t(dims.size()) : axis};
    outer = allBut(dims.size(), inner);
  }
  SmallVector<Value> sizes;
  for (SymExprAttr dim : dims)
    sizes.push_back(kernel.size(dim));
  auto sizesOf = [&](ArrayRef<int64_t> loops) {
    return llvm::map_to_vector(loops, [&](int64_t l) { return sizes[l]; });
  };
  Scalars &builder = kernel.builder();
  // In a single thread, f64 is cheaper than compensated summation.
  bool isWide = isSum && type.isF32();
  Type carried = isWide ? Type(builder.getF64Type()) : type;
  Value start = builder.number(carried, isSum ? 0 : 1);
  Running running{isSum, isWide};

  auto step = [&](Scalars &s, ArrayRef<Value> position, ValueRange state) {
    Value x = tensor::ExtractOp::create(s, data, position);
    x = s.convertFloat(s.convertFloat(s.convert(x, from, to), type), carried);
    ValueRange before = state.drop_front();
    SmallVector<Value> next = running.next(s, before, x);
    Value result = s.convertFloat(
        running.value(s, op.getExclusive() ? before : ValueRange(next)),
        element);
    SmallVector<Value> target(position);
    if (isFlat) {
      Value linear = s.index(0);
      for (auto [size, index] : llvm::zip(sizes, position))
        linear = s.add(s.mul(linear, size), index);
      target = {linear};
    }
    next.insert(next.begin(),
                tensor::InsertOp::create(s, result, state[0], target));
    return next;
  };
  SmallVector<Value> results = kernel.iterate(
      builder, sizesOf(outer), kernel.destination(),
      [&](Scalars &s, ValueRange outerPosition, ValueRange state) {
        SmallVector<Value> carried = running.start(s, start);
        carried.insert(carried.begin(), state[0]);
        SmallVector<Value> along = kernel.iterate(
            s, sizesOf(inner), carried,
            [&](Scalars &s, ValueRange innerPosition, ValueRange state) {
              SmallVector<Value> position(dims.size());
              for (auto [loop, index] : llvm::zip(outer, outerPosition))
                position[loop] = index;
              for (auto [loop, index] : llvm::zip(inner, innerPosition))
                position[loop] = index;
              return step(s, position, state);
            });
        return SmallVector<Value>{along[0]};
      });
  return kernel.yield(results[0]);
}

void relax::populateReductionKernels(KernelRegistry &registry,
                                     bool manyThreads) {
  combining<SumOp>(registry, zero, add);
  combining<ProdOp>(registry, one, mul);
  combining<MaxOp>(registry, least, maximum, /*needsElements=*/true);
  combining<MinOp>(registry, greatest, minimum, /*needsElements=*/true);
  combining<AnyOp>(registry, zero, either);
  combining<AllOp>(registry, one, both);
  registry.add<MeanOp>(mean);
  registry.add<VarianceOp>(variance<VarianceOp, false>);
  registry.add<StdOp>(variance<StdOp, true>);
  registry.add<LogSumExpOp>(logSumExp);
  positions<ArgmaxOp, true>(registry, manyThreads);
  positions<ArgminOp, false>(registry, manyThreads);
  registry.add<CumsumOp>(scan<CumsumOp, true>);
  registry.add<CumprodOp>(scan<CumprodOp, false>);
}
