//===- RelaxDialect.cpp - the relax dialect -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/RelaxDialect.h"

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Memory.h"
#include "Relax/SymbolScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::relax;

#include "Relax/RelaxDialect.cpp.inc"

void RelaxDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerFunctionOps();
  registerCallOps();
  registerCoreOps();
  registerControlOps();
  registerMemoryOps();
  registerElementwiseOps();
  registerCreateOps();
  registerLinearOps();
  registerReductionOps();
  registerNormalizationOps();
  registerAttentionOps();
  registerConvolutionOps();
  registerPoolingOps();
  registerImageOps();
  registerQuantizationOps();
  registerManipulateOps();
  registerSliceOps();
  registerIndexOps();
  registerSortOps();
}

Operation *RelaxDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  // A `relax.sym` is not a constant: it is valid only where its symbols are, so
  // it must not be hoisted to the top of a function.
  if (auto integer = dyn_cast<IntegerAttr>(value);
      integer && integer.getType() == type)
    return arith::ConstantOp::create(builder, loc, integer);
  if (auto elements = dyn_cast<ElementsAttr>(value);
      elements && elements.getType() == type)
    return ConstantOp::create(builder, loc, type, value);
  if (auto weight = dyn_cast<ArrayAttr>(value); // see ConstantOp::fold
      weight && weight.size() == 2 && isa<WeightAttr>(weight[0]) &&
      weight[1] == TypeAttr::get(type))
    return ConstantOp::create(builder, loc, type, weight[0]);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static LogicalResult verifySymbols(Operation *op, NamedAttribute attribute) {
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' belongs on a function";
  auto ranges = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!ranges)
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' must be a dictionary from symbol to "
                                "#relax.range, got "
                             << attribute.getValue();
  for (NamedAttribute range : ranges) {
    if (!isValidSymbolName(range.getName().getValue()))
      return op->emitOpError()
             << "'" << range.getName().getValue() << "' in '"
             << attribute.getName().getValue() << "' is not a symbol name";
    if (!isa<RangeAttr>(range.getValue()))
      return op->emitOpError()
             << "the range of symbol '" << range.getName().getValue()
             << "' must be a #relax.range, got " << range.getValue();
  }
  return success();
}

/// Whether the attribute is a valid place, "host" or "device".
static bool isPlace(Attribute attribute) {
  auto place = dyn_cast<StringAttr>(attribute);
  return place && (place == notes::kHostPlace || place == notes::kDevicePlace);
}

/// Verifies an attribute of Notes.h; nullopt for other attributes.
static std::optional<LogicalResult> verifyNote(Operation *op,
                                               NamedAttribute attribute) {
  auto require = [&](bool right, StringRef what) -> LogicalResult {
    if (right)
      return success();
    return op->emitOpError()
           << "'" << attribute.getName().getValue() << "' must be " << what;
  };
  Attribute value = attribute.getValue();
  if (attribute.getName() == notes::kPattern)
    return require(isa<func::FuncOp>(op) && isa<StringAttr>(value),
                   "a string, on a kernel");
  if (attribute.getName() == notes::kPrimitive)
    return require(isa<FuncOp, func::FuncOp>(op) && isa<UnitAttr>(value),
                   "a unit attribute, on a graph function or a kernel");
  if (attribute.getName() == notes::kMemoryPlan)
    return require(isa<FuncOp>(op) && isa<DictionaryAttr>(value),
                   "a dictionary, on a graph function");
  if (attribute.getName() == notes::kComputedSizes) {
    auto exprs = dyn_cast<ArrayAttr>(value);
    return require(isa<func::FuncOp>(op) && exprs &&
                       llvm::all_of(exprs, llvm::IsaPred<SymExprAttr>),
                   "an array of expressions, on a kernel");
  }
  if (attribute.getName() == notes::kWritten)
    return require(isa<FunctionOpInterface>(op) &&
                       isa<DenseI64ArrayAttr>(value),
                   "an array of i64, on a function");
  if (attribute.getName() == notes::kReturned) {
    auto function = dyn_cast<FuncOp>(op);
    auto returned = dyn_cast<ArrayAttr>(value);
    return require(function && returned &&
                       returned.size() == function.getNumResults() &&
                       llvm::all_of(returned, llvm::IsaPred<DenseI64ArrayAttr>),
                   "an array of i64 for each result, on a graph function");
  }
  if (attribute.getName() == notes::kDonated) {
    auto function = dyn_cast<FuncOp>(op);
    auto donated = dyn_cast<DenseI64ArrayAttr>(value);
    return require(
        function && donated &&
            llvm::all_of(donated.asArrayRef(),
                         [&](int64_t index) {
                           return index >= 0 &&
                                  index < function.getNumArguments() &&
                                  isa<RankedTensorType>(
                                      function.getArgumentTypes()[index]);
                         }),
        "an array of i64 with indices of tensors among its parameters, on a "
        "graph function");
  }
  if (attribute.getName() == notes::kBorrows)
    return require(isa<CallLibraryOp, CallLibraryInplaceOp>(op) &&
                       isa<UnitAttr>(value),
                   "a unit attribute, on a library call");
  if (attribute.getName() == notes::kDevice)
    return require(
        isPlace(value) &&
            isa<FuncOp, AllocStorageOp, CallLibraryOp, CallLibraryInplaceOp>(
                op),
        "\"host\" or \"device\", on a graph function, a value of it, or what "
        "allocates or copies");
  if (attribute.getName() == notes::kLibrary) {
    auto library = dyn_cast<DictionaryAttr>(value);
    auto name = library ? library.getAs<StringAttr>("function") : StringAttr();
    return require(isa<FuncOp>(op) && name && !name.getValue().empty(),
                   "a dictionary with the name of a 'function', on a graph "
                   "function");
  }
  return std::nullopt;
}

