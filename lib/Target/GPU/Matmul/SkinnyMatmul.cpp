//===- SkinnyMatmul.cpp - skinny matmuls with computed operands -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Matmul/SkinnyMatmul.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

/// Elements per lane in a unit if no axis determines them.
static constexpr int64_t plainLanes = 8;

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The underlying buffer if the tensor is a whole buffer.
static Value wholeBuffer(Value tensor) {
  auto view = tensor.getDefiningOp<bufferization::ToTensorOp>();
  auto type =
      view ? dyn_cast<MemRefType>(view.getBuffer().getType()) : MemRefType();
  return type && type.getLayout().isIdentity() && type.hasStaticShape()
             ? view.getBuffer()
             : Value();
}

int64_t StagedLines::copiedBytes(int64_t units) const {
  int64_t bytes = 16;
  while (length * this->bytes() % bytes ||
         units * perUnit * this->bytes() % bytes)
    bytes /= 2;
  return bytes;
}

std::optional<SkinnyMatmul> SkinnyMatmul::match(const KernelGraph &graph,
                                                const Matmul &matmul,
                                                const Panel &a,
                                                const DepthUnits &units) {
  SkinnyMatmul found;
  Value matrix = matmul.operand(matmul.b);
  found.decode = KernelGraph::producer(matrix);
  if (!found.decode || graph.isStage(found.decode) || !matmul.batch.empty() ||
      matmul.columns.size() != 1 || a.width != 8)
    return std::nullopt;
  auto type = cast<RankedTensorType>(matrix.getType());
  AffineMap out =
      found.decode.getIndexingMapMatchingResult(cast<OpResult>(matrix));
  if (!type.hasStaticShape() || !out.isProjectedPermutation() ||
      out.getNumResults() != found.decode.getNumLoops())
    return std::nullopt;
  auto axisOf = [&](unsigned loop) { return graph.axisOf(found.decode, loop); };
  auto sizeOf = [&](Axis axis) {
    for (unsigned dim = 0; dim < out.getNumResults(); ++dim)
      if (axisOf(out.getDimPosition(dim)) == axis)
        return type.getDimSize(dim);
    return ShapedType::kDynamic;
  };
  // Units must be contiguous along the depth.
  Axis last = matmul.depth.back();
  ArrayRef<Axis> inner = ArrayRef(matmul.depth).take_back(units.within.size());
  if (inner != ArrayRef<Axis>(units.within) ||
      (inner.empty() && sizeOf(last) % (quad * plainLanes)))
    return std::nullopt;
  found.lanes = inner.empty() ? plainLanes : sizeOf(last) / quad;
  found.unit = inner.empty() ? quad * plainLanes : 1;
  found.count = 1;
  for (Axis axis : matmul.depth)
    (llvm::is_contained(inner, axis) ? found.unit : found.count) *=
        sizeOf(axis);
  if (inner.empty())
    found.count /= found.unit;
  if (found.lanes % perStep || found.lanes > 16 || found.unit > 64 ||
      (!inner.empty() && sizeOf(last) % quad))
    return std::nullopt;
  for (Axis axis : inner)
    for (unsigned loop = 0; loop < found.decode.getNumLoops(); ++loop)
      if (axisOf(loop) == axis)
        found.within.push_back({loop, sizeOf(axis)});

  // The decode body may only use its inputs and indices within units.
  WalkResult walk = found.decode.getBody()->walk([&](Operation *op) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    bool isKnown = !index || llvm::any_of(found.within, [&](auto loop) {
      return loop.first == index.getDim();
    });
    return isKnown && !isa<tensor::ExtractOp, tensor::DimOp>(op) &&
                   !op->getNumRegions()
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  for (OpOperand *input : found.decode.getDpsInputOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(input->get().getType());
    StagedLines lines;
    lines.tensor = input->get();
    lines.buffer = tensor ? wholeBuffer(input->get()) : Value();
    AffineMap map = found.decode.getMatchingIndexingMap(input);
    if (!lines.buffer || !map.isProjectedPermutation() ||
        tensor.getElementTypeBitWidth() % 8 || tensor.getRank() < 2 ||
        axisOf(map.getDimPosition(0)) != matmul.columns.front())
      return std::nullopt;
    lines.element = tensor.getElementType();
    lines.perUnit = inner.empty() ? found.unit : 1;
    lines.hasLanes = false;
    SmallVector<Axis> axes;
    for (unsigned dim = 1; dim < map.getNumResults(); ++dim) {
      axes.push_back(axisOf(map.getDimPosition(dim)));
      lines.hasLanes |= axes.back() == last;
      if (llvm::is_contained(inner, axes.back()))
        lines.perUnit *= tensor.getDimSize(dim);
    }
    SmallVector<Axis> expected =
        llvm::to_vector(llvm::make_filter_range(matmul.depth, [&](Axis axis) {
          return llvm::is_contained(axes, axis) ||
                 llvm::is_contained(units.across, axis);
        }));
    if (axes != expected || (!lines.hasLanes && lines.perUnit != 1))
      return std::nullopt;
    lines.length = found.count * lines.perUnit;
    // Copies have at least four bytes.
    if (lines.length * lines.bytes() % 4)
      return std::nullopt;
    found.inputs.push_back(lines);
  }
  found.rows = {matmul.operand(matmul.a),
                a.buffer,
                /*hasLanes=*/true,
                a.line,
                found.unit,
                cast<MemRefType>(a.buffer.getType()).getElementType()};
  if (a.line != found.count * found.unit)
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Choice of a tile
//===----------------------------------------------------------------------===//

int64_t StagedLines::pitch(int64_t lanes, int64_t units) const {
  int64_t part = std::max<int64_t>(
      hasLanes ? SkinnyMatmul::quad * lanes * bytes() : 0, 16);
  int64_t pitch = llvm::alignTo(units * perUnit * bytes(), part);
  return pitch / part % 2 ? pitch : pitch + part;
}

int64_t SkinnyTile::stageBytes(const SkinnyMatmul &product) const {
  int64_t bytes = rows * product.rows.pitch(product.lanes, unitsOfStage());
  for (const StagedLines &lines : product.inputs)
    bytes += columns * lines.pitch(product.lanes, unitsOfStage());
  return bytes;
}

int64_t SkinnyTile::leastBytes(const SkinnyMatmul &product) const {
  return std::max(2 * stageBytes(product), warps * rows * pitch() * 4);
}

SkinnyTile SkinnyTile::choose(const SkinnyMatmul &product, int64_t rows,
                              int64_t columns, bool large) {
  // Multiprocessors of a large GPU, which should all have work.
  constexpr int64_t multiprocessors = 132, most = 4;
  SkinnyTile tile = {rows, blockColumns, 8, rows <= 16 ? 2 : 1, 2};
  while (tile.columns < most * blockColumns &&
         columns / (2 * tile.columns) >= multiprocessors * 15 / 16)
    tile.columns *= 2;
  int64_t blocks = llvm::divideCeil(columns, tile.columns);
  int64_t budget = !large                     ? 96 << 10
                   : blocks > multiprocessors ? 110 << 10
                                              : 200 << 10;
  if (tile.leastBytes(product) > budget && large)
    budget = 200 << 10;
  while (tile.columns > blockColumns && tile.leastBytes(product) > budget)
    tile.columns /= 2;
  tile.stages = std::clamp<int64_t>(budget / tile.stageBytes(product), 2, 6);
  return tile;
}
