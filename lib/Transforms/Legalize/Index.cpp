//===- Index.cpp - kernels that gather and scatter ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An invalid index never reads or writes outside of a tensor: what is read in
// its place is some element, and nothing is written. Gathering is a loop over
// the result. Scattering first copies the data, then goes through the updates
// in order, so that several may meet in one place.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Index.h"
#include "Transforms/Legalize/Movement.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// An index as a position, negative ones counted from the end.
static Value fromEnd(Scalars &s, Value index, Value size) {
  Value position = s.toIndex(index);
  Value isNegative = s.compare(CmpIPredicate::slt, position, s.index(0));
  return s.select(isNegative, s.add(position, size), position);
}

static Value isInside(Scalars &s, Value position, Value size) {
  // As an unsigned number, a negative one is too large.
  return s.compare(CmpIPredicate::ult, position, size);
}

/// A position that may be read, whatever the index is.
static Value clamp(Scalars &s, Value position, Value size) {
  return s.max(s.min(position, s.sub(size, s.index(1))), s.index(0));
}

/// A dimension from which something is taken must have an element.
static void requireElements(KernelBuilder &kernel, SymExprAttr dim,
                            Value indices) {
  SmallVector<Guard::Comparison> anyOf{
      {CmpIPredicate::sle, kernel.constant(1), dim}};
  for (SymExprAttr size : kernel.dims(indices))
    anyOf.push_back({CmpIPredicate::eq, size, kernel.constant(0)});
  kernel.requireAny(anyOf, "cannot index a dimension without elements");
}

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

static LogicalResult take(TakeOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX()), indices = kernel.input(op.getIndices());
  int64_t axis = 0;
  if (op.getAxis())
    axis = getAxis(*op.getAxis(), kernel.dims(x).size());
  else
    x = flatten(kernel, x);
  SymDims dims(kernel.dims(x));
  int64_t indexRank = kernel.dims(indices).size();
  requireElements(kernel, dims[axis], indices);
  Value size = kernel.size(dims[axis]);
  SmallVector<int64_t> indexLoops =
      llvm::to_vector(llvm::seq(axis, axis + indexRank));

  auto toPosition = [&](Scalars &s, Value index) -> Value {
    if (op.getMode() == "clip") // as in NumPy, also of negative ones
      return clamp(s, s.toIndex(index), size);
    if (op.getMode() == "raise")
      return clamp(s, fromEnd(s, index, size), size);
    Value position = s.toIndex(index);
    Value rest = arith::RemSIOp::create(s, position, size);
    Value isNegative = s.compare(CmpIPredicate::slt, rest, s.index(0));
    return s.select(isNegative, s.add(rest, size), rest);
  };
  Value result = kernel.nest(
      SymDims(kernel.dims(kernel.destination())),
      {{kernel.inputOrNumber(op.getIndices()), indexLoops}},
      Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (int64_t index = 0, rank = dims.size(); index < rank; ++index)
          from.push_back(
              index == axis
                  ? toPosition(s, elements[0])
                  : s.position(index < axis ? index : index + indexRank - 1));
        return SmallVector<Value>{tensor::ExtractOp::create(s, x, from)};
      },
      /*widens=*/false)[0];
  return kernel.yield(result);
}

/// Indices along `axis` are at most as many as elements in the other
/// dimensions.
static void requireInside(KernelBuilder &kernel, ArrayRef<SymExprAttr> indices,
                          ArrayRef<SymExprAttr> data, int64_t axis) {
  for (auto [index, size, whole] : llvm::enumerate(indices, data))
    if (static_cast<int64_t>(index) != axis)
      kernel.require(CmpIPredicate::sle, size, whole,
                     "indices must be at most as large as data in dimension " +
                         Twine(index));
}

static LogicalResult gatherElements(GatherElementsOp op,
                                    KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices));
  int64_t axis = getAxis(op.getAxis(), dims.size());
  requireInside(kernel, own, dims, axis);
  requireElements(kernel, dims[axis], indices);
  Value size = kernel.size(dims[axis]);
  return kernel.yield(kernel.nest(
      own, {indices}, Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (int64_t index = 0, rank = dims.size(); index < rank; ++index)
          from.push_back(s.position(index));
        from[axis] = clamp(s, fromEnd(s, elements[0], size), size);
        return SmallVector<Value>{tensor::ExtractOp::create(s, data, from)};
      },
      /*widens=*/false));
}

/// The number of indices in a tuple; null where it is not known.
static std::optional<int64_t> getTupleSize(KernelBuilder &kernel,
                                           Value indices) {
  return kernel.dims(indices).back().getConstantValue();
}

