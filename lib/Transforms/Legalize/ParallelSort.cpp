//===- ParallelSort.cpp - parallel sort kernels ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merge sort as in MergeSort.h, but each element of a merged run finds its
// source by bisection:
//
//   left   1 4 6   right  2 3 9      the 4th of both: how many of the first 3
//   merged 1 2 3 [4] 6 9             are from the left? 1; so it is 4 or 9
//
// A pass over all elements of all lines is one parallel loop. Two passes form a
// round, which begins and ends in the same scratch tensors.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Sort.h"
#include "Transforms/Legalize/MergeSort.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;
using Values = SmallVector<Value>;

namespace {

/// Sorts lines of scratch tensors over [lines..., count] that move together.
class MergePasses {
public:
  MergePasses(ValueRange sizes, IsBefore isBefore)
      : sizes(sizes), count(sizes.back()), isBefore(isBefore) {}

  /// Sorts `scratch`; `others` are as many buffers of the same types.
  Values sort(Scalars &s, ValueRange scratch, ValueRange others);

private:
  Values merge(Scalars &s, ValueRange from, ValueRange to, Value width);
  Value findSource(Scalars &s, ValueRange from, ValueRange position,
                   Value width);

  Values sizes;
  Value count;
  IsBefore isBefore;
};

} // namespace

/// The source, within its line, of the element that merging stores at
/// `position`.
Value MergePasses::findSource(Scalars &s, ValueRange from, ValueRange position,
                              Value width) {
  Value index = position.back(), one = s.index(1), zero = s.index(0);
  Value both = s.add(width, width);
  Value low = arith::AndIOp::create(
      s, index, s.sub(zero, both)); // multiples of a power of two
  Value middle = s.min(s.add(low, width), count);
  Value high = s.min(s.add(middle, width), count);
  Value before = s.sub(index, low);
  auto at = [&](Value place) {
    Values all(position);
    all.back() = place;
    return all;
  };
  // How many of the earlier elements come from the left run.
  Value least = s.max(s.sub(before, s.sub(high, middle)), zero);
  Value most = s.min(before, s.sub(middle, low));
  Type type = s.getIndexType();
  auto bisection = scf::WhileOp::create(
      s, TypeRange{type, type}, ValueRange{least, most},
      [&](OpBuilder &builder, Location loc, ValueRange range) {
        Scalars s(loc, builder);
        Value isOpen = s.compare(CmpIPredicate::slt, range[0], range[1]);
        scf::ConditionOp::create(s, isOpen, range);
      },
      [&](OpBuilder &builder, Location loc, ValueRange range) {
        Scalars s(loc, builder);
        Value half = arith::ShRUIOp::create(s, s.add(range[0], range[1]), one);
        Value left = s.add(low, half);
        Value right = s.sub(s.add(middle, before), s.add(half, one));
        Value goesFirst = isBefore(s, from, at(right), at(left));
        scf::YieldOp::create(
            s, ValueRange{s.select(goesFirst, range[0], s.add(half, one)),
                          s.select(goesFirst, half, range[1])});
      });
  Value fromLeft = bisection.getResult(0);
  Value left = s.add(low, fromLeft);
  Value right = s.add(middle, s.sub(before, fromLeft));
  // An exhausted run shows its last element, which is ignored.
  Value noLeft = s.compare(CmpIPredicate::sge, left, middle);
  Value hasRight = s.compare(CmpIPredicate::slt, right, high);
  Value atLeft = s.min(left, s.sub(middle, one));
  Value atRight = s.min(right, s.sub(high, one));
  Value goesFirst = isBefore(s, from, at(atRight), at(atLeft));
  Value takesRight = s.both(hasRight, s.either(noLeft, goesFirst));
  return s.select(takesRight, atRight, atLeft);
}

