//===- LowerCalls.cpp - lowers calls to host code -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/FunctionLowering.h"

#include "Conversion/Slots.h"
#include "Relax/Notes.h"
#include "Relax/SymDirectives.h"
#include "Runtime/Core/RelaxRuntime.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Kernels and libraries
//===----------------------------------------------------------------------===//

void FunctionLowering::beginKernel(CallTIRInplaceOp op) {
  StringRef name = op.getCallee();
  name.consume_front(kKernelPrefix);
  // Three strings that end in zero.
  std::string names = (name + Twine('\0') + functionName + Twine('\0') +
                       describeLocation(op.getLoc()))
                          .str();
  // The first word of the context.
  Value isTimed = LLVM::LoadOp::create(builder, builder.getI32Type(), context);
  Value zero = arith::ConstantIntOp::create(builder, builder.getI32Type(), 0);
  auto choice = scf::IfOp::create(
      builder,
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, isTimed, zero),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  builder.call("relax_rt_begin_kernel", {}, {context, builder.string(names)},
               {"cold"});
}

/// A kernel runs where the tensors are that it writes. One that writes none
/// runs where its first operand is, or on the side of the function.
bool FunctionLowering::runsOnHost(CallTIRInplaceOp op) const {
  if (op->getNumResults())
    return !deviceOf(op->getResult(0));
  if (op->getNumOperands())
    return !deviceOf(op->getOperand(0));
  return !builder.device;
}

void FunctionLowering::callUnlessEmpty(CallTIRInplaceOp op, func::FuncOp kernel,
                                       ValueRange args, ValueRange written) {
  auto call = [&] {
    // Work on a device goes on after the call.
    if (runsOnHost(op))
      beginKernel(op);
    func::CallOp::create(builder, kernel, args);
  };
  // An empty tensor may still have huge dimensions that the kernel would loop
  // over.
  Value isEmpty;
  for (Value tensor : written) {
    auto type = cast<MemRefType>(tensor.getType());
    bool hasElements =
        type.hasStaticShape() &&
        llvm::all_of(type.getShape(), [](int64_t d) { return d; });
    if (hasElements) {
      isEmpty = {};
      break;
    }
    Value hasNone;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis) && type.getDimSize(axis))
        continue;
      Value isZero =
          arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                builder.dim(tensor, axis), builder.index(0));
      hasNone = hasNone ? Value(arith::OrIOp::create(builder, hasNone, isZero))
                        : isZero;
    }
    isEmpty = isEmpty ? Value(arith::AndIOp::create(builder, isEmpty, hasNone))
                      : hasNone;
  }
  if (!isEmpty)
    return call();
  auto choice = scf::IfOp::create(builder, TypeRange(), isEmpty,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  call();
}

/// Ends the call with an error if the kernel would compute a size that exceeds
/// 64 bits, or divide by zero.
LogicalResult FunctionLowering::evaluateComputedSizes(
    CallTIRInplaceOp op, func::FuncOp kernel, const SymSubstitution &known,
    SymbolValues &inKernel) {
  auto computed = kernel->getAttrOfType<ArrayAttr>(notes::kComputedSizes);
  if (!computed)
    return success();
  SymBuilder math(builder.getContext());
  for (SymExprAttr expr : getSymExprs(computed)) {
    // A size that is expressed in symbols of this function is computed once for
    // all calls.
    bool closed = true;
    expr.walkSymbols([&](StringAttr name) { closed &= known.contains(name); });
    SymExprAttr own = closed ? math.substitute(expr, known) : SymExprAttr();
    if (!(own ? symbols.evaluate(own) : inKernel.evaluate(expr)))
      return op.emitOpError()
             << "calls '" << op.getCallee() << "', which computes '"
             << expr.str() << "' of symbols that it does not have";
  }
  return success();
}

