//===- Scatter.cpp - scatter kernels --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scattering first copies the data, then applies the updates in order, so that
// several may hit the same place; float sums keep their rounding errors. An
// invalid index writes nothing; if it is an error, a check has been inserted
// before (CheckIndices.cpp). For many threads, lines that no two updates share
// are processed in parallel, each applying its own updates in order.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Index.h"
#include "Transforms/Legalize/Indices.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "Transforms/Legalize/Running.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using Scalars = ScalarBuilder;

static Value combine(Scalars &s, StringRef reduction, Value old, Value update,
                     Type element) {
  if (reduction == "update")
    return update;
  if (old.getType().isInteger(1)) // as in NumPy: a sum is true if any term is
    return reduction == "add" || reduction == "max" ? s.either(old, update)
                                                    : s.both(old, update);
  Type type = getComputeType(old.getType());
  Value l = s.convertFloat(old, type), r = s.convertFloat(update, type);
  bool isUnsigned = isUnsignedElement(element);
  Value result = reduction == "add"   ? s.add(l, r)
                 : reduction == "mul" ? s.mul(l, r)
                 : reduction == "max" ? s.max(l, r, isUnsigned)
                                      : s.min(l, r, isUnsigned);
  return s.convertFloat(result, old.getType());
}

/// Applies an update, or nothing if an index is invalid. Clamps positions so
/// that they can be read. `whole` is the tensor and, for float sums, a tensor
/// of the rounding error of each element.
static SmallVector<Value> scatter(Scalars &s, ValueRange whole,
                                  SmallVector<Value> at,
                                  ArrayRef<std::pair<int64_t, Value>> checked,
                                  Value update, StringRef reduction,
                                  Type element) {
  Value isValid;
  for (auto [dim, size] : checked) {
    Value inside = isInside(s, at[dim], size);
    isValid = isValid ? s.both(isValid, inside) : inside;
    at[dim] = clamp(s, at[dim], size);
  }
  SmallVector<Value> old, next, written;
  for (Value tensor : whole)
    old.push_back(tensor::ExtractOp::create(s, tensor, at));
  if (whole.size() == 2)
    next = Running{}.next(s, old, s.convertFloat(update, old[0].getType()));
  else
    next = {combine(s, reduction, old[0], update, element)};
  for (auto [tensor, before, after] : llvm::zip_equal(whole, old, next)) {
    Value result = isValid ? s.select(isValid, after, before) : after;
    written.push_back(tensor::InsertOp::create(s, result, tensor, at));
  }
  return written;
}

namespace {

/// Loops over the updates of a tensor.
struct Updates {
  Value data;
  Type element; // graph type
  StringRef reduction;
  SymDims dims; // loop bounds
  /// The indexed dimensions of the data and their sizes.
  SmallVector<std::pair<int64_t, Value>> checked;
  /// Loops that correspond to dimensions of the data: updates at different
  /// positions never conflict.
  SmallVector<std::pair<int64_t, int64_t>> apart;

  struct One {
    SmallVector<Value> at;
    Value element;
  };
  using FindFn = function_ref<One(Scalars &, ValueRange position)>;

  SmallVector<Value> inOrder(KernelBuilder &kernel, FindFn find) const;
  SmallVector<Value> inParallel(KernelBuilder &kernel, FindFn find) const;
  /// The loop-carried values: a copy of the data; for float sums, in the
  /// compute type, with a zero-initialized tensor of rounding errors.
  SmallVector<Value> carried(KernelBuilder &kernel) const;
  LogicalResult yield(KernelBuilder &kernel, bool manyThreads,
                      FindFn find) const {
    SmallVector<Value> done =
        manyThreads ? inParallel(kernel, find) : inOrder(kernel, find);
    if (done.size() == 1)
      return kernel.yield(done[0]);
    SymDims whole(kernel.dims(data));
    for (Value tensor : done)
      kernel.withDims(tensor, whole);
    return kernel.yield(
        kernel.update(done[0], {Access(done[1])}, kernel.destination(),
                      [](Scalars &s, ValueRange x) {
                        return Running{}.value(s, x.take_front(2));
                      }));
  }
};

} // namespace

static SmallVector<Value> getSizesOf(KernelBuilder &kernel,
                                     ArrayRef<SymExprAttr> dims) {
  return llvm::map_to_vector(dims,
                             [&](SymExprAttr dim) { return kernel.size(dim); });
}

