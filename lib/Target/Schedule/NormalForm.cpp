//===- NormalForm.cpp - normal form of scheduled kernels ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/NormalForm.h"

#include "Target/Schedule/KernelGraph.h"
#include "Target/Schedule/PointEmitter.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using bufferization::MaterializeInDestinationOp;

/// Applies a reshape of the result to the destination instead.
static MaterializeInDestinationOp
peelReshapes(MaterializeInDestinationOp root) {
  OpBuilder builder(root);
  Location loc = root.getLoc();
  PointEmitter sizes(builder, loc, 1);
  while (true) {
    Value source = root.getSource(), buffer = root.getDest();
    if (auto cast = source.getDefiningOp<tensor::CastOp>()) {
      auto type = dyn_cast<RankedTensorType>(cast.getSource().getType());
      if (!type)
        return root;
      root.getSourceMutable().assign(cast.getSource());
      if (type.getShape() !=
          mlir::cast<MemRefType>(buffer.getType()).getShape())
        root.getDestMutable().assign(memref::CastOp::create(
            builder, loc,
            MemRefType::get(type.getShape(), type.getElementType()), buffer));
      continue;
    }
    if (auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>()) {
      RankedTensorType type = collapse.getSrcType();
      SmallVector<OpFoldResult> shape;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        shape.push_back(getAsOpFoldResult(sizes.size(collapse.getSrc(), dim)));
      root.getDestMutable().assign(memref::ExpandShapeOp::create(
          builder, loc, type.getShape(), buffer,
          collapse.getReassociationIndices(), shape));
      root.getSourceMutable().assign(collapse.getSrc());
      continue;
    }
    if (auto expand = source.getDefiningOp<tensor::ExpandShapeOp>()) {
      root.getDestMutable().assign(memref::CollapseShapeOp::create(
          builder, loc, buffer, expand.getReassociationIndices()));
      root.getSourceMutable().assign(expand.getSrc());
      continue;
    }
    return root;
  }
}

/// A structured op that copies `tensor`, as the source of a destination.
static Value copyOf(OpBuilder &builder, Location loc, Value tensor,
                    Value buffer) {
  PointEmitter sizes(builder, loc, 1);
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    shape.push_back(getAsOpFoldResult(sizes.size(buffer, dim)));
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  if (empty.getType() != type)
    empty = tensor::CastOp::create(builder, loc, type, empty);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, tensor, empty, ArrayRef<AffineMap>{map, map},
             loops,
             [](OpBuilder &inner, Location at, ValueRange values) {
               linalg::YieldOp::create(inner, at, values.front());
             })
      .getResult(0);
}

/// Splits a destination that is assembled by a concatenation, or by insertions
/// of slices, into one destination per part, in order.
static FailureOr<SmallVector<MaterializeInDestinationOp>>
splitParts(MaterializeInDestinationOp root) {
  auto type = dyn_cast<MemRefType>(root.getDest().getType());
  if (!type || !type.getLayout().isIdentity())
    return SmallVector<MaterializeInDestinationOp>{root};
  OpBuilder builder(root);
  Location loc = root.getLoc();
  PointEmitter sizes(builder, loc, 1);
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  SmallVector<MaterializeInDestinationOp> parts;
  // `overwrites`: the part lies where another one was written before. It is
  // then copied, since the op that computes it may run earlier.
  auto addPart = [&](Value part, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> extents, bool overwrites) {
    auto shape = cast<RankedTensorType>(part.getType()).getShape();
    auto slice = memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, extents, strides);
    Value view =
        memref::SubViewOp::create(builder, loc, cast<MemRefType>(slice),
                                  root.getDest(), offsets, extents, strides);
    if (overwrites)
      part = copyOf(builder, loc, part, view);
    parts.push_back(MaterializeInDestinationOp::create(
        builder, loc, TypeRange(), part, view, /*restrict=*/true,
        /*writable=*/true));
  };

  if (auto concat = root.getSource().getDefiningOp<tensor::ConcatOp>()) {
    SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
    Value start = sizes.constant(0);
    for (Value input : concat.getInputs()) {
      SmallVector<OpFoldResult> extents;
      for (int64_t dim = 0; dim < rank; ++dim)
        extents.push_back(getAsOpFoldResult(sizes.size(input, dim)));
      offsets[concat.getDim()] = getAsOpFoldResult(start);
      addPart(input, offsets, extents, /*overwrites=*/false);
      start = sizes.add(start, sizes.size(input, concat.getDim()));
    }
    root.erase();
    if (concat.use_empty())
      concat.erase();
    return parts;
  }

  SmallVector<tensor::InsertSliceOp> insertions;
  Value whole = root.getSource();
  while (auto insertion = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!insertion.hasUnitStride())
      return failure();
    insertions.push_back(insertion);
    whole = insertion.getDest();
  }
  if (insertions.empty())
    return SmallVector<MaterializeInDestinationOp>{root};
  // The rest of the destination needs no write if it is already there or
  // undefined.
  auto view = whole.getDefiningOp<bufferization::ToTensorOp>();
  bool isThere = view && view.getBuffer() == root.getDest();
  bool keepsRest = !isThere && !whole.getDefiningOp<tensor::EmptyOp>();
  if (keepsRest) {
    root.getSourceMutable().assign(whole);
    parts.push_back(root);
    builder.setInsertionPointAfter(root);
  }
  for (tensor::InsertSliceOp insertion : llvm::reverse(insertions))
    addPart(insertion.getSource(), insertion.getMixedOffsets(),
            insertion.getMixedSizes(), keepsRest || insertions.size() > 1);
  if (!keepsRest)
    root.erase();
  for (tensor::InsertSliceOp insertion : insertions)
    if (insertion.use_empty())
      insertion.erase();
  return parts;
}

