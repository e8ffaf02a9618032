//===- Core.cpp - shapes, casts, constants, tuples ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Core.h"
#include "Relax/CallUtils.h"
#include "Relax/IntegerElements.h"
#include "Relax/SymDirectives.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Core.cpp.inc"

void RelaxDialect::registerCoreOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Core.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MatchCastOp
//===----------------------------------------------------------------------===//

LogicalResult MatchCastOp::verify() {
  Prover prover(getContext(), SymbolFacts::at(*this));
  // Compare the dimensions that both types know: each may know some that the
  // other does not.
  Type input = getInput().getType();
  if (implies(input, getType(), prover) == Truth::No &&
      implies(getType(), input, prover) == Truth::No)
    return emitOpError() << "can never hold: " << input << " is not a "
                         << getType();
  return success();
}

OpFoldResult MatchCastOp::fold(FoldAdaptor) {
  // An equal type asserts nothing. Its symbols were defined before the operand.
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

LogicalResult ShapeOfOp::deduce(Deduction &deduction, Adaptor op,
                                SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> input = deduction.tensor(op.getInput(), "input");
  if (failed(input))
    return failure();
  MLIRContext *context = deduction.getContext();
  results.push_back(input->ranked ? ShapeType::get(context, input->dims)
                                  : ShapeType::getUnranked(context));
  return success();
}

LogicalResult ShapeOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  ArrayRef<SymExprAttr> dims = op.getDims().getDims();
  if (llvm::is_contained(dims, SymExprAttr()))
    return deduction.emitError()
           << "a dimension of a shape value must be known";
  results.push_back(ShapeType::get(deduction.getContext(), dims));
  return success();
}

LogicalResult MakeShapeOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  SymDims dims;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    dims.push_back(getIntegerExpr(operand));
    if (dims.back() && dims.back().isConstant() && dims.back().getValue() < 0)
      return deduction.emitError()
             << "dimension " << index
             << " is negative: " << dims.back().getValue();
  }
  results.push_back(ShapeType::get(deduction.getContext(), dims));
  return success();
}

LogicalResult DimOp::deduce(Deduction &deduction, Adaptor op,
                            SmallVectorImpl<Type> &results) {
  results.push_back(IndexType::get(deduction.getContext()));
  Type type = op.getInput().getType();
  std::optional<int64_t> rank;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    rank = tensor.getRank();
  else if (auto shape = dyn_cast<ShapeType>(type); shape && shape.getRanked())
    rank = shape.getRank();
  if (!rank)
    return success();
  return deduction.axis(op.getIndex(), *rank, "index");
}

LogicalResult SymOp::deduce(Deduction &deduction, Adaptor,
                            SmallVectorImpl<Type> &results) {
  results.push_back(IndexType::get(deduction.getContext()));
  return success();
}

LogicalResult ShapeToTensorOp::deduce(Deduction &deduction, Adaptor op,
                                      SmallVectorImpl<Type> &results) {
  FailureOr<ShapeType> input = deduction.shape(op.getInput(), "input");
  if (failed(input))
    return failure();
  SymExprAttr rank =
      input->getRanked() ? deduction.constant(input->getRank()) : SymExprAttr();
  results.push_back(
      getTensorType(rank, IntegerType::get(deduction.getContext(), 64)));
  return success();
}

LogicalResult TensorToShapeOp::deduce(Deduction &deduction, Adaptor op,
                                      SmallVectorImpl<Type> &results) {
  MLIRContext *context = deduction.getContext();
  FailureOr<Deduction::Tensor> input = deduction.tensor(op.getInput(), "input");
  if (failed(input))
    return failure();
  if (!isa<IntegerType>(input->elementType))
    return deduction.emitError()
           << "input must be a tensor of integers, got " << input->elementType;
  if (input->ranked && input->rank() != 1)
    return deduction.emitError()
           << "input must have rank 1, got rank " << input->rank();
  if (auto shape = op.getInput().getDefiningOp<ShapeToTensorOp>()) {
    results.push_back(shape.getInput().getType());
    return success();
  }
  if (!input->ranked || !input->dims[0] || !input->dims[0].isConstant()) {
    results.push_back(ShapeType::getUnranked(context));
    return success();
  }
  int64_t rank = input->dims[0].getValue();
  if (rank > kMaxShapeRank)
    return deduction.emitError() << "a shape of rank " << rank
                                 << " is too large; at most " << kMaxShapeRank;
  DenseIntElementsAttr values;
  if (!op.getInput().getDefiningOp() ||
      !matchPattern(op.getInput(), m_Constant(&values))) {
    results.push_back(ShapeType::getRanked(context, rank));
    return success();
  }
  bool isUnsigned =
      input->elementType.isUnsignedInteger() || input->elementType.isInteger(1);
  SymDims dims;
  for (const APInt &value : values.getValues<APInt>()) {
    SmallString<32> text;
    value.toString(text, 10, !isUnsigned);
    if (!isUnsigned && value.isNegative())
      return deduction.emitError()
             << "dimension " << dims.size() << " is negative: " << text;
    if (value.getActiveBits() > 63)
      return deduction.emitError() << "dimension " << dims.size()
                                   << " does not fit in 64 bits: " << text;
    dims.push_back(deduction.constant(value.getZExtValue()));
  }
  results.push_back(ShapeType::get(context, dims));
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization of shape computations
//===----------------------------------------------------------------------===//

namespace {

/// Replaces a shape by `relax.shape` if its type is fully known.
template <typename Op>
struct ShapeFromType : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto dims = getKnownDims(op.getType());
    if (!dims)
      return rewriter.notifyMatchFailure(op, "a dimension is unknown");
    rewriter.replaceOpWithNewOp<ShapeOp>(
        op, op.getType(), ShapeAttr::get(op.getContext(), *dims));
    return success();
  }
};

