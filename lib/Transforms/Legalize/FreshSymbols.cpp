//===- FreshSymbols.cpp - symbols for unknown dimensions ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/FreshSymbols.h"

#include "Relax/ShapeUtils.h"

using namespace mlir;
using namespace mlir::relax;

bool relax::hasUnknownDims(Type type) {
  if (auto shape = dyn_cast<ShapeType>(type))
    return shape.getRanked() &&
           llvm::is_contained(shape.getDims(), SymExprAttr());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(getSymDims(tensor), SymExprAttr());
}

bool relax::saysMore(Type coarse, Type named) {
  auto from = dyn_cast<RankedTensorType>(coarse),
       to = dyn_cast<RankedTensorType>(named);
  if (!from || !to)
    return false;
  return llvm::any_of(
      llvm::zip_equal(from.getShape(), to.getShape()), [](auto sizes) {
        auto [before, after] = sizes;
        return !ShapedType::isDynamic(before) && before != after;
      });
}

SymExprAttr FreshSymbols::make() {
  if (taken.empty())
    collect();
  StringAttr name;
  do
    name = StringAttr::get(function.getContext(), "d" + Twine(next++));
  while (!taken.insert(name).second);
  return SymExprAttr::getSymbol(function.getContext(), name.getValue());
}

Type FreshSymbols::nameDims(Type type) {
  auto shape = dyn_cast<ShapeType>(type);
  SymDims dims = shape ? SymDims(shape.getDims())
                       : getSymDims(cast<RankedTensorType>(type));
  for (SymExprAttr &dim : dims)
    if (!dim)
      dim = make();
  if (shape)
    return ShapeType::get(type.getContext(), dims);
  return getTensorType(dims, cast<RankedTensorType>(type).getElementType());
}

void FreshSymbols::collect() {
  auto note = [&](StringAttr name) { taken.insert(name); };
  function->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      walkSymbols(attribute.getValue(), note);
    for (Type type : op->getResultTypes())
      walkSymbols(type, note);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walkSymbols(type, note);
  });
  taken.insert(StringAttr::get(function.getContext(), ""));
}
