//===- ParallelScan.cpp - kernels that scan lines by chunks ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each chunk of a line is summed, the sums are scanned, and each chunk is
// scanned from its start value (ParallelLoops.h).
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Reduction.h"
#include "Relax/Ops/Sort.h"
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

/// The position of an element from its row-major number.
static Values delinearize(Scalars &s, Value number, ValueRange sizes) {
  Values position(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    position[dim] =
        dim == 0 ? number
                 : arith::RemUIOp::create(s, number, sizes[dim]).getResult();
    if (dim != 0)
      number = arith::DivUIOp::create(s, number, sizes[dim]);
  }
  return position;
}

static Values sizesOf(KernelBuilder &kernel, ArrayRef<SymExprAttr> dims) {
  Values sizes;
  for (SymExprAttr dim : SymDims(dims))
    sizes.push_back(kernel.size(dim));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

template <typename OpT, bool isSum>
static LogicalResult scanInParallel(OpT op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  Type from = getElementType(op.getData()), to = getElementType(op.getResult()),
       element = getKernelElementType(to), type = getComputeType(element);
  SymDims dims(kernel.dims(data)), outer;
  bool isFlat = !op.getAxis();
  int64_t axis = 0;
  SymExprAttr along = kernel.math().product(dims);
  if (!isFlat) {
    axis = *op.getAxis();
    axis = axis < 0 ? axis + int64_t(dims.size()) : axis;
    along = dims[axis];
    outer = dims;
    outer.erase(outer.begin() + axis);
  }
  Scalars &builder = kernel.builder();
  Values sizes = sizesOf(kernel, dims), outerSizes = sizesOf(kernel, outer);
  Chunks chunks(kernel, along);
  Value identity = builder.number(type, isSum ? 0 : 1);
  Running running{isSum};
  auto read = [&](Scalars &s, ValueRange position, Value at) {
    Values source(position);
    if (isFlat)
      source = delinearize(s, at, sizes);
    else
      source.insert(source.begin() + axis, at);
    return s.convertFloat(s.convert(readElement(s, data, source), from, to),
                          type);
  };
  Value before = scanChunks(
      kernel, chunks, outer, identity, running,
      [&](Scalars &s, ValueRange position, Value chunk) {
        Value first = chunks.first(s, chunk);
        return running.value(
            s, forLoop(s, s.index(0), chunks.length(s, chunk), s.index(1),
                       running.start(s, identity),
                       [&](Scalars &s, Value at, ValueRange state) -> Values {
                         Value x = read(s, position, s.add(first, at));
                         return running.next(s, state, x);
                       }));
      });
  outerSizes.push_back(chunks.number);
  return kernel.yield(forAll(
      builder, outerSizes, kernel.destination(),
      [&](Scalars &s, ValueRange position) -> SmallVector<Box> {
        Value chunk = position.back();
        return {Box::line(s, position.drop_back(), axis, chunks.first(s, chunk),
                          chunks.length(s, chunk))};
      },
      [&](Scalars &s, ValueRange position, ValueRange parts) -> Values {
        Value chunk = position.back(), first = chunks.first(s, chunk);
        Values carried = running.start(s, readElement(s, before, position));
        carried.insert(carried.begin(), parts[0]);
        return {forLoop(
            s, s.index(0), chunks.length(s, chunk), s.index(1), carried,
            [&](Scalars &s, Value at, ValueRange state) -> Values {
              Value x = read(s, position.drop_back(), s.add(first, at));
              ValueRange so = state.drop_front();
              Values next = running.next(s, so, x);
              Value result =
                  running.value(s, op.getExclusive() ? so : ValueRange(next));
              next.insert(next.begin(),
                          writeElement(s, s.convertFloat(result, element),
                                       state[0], at));
              return next;
            })[0]};
      }));
}

//===----------------------------------------------------------------------===//
// NonzeroOp
//===----------------------------------------------------------------------===//

namespace {

/// The elements of an operand in row-major order, and the number of nonzeros
/// before each chunk.
struct Nonzeros {
  Nonzeros(NonzeroOp op, KernelBuilder &kernel)
      : x(kernel.input(op.getX())), sizes(sizesOf(kernel, kernel.dims(x))),
        chunks(kernel, kernel.math().product(SymDims(kernel.dims(x)))) {
    Scalars &builder = kernel.builder();
    Value none = builder.number(builder.getI64Type(), 0);
    before = scanChunks(
        kernel, chunks, {}, none, Running{},
        [&](Scalars &s, ValueRange, Value chunk) {
          Value first = chunks.first(s, chunk);
          return forLoop(
              s, s.index(0), chunks.length(s, chunk), s.index(1), none,
              [&](Scalars &s, Value at, ValueRange state) -> Values {
                Value counts = isNonzero(s, position(s, s.add(first, at)));
                Value one = s.number(s.getI64Type(), 1);
                return {s.select(counts, s.add(state[0], one), state[0])};
              })[0];
        });
  }

  Values position(Scalars &s, Value number) const {
    return delinearize(s, number, sizes);
  }

  Value isNonzero(Scalars &s, ValueRange position) const {
    Value element = readElement(s, x, position);
    Value zero = s.number(element.getType(), 0);
    return isa<FloatType>(element.getType())
               ? s.compare(CmpFPredicate::UNE, element, zero)
               : s.compare(CmpIPredicate::ne, element, zero);
  }

  Value x;
  Values sizes;
  Chunks chunks;
  Value before;
};

} // namespace

static LogicalResult nonzero(NonzeroOp op, KernelBuilder &kernel) {
  Scalars &s = kernel.builder();
  Nonzeros found(op, kernel);
  const Chunks &chunks = found.chunks;
  int64_t rank = found.sizes.size();
  return kernel.yield(forAll(
      s, chunks.number, kernel.destination(),
      [&](Scalars &s, ValueRange position) -> SmallVector<Box> {
        Value chunk = position[0];
        Value next = s.add(chunk, s.index(1));
        Value from = s.toIndex(readElement(s, found.before, chunk));
        Value to = s.toIndex(readElement(s, found.before, next));
        // All rows, even if there is only one.
        return {{{s.getIndexAttr(0), from}, {s.index(rank), s.sub(to, from)}}};
      },
      [&](Scalars &s, ValueRange position, ValueRange parts) -> Values {
        Value chunk = position[0], first = chunks.first(s, chunk);
        return {forLoop(
            s, s.index(0), chunks.length(s, chunk), s.index(1),
            {parts[0], s.index(0)},
            [&](Scalars &s, Value at, ValueRange state) -> Values {
              Values where = found.position(s, s.add(first, at));
              auto choice = scf::IfOp::create(
                  s, found.isNonzero(s, where),
                  [&](OpBuilder &builder, Location loc) {
                    Scalars s(loc, builder);
                    Value result = state[0];
                    for (auto [row, index] : llvm::enumerate(where))
                      result = writeElement(
                          s,
                          arith::IndexCastOp::create(s, s.getI64Type(), index),
                          result, {s.index(row), state[1]});
                    scf::YieldOp::create(
                        s, ValueRange{result, s.add(state[1], s.index(1))});
                  },
                  [&](OpBuilder &builder, Location loc) {
                    scf::YieldOp::create(builder, loc, state);
                  });
              return llvm::to_vector_of<Value>(choice.getResults());
            })[0]};
      }));
}

void relax::countNonzeroByChunks(NonzeroOp op, KernelBuilder &kernel) {
  Nonzeros found(op, kernel);
  Scalars &s = kernel.builder();
  Value count = readElement(s, found.before, found.chunks.number);
  (void)kernel.yield(writeElement(s, count, kernel.destination(), s.index(0)));
}

void relax::populateParallelScanKernels(KernelRegistry &registry) {
  registry.add<CumsumOp>(scanInParallel<CumsumOp, true>);
  registry.add<CumprodOp>(scanInParallel<CumprodOp, false>);
  registry.add<NonzeroOp>(nonzero);
}
