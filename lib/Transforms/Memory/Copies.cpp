//===- Copies.cpp - copies of tensors -------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Memory/Copies.h"

#include "Relax/Aliasing.h"
#include "Relax/ShapeUtils.h"
#include "Transforms/Legalize/ScalarBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::relax;

bool Copies::canCopy(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && !llvm::is_contained(getSymDims(type), SymExprAttr());
}

func::FuncOp Copies::getKernel(RankedTensorType type, Location loc) {
  // The kernel has symbolic sizes, so that it serves all sizes.
  int64_t rank = type.getRank();
  auto plain =
      RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic),
                            getKernelElementType(type.getElementType()));
  func::FuncOp &kernel = kernels[plain];
  if (kernel)
    return kernel;
  OpBuilder builder(type.getContext());
  kernel = func::FuncOp::create(
      builder, loc, "copy", builder.getFunctionType({plain, plain}, {plain}));
  kernel.setPrivate();
  Block *body = kernel.addEntryBlock();
  if (rank > 0) {
    SmallVector<SymExprAttr> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back(
          SymExprAttr::getSymbol(type.getContext(), ("d" + Twine(dim)).str()));
    auto shape = ShapeAttr::get(type.getContext(), dims);
    for (unsigned index : {0u, 1u})
      kernel.setArgAttr(index, RelaxDialect::kShapeAttr, shape);
  }
  builder.setInsertionPointToStart(body);
  auto map = builder.getMultiDimIdentityMap(rank);
  auto nest = linalg::GenericOp::create(
      builder, loc, TypeRange(plain), body->getArgument(0),
      body->getArgument(1), {map, map},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, elements[0]);
      });
  func::ReturnOp::create(builder, loc, nest->getResults());
  table.insert(kernel);
  return kernel;
}

Value Copies::copy(Value tensor, Operation *place) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder builder(place);
  return CallTIROp::create(builder, place->getLoc(), TypeRange(type),
                           getKernel(type, place->getLoc()).getSymName(),
                           ValueRange(tensor), builder.getArrayAttr({}))
      ->getResult(0);
}

void relax::copyWrittenConstants(ModuleOp module, const Writes &writes,
                                 Copies &copies) {
  llvm::SetVector<Value> written;
  llvm::SmallSetVector<OpOperand *, 8> constants;
  auto visit = [&](OpOperand &use) {
    Operation *source = use.get().getDefiningOp();
    if (source && source->hasTrait<OpTrait::ConstantLike>() &&
        Copies::canCopy(use.get()))
      constants.insert(&use);
    written.insert(use.get());
  };
  module.walk([&](Operation *op) { writes.walkWritten(op, visit); });
  if (written.empty())
    return;
  // Callers may overwrite what a function returns: callers in the module, and
  // callers that get a public function as a callable.
  module.walk([&](ReturnOp op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isReferenceCounted(operand.get().getType()))
        visit(operand);
  });
  for (unsigned next = 0; next < written.size(); ++next)
    writes.getAliases().walkSources(written[next], visit);
  for (OpOperand *use : constants)
    use->set(copies.copy(use->get(), use->getOwner()));
}
