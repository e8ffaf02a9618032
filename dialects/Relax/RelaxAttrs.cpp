//===- RelaxAttrs.cpp - attributes of the relax dialect -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxAttrs.h"

#include "Relax/RelaxDialect.h"
#include "Relax/SymDirectives.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_ATTRDEF_CLASSES
#include "Relax/RelaxAttrs.cpp.inc"

void RelaxDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Relax/RelaxAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ShapeAttr
//===----------------------------------------------------------------------===//

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  SmallVector<SymExprAttr> dims;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseSymDims(parser, dims) || parser.parseGreater())
    return {};
  return parser.getChecked<ShapeAttr>(loc, parser.getContext(), dims);
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printSymDims(printer.getStream(), getDims());
  printer << '>';
}

ParseResult relax::parseShapeDims(OpAsmParser &parser, ShapeAttr &shape) {
  SmallVector<SymExprAttr> dims;
  SMLoc loc = parser.getCurrentLocation();
  if (parseSymDims(parser, dims))
    return failure();
  shape = parser.getChecked<ShapeAttr>(loc, parser.getContext(), dims);
  return success(static_cast<bool>(shape));
}

ParseResult relax::parseSymExprs(OpAsmParser &parser, ArrayAttr &exprs) {
  SmallVector<SymExprAttr> dims;
  SMLoc loc = parser.getCurrentLocation();
  if (parseSymDims(parser, dims))
    return failure();
  if (llvm::is_contained(dims, SymExprAttr()))
    return parser.emitError(loc) << "an expression must be known, got '?'";
  exprs = ArrayAttr::get(parser.getContext(),
                         SmallVector<Attribute>(dims.begin(), dims.end()));
  return success();
}

/// Constant dimensions must be non-negative.
static LogicalResult verifyDims(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<SymExprAttr> dims) {
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim && dim.isConstant() && dim.getValue() < 0)
      return emitError() << "dimension " << index
                         << " is negative: " << dim.getValue();
  return success();
}

LogicalResult ShapeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<SymExprAttr> dims) {
  return verifyDims(emitError, dims);
}

LogicalResult
ShapeAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                          function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getDims().size())
    return emitError() << "#relax.shape has " << getDims().size()
                       << " dimensions, the tensor has " << shape.size();
  bool symbolic = false;
  for (auto [index, size, dim] : llvm::enumerate(shape, getDims())) {
    std::optional<int64_t> constant =
        dim ? dim.getConstantValue() : std::nullopt;
    if (constant.value_or(ShapedType::kDynamic) == size) {
      symbolic |= dim && !constant;
      continue;
    }
    if (ShapedType::isDynamic(size))
      return emitError() << "dimension " << index << " is the constant "
                         << *constant
                         << " in #relax.shape, so it must be static in the "
                            "tensor type too: write "
                         << *constant << " for '?'";
    return emitError() << "dimension " << index << " is " << size
                       << " in the tensor type, but '"
                       << (dim ? dim.str() : "?") << "' in #relax.shape";
  }
  if (!symbolic)
    return emitError()
           << "#relax.shape without a symbol adds nothing to the tensor "
              "type; leave it out";
  return success();
}

//===----------------------------------------------------------------------===//
// RangeAttr
//===----------------------------------------------------------------------===//

Attribute RangeAttr::parse(AsmParser &parser, Type) {
  int64_t lower = 0, upper = 0, multipleOf = 1;
  bool bounded = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(lower))
    return {};
  bool hasUpper = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("multiple_of"))) {
      if (parser.parseEqual() || parser.parseInteger(multipleOf))
        return {};
      break;
    }
    if (hasUpper) {
      parser.emitError(parser.getCurrentLocation(), "expected 'multiple_of'");
      return {};
    }
    hasUpper = true;
    if (succeeded(parser.parseOptionalStar()))
      continue;
    bounded = true;
    if (parser.parseInteger(upper))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RangeAttr>(
      loc, parser.getContext(), lower,
      bounded ? std::optional<int64_t>(upper) : std::nullopt, multipleOf);
}

void RangeAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLower();
  if (getUpper())
    printer << ", " << *getUpper();
  if (getMultipleOf() != 1)
    printer << ", multiple_of = " << getMultipleOf();
  printer << '>';
}

LogicalResult RangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t lower, std::optional<int64_t> upper,
                                int64_t multipleOf) {
  if (upper && *upper < lower)
    return emitError() << "upper bound " << *upper
                       << " is below the lower bound " << lower;
  if (multipleOf < 1)
    return emitError() << "multiple_of must be positive, got " << multipleOf;
  int64_t rest = upper ? (*upper % multipleOf + multipleOf) % multipleOf : 0;
  if (upper && static_cast<__int128>(*upper) - rest < lower)
    return emitError() << "no multiple of " << multipleOf << " is between "
                       << lower << " and " << *upper;
  return success();
}

//===----------------------------------------------------------------------===//
// WeightAttr
//===----------------------------------------------------------------------===//

LogicalResult WeightAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name) {
  if (name.getValue().empty())
    return emitError() << "the name of a weight must not be empty";
  // Names become C strings in compiled code.
  if (name.getValue().contains('\0'))
    return emitError() << "the name of a weight must not contain a zero "
                          "character, got "
                       << name;
  return success();
}