SmallVector<Value> Updates::carried(KernelBuilder &kernel) const {
  Value destination = kernel.destination();
  if (reduction != "add" || !isa<FloatType>(element))
    return {kernel.move(data, destination)};
  Type type = getComputeType(getElementType(destination));
  Value sums = kernel.accumulator(destination);
  sums = getElementType(sums) == getElementType(data)
             ? kernel.move(data, sums)
             : kernel.map(Access(data), sums,
                          [](Scalars &, ValueRange x) { return x[0]; });
  // Adding -0 leaves elements without updates, which may be -0, unchanged.
  Value lost = kernel.fill(kernel.empty(SymDims(kernel.dims(data)), type),
                           kernel.builder().number(type, -0.0));
  return {sums, lost};
}

/// All loops sequentially, in memory order.
SmallVector<Value> Updates::inOrder(KernelBuilder &kernel, FindFn find) const {
  SmallVector<Value> sizes = getSizesOf(kernel, dims);
  return kernel.iterate(kernel.builder(), sizes, carried(kernel),
                        [&](Scalars &s, ValueRange position, ValueRange state) {
                          One one = find(s, position);
                          return scatter(s, state, one.at, checked, one.element,
                                         reduction, element);
                        });
}

/// Conflict-free loops are parallel, and enclose the others.
SmallVector<Value> Updates::inParallel(KernelBuilder &kernel,
                                       FindFn find) const {
  SmallVector<Value> sizes = getSizesOf(kernel, dims),
                     whole = getSizesOf(kernel, SymDims(kernel.dims(data))),
                     around, within;
  SmallVector<int64_t> apartLoops, apartDims;
  for (auto [loop, dim] : apart) {
    apartLoops.push_back(loop);
    apartDims.push_back(dim);
    around.push_back(sizes[loop]);
  }
  SmallVector<int64_t> others = allBut(dims.size(), apartLoops),
                       otherDims = allBut(whole.size(), apartDims);
  for (int64_t loop : others)
    within.push_back(sizes[loop]);
  SmallVector<std::pair<int64_t, Value>> checkedOfPart;
  for (auto [dim, size] : checked)
    checkedOfPart.push_back(
        {llvm::find(otherDims, dim) - otherDims.begin(), size});
  SmallVector<Value> copies = carried(kernel);
  return forAll(
      kernel.builder(), around, copies,
      [&](Scalars &s, ValueRange position) -> SmallVector<Box> {
        Box box{SmallVector<OpFoldResult>(whole.size(), s.getIndexAttr(0)),
                llvm::to_vector_of<OpFoldResult>(whole)};
        for (auto [dim, index] : llvm::zip(apartDims, position)) {
          box.offsets[dim] = index;
          box.sizes[dim] = s.getIndexAttr(1);
        }
        return SmallVector<Box>(copies.size(), box);
      },
      [&](Scalars &s, ValueRange outside, ValueRange parts) {
        return kernel.iterate(
            s, within, parts,
            [&](Scalars &s, ValueRange inside, ValueRange state) {
              SmallVector<Value> position(dims.size());
              for (auto [loop, index] : llvm::zip(apartLoops, outside))
                position[loop] = index;
              for (auto [loop, index] : llvm::zip(others, inside))
                position[loop] = index;
              One one = find(s, position);
              SmallVector<Value> at;
              for (int64_t dim : otherDims)
                at.push_back(one.at[dim]);
              return scatter(s, state, at, checkedOfPart, one.element,
                             reduction, element);
            });
      });
}

static LogicalResult scatterElements(ScatterElementsOp op,
                                     KernelBuilder &kernel, bool manyThreads) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices()),
        updates = kernel.input(op.getUpdates());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices)),
      updateDims(kernel.dims(updates));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  for (auto [size, update] : llvm::zip(own, updateDims))
    kernel.requireEqual(update, size, "updates must have the shape of indices");
  requireInside(kernel, own, dims, axis);
  requireElements(kernel, dims[axis], indices);
  Value size = kernel.size(dims[axis]);
  Updates all{data,
              getElementType(op.getData()),
              op.getReduction(),
              own,
              {{axis, size}},
              {}};
  for (int64_t dim : allBut(dims.size(), axis))
    all.apart.push_back({dim, dim});
  return all.yield(
      kernel, manyThreads,
      [&](Scalars &s, ValueRange position) -> Updates::One {
        SmallVector<Value> at(position);
        Value index = tensor::ExtractOp::create(s, indices, position);
        at[axis] = fromEnd(s, index, size);
        return {at, tensor::ExtractOp::create(s, updates, position)};
      });
}