LogicalResult FunctionLowering::lowerKernelCall(CallTIRInplaceOp op) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!kernel)
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which is not a func.func";
  if (kernel.isExternal())
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which has no body to compile";
  // The kernel's symbols, as expressions of this function or by value.
  SymSubstitution known;
  SymbolValues inKernel(builder, context, functionName);
  Values args;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    Value tensor = getOne(operand);
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    auto dims =
        kernel.getArgAttrOfType<ShapeAttr>(index, RelaxDialect::kShapeAttr);
    auto expected = cast<MemRefType>(kernel.getArgumentTypes()[index]);
    SymDims actual = getSymDims(type);
    for (int64_t axis = 0; axis < expected.getRank(); ++axis) {
      SymExprAttr dim =
          dims ? dims.getDims()[axis]
          : expected.isDynamicDim(axis)
              ? SymExprAttr()
              : SymExprAttr::getConstant(builder.getContext(),
                                         expected.getDimSize(axis));
      if (!dim)
        continue;
      if (dim.isSymbol() && !inKernel.lookup(dim)) {
        inKernel.define(dim, builder.dim(tensor, axis));
        if (actual[axis])
          known[dim.getName()] = actual[axis];
        continue;
      }
      // The two sizes are nearly always equal by construction.
      SymBuilder math(builder.getContext());
      bool closed = true;
      dim.walkSymbols([&](StringAttr name) { closed &= known.contains(name); });
      if (actual[axis] && closed && math.substitute(dim, known) == actual[axis])
        continue;
      Value wanted = inKernel.evaluate(dim);
      if (!wanted)
        continue; // defined by a symbolic argument below
      Value size = builder.dim(tensor, axis);
      checkEqual(size, wanted,
                 "call of '" + op.getCallee() + "': operand " + Twine(index) +
                     ": dimension " + Twine(axis) + " must be " + dim.str() +
                     " = %1, got %0");
    }
    args.push_back(builder.castTensor(tensor, expected));
  }
  for (auto expr : op.getSymArgs().getAsRange<SymExprAttr>()) {
    Value value = evaluate(op, expr);
    if (!value)
      return failure();
    if (auto symbol = kernel.getArgAttrOfType<StringAttr>(
            args.size(), RelaxDialect::kSymbolAttr)) {
      inKernel.define(SymExprAttr::getSymbol(builder.getContext(), symbol),
                      value);
      known[symbol] = expr;
    }
    Type wanted = kernel.getArgumentTypes()[args.size()];
    args.push_back(wanted.isIndex()
                       ? value
                       : arith::IndexCastOp::create(builder, wanted, value));
  }
  if (failed(evaluateComputedSizes(op, kernel, known, inKernel)))
    return failure();
  SmallVector<Value> written;
  for (int64_t index : op.getInplaceIndices())
    written.push_back(args[index]);
  callUnlessEmpty(op, kernel, args, written);
  builder.call("relax_rt_poll", {}, {context});
  return bindInplace(op, op.getOperands(), op.getInplaceIndices());
}

LogicalResult FunctionLowering::lowerLibraryCall(CallLibraryInplaceOp op) {
  Values tensors, integers;
  SmallVector<int64_t> words = {static_cast<int64_t>(op.getOperands().size())};
  for (Value operand : op.getOperands()) {
    tensors.push_back(getOne(operand));
    appendWords(operand.getType(), deviceOf(operand) << RelaxDeviceShift,
                words);
  }
  for (auto expr : op.getSymArgs().getAsRange<SymExprAttr>()) {
    integers.push_back(evaluate(op, expr));
    if (!integers.back())
      return failure();
  }
  Value memory = builder.allocateWords(Slots::count(tensors) + integers.size());
  Slots slots(builder, memory);
  slots.write(tensors);
  slots.write(integers);
  builder.call("relax_rt_call_library", {},
               {context, builder.string(op.getLibraryFunction()),
                builder.string(describeLocation(op.getLoc())),
                builder.words(words), memory, builder.word(integers.size())});
  return bindInplace(op, op.getOperands(), op.getInplaceIndices());
}

//===----------------------------------------------------------------------===//
// Functions and closures
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerCall(CallOp op) {
  auto callee =
      symbolTable.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which has no body to compile";
  Values args = {context};
  for (auto [operand, type] :
       llvm::zip(op.getOperands(), callee.getArgumentTypes())) {
    // Sizes that are static in the callee's type must match at run time.
    SmallVector<Claim> claims;
    SmallVector<Type> flat;
    (void)flattenType(type, flat);
    for (auto [value, wanted] : llvm::zip(get(operand), flat)) {
      auto target = dyn_cast<MemRefType>(wanted);
      if (!target)
        continue;
      auto source = cast<MemRefType>(value.getType());
      for (int64_t axis = 0; axis < target.getRank(); ++axis)
        if (source.isDynamicDim(axis) && !target.isDynamicDim(axis))
          claims.push_back(
              {SymExprAttr::getConstant(builder.getContext(),
                                        target.getDimSize(axis)),
               builder.dim(value, axis),
               ("call of '" + op.getCallee() + "': dimension " + Twine(axis))
                   .str()});
    }
    if (failed(checkClaims(claims)))
      return failure();
    llvm::append_range(args, convert(get(operand), type));
  }
  SmallVector<Type> types;
  for (Type type : callee.getResultTypes())
    (void)flattenType(type, types);
  auto call =
      func::CallOp::create(builder, hostName(callee.getSymName()), types, args);
  setResults(op, call.getResults(), callee.getResultTypes());
  return success();
}