static LogicalResult gatherND(GatherNDOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData()),
        indices = kernel.input(op.getIndices());
  SymDims dims(kernel.dims(data)), own(kernel.dims(indices));
  std::optional<int64_t> tuple = getTupleSize(kernel, indices);
  if (!tuple)
    return kernel.reject("the last dimension of indices must be known");
  int64_t outer = own.size() - 1, batches = op.getBatchDims(),
          rank = dims.size();
  SmallVector<Value> sizes;
  for (int64_t index = 0; index < batches; ++index)
    kernel.requireEqual(own[index], dims[index],
                        "data and indices must agree in batch dimension " +
                            Twine(index));
  for (int64_t index = 0; index < *tuple; ++index) {
    requireElements(kernel, dims[batches + index], indices);
    sizes.push_back(kernel.size(dims[batches + index]));
  }
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) -> Value {
        SmallVector<Value> from(position.take_front(batches));
        SmallVector<Value> at(position.take_front(outer));
        at.push_back({});
        for (auto [index, size] : llvm::enumerate(sizes)) {
          at.back() = s.index(index);
          Value element = tensor::ExtractOp::create(s, indices, at);
          from.push_back(clamp(s, fromEnd(s, element, size), size));
        }
        llvm::append_range(from, position.drop_front(outer));
        from.resize(rank);
        return tensor::ExtractOp::create(s, data, from);
      }));
}

/// The dimensions that index tensors have when broadcast, and each of them in
/// these.
static SymDims broadcastIndices(KernelBuilder &kernel, OperandRange operands,
                                SmallVectorImpl<Value> &indices) {
  SymDims dims;
  for (Value operand : operands) {
    ArrayRef<SymExprAttr> own = kernel.dims(kernel.input(operand));
    while (dims.size() < own.size())
      dims.insert(dims.begin(), kernel.constant(1));
    for (auto [dim, size] : llvm::zip(llvm::reverse(dims), llvm::reverse(own)))
      dim = kernel.math().broadcast({dim, size});
  }
  for (Value operand : operands)
    indices.push_back(kernel.input(operand));
  return dims;
}

static LogicalResult indexTensor(IndexTensorOp op, KernelBuilder &kernel) {
  Value data = kernel.input(op.getData());
  SymDims dims(kernel.dims(data));
  SmallVector<Value> indices, sizes;
  SymDims shape = broadcastIndices(kernel, op.getIndices(), indices);
  int64_t indexRank = shape.size(), count = indices.size();
  SmallVector<Access> reads;
  for (auto [index, tensor] : llvm::enumerate(indices)) {
    requireElements(kernel, dims[index], tensor);
    sizes.push_back(kernel.size(dims[index]));
    int64_t rank = kernel.dims(tensor).size();
    reads.push_back({tensor,
                     llvm::to_vector(llvm::seq(indexRank - rank, indexRank)),
                     Access::kAll});
  }
  return kernel.yield(kernel.nest(
      SymDims(kernel.dims(kernel.destination())), reads,
      Access(kernel.destination()),
      [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> from;
        for (auto [element, size] : llvm::zip(elements, sizes))
          from.push_back(clamp(s, fromEnd(s, element, size), size));
        for (int64_t index = count, rank = dims.size(); index < rank; ++index)
          from.push_back(s.position(indexRank + index - count));
        return SmallVector<Value>{tensor::ExtractOp::create(s, data, from)};
      },
      /*widens=*/false));
}