LogicalResult RelaxDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kSymbolsAttr) {
    if (failed(verifySymbols(op, attribute)))
      return failure();
    // A graph function verifies its own scope.
    return isa<FuncOp>(op) ? success()
                           : verifySymbolScope(cast<FunctionOpInterface>(op));
  }
  if (attribute.getName() == kShapeAttr || attribute.getName() == kSymbolAttr)
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' belongs on a parameter";
  if (std::optional<LogicalResult> verified = verifyNote(op, attribute))
    return *verified;
  return op->emitOpError() << "unknown attribute '"
                           << attribute.getName().getValue() << "'";
}

/// Verifies the attributes of one parameter or result of type `type`.
static LogicalResult verifyValueAttr(Operation *op, Type type,
                                     NamedAttribute attribute, bool parameter) {
  StringRef name = attribute.getName().getValue();
  if (name == RelaxDialect::kShapeAttr) {
    if (isa<FuncOp>(op))
      return op->emitOpError() << "'" << name
                               << "' belongs on kernels; the shapes of a graph "
                                  "function are in its types";
    auto shape = dyn_cast<ShapeAttr>(attribute.getValue());
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isBuffer = parameter && isa<MemRefType>(type);
    if (!shape || !(isBuffer || (tensor && !tensor.getEncoding())))
      return op->emitOpError()
             << "'" << name << "' must be a #relax.shape on a plain ranked "
             << "tensor or a buffer, got " << attribute.getValue() << " on "
             << type;
    auto sizes = llvm::map_to_vector(shape.getDims(), [](SymExprAttr dim) {
      std::optional<int64_t> size = dim ? dim.getConstantValue() : std::nullopt;
      return size.value_or(ShapedType::kDynamic);
    });
    if (cast<ShapedType>(type).getShape() != ArrayRef(sizes))
      return op->emitOpError()
             << "'" << name << "' " << shape << " does not fit " << type;
    return success();
  }
  if (name == RelaxDialect::kSymbolAttr && parameter) {
    auto symbol = dyn_cast<StringAttr>(attribute.getValue());
    if (!symbol || !isValidSymbolName(symbol.getValue()))
      return op->emitOpError() << "'" << name << "' must name a symbol, got "
                               << attribute.getValue();
    if (!type.isIntOrIndex())
      return op->emitOpError()
             << "'" << name << "' belongs on an integer, got " << type;
    return success();
  }
  if (name == notes::kInvariant && parameter) {
    if (!isa<UnitAttr>(attribute.getValue()) || !isa<ShapedType>(type))
      return op->emitOpError()
             << "'" << name << "' has no value, and belongs on a tensor or "
             << "buffer, got " << attribute.getValue() << " on " << type;
    return success();
  }
  if (name == notes::kIndexBound && parameter) {
    auto bound = dyn_cast<IntegerAttr>(attribute.getValue());
    auto shaped = dyn_cast<ShapedType>(type);
    if (bound && bound.getType().isSignlessInteger(64) && bound.getInt() >= 0 &&
        shaped &&
        (shaped.getElementType().isSignlessInteger(32) ||
         shaped.getElementType().isSignlessInteger(64)))
      return success();
    return op->emitOpError()
           << "'" << name << "' must be a number that is not negative, of i64, "
           << "on a tensor or buffer of i32 or i64, got "
           << attribute.getValue() << " on " << type;
  }
  if (name == notes::kDevice && isa<FuncOp>(op)) {
    if (isPlace(attribute.getValue()))
      return success();
    return op->emitOpError()
           << "'" << name << "' must be \"host\" or \"device\", got "
           << attribute.getValue();
  }
  return op->emitOpError() << "unknown attribute '" << name << "' on a "
                           << (parameter ? "parameter" : "result");
}

LogicalResult RelaxDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned regionIndex,
                                                     unsigned argIndex,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' belongs on a parameter of a function";
  return verifyValueAttr(op, function.getArgumentTypes()[argIndex], attribute,
                         /*parameter=*/true);
}

LogicalResult
RelaxDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                          unsigned resultIndex,
                                          NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' belongs on a result of a function";
  return verifyValueAttr(op, function.getResultTypes()[resultIndex], attribute,
                         /*parameter=*/false);
}