LogicalResult relax::bringToNormalForm(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<linalg::LinalgOp> named;
  SmallVector<MaterializeInDestinationOp> roots;
  for (Operation &op : kernel.getBody().front()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (!isa<linalg::GenericOp, linalg::FillOp>(op))
        named.push_back(linalgOp);
    if (auto root = dyn_cast<MaterializeInDestinationOp>(op))
      roots.push_back(root);
  }
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return failure();
  }
  // Take sizes from the buffers.
  kernel.walk([&](tensor::DimOp dim) {
    auto view = dim.getSource().getDefiningOp<bufferization::ToTensorOp>();
    if (!view)
      return;
    rewriter.setInsertionPoint(dim);
    rewriter.replaceOpWithNewOp<memref::DimOp>(dim, view.getBuffer(),
                                               dim.getIndex());
  });
  for (MaterializeInDestinationOp whole : roots) {
    if (!isa<MemRefType>(whole.getDest().getType()))
      return failure();
    auto parts = splitParts(whole);
    if (failed(parts))
      return failure();
    for (MaterializeInDestinationOp root : *parts) {
      if (cast<MemRefType>(root.getDest().getType()).getLayout().isIdentity())
        root = peelReshapes(root);
      if (KernelGraph::producer(root.getSource()))
        continue;
      OpBuilder builder(root);
      root.getSourceMutable().assign(
          copyOf(builder, root.getLoc(), root.getSource(), root.getDest()));
    }
  }
  return success();
}

bool relax::extractsElements(linalg::GenericOp op) {
  return op.getBody()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

SmallVector<ReassociationIndices>
relax::groupAdjacentLoops(ArrayRef<linalg::GenericOp> ops, int64_t count) {
  SmallVector<ReassociationIndices> groups{{0}};
  for (int64_t loop = 1; loop < count; ++loop) {
    ReassociationIndices group = groups.back();
    group.push_back(loop);
    if (llvm::all_of(ops, [&](linalg::GenericOp op) {
          return linalg::areDimSequencesPreserved(op.getIndexingMapsArray(),
                                                  {group});
        }))
      groups.back() = group;
    else
      groups.push_back({loop});
  }
  return groups;
}

void relax::collapseLoops(func::FuncOp kernel) {
  auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
  if (ops.size() != 1 || ops.front().getNumReductionLoops() ||
      ops.front().hasIndexSemantics() || ops.front().getNumLoops() < 2)
    return;
  linalg::GenericOp op = ops.front();
  if (extractsElements(op))
    return;
  auto inMemory = [](Value operand) {
    return !isa<RankedTensorType>(operand.getType()) ||
           operand.getDefiningOp<bufferization::ToTensorOp>() ||
           operand.getDefiningOp<tensor::EmptyOp>();
  };
  if (!llvm::all_of(op->getOperands(), inMemory))
    return;
  // A part of a buffer has gaps between its rows.
  for (auto root : kernel.getOps<MaterializeInDestinationOp>())
    if (!cast<MemRefType>(root.getDest().getType()).getLayout().isIdentity())
      return;
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  SmallVector<ReassociationIndices> groups =
      groupAdjacentLoops(op, op.getNumLoops());
  if (groups.size() == op.getNumLoops())
    return;
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(collapsed))
    return;
  rewriter.replaceOp(op, collapsed->results);
  for (auto root : kernel.getOps<MaterializeInDestinationOp>())
    peelReshapes(root);
}