static LogicalResult scatterND(ScatterNDOp op, KernelBuilder &kernel,
                               bool manyThreads) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices()),
        updates = kernel.input(op.getUpdates());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices)),
      updateDims(kernel.dims(updates));
  std::optional<int64_t> tuple = getTupleSize(kernel, indices);
  if (!tuple)
    return kernel.reject("the last dimension of indices must be known");
  int64_t outer = own.size() - 1, rank = dims.size();
  SymDims expected(own.begin(), own.end() - 1);
  expected.append(dims.begin() + *tuple, dims.end());
  for (auto [update, wanted] : llvm::zip(updateDims, expected))
    kernel.requireEqual(update, wanted,
                        "updates must have the outer dimensions of indices, "
                        "then the dimensions of data that are not indexed");
  Updates all{
      data, getElementType(op.getData()), op.getReduction(), updateDims, {},
      {}};
  for (int64_t index = 0; index < *tuple; ++index) {
    requireElements(kernel, dims[index], indices);
    all.checked.push_back({index, kernel.size(dims[index])});
  }
  for (int64_t dim = *tuple; dim < rank; ++dim)
    all.apart.push_back({outer + dim - *tuple, dim});
  return all.yield(
      kernel, manyThreads,
      [&](Scalars &s, ValueRange position) -> Updates::One {
        SmallVector<Value> at, tuplePosition(position.take_front(outer));
        tuplePosition.push_back({});
        for (auto [index, size] : all.checked) {
          tuplePosition.back() = s.index(index);
          Value one = tensor::ExtractOp::create(s, indices, tuplePosition);
          at.push_back(fromEnd(s, one, size));
        }
        llvm::append_range(at, position.drop_front(outer));
        at.resize(rank);
        return {at, tensor::ExtractOp::create(s, updates, position)};
      });
}

/// Indices and values are broadcast first, so that the loop reads one of each.
static LogicalResult indexPut(IndexPutOp op, KernelBuilder &kernel,
                              bool manyThreads) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<Value> indices;
  SymDims shape = broadcastIndices(kernel, op.getIndices(), indices);
  int64_t indexRank = shape.size(), count = indices.size();
  SymDims whole(shape);
  whole.append(dims.begin() + count, dims.end());
  Type element = getElementType(op.getData());
  Updates all{data,  element, op.getAccumulate() ? "add" : "update",
              whole, {},      {}};
  for (auto [index, tensor] : llvm::enumerate(indices)) {
    requireElements(kernel, dims[index], tensor);
    all.checked.push_back({index, kernel.size(dims[index])});
    tensor = kernel.move(tensor, kernel.empty(shape, getElementType(tensor)));
  }
  for (int64_t dim = count, rank = dims.size(); dim < rank; ++dim)
    all.apart.push_back({indexRank + dim - count, dim});
  Value values =
      kernel.move(kernel.input(op.getValues()),
                  kernel.empty(whole, getKernelElementType(element)));
  return all.yield(
      kernel, manyThreads,
      [&](Scalars &s, ValueRange position) -> Updates::One {
        SmallVector<Value> at;
        for (auto [tensor, check] : llvm::zip(indices, all.checked)) {
          Value index = tensor::ExtractOp::create(
              s, tensor, position.take_front(indexRank));
          at.push_back(fromEnd(s, index, check.second));
        }
        llvm::append_range(at, position.drop_front(indexRank));
        return {at, tensor::ExtractOp::create(s, values, position)};
      });
}
void relax::populateScatterKernels(KernelRegistry &registry, bool manyThreads) {
  registry.add<ScatterElementsOp>([=](auto op, KernelBuilder &kernel) {
    return scatterElements(op, kernel, manyThreads);
  });
  registry.add<ScatterNDOp>([=](auto op, KernelBuilder &kernel) {
    return scatterND(op, kernel, manyThreads);
  });
  registry.add<IndexPutOp>([=](auto op, KernelBuilder &kernel) {
    return indexPut(op, kernel, manyThreads);
  });
}
