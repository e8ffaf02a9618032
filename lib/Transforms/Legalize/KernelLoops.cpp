//===- KernelLoops.cpp - loop nests of kernels ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of KernelBuilder that emits loops. An operand of a nest is accessed
// by an indexing map if each of its dimensions is known to be the loop's size
// or 1; otherwise the body extracts elements and decides by the size at run
// time.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

/// How a nest reads an operand.
struct KernelBuilder::Reading {
  Value value;
  /// The map of a mapped tensor; null for a number, or if the body extracts
  /// elements.
  AffineMap map;
  /// If it extracts: the loop of each dimension, or none for index 0, and the
  /// size that decides at run time, or none.
  SmallVector<std::optional<int64_t>> loops;
  SmallVector<Value> sizes;
};

/// The `loops` of an access; by default aligned at the last.
static SmallVector<int64_t> placeOnLoops(const Access &access, int64_t count) {
  if (access.loops)
    return *access.loops;
  int64_t rank = cast<RankedTensorType>(access.value.getType()).getRank();
  return llvm::to_vector(llvm::seq(count - rank, count));
}

KernelBuilder::Reading KernelBuilder::place(const Access &access,
                                            ArrayRef<SymExprAttr> loopDims) {
  Reading reading{access.value, {}, {}, {}};
  if (!isa<RankedTensorType>(access.value.getType()))
    return reading;
  MLIRContext *context = op->getContext();
  SymExprAttr one = constant(1);
  SmallVector<AffineExpr> positions;
  SymDims own(dims(access.value));
  for (auto [index, dim, loop] :
       llvm::enumerate(own, placeOnLoops(access, loopDims.size()))) {
    bool broadcasts = static_cast<int64_t>(index) < access.broadcasting;
    SymExprAttr whole = loopDims[loop];
    reading.loops.push_back(loop);
    reading.sizes.push_back({});
    positions.push_back(getAffineDimExpr(loop, context));
    if (dim == whole || provedEqual(dim, whole))
      continue;
    if (!broadcasts || facts.equal(dim, one) == Truth::No) {
      requireEqual(dim, whole,
                   "sizes must be equal: " + dim.str() + " and " + whole.str());
    } else if (provedEqual(dim, one)) {
      reading.loops.back() = std::nullopt;
      positions.back() = getAffineConstantExpr(0, context);
    } else {
      using arith::CmpIPredicate;
      guards.push_back(
          {{{CmpIPredicate::eq, dim, one}, {CmpIPredicate::eq, dim, whole}},
           "cannot broadcast a dimension of size " + dim.str() + " to " +
               whole.str()});
      reading.sizes.back() = size(dim);
    }
  }
  if (llvm::none_of(reading.sizes, [](Value size) { return bool(size); }))
    reading.map = AffineMap::get(loopDims.size(), 0, positions, context);
  return reading;
}

/// The element at the current loop position; index 0 in dimensions of size 1.
Value KernelBuilder::extract(ScalarBuilder &scalars, const Reading &reading) {
  SmallVector<Value> position;
  for (auto [loop, size] : llvm::zip(reading.loops, reading.sizes)) {
    Value zero = scalars.index(0);
    Value index = loop ? scalars.position(*loop) : zero;
    if (size)
      index = scalars.select(
          scalars.compare(arith::CmpIPredicate::eq, size, scalars.index(1)),
          zero, index);
    position.push_back(index);
  }
  return tensor::ExtractOp::create(scalars, reading.value, position);
}

