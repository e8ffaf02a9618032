//===- Relax.cpp - C interface of the relax dialect -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI/Relax.h"
#include "CAPI/Unwrap.h"

#include "Registration/Passes.h"
#include "Relax/CallUtils.h"
#include "Relax/DeductionScope.h"
#include "Relax/RelaxDialect.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SourceMgr.h"

#include <mutex>

using namespace mlir;
using namespace mlir::relax;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Relax, relax, relax::RelaxDialect)

void mlirRelaxRegisterPasses() {
  static std::once_flag once;
  std::call_once(once, registerRelaxPasses);
}

bool mlirRelaxIsPassRegistered(MlirStringRef argument) {
  return PassInfo::lookup(unwrap(argument)) ||
         PassPipelineInfo::lookup(unwrap(argument));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool mlirAttributeIsARelaxShape(MlirAttribute attr) {
  return isa<ShapeAttr>(unwrap(attr));
}
MlirTypeID mlirRelaxShapeAttrGetTypeID() {
  return wrap(ShapeAttr::getTypeID());
}
MlirAttribute mlirRelaxShapeAttrGet(MlirContext context, intptr_t rank,
                                    MlirAttribute const *dims) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(ShapeAttr::getChecked(EmitErrorFn(emitError), unwrap(context),
                                    ArrayRef(unwrapExprs(rank, dims))));
}
intptr_t mlirRelaxShapeAttrGetRank(MlirAttribute attr) {
  return cast<ShapeAttr>(unwrap(attr)).getRank();
}
MlirAttribute mlirRelaxShapeAttrGetDim(MlirAttribute attr, intptr_t index) {
  return wrap(cast<ShapeAttr>(unwrap(attr)).getDims()[index]);
}

bool mlirAttributeIsARelaxRange(MlirAttribute attr) {
  return isa<RangeAttr>(unwrap(attr));
}
MlirTypeID mlirRelaxRangeAttrGetTypeID() {
  return wrap(RangeAttr::getTypeID());
}
MlirAttribute mlirRelaxRangeAttrGet(MlirContext context, int64_t lower,
                                    int64_t const *upper, int64_t multipleOf) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(RangeAttr::getChecked(
      EmitErrorFn(emitError), unwrap(context), lower,
      upper ? std::optional<int64_t>(*upper) : std::nullopt, multipleOf));
}
int64_t mlirRelaxRangeAttrGetLower(MlirAttribute attr) {
  return cast<RangeAttr>(unwrap(attr)).getLower();
}
bool mlirRelaxRangeAttrGetUpper(MlirAttribute attr, int64_t *upper) {
  std::optional<int64_t> bound = cast<RangeAttr>(unwrap(attr)).getUpper();
  *upper = bound.value_or(0);
  return bound.has_value();
}
int64_t mlirRelaxRangeAttrGetMultipleOf(MlirAttribute attr) {
  return cast<RangeAttr>(unwrap(attr)).getMultipleOf();
}

bool mlirAttributeIsARelaxWeight(MlirAttribute attr) {
  return isa<WeightAttr>(unwrap(attr));
}
MlirTypeID mlirRelaxWeightAttrGetTypeID() {
  return wrap(WeightAttr::getTypeID());
}
MlirAttribute mlirRelaxWeightAttrGet(MlirContext context, MlirStringRef name) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(
      WeightAttr::getChecked(EmitErrorFn(emitError), unwrap(context),
                             StringAttr::get(unwrap(context), unwrap(name))));
}
MlirStringRef mlirRelaxWeightAttrGetName(MlirAttribute attr) {
  return wrap(cast<WeightAttr>(unwrap(attr)).getName().getValue());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool mlirTypeIsARelaxShape(MlirType type) {
  return isa<relax::ShapeType>(unwrap(type));
}
MlirTypeID mlirRelaxShapeTypeGetTypeID() {
  return wrap(relax::ShapeType::getTypeID());
}
MlirType mlirRelaxShapeTypeGet(MlirContext context, intptr_t rank,
                               MlirAttribute const *dims) {
  auto emitError = errorsOf(unwrap(context));
  return wrap(
      Type(relax::ShapeType::getChecked(EmitErrorFn(emitError), unwrap(context),
                                        ArrayRef(unwrapExprs(rank, dims)))));
}
MlirType mlirRelaxShapeTypeGetUnranked(MlirContext context) {
  return wrap(Type(relax::ShapeType::getUnranked(unwrap(context))));
}
bool mlirRelaxShapeTypeIsRanked(MlirType type) {
  return cast<relax::ShapeType>(unwrap(type)).getRanked();
}
intptr_t mlirRelaxShapeTypeGetRank(MlirType type) {
  return cast<relax::ShapeType>(unwrap(type)).getRank();
}
MlirAttribute mlirRelaxShapeTypeGetDim(MlirType type, intptr_t index) {
  return wrap(cast<relax::ShapeType>(unwrap(type)).getDims()[index]);
}

bool mlirTypeIsARelaxObject(MlirType type) {
  return isa<ObjectType>(unwrap(type));
}
MlirTypeID mlirRelaxObjectTypeGetTypeID() {
  return wrap(ObjectType::getTypeID());
}
MlirType mlirRelaxObjectTypeGet(MlirContext context) {
  return wrap(Type(ObjectType::get(unwrap(context))));
}

bool mlirTypeIsARelaxStorage(MlirType type) {
  return isa<StorageType>(unwrap(type));
}
MlirTypeID mlirRelaxStorageTypeGetTypeID() {
  return wrap(StorageType::getTypeID());
}
MlirType mlirRelaxStorageTypeGet(MlirContext context) {
  return wrap(Type(StorageType::get(unwrap(context))));
}

MlirType mlirRelaxTensorTypeGet(MlirType elementType, intptr_t rank,
                                MlirAttribute const *attrs) {
  Type element = unwrap(elementType);
  auto emitError = errorsOf(element.getContext());
  if (!TensorType::isValidElementType(element)) {
    emitError() << "a tensor cannot hold elements of type " << element;
    return {};
  }
  SmallVector<SymExprAttr> dims = unwrapExprs(rank, attrs);
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim && dim.isConstant() && dim.getValue() < 0) {
      emitError() << "dimension " << index
                  << " is negative: " << dim.getValue();
      return {};
    }
  return wrap(Type(getTensorType(dims, element)));
}

