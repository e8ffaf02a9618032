//===- Function.cpp - functions and calls ---------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Function.h"
#include "Relax/CallUtils.h"
#include "Relax/Ops/Core.h"
#include "Relax/SymbolScope.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Function.cpp.inc"

void RelaxDialect::registerFunctionOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Function.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   FunctionType type, ArrayRef<NamedAttribute> attrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

/// A pure function must not contain ops with side effects.
static LogicalResult verifyPure(FuncOp function) {
  WalkResult walk = function.getBody().walk([&](Operation *op) {
    if (isa<MatchCastOp>(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op))
      return WalkResult::advance();
    op->emitOpError() << "may have side effects, which the pure @"
                      << function.getName() << " must not";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

/// The types of `Relax_AnyValue`, which ODS checks for operands and results.
static bool isValueType(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getElementType().isIntOrFloat();
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::all_of(tuple.getTypes(), isValueType);
  return type.isIntOrIndexOrFloat() ||
         isa<ShapeType, ObjectType, StorageType, FunctionType>(type);
}

static LogicalResult verifyValueTypes(FuncOp function, TypeRange types,
                                      StringRef what) {
  for (auto [index, type] : llvm::enumerate(types))
    if (!isValueType(type))
      return function.emitOpError()
             << what << " " << index << " is a " << type
             << "; a graph function works on tensors of numbers, shapes, "
                "tuples, scalars, callables and !relax.object";
  return success();
}

LogicalResult FuncOp::verifyRegions() {
  if (failed(verifyValueTypes(*this, getArgumentTypes(), "parameter")) ||
      failed(verifyValueTypes(*this, getResultTypes(), "result")))
    return failure();
  if (!isExternal() && !getBody().hasOneBlock())
    return emitOpError() << "body must be one block, got "
                         << getBody().getBlocks().size()
                         << "; control flow is relax.if and relax.while";
  if (getPure() && failed(verifyPure(*this)))
    return failure();
  return verifySymbolScope(*this);
}

void FuncOp::walkParameterSymbols(function_ref<void(StringAttr)> fn) {
  relax::walkParameterSymbols(*this, fn);
}

DictionaryAttr FuncOp::getSymbolRanges() {
  return (*this)->getAttrOfType<DictionaryAttr>(RelaxDialect::kSymbolsAttr);
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  ArrayRef<Type> results = function.getResultTypes();
  if (results.size() != getNumOperands())
    return emitOpError() << "has " << getNumOperands() << " operands, @"
                         << function.getName() << " returns " << results.size();
  Prover prover(getContext(), SymbolFacts::at(function));
  for (auto [index, type, result] : llvm::enumerate(getOperandTypes(), results))
    if (implies(type, result, prover) != Truth::Yes)
      return emitOpError() << "operand " << index << " is " << type << ", @"
                           << function.getName() << " returns " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static FuncOp lookupCallee(Operation *op, FlatSymbolRefAttr callee,
                           SymbolTableCollection &symbolTable) {
  auto function = symbolTable.lookupNearestSymbolFrom<FuncOp>(op, callee);
  if (!function)
    op->emitOpError() << "'" << callee.getValue() << "' is not a relax.func";
  return function;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FuncOp function = lookupCallee(*this, getCalleeAttr(), symbolTable);
  if (!function)
    return failure();
  if (getPure() && !function.getPure())
    return emitOpError() << "is pure, but @" << getCallee() << " is not";
  return verifyCall(*this, Signature::of(function), getOperands(),
                    getResultTypes());
}

void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (getPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

CallInterfaceCallable CallOp::getCallableForCallee() { return getCalleeAttr(); }

void CallOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(cast<FlatSymbolRefAttr>(cast<SymbolRefAttr>(callee)));
}

Operation::operand_range CallOp::getArgOperands() { return getOperands(); }

MutableOperandRange CallOp::getArgOperandsMutable() {
  return getOperandsMutable();
}

LogicalResult CallClosureOp::verify() {
  return verifyCall(*this,
                    Signature::of(cast<FunctionType>(getCallee().getType())),
                    getArgs(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// MakeClosureOp
//===----------------------------------------------------------------------===//

ParseResult MakeClosureOp::parse(OpAsmParser &parser, OperationState &result) {
  FlatSymbolRefAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(callee, getCalleeAttrName(result.name),
                            result.attributes) ||
      parser.parseOperandList(captures, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  if (type.getNumResults() != 1 || !isa<FunctionType>(type.getResult(0)))
    return parser.emitError(loc)
           << "expected one result of function type, got " << type;
  result.addTypes(type.getResults());
  return parser.resolveOperands(captures, type.getInputs(), loc,
                                result.operands);
}

void MakeClosureOp::print(OpAsmPrinter &printer) {
  printer << " @" << getCallee() << "(" << getCaptures() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getCalleeAttrName()});
  printer << " : (";
  llvm::interleaveComma(getCaptures().getTypes(), printer);
  printer << ") -> (" << getType() << ")";
}

LogicalResult
MakeClosureOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FuncOp function = lookupCallee(*this, getCalleeAttr(), symbolTable);
  if (!function)
    return failure();
  Signature signature = Signature::of(function);
  size_t bound = getCaptures().size();
  if (bound > signature.parameters.size())
    return emitOpError() << "binds " << bound << " arguments, @" << getCallee()
                         << " has " << signature.parameters.size()
                         << " parameters";
  Prover prover(getContext(), SymbolFacts::at(*this));
  SymbolFacts calleeFacts(signature.ranges);
  Unifier unifier(prover, getContext(), &calleeFacts);
  auto emitError = [&] { return emitOpError(); };
  for (auto [index, parameter, type] :
       llvm::enumerate(ArrayRef(signature.parameters).take_front(bound),
                       getCaptures().getTypes()))
    if (failed(addEquations(unifier, parameter, type,
                            "argument " + Twine(index), emitError)))
      return failure();
  if (failed(unifier.solve(emitError)))
    return failure();
  auto rest = FunctionType::get(
      getContext(), ArrayRef(signature.parameters).drop_front(bound),
      signature.results);
  auto declared = cast<FunctionType>(getType());
  // The type may be written in terms of the callee's symbols, of their bindings
  // by the captures, or without symbols; results may also be coarser. Inputs
  // that are not fully known are checked on entry of the callee.
  auto isSpelled = [&](function_ref<Type(Type)> spell, const Prover &facts) {
    if (declared.getNumInputs() != rest.getNumInputs() ||
        declared.getNumResults() != rest.getNumResults())
      return false;
    for (auto [have, want] : llvm::zip(declared.getInputs(), rest.getInputs()))
      if (have != spell(want) && have != dropSymbols(want))
        return false;
    for (auto [have, want] :
         llvm::zip(declared.getResults(), rest.getResults()))
      if (implies(spell(want), have, facts) != Truth::Yes)
        return false;
    return true;
  };
  if (!isSpelled([](Type type) { return type; },
                 Prover(getContext(), calleeFacts)) &&
      !isSpelled([&](Type type) { return instantiate(type, unifier); }, prover))
    return emitOpError() << "makes a " << rest << ", declared as " << declared;
  return success();
}