LogicalResult FunctionLowering::lowerMakeClosure(MakeClosureOp op) {
  auto callee =
      symbolTable.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op.emitOpError() << "refers to '" << op.getCallee()
                            << "', which has no body to compile";
  size_t boundCount = op.getCaptures().size();
  TypeRange parameters = callee.getArgumentTypes();
  auto module = callee->getParentOfType<ModuleOp>();
  std::string name =
      ("relax.closure." + op.getCallee() + "." + Twine(boundCount)).str();
  auto body = module.lookupSymbol<func::FuncOp>(name);
  if (!body) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    Type ptr = builder.pointer();
    body = func::FuncOp::create(
        builder, name, builder.getFunctionType({ptr, ptr, ptr, ptr}, {}));
    makeInternal(body);
    builder.setInsertionPointToStart(body.addEntryBlock());
    Slots bound(builder, body.getArgument(1)), in(builder, body.getArgument(2)),
        out(builder, body.getArgument(3));
    Values args = {body.getArgument(0)};
    for (auto [index, type] : llvm::enumerate(parameters))
      (index < boundCount ? bound : in).read(type, args);
    SmallVector<Type> results;
    for (Type type : callee.getResultTypes())
      if (failed(flattenType(type, results)))
        return op.emitOpError() << "cannot compile a result of type " << type;
    auto call = func::CallOp::create(builder, hostName(callee.getSymName()),
                                     results, args);
    out.write(call.getResults());
    func::ReturnOp::create(builder);
  }
  Values captures, storages;
  for (auto [value, type] : llvm::zip(op.getCaptures(), parameters))
    for (Value host : convert(get(value), type)) {
      captures.push_back(host);
      if (Value storage = builder.storageOf(host))
        storages.push_back(storage);
    }
  llvm::for_each(storages, [&](Value storage) { retain(storage); });
  Value words = builder.allocateWords(Slots::count(captures));
  Slots(builder, words).write(captures);
  Value kept = builder.allocateWords(storages.size());
  Slots(builder, kept).write(storages);
  set(op.getResult(),
      {builder.call("relax_rt_make_closure", builder.pointer(),
                    {context, builder.addressOfFunction(body),
                     builder.word(Slots::count(captures)), words,
                     builder.word(storages.size()), kept,
                     builder.string(describeLocation(op.getLoc()))})});
  return success();
}

LogicalResult FunctionLowering::lowerCallClosure(CallClosureOp op) {
  auto type = cast<FunctionType>(op.getCallee().getType());
  Values args;
  for (auto [operand, parameter] : llvm::zip(op.getArgs(), type.getInputs()))
    llvm::append_range(args, convert(get(operand), parameter));
  SmallVector<Type> results;
  for (Type result : type.getResults())
    if (failed(flattenType(result, results)))
      return op.emitOpError() << "cannot compile a result of type " << result;
  Value in = builder.allocateWords(Slots::count(args));
  Value out = builder.allocateWords(Slots::count(TypeRange(results)));
  Slots(builder, in).write(args);
  // Layout of RelaxClosure: the body, two counts, then the bound values.
  Value closure = builder.storageData(getOne(op.getCallee()));
  Value body = LLVM::LoadOp::create(builder, builder.pointer(), closure);
  Value bound =
      LLVM::GEPOp::create(builder, builder.pointer(), builder.getI64Type(),
                          closure, ArrayRef<LLVM::GEPArg>{3});
  Type ptr = builder.pointer();
  auto bodyType = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {ptr, ptr, ptr, ptr});
  LLVM::CallOp::create(builder, bodyType,
                       ValueRange{body, context, bound, in, out});
  Values host;
  Slots slots(builder, out);
  for (Type result : type.getResults())
    slots.read(result, host);
  // The callee may be written in another language, so check the sizes it
  // claims.
  SmallVector<Claim> claims;
  ArrayRef<Value> left = host;
  for (auto [index, result] : llvm::enumerate(op.getResultTypes()))
    claim(result, left, "result " + std::to_string(index) + " of a callable",
          claims);
  if (failed(checkClaims(claims)))
    return failure();
  setResults(op, host, type.getResults());
  return success();
}