/// Replaces a dimension that the type gives by a `relax.sym`.
struct DimFromType : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DimOp op,
                                PatternRewriter &rewriter) const override {
    SymExprAttr dim = getIntegerExpr(op);
    if (!dim)
      return rewriter.notifyMatchFailure(op, "the dimension is unknown");
    rewriter.replaceOpWithNewOp<SymOp>(op, op.getType(), dim);
    return success();
  }
};

/// Replaces the tensor of a static shape by a constant.
struct ShapeToConstant : OpRewritePattern<ShapeToTensorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ShapeToTensorOp op,
                                PatternRewriter &rewriter) const override {
    auto dims = getKnownDims(op.getInput().getType());
    if (!dims ||
        llvm::any_of(*dims, [](SymExprAttr d) { return !d.isConstant(); }))
      return rewriter.notifyMatchFailure(op, "the shape is not static");
    auto values = llvm::map_to_vector(
        *dims, [](SymExprAttr dim) { return dim.getValue(); });
    auto type = RankedTensorType::get(values.size(), rewriter.getI64Type());
    if (op.getType() != type)
      return rewriter.notifyMatchFailure(op, "the result type is coarser");
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, type, DenseIntElementsAttr::get(type, ArrayRef<int64_t>(values)));
    return success();
  }
};

/// Replaces a shape computed on tensors by expressions.
struct ShapeFromElements : OpRewritePattern<TensorToShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TensorToShapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<SymDims> dims = getIntegerElements(op.getInput());
    if (!dims || llvm::any_of(*dims, [](SymExprAttr dim) {
          return !dim || (dim.isConstant() && dim.getValue() < 0);
        }))
      return rewriter.notifyMatchFailure(op, "an element is unknown");
    rewriter.replaceOpWithNewOp<ShapeOp>(
        op, ShapeType::get(op.getContext(), *dims),
        ShapeAttr::get(op.getContext(), *dims));
    return success();
  }
};

/// shape -> tensor -> shape is the identity.
struct ShapeRoundTrip : OpRewritePattern<TensorToShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TensorToShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getInput().getDefiningOp<ShapeToTensorOp>();
    if (!source || source.getInput().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "not the tensor of a shape");
    rewriter.replaceOp(op, source.getInput());
    return success();
  }
};

} // namespace

void ShapeOfOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ShapeFromType<ShapeOfOp>>(context);
}
void MakeShapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ShapeFromType<MakeShapeOp>>(context);
}
void DimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<DimFromType>(context);
}
void ShapeToTensorOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<ShapeToConstant>(context);
}
void TensorToShapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns
      .add<ShapeRoundTrip, ShapeFromType<TensorToShapeOp>, ShapeFromElements>(
          context);
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

/// `dense<...> : tensor<...>` or `weight "name" : tensor<...>`.
ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  Attribute value;
  Type type;
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("weight"))) {
    StringAttr name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseAttribute(name, NoneType::get(parser.getContext())) ||
        !(value =
              parser.getChecked<WeightAttr>(loc, parser.getContext(), name)) ||
        parser.parseColonType(type))
      return failure();
  } else {
    TypedAttr elements;
    if (parser.parseAttribute(elements))
      return failure();
    value = elements;
    type = elements.getType();
  }
  result.addAttribute(getValueAttrName(result.name), value);
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {getValueAttrName()});
  if (auto weight = dyn_cast<WeightAttr>(getValue()))
    printer << " weight " << weight.getName() << " : " << getType();
  else
    printer << ' ' << getValue();
}

LogicalResult ConstantOp::verify() {
  auto elements = dyn_cast<ElementsAttr>(getValue());
  if (elements && elements.getType() != getType())
    return emitOpError() << "value has type " << elements.getType()
                         << ", the result " << getType();
  bool symbolic = false;
  walkSymbols(getType(), [&](StringAttr) { symbolic = true; });
  if (symbolic)
    return emitOpError() << "the type of a constant must not name symbols, got "
                         << getType() << "; assert them with relax.match_cast";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (!isWeight())
    return getValue();
  // Weight attributes have no type: fold to a pair with the type, so that the
  // constant is rebuilt with the same one.
  return ArrayAttr::get(getContext(), {getValue(), TypeAttr::get(getType())});
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto weight = dyn_cast<WeightAttr>(getValue());
  setName(getResult(), weight ? weight.getName().getValue() : "cst");
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  results.push_back(TupleType::get(deduction.getContext(),
                                   ValueRange(op.getOperands()).getTypes()));
  return success();
}

LogicalResult GetOp::deduce(Deduction &deduction, Adaptor op,
                            SmallVectorImpl<Type> &results) {
  auto tuple = dyn_cast<TupleType>(op.getInput().getType());
  if (!tuple)
    return deduction.emitError()
           << "input must be a tuple, got " << op.getInput().getType();
  uint64_t index = op.getIndex();
  if (index >= tuple.size())
    return deduction.emitError()
           << "index " << static_cast<int64_t>(index)
           << " is out of range for a tuple of " << tuple.size() << " members";
  results.push_back(tuple.getType(index));
  return success();
}

OpFoldResult GetOp::fold(FoldAdaptor) {
  auto tuple = getInput().getDefiningOp<TupleOp>();
  if (!tuple)
    return {};
  Value member = tuple.getOperand(getIndex());
  return member.getType() == getType() ? member : Value();
}
