//===- RelaxTypes.cpp - types of the relax dialect ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxTypes.h"

#include "Relax/IntegerElements.h"
#include "Relax/RelaxDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_TYPEDEF_CLASSES
#include "Relax/RelaxTypes.cpp.inc"

void RelaxDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Relax/RelaxTypes.cpp.inc"
      >();
}

ShapeType ShapeType::getUnranked(MLIRContext *context) {
  return Base::get(context, false, ArrayRef<SymExprAttr>());
}

ShapeType ShapeType::getRanked(MLIRContext *context, int64_t rank) {
  return ShapeType::get(context, SmallVector<SymExprAttr>(rank));
}

Type ShapeType::parse(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  int64_t rank = 0;
  SmallVector<SymExprAttr> dims;
  if (succeeded(parser.parseOptionalStar()))
    return parser.parseGreater() ? Type() : getUnranked(context);
  OptionalParseResult parsed = parser.parseOptionalInteger(rank);
  if (parsed.has_value()) {
    if (*parsed)
      return {};
    if (rank < 0 || rank > kMaxShapeRank) {
      parser.emitError(loc) << "the rank of a shape must be between 0 and "
                            << kMaxShapeRank << ", got " << rank;
      return {};
    }
    return parser.parseGreater() ? Type() : getRanked(context, rank);
  }
  if (parseSymDims(parser, dims) || parser.parseGreater())
    return {};
  return parser.getChecked<ShapeType>(loc, context, true, dims);
}

void ShapeType::print(AsmPrinter &printer) const {
  printer << '<';
  bool known =
      llvm::any_of(getDims(), [](SymExprAttr dim) { return bool(dim); });
  if (!getRanked())
    printer << '*';
  else if (known || getDims().empty())
    printSymDims(printer.getStream(), getDims());
  else
    printer << getRank();
  printer << '>';
}

LogicalResult ShapeType::verify(function_ref<InFlightDiagnostic()> emitError,
                                bool ranked, ArrayRef<SymExprAttr> dims) {
  if (!ranked && !dims.empty())
    return emitError() << "a shape of unknown rank has no dimensions";
  return ShapeAttr::verify(emitError, dims);
}