SmallVector<Value> KernelBuilder::nest(ArrayRef<SymExprAttr> loopDims,
                                       ArrayRef<Access> reads,
                                       ArrayRef<Access> inits, Bodies fn,
                                       bool widens) {
  SymDims loops(loopDims);
  int64_t count = loops.size();
  MLIRContext *context = op->getContext();
  SmallVector<AffineMap> inputMaps, initMaps;
  SmallVector<Value> inputValues, initValues;
  SmallVector<bool> covered(count, false), parallel(count, false);
  auto cover = [&](AffineMap map) {
    for (AffineExpr position : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(position))
        covered[dim.getPosition()] = true;
  };

  SmallVector<Reading> readings;
  for (const Access &read : reads) {
    Reading reading = place(read, loops);
    if (reading.map) {
      inputMaps.push_back(reading.map);
      inputValues.push_back(read.value);
      cover(reading.map);
    }
    readings.push_back(std::move(reading));
  }
  for (const Access &init : inits) {
    SmallVector<AffineExpr> positions;
    for (int64_t loop : placeOnLoops(init, count)) {
      positions.push_back(getAffineDimExpr(loop, context));
      parallel[loop] = true;
    }
    initMaps.push_back(AffineMap::get(count, 0, positions, context));
    initValues.push_back(init.value);
    cover(initMaps.back());
  }
  // Every loop needs an operand that gives its size: add an unread one where
  // there is none.
  SmallVector<int64_t> uncovered;
  for (int64_t loop = 0; loop < count; ++loop)
    if (!covered[loop])
      uncovered.push_back(loop);
  if (!uncovered.empty()) {
    SymDims shape;
    SmallVector<AffineExpr> positions;
    for (int64_t loop : uncovered) {
      shape.push_back(loops[loop]);
      positions.push_back(getAffineDimExpr(loop, context));
    }
    inputValues.push_back(empty(shape, body.getI1Type()));
    inputMaps.push_back(AffineMap::get(count, 0, positions, context));
  }

  SmallVector<utils::IteratorType> iterators;
  for (bool isParallel : parallel)
    iterators.push_back(isParallel ? utils::IteratorType::parallel
                                   : utils::IteratorType::reduction);
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  auto emit = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    ScalarBuilder scalars(loc, builder);
    SmallVector<Value> elements;
    unsigned next = 0;
    for (const Reading &reading : readings) {
      Value element = reading.value;
      if (reading.map)
        element = arguments[next++];
      else if (isa<RankedTensorType>(element.getType()))
        element = extract(scalars, reading);
      elements.push_back(
          widens
              ? scalars.convertFloat(element, getComputeType(element.getType()))
              : element);
    }
    for (Value element : arguments.drop_front(inputValues.size()))
      elements.push_back(element);
    SmallVector<Value> results = fn(scalars, elements);
    for (auto [result, init] : llvm::zip(results, initValues))
      result = scalars.convertFloat(
          result, cast<RankedTensorType>(init.getType()).getElementType());
    linalg::YieldOp::create(scalars, results);
  };
  auto generic =
      linalg::GenericOp::create(body, TypeRange(initValues), inputValues,
                                initValues, maps, iterators, emit);
  for (auto [result, init] : llvm::zip(generic.getResults(), initValues))
    withDims(result, SymDims(dims(init)));
  return llvm::to_vector_of<Value>(generic.getResults());
}

Value KernelBuilder::loop(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
                          Access init, Body fn) {
  return nest(dims, reads, init,
              [&](ScalarBuilder &scalars, ValueRange elements) {
                return SmallVector<Value>{fn(scalars, elements)};
              })[0];
}

Value KernelBuilder::map(ArrayRef<Access> reads, Value init, Body fn) {
  return loop(SymDims(dims(init)), reads, init, fn);
}

Value KernelBuilder::update(Value value, ArrayRef<Access> reads, Value init,
                            Body fn) {
  bool inPlace = value.getType() == init.getType();
  SmallVector<Access> all(reads);
  if (!inPlace)
    all.insert(all.begin(), value);
  return map(all, inPlace ? value : init,
             [&](ScalarBuilder &scalars, ValueRange elements) {
               SmallVector<Value> inOrder(elements.drop_back());
               if (inPlace)
                 inOrder.insert(inOrder.begin(), elements.back());
               return fn(scalars, inOrder);
             });
}

Value KernelBuilder::reduce(ArrayRef<SymExprAttr> loopDims,
                            ArrayRef<Access> reads, ArrayRef<int64_t> kept,
                            Value identity, Body fn) {
  SymDims keptDims;
  for (int64_t loop : kept)
    keptDims.push_back(loopDims[loop]);
  Value init = fill(empty(keptDims, identity.getType()), identity);
  return loop(loopDims, reads, {init, kept}, fn);
}

Value KernelBuilder::move(Access read, Value init) {
  return nest(
      SymDims(dims(init)), read, Access(init),
      [](ScalarBuilder &, ValueRange x) { return SmallVector<Value>{x[0]}; },
      /*widens=*/false)[0];
}

Value KernelBuilder::generate(Value init, Body fn) {
  int64_t rank = dims(init).size();
  return map({}, init, [&](ScalarBuilder &scalars, ValueRange) {
    SmallVector<Value> position;
    for (int64_t loop = 0; loop < rank; ++loop)
      position.push_back(scalars.position(loop));
    return fn(scalars, position);
  });
}

SmallVector<Value> KernelBuilder::iterate(
    ScalarBuilder &builder, ValueRange sizes, ValueRange carried,
    function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange, ValueRange)>
        fn) {
  Value zero = builder.index(0), one = builder.index(1);
  auto nest = scf::buildLoopNest(builder, builder.getLoc(),
                                 SmallVector<Value>(sizes.size(), zero), sizes,
                                 SmallVector<Value>(sizes.size(), one), carried,
                                 [&](OpBuilder &inner, Location loc,
                                     ValueRange position, ValueRange state) {
                                   ScalarBuilder scalars(loc, inner);
                                   return fn(scalars, position, state);
                                 });
  return nest.results;
}