Values MergePasses::merge(Scalars &s, ValueRange from, ValueRange to,
                          Value width) {
  return forAll(
      s, sizes, to,
      [&](Scalars &s, ValueRange position) {
        return SmallVector<Box>(to.size(), Box::element(s, position));
      },
      [&](Scalars &s, ValueRange position, ValueRange parts) {
        Values source(position), merged;
        source.back() = findSource(s, from, position, width);
        for (auto [tensor, part] : llvm::zip(from, parts))
          merged.push_back(
              writeElement(s, readElement(s, tensor, source), part, {}));
        return merged;
      });
}

Values MergePasses::sort(Scalars &s, ValueRange scratch, ValueRange others) {
  Value one = s.index(1), two = s.index(2);
  // The number of passes equals the number of bits in `count - 1`.
  Value last = s.sub(s.max(count, one), one);
  Value leadingZeros = math::CountLeadingZerosOp::create(
      s, arith::IndexCastOp::create(s, s.getI64Type(), last));
  Value passes = s.sub(s.index(64), s.toIndex(leadingZeros));
  Values state(scratch);
  llvm::append_range(state, others);
  return forLoop(s, s.index(0), passes, two, state,
                 [&](Scalars &s, Value pass, ValueRange state) {
                   ValueRange from = state.take_front(scratch.size());
                   ValueRange to = state.drop_front(scratch.size());
                   Value width = arith::ShLIOp::create(s, one, pass);
                   Values there = merge(s, from, to, width);
                   Values back = merge(s, there, from, s.add(width, width));
                   llvm::append_range(back, there);
                   return back;
                 });
}

Value relax::sortInParallel(Scalars &s, Value count, Value numbers,
                            Value scratch, IsBefore isBefore) {
  return MergePasses(count, isBefore).sort(s, numbers, scratch)[0];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static Values sortLines(KernelBuilder &kernel, const LineSort &lines) {
  Scalars &s = kernel.builder();
  Value data = lines.data, values = lines.values, indices = lines.indices;
  int64_t axis = lines.axis;
  SymDims dims(kernel.dims(data));
  int64_t rank = dims.size();
  // In scratch tensors, lines are contiguous in memory.
  SymDims lineDims(dims);
  std::rotate(lineDims.begin() + axis, lineDims.begin() + axis + 1,
              lineDims.end());
  SmallVector<int64_t> loops = allBut(rank, axis);
  loops.insert(loops.begin() + axis, rank - 1);
  for (int64_t dim = axis + 1; dim < rank; ++dim)
    loops[dim] = dim - 1;
  Values sizes, scratch, others;
  for (SymExprAttr dim : lineDims)
    sizes.push_back(kernel.size(dim));
  auto allocate = [&](Type type) {
    others.push_back(kernel.empty(lineDims, type));
    return kernel.empty(lineDims, type);
  };
  scratch.push_back(kernel.move({data, loops}, allocate(getElementType(data))));
  if (indices) {
    Type number = getElementType(indices);
    scratch.push_back(kernel.generate(
        allocate(number), [&](Scalars &s, ValueRange position) -> Value {
          return arith::IndexCastOp::create(s, number, position.back());
        }));
  }
  auto isBefore = [&](Scalars &s, ValueRange scratch, ValueRange right,
                      ValueRange left) {
    return lines.isBefore(s, scratch, right, left);
  };
  MergePasses passes(sizes, isBefore);
  Values sorted = passes.sort(s, scratch, others);

  Values results = lines.results(), resultSizes;
  for (SymExprAttr dim : SymDims(kernel.dims(results[0])))
    resultSizes.push_back(kernel.size(dim));
  return forAll(
      s, resultSizes, results,
      [&](Scalars &s, ValueRange position) {
        return SmallVector<Box>(results.size(), Box::element(s, position));
      },
      [&](Scalars &s, ValueRange position, ValueRange parts) {
        Values source(position), done;
        std::rotate(source.begin() + axis, source.begin() + axis + 1,
                    source.end());
        for (auto [number, part] : llvm::enumerate(parts))
          done.push_back(writeElement(
              s, readElement(s, sorted[values ? number : 1], source), part,
              {}));
        return done;
      });
}

void relax::populateParallelSortKernels(KernelRegistry &registry) {
  addSortKernels(registry, sortLines);
}
