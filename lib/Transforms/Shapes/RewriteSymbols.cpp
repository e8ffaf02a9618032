//===- RewriteSymbols.cpp - change symbols throughout a function ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Shapes/RewriteSymbols.h"

#include "Relax/Ops/Manipulate.h"

using namespace mlir;
using namespace mlir::relax;

ExprRewriter::ExprRewriter(Fn fn, std::function<InFlightDiagnostic()> emitError)
    : fn(std::move(fn)), emitError(std::move(emitError)) {
  reset();
}

void ExprRewriter::reset() {
  replacer.emplace();
  auto mapType =
      [this](Type type) -> std::optional<std::pair<Type, WalkResult>> {
    if (isa<FunctionType>(type))
      return std::pair(type, WalkResult::skip());
    if (!isa<RankedTensorType, ShapeType>(type))
      return std::nullopt;
    return std::pair(
        mapDims(type, [this](SymExprAttr dim) { return rewriteDim(dim); }),
        WalkResult::skip());
  };
  auto mapAttribute = [this](Attribute attribute)
      -> std::optional<std::pair<Attribute, WalkResult>> {
    if (auto expr = dyn_cast<SymExprAttr>(attribute))
      return std::pair(Attribute(rewriteExpr(expr)), WalkResult::skip());
    auto shape = dyn_cast<ShapeAttr>(attribute);
    if (!shape)
      return std::nullopt;
    SymDims dims;
    for (SymExprAttr dim : shape.getDims())
      dims.push_back(dim ? rewriteDim(dim) : dim);
    return std::pair(Attribute(ShapeAttr::get(shape.getContext(), dims)),
                     WalkResult::skip());
  };
  replacer->addReplacement(AttrTypeReplacer::ReplaceFn<Type>(mapType));
  replacer->addReplacement(
      AttrTypeReplacer::ReplaceFn<Attribute>(mapAttribute));
}

void ExprRewriter::pinInferredDim(ReshapeOp op) {
  std::optional<ArrayAttr> dims = op.getDims();
  if (dims && llvm::any_of(*dims, [&](Attribute dim) {
        auto expr = cast<SymExprAttr>(dim);
        return !expr.isConstant() && rewriteExpr(expr).isConstant(0);
      }))
    relax::pinInferredDim(op, op.getType());
}

void ExprRewriter::rewrite(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    pinInferredDim(reshape);
  bool hasAttributes = op->getPropertiesStorageSize() != 0 ||
                       !op->getRawDictionaryAttrs().empty();
  replacer->replaceElementsIn(op, /*replaceAttrs=*/hasAttributes,
                              /*replaceLocs=*/false, /*replaceTypes=*/true);
}

SymExprAttr ExprRewriter::rewriteExpr(SymExprAttr expr) {
  if (expr.isConstant())
    return expr;
  SymExprAttr result = fn(expr);
  hasFailed |= !result;
  return result ? result : expr;
}

SymExprAttr ExprRewriter::rewriteDim(SymExprAttr dim) {
  SymExprAttr result = rewriteExpr(dim);
  if (!result.isConstant() || result.getValue() >= 0)
    return result;
  if (!hasFailed) // report once; the same dimension occurs in many types
    emitError() << "dimension " << dim.str()
                << " becomes negative: " << result.getValue();
  hasFailed = true;
  return dim;
}

void relax::pinInferredDim(ReshapeOp op, Type resultType) {
  std::optional<ArrayAttr> attribute = op.getDims();
  auto type = dyn_cast<RankedTensorType>(resultType);
  if (!attribute || !type)
    return;
  SmallVector<Attribute> dims(attribute->begin(), attribute->end());
  for (auto [dim, known] : llvm::zip_equal(dims, getSymDims(type)))
    if (cast<SymExprAttr>(dim).isConstant(-1) && known)
      dim = known;
  op.setDimsAttr(ArrayAttr::get(op.getContext(), dims));
}

bool relax::isTypePinned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<MakeClosureOp>(user) ||
           !isa_and_nonnull<RelaxDialect>(user->getDialect());
  });
}

void relax::dropUnusedRanges(FuncOp function) {
  DictionaryAttr ranges = function.getSymbolRanges();
  if (!ranges)
    return;
  DenseSet<StringAttr> defined;
  auto define = [&](StringAttr name) { defined.insert(name); };
  function.walkParameterSymbols(define);
  function.walk(
      [&](MatchCastOp cast) { walkDefinedSymbols(cast.getType(), define); });
  NamedAttrList kept;
  for (NamedAttribute range : ranges)
    if (defined.contains(range.getName()))
      kept.push_back(range);
  if (kept.empty())
    function->removeAttr(RelaxDialect::kSymbolsAttr);
  else if (kept.getAttrs().size() != ranges.size())
    function->setAttr(RelaxDialect::kSymbolsAttr,
                      kept.getDictionary(function.getContext()));
}