static LogicalResult oneHot(OneHotOp op, KernelBuilder &kernel) {
  Value indices = kernel.input(op.getIndices()),
        destination = kernel.destination();
  int64_t rank = kernel.dims(destination).size(),
          axis = getAxis(op.getAxis(), rank);
  Value depth = kernel.size(op.getDepth());
  Value on = kernel.builder().number(op.getOnValue()),
        off = kernel.builder().number(op.getOffValue());
  return kernel.yield(kernel.map({{indices, allBut(rank, axis)}}, destination,
                                 [&](Scalars &s, ValueRange x) {
                                   Value isHere =
                                       s.compare(CmpIPredicate::eq,
                                                 fromEnd(s, x[0], depth),
                                                 s.position(axis));
                                   return s.select(isHere, on, off);
                                 }));
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

static Value combine(Scalars &s, StringRef reduction, Value old, Value update,
                     Type element) {
  if (reduction == "update")
    return update;
  Type type = getComputeType(old.getType());
  Value l = s.convertFloat(old, type), r = s.convertFloat(update, type);
  bool isUnsigned = isUnsignedElement(element);
  Value result = reduction == "add"   ? s.add(l, r)
                 : reduction == "mul" ? s.mul(l, r)
                 : reduction == "max" ? s.max(l, r, isUnsigned)
                                      : s.min(l, r, isUnsigned);
  return s.convertFloat(result, old.getType());
}

/// Puts an update in its place: nothing where an index is invalid. Positions
/// are changed to such that may be read.
static Value scatter(Scalars &s, Value whole, SmallVector<Value> at,
                     ArrayRef<std::pair<int64_t, Value>> checked, Value update,
                     StringRef reduction, Type element) {
  Value isValid;
  for (auto [dim, size] : checked) {
    Value inside = isInside(s, at[dim], size);
    isValid = isValid ? s.both(isValid, inside) : inside;
    at[dim] = clamp(s, at[dim], size);
  }
  Value old = tensor::ExtractOp::create(s, whole, at);
  Value result = combine(s, reduction, old, update, element);
  if (isValid)
    result = s.select(isValid, result, old);
  return tensor::InsertOp::create(s, result, whole, at);
}

namespace {

/// Loops that go through updates of a tensor.
struct Updates {
  Value data;
  Type element; // of the graph
  StringRef reduction;
  SymDims dims; // of the loops
  /// Dimensions of the data for which there is an index, and their sizes.
  SmallVector<std::pair<int64_t, Value>> checked;
  /// Loops whose positions are those in a dimension of the data: updates of
  /// different ones do not meet.
  SmallVector<std::pair<int64_t, int64_t>> apart;

  struct One {
    SmallVector<Value> at;
    Value element;
  };
  using FindFn = function_ref<One(Scalars &, ValueRange position)>;

  Value inOrder(KernelBuilder &kernel, FindFn find) const;
  Value inParallel(KernelBuilder &kernel, FindFn find) const;
  LogicalResult yield(KernelBuilder &kernel, bool manyThreads,
                      FindFn find) const {
    return kernel.yield(manyThreads ? inParallel(kernel, find)
                                    : inOrder(kernel, find));
  }
};

} // namespace

static SmallVector<Value> getSizesOf(KernelBuilder &kernel,
                                     ArrayRef<SymExprAttr> dims) {
  return llvm::map_to_vector(dims,
                             [&](SymExprAttr dim) { return kernel.size(dim); });
}

/// All loops in order, which goes along memory.
Value Updates::inOrder(KernelBuilder &kernel, FindFn find) const {
  SmallVector<Value> sizes = getSizesOf(kernel, dims);
  Value copy = kernel.move(data, kernel.destination());
  return kernel.iterate(kernel.builder(), sizes, copy,
                        [&](Scalars &s, ValueRange position, ValueRange state) {
                          One one = find(s, position);
                          return SmallVector<Value>{
                              scatter(s, state[0], one.at, checked, one.element,
                                      reduction, element)};
                        })[0];
}

/// The loops that are apart are parallel, and around the others.
Value Updates::inParallel(KernelBuilder &kernel, FindFn find) const {
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
  Value copy = kernel.move(data, kernel.destination());
  return forAll(
      kernel.builder(), around, copy,
      [&](Scalars &s, ValueRange position) -> SmallVector<Box> {
        Box box{SmallVector<OpFoldResult>(whole.size(), s.getIndexAttr(0)),
                llvm::to_vector_of<OpFoldResult>(whole)};
        for (auto [dim, index] : llvm::zip(apartDims, position)) {
          box.offsets[dim] = index;
          box.sizes[dim] = s.getIndexAttr(1);
        }
        return {box};
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
              return SmallVector<Value>{scatter(s, state[0], at, checkedOfPart,
                                                one.element, reduction,
                                                element)};
            });
      })[0];
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
                        "then those of data that are not indexed");
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

static void addScatterKernels(KernelRegistry &registry, bool manyThreads) {
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

void relax::populateParallelIndexKernels(KernelRegistry &registry) {
  addScatterKernels(registry, /*manyThreads=*/true);
}

void relax::populateIndexKernels(KernelRegistry &registry) {
  registry.add<TakeOp>(take);
  registry.add<GatherElementsOp>(gatherElements);
  registry.add<GatherNDOp>(gatherND);
  registry.add<IndexTensorOp>(indexTensor);
  registry.add<OneHotOp>(oneHot);
  addScatterKernels(registry, /*manyThreads=*/false);
}