MlirAttribute mlirRelaxTensorTypeGetDim(MlirType type, intptr_t index) {
  auto tensor = cast<RankedTensorType>(unwrap(type));
  if (auto shape = dyn_cast_or_null<ShapeAttr>(tensor.getEncoding()))
    return wrap(shape.getDims()[index]);
  if (tensor.isDynamicDim(index))
    return {};
  return wrap(
      SymExprAttr::getConstant(tensor.getContext(), tensor.getDimSize(index)));
}

MlirRelaxTruth mlirRelaxTypeImplies(MlirAttribute ranges, MlirType fine,
                                    MlirType coarse) {
  Prover prover(unwrap(fine).getContext(), unwrapFacts(ranges));
  return wrapTruth(implies(unwrap(fine), unwrap(coarse), prover));
}

void mlirRelaxTypeWalkDefinedSymbols(MlirType type, MlirStringCallback callback,
                                     void *userData) {
  walkDefinedSymbols(unwrap(type), [&](StringAttr name) {
    callback(wrap(name.getValue()), userData);
  });
}

//===----------------------------------------------------------------------===//
// Modules and operations
//===----------------------------------------------------------------------===//

/// The deepest nesting of brackets in the text of a module. Skips comments,
/// strings and arrows (`->`, `>=`).
static int64_t findDepth(StringRef text) {
  int64_t depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], before = i ? text[i - 1] : ' ';
    char after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '/' && after == '/') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '(' || c == '[' || c == '{' || (c == '<' && after != '=')) {
      deepest = std::max(deepest, ++depth);
    } else if (c == ')' || c == ']' || c == '}' ||
               (c == '>' && before != '-' && after != '=')) {
      depth = std::max<int64_t>(0, depth - 1);
    }
  }
  return deepest;
}

/// The nesting that MLIR's recursive parser handles within its stack.
static constexpr int64_t kDeepest = 500;

MlirModule mlirRelaxParseModule(MlirContext context, MlirStringRef data,
                                MlirStringRef name) {
  // Bytecode with resources must be properly aligned, and text must be
  // zero-terminated, which the buffer ensures.
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      data.length, unwrap(name), llvm::Align(4096));
  if (!buffer)
    return {nullptr};
  llvm::copy(unwrap(data), buffer->getBufferStart());
  // Bytecode begins with "ML\xEFR".
  StringRef text = unwrap(data);
  if (!text.starts_with("ML\xEF") && findDepth(text) > kDeepest) {
    emitError(FileLineColLoc::get(unwrap(context), unwrap(name), 1, 1))
        << "the text nests deeper than " << kDeepest << " levels";
    return {nullptr};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  ParserConfig config(unwrap(context));
  return wrap(parseSourceFile<ModuleOp>(sources, config).release());
}

MlirLogicalResult mlirRelaxDeduceCall(MlirOperation call, MlirOperation callee,
                                      void (*onType)(MlirType, void *),
                                      void *userData) {
  Operation *op = unwrap(call);
  ValueRange operands = op->getOperands();
  std::optional<Signature> signature;
  if (Operation *function = unwrap(callee)) {
    if (auto interface = dyn_cast<FunctionOpInterface>(function))
      signature = Signature::of(interface);
  } else if (!operands.empty()) {
    if (auto type = dyn_cast<FunctionType>(operands.front().getType()))
      signature = Signature::of(type);
    operands = operands.drop_front();
  }
  if (!signature) {
    op->emitOpError() << "callee is not a function";
    return mlirLogicalResultFailure();
  }
  FailureOr<SmallVector<Type>> types = deduceCall(op, *signature, operands);
  if (failed(types))
    return mlirLogicalResultFailure();
  for (Type type : *types)
    onType(wrap(type), userData);
  return mlirLogicalResultSuccess();
}

void *mlirRelaxDeductionScopeCreate(MlirOperation around) {
  return new DeductionScope(unwrap(around));
}

void mlirRelaxDeductionScopeDestroy(void *scope) {
  delete static_cast<DeductionScope *>(scope);
}
