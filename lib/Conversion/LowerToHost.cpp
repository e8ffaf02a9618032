//===- LowerToHost.cpp - turn graph functions into host code --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over each function, in program order: every relax value becomes a
// list of host values (HostBuilder.h), every symbol an `index` that is known
// from where it is defined. Regions of `relax.if` and `relax.while` become
// those of `scf`, with a scope of symbols of their own.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Exports.h"
#include "Conversion/HostBuilder.h"
#include "Conversion/Passes.h"
#include "Conversion/Slots.h"
#include "Relax/CallUtils.h"
#include "Target/CPU/Booleans.h"
#include "Target/CPU/KernelBoundary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERTOHOSTPASS
#include "Conversion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// The host function of a graph function.
static std::string hostName(StringRef function) {
  return ("relax.graph." + function).str();
}

/// Nothing but the exports is seen from outside.
static void makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

namespace {

class FunctionLowering {
public:
  FunctionLowering(FuncOp function, func::FuncOp host, HostBuilder &builder,
                   const WeightTable &weights,
                   SymbolTableCollection &symbolTable)
      : builder(builder), weights(weights), symbolTable(symbolTable),
        symbols(builder, host.getArgument(0), function.getSymName()),
        context(host.getArgument(0)),
        functionName(function.getSymName().str()) {}

  LogicalResult lower(FuncOp function, func::FuncOp host);

private:
  using Values = SmallVector<Value>;

  // A relax value's host values.
  ArrayRef<Value> get(Value value) { return values.find(value)->second; }
  Value getOne(Value value) { return get(value).front(); }
  void set(Value value, Values host) { values[value] = std::move(host); }

  /// Lowers all of a block but its terminator, of which `finish` takes what it
  /// passes on; the kills directly before it come after that.
  LogicalResult lowerBlock(Block &block,
                           function_ref<void(Operation *)> finish);
  LogicalResult lowerOp(Operation &op);
  LogicalResult lowerKernelCall(CallTIRInplaceOp op);
  LogicalResult lowerReshape(Operation *op);
  LogicalResult lowerMatchCast(MatchCastOp op);
  LogicalResult lowerConstant(ConstantOp op);
  LogicalResult lowerIf(IfOp op);
  LogicalResult lowerWhile(WhileOp op);
  LogicalResult lowerCall(CallOp op);
  void lowerAlloc(AllocStorageOp op);
  void lowerTensorFromStorage(TensorFromStorageOp op);
  LogicalResult lowerMakeClosure(MakeClosureOp op);
  LogicalResult lowerCallClosure(CallClosureOp op);
  LogicalResult lowerLibraryCall(CallLibraryInplaceOp op);
  LogicalResult lowerShapeToTensor(ShapeToTensorOp op);
  void lowerTensorToShape(TensorToShapeOp op);
  void checkNotNegative(Operation *op, SymExprAttr dim, Value size);

  /// Enters the sizes that a value has at run time: defines what is new, and
  /// keeps the rest for `checkSizes`.
  struct Claim {
    SymExprAttr expr;
    Value actual;
    std::string what;
  };
  void claim(Type type, ArrayRef<Value> &host, const std::string &what,
             SmallVectorImpl<Claim> &claims);
  LogicalResult checkClaims(ArrayRef<Claim> claims);
  void checkRanges(FuncOp function);

  /// The host values of `value` with a new reference to each tensor, as values
  /// of `types`.
  Values handOn(ValueRange operands, TypeRange types);
  Values convert(ArrayRef<Value> host, Type type);
  void retain(Value host);
  /// Binds host values to the results of an op, converted to their types from
  /// `types`, of which they are.
  void setResults(Operation *op, ValueRange host, TypeRange types);
  LogicalResult bindInplace(Operation *op, ValueRange operands,
                            ArrayRef<int64_t> indices);
  Value condition(Value value);
  Value evaluate(Operation *op, SymExprAttr expr) {
    Value value = symbols.evaluate(expr);
    if (!value)
      op->emitOpError() << "symbol of '" << expr.str() << "' has no value here";
    return value;
  }

  HostBuilder &builder;
  const WeightTable &weights;
  SymbolTableCollection &symbolTable;
  SymbolValues symbols;
  llvm::DenseMap<Value, Values> values;
  llvm::DenseSet<Value> checkedSizes;
  Value context;
  std::string functionName;
};

} // namespace

//===----------------------------------------------------------------------===//
// Symbols and checks
//===----------------------------------------------------------------------===//

void FunctionLowering::claim(Type type, ArrayRef<Value> &host,
                             const std::string &what,
                             SmallVectorImpl<Claim> &claims) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (auto [index, member] : llvm::enumerate(tuple.getTypes()))
      claim(member, host, what + ", member " + std::to_string(index), claims);
    return;
  }
  auto add = [&](SymExprAttr expr, Value actual, int64_t axis) {
    if (!expr || (expr.isSymbol() && symbols.define(expr, actual)))
      return;
    claims.push_back(
        {expr, actual, what + ": dimension " + std::to_string(axis)});
  };
  if (auto shape = dyn_cast<ShapeType>(type)) {
    for (auto [axis, dim] : llvm::enumerate(shape.getDims()))
      add(dim, host[axis], axis);
    host = host.drop_front(shape.getRank());
    return;
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [axis, dim] : llvm::enumerate(getSymDims(tensor)))
      if (!cast<MemRefType>(host.front().getType()).isDynamicDim(axis))
        continue;
      else
        add(dim, builder.dim(host.front(), axis), axis);
  host = host.drop_front();
}

LogicalResult FunctionLowering::checkClaims(ArrayRef<Claim> claims) {
  for (const Claim &claim : claims) {
    Value expected = symbols.evaluate(claim.expr);
    if (!expected)
      return emitError(builder.getLoc())
             << "symbol of '" << claim.expr.str() << "' has no value here";
    if (expected == claim.actual)
      continue;
    Value equal = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        claim.actual, expected);
    std::string text = claim.expr.str();
    builder.check(
        context, equal, "ValueError",
        functionName + ": " + claim.what + " must be " +
            (claim.expr.isConstant() ? std::string("%1") : text + " = %1") +
            ", got %0",
        claim.actual, expected);
  }
  return success();
}

void FunctionLowering::checkRanges(FuncOp function) {
  DictionaryAttr ranges = function.getSymbolRanges();
  // Where each symbol comes from, for the message.
  llvm::MapVector<StringAttr, std::string> defined;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string name = "argument " + std::to_string(index);
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      name += " '" + named.getName().str() + "'";
    auto note = [&](StringAttr symbol) { defined.insert({symbol, name}); };
    walkDefinedSymbols(argument.getType(), note);
    if (auto symbol = function.getArgAttrOfType<StringAttr>(
            index, RelaxDialect::kSymbolAttr))
      note(symbol);
  }
  for (auto &[symbol, where] : defined) {
    Value value = symbols.lookup(
        SymExprAttr::getSymbol(builder.getContext(), symbol.getValue()));
    SymbolFacts::Range range = SymbolFacts(ranges).get(symbol);
    std::string what =
        functionName + ": " + where + ": symbol '" + symbol.str() + "' = %0 ";
    auto compare = [&](arith::CmpIPredicate predicate, int64_t bound,
                       StringRef message) {
      Value limit = builder.index(bound);
      Value holds = arith::CmpIOp::create(builder, predicate, value, limit);
      builder.check(context, holds, "ValueError", what + message.str(), value,
                    limit);
    };
    // Sizes of tensors and shapes are not negative.
    bool isSize = !value.getDefiningOp<arith::IndexCastOp>() &&
                  !isa<BlockArgument>(value);
    if (!isSize || range.lower > 0)
      compare(arith::CmpIPredicate::sge, range.lower,
              "is below its declared bound %1");
    if (range.upper)
      compare(arith::CmpIPredicate::sle, *range.upper,
              "exceeds its declared bound %1");
    if (range.multipleOf != 1) {
      Value divisor = builder.index(range.multipleOf);
      Value rest = arith::RemSIOp::create(builder, value, divisor);
      Value holds = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          rest, builder.index(0));
      builder.check(context, holds, "ValueError",
                    what + "is not a multiple of %1", value, divisor);
    }
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FunctionLowering::Values FunctionLowering::convert(ArrayRef<Value> host,
                                                   Type type) {
  SmallVector<Type> types;
  (void)flattenType(type, types);
  Values result;
  for (auto [value, wanted] : llvm::zip_equal(host, types))
    result.push_back(isa<MemRefType>(wanted) ? builder.castTensor(value, wanted)
                                             : value);
  return result;
}

FunctionLowering::Values FunctionLowering::handOn(ValueRange operands,
                                                  TypeRange types) {
  Values result;
  for (auto [operand, type] : llvm::zip_equal(operands, types))
    for (Value value : convert(get(operand), type)) {
      retain(value);
      result.push_back(value);
    }
  return result;
}

void FunctionLowering::retain(Value host) {
  if (Value storage = builder.storageOf(host))
    builder.call("relax_rt_retain", {}, {storage});
}

void FunctionLowering::setResults(Operation *op, ValueRange host,
                                  TypeRange types) {
  Values all(host.begin(), host.end());
  ArrayRef<Value> rest = all;
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    SmallVector<Type> flat;
    (void)flattenType(type, flat);
    set(result, convert(rest.take_front(flat.size()), result.getType()));
    rest = rest.drop_front(flat.size());
  }
}

LogicalResult FunctionLowering::bindInplace(Operation *op, ValueRange operands,
                                            ArrayRef<int64_t> indices) {
  for (auto [result, index] : llvm::zip_equal(op->getResults(), indices)) {
    if (index < 0)
      return op->emitOpError()
             << "allocates a result; run relax-lower-call-tir first";
    // What a view of a constant is a view of.
    Value written = operands[index];
    while (Operation *view = written.getDefiningOp()) {
      if (isa<ConstantOp>(view))
        return op->emitOpError()
               << "writes into a constant; write into a copy of it";
      if (!isa<ReshapeOp, MatchCastOp, FlattenOp, ExpandDimsOp, SqueezeOp>(
              view))
        break;
      written = view->getOperand(0);
    }
    set(result, convert(get(operands[index]), result.getType()));
  }
  return success();
}

Value FunctionLowering::condition(Value value) {
  Value host = getOne(value);
  if (!isa<MemRefType>(host.getType()))
    return host;
  Value byte = memref::LoadOp::create(
      builder, bytesOfBooleans(builder, builder.getLoc(), host), ValueRange());
  return arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ne, byte,
      arith::ConstantIntOp::create(builder, builder.getI8Type(), 0));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void FunctionLowering::lowerAlloc(AllocStorageOp op) {
  Value bytes = evaluate(op, op.getBytes());
  if (!bytes)
    return;
  set(op.getStorage(),
      {builder.call("relax_rt_alloc", builder.pointer(),
                    {context, builder.toWord(bytes),
                     builder.word(op.getAlignment()),
                     builder.string(describeLocation(op.getLoc()))})});
}

/// The size of a dimension, where it is not proved to be one.
void FunctionLowering::checkNotNegative(Operation *op, SymExprAttr dim,
                                        Value size) {
  auto zero = SymExprAttr::getConstant(builder.getContext(), 0);
  Prover prover(builder.getContext(), SymbolFacts::at(op));
  if (prover.lessEqual(zero, dim) == Truth::Yes ||
      !checkedSizes.insert(size).second)
    return;
  builder.check(context,
                arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, size,
                                      builder.index(0)),
                "ValueError",
                functionName + ": a dimension of size '" + dim.str() +
                    "' = %0 is negative",
                size);
}

void FunctionLowering::lowerTensorFromStorage(TensorFromStorageOp op) {
  Value storage = getOne(op.getStorage());
  Value data = builder.storageData(storage);
  if (!op.getOffset().isConstant(0)) {
    Value offset = evaluate(op, op.getOffset());
    if (!offset)
      return;
    data = LLVM::GEPOp::create(builder, builder.pointer(), builder.getI8Type(),
                               data,
                               ArrayRef<LLVM::GEPArg>{builder.toWord(offset)});
  }
  auto type = cast<RankedTensorType>(op.getType());
  Values sizes;
  for (SymExprAttr dim : getSymDims(type)) {
    sizes.push_back(dim ? evaluate(op, dim) : Value());
    if (!sizes.back())
      return;
    checkNotNegative(op, dim, sizes.back());
  }
  set(op.getResult(),
      {builder.makeTensor(getHostTensor(type), storage, data, sizes)});
}

LogicalResult FunctionLowering::lowerKernelCall(CallTIRInplaceOp op) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!kernel)
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which is no func.func";
  if (kernel.isExternal())
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which has no body to compile";
  // The kernel's symbols, as expressions of this function, or by value.
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
      // The same by construction, nearly always.
      SymBuilder math(builder.getContext());
      bool closed = true;
      dim.walkSymbols([&](StringAttr name) { closed &= known.contains(name); });
      if (actual[axis] && closed && math.substitute(dim, known) == actual[axis])
        continue;
      Value wanted = inKernel.evaluate(dim);
      if (!wanted)
        continue; // given by a symbolic argument below
      Value size = builder.dim(tensor, axis);
      builder.check(context,
                    arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          size, wanted),
                    "ValueError",
                    functionName + ": call of '" + op.getCallee().str() +
                        "': operand " + std::to_string(index) + ": dimension " +
                        std::to_string(axis) + " must be " + dim.str() +
                        " = %1, got %0",
                    size, wanted);
    }
    args.push_back(builder.castTensor(tensor, expected));
  }
  for (auto expr : op.getSymArgs().getAsRange<SymExprAttr>()) {
    Value value = evaluate(op, expr);
    if (!value)
      return failure();
    Type wanted = kernel.getArgumentTypes()[args.size()];
    args.push_back(wanted.isIndex()
                       ? value
                       : arith::IndexCastOp::create(builder, wanted, value));
  }
  func::CallOp::create(builder, kernel, args);
  return bindInplace(op, op.getOperands(), op.getInplaceIndices());
}

LogicalResult FunctionLowering::lowerReshape(Operation *op) {
  Value input = getOne(op->getOperand(0));
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return op->emitOpError() << "needs a result of known rank to be compiled";
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  // Sizes from the type, else from the shape operand.
  Values sizes, given;
  if (op->getNumOperands() > 1)
    given.assign(get(op->getOperand(1)).begin(), get(op->getOperand(1)).end());
  SymDims dims = getSymDims(type);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim)
      sizes.push_back(evaluate(op, dim));
    else if (!given.empty())
      sizes.push_back(given[axis]);
    else
      sizes.push_back({}); // what is left of the elements
    if (dim && !sizes.back())
      return failure();
  }
  Values inputSizes;
  for (int64_t axis = 0; axis < from.getRank(); ++axis)
    inputSizes.push_back(builder.dim(input, axis));
  auto product = [&](ValueRange factors) {
    Values known;
    llvm::copy_if(factors, std::back_inserter(known),
                  [](Value factor) { return bool(factor); });
    return symbols.product(known, "the number of elements of a reshape");
  };
  Value elements = product(inputSizes);
  if (llvm::count(sizes, Value()) > 1)
    return op->emitOpError() << "has more than one unknown size in " << type;
  auto unknown = llvm::find(sizes, Value());
  if (unknown != sizes.end()) {
    Value others = product(sizes);
    Value positive = arith::MaxSIOp::create(builder, others, builder.index(1));
    *unknown = arith::DivSIOp::create(builder, elements, positive);
  }
  SymBuilder math(builder.getContext());
  SymDims fromDims = getSymDims(from);
  bool proved = !llvm::is_contained(dims, SymExprAttr()) &&
                !llvm::is_contained(fromDims, SymExprAttr()) &&
                math.product(dims) == math.product(fromDims);
  if (!proved) {
    Value total = product(sizes);
    builder.check(context,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        total, elements),
                  "ValueError",
                  functionName +
                      ": cannot reshape a tensor of %0 elements into one of %1",
                  elements, total);
  }
  set(op->getResult(0),
      {builder.makeTensor(getHostTensor(type), builder.storageOf(input),
                          builder.dataOf(input), sizes)});
  return success();
}

LogicalResult FunctionLowering::lowerMatchCast(MatchCastOp op) {
  SmallVector<Claim> claims;
  Type type = op.getResult().getType();
  SmallVector<Type> from, to;
  if (failed(flattenType(op.getInput().getType(), from)) ||
      failed(flattenType(type, to)) || from.size() != to.size())
    return op.emitOpError() << "from " << op.getInput().getType() << " to "
                            << type << " cannot be compiled";
  ArrayRef<Value> host = get(op.getInput());
  claim(type, host, "match_cast", claims);
  // Sizes that become static are claims too.
  for (auto [value, wanted] : llvm::zip(get(op.getInput()), to)) {
    auto target = dyn_cast<MemRefType>(wanted);
    if (!target)
      continue;
    auto source = cast<MemRefType>(value.getType());
    if (source.getElementType() != target.getElementType() ||
        source.getRank() != target.getRank())
      return op.emitOpError() << "can never hold";
  }
  if (failed(checkClaims(claims)))
    return failure();
  set(op.getResult(), convert(get(op.getInput()), type));
  return success();
}

LogicalResult FunctionLowering::lowerConstant(ConstantOp op) {
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  MemRefType type = getHostTensor(op.getType());
  if (!type || !type.hasStaticShape())
    return op.emitOpError() << "needs a static shape to be compiled";
  if (auto weight = dyn_cast<WeightAttr>(op.getValue())) {
    set(op.getResult(),
        {builder.makeTensor(type, builder.null(),
                            weights.load(builder, weight.getName()), {})});
    return success();
  }
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      elements = DenseElementsAttr::getFromRawBuffer(
          RankedTensorType::get(tensor.getShape(), tensor.getElementType()),
          blob->getData());
  if (!elements)
    return op.emitOpError() << "holds elements of an unknown kind";
  // In memory: integers without sign, a byte for a boolean.
  Type element = type.getElementType();
  auto plain = RankedTensorType::get(tensor.getShape(), element);
  if (element.isInteger(1)) {
    element = builder.getI8Type();
    SmallVector<int8_t> bytes;
    for (bool value : elements.getValues<bool>())
      bytes.push_back(value);
    elements =
        DenseElementsAttr::get(plain.clone(element), ArrayRef<int8_t>(bytes));
  } else if (element != tensor.getElementType()) {
    elements = elements.bitcast(element);
  }
  elements = elements.reshape(
      RankedTensorType::get({elements.getNumElements()}, element));
  auto global = builder.global(
      "relax.constant",
      LLVM::LLVMArrayType::get(element, elements.getNumElements()), elements,
      /*constant=*/true);
  global.setAlignment(64);
  set(op.getResult(), {builder.makeTensor(type, builder.null(),
                                          builder.addressOf(global), {})});
  return success();
}

LogicalResult FunctionLowering::lowerIf(IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(flattenType(type, types)))
      return op.emitOpError()
             << "cannot be compiled with a result of type " << type;
  auto host = scf::IfOp::create(builder, types, condition(op.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       {std::pair(&op.getThenRegion(), &host.getThenRegion()),
        std::pair(&op.getElseRegion(), &host.getElseRegion())}) {
    builder.setInsertionPointToEnd(&to->front());
    symbols.enter();
    Values yielded;
    if (failed(lowerBlock(from->front(), [&](Operation *yield) {
          yielded = handOn(yield->getOperands(), op.getResultTypes());
        })))
      return failure();
    scf::YieldOp::create(builder, yielded);
    symbols.leave();
  }
  setResults(op, host.getResults(), op.getResultTypes());
  return success();
}

LogicalResult FunctionLowering::lowerWhile(WhileOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(flattenType(type, types)))
      return op.emitOpError() << "cannot be compiled with a carried value of "
                              << "type " << type;
  Values inits = handOn(op.getInits(), op.getResultTypes());
  auto host = scf::WhileOp::create(builder, types, inits);
  SmallVector<Location> locs(types.size(), op.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  auto bind = [&](ValueRange relaxValues, ValueRange hostValues) {
    for (Value value : relaxValues) {
      SmallVector<Type> flat;
      (void)flattenType(value.getType(), flat);
      set(value, Values(hostValues.take_front(flat.size())));
      hostValues = hostValues.drop_front(flat.size());
    }
  };
  Block *before = builder.createBlock(&host.getBefore(), {}, types, locs);
  Block &conditionBlock = op.getConditionRegion().front();
  bind(conditionBlock.getArguments(), before->getArguments());
  symbols.enter();
  Value goOn;
  if (failed(lowerBlock(conditionBlock, [&](Operation *terminator) {
        goOn = condition(cast<ConditionOp>(terminator).getCondition());
      })))
    return failure();
  scf::ConditionOp::create(builder, goOn, before->getArguments());
  symbols.leave();
  Block *after = builder.createBlock(&host.getAfter(), {}, types, locs);
  Block &body = op.getBody().front();
  bind(body.getArguments(), after->getArguments());
  symbols.enter();
  Values yielded;
  if (failed(lowerBlock(body, [&](Operation *yield) {
        yielded = handOn(yield->getOperands(), op.getResultTypes());
      })))
    return failure();
  scf::YieldOp::create(builder, yielded);
  symbols.leave();
  bind(op.getResults(), host.getResults());
  return success();
}

LogicalResult FunctionLowering::lowerCall(CallOp op) {
  auto callee =
      symbolTable.lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op.emitOpError()
           << "calls '" << op.getCallee() << "', which has no body to compile";
  Values args = {context};
  for (auto [operand, type] :
       llvm::zip(op.getOperands(), callee.getArgumentTypes())) {
    // Sizes that are static there must be so here.
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

// A closure's body reads what is bound and then the arguments, and calls the
// function with them.
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
  for (Value storage : storages)
    builder.call("relax_rt_retain", {}, {storage});
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
  // RelaxClosure: the body, two counts, and then what is bound.
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
  // The function may be another language's, so what it claims is checked.
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

LogicalResult FunctionLowering::lowerLibraryCall(CallLibraryInplaceOp op) {
  Values tensors, integers;
  SmallVector<int64_t> words = {static_cast<int64_t>(op.getOperands().size())};
  for (Value operand : op.getOperands()) {
    tensors.push_back(getOne(operand));
    appendWords(operand.getType(), 0, words);
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

LogicalResult FunctionLowering::lowerShapeToTensor(ShapeToTensorOp op) {
  ArrayRef<Value> dims = get(op.getInput());
  MemRefType type = getHostTensor(op.getResult().getType());
  if (!type)
    return op.emitOpError() << "needs a result of known rank to be compiled";
  Value storage =
      builder.call("relax_rt_alloc", builder.pointer(),
                   {context, builder.word(8 * dims.size()), builder.word(64),
                    builder.string(describeLocation(op.getLoc()))});
  Value tensor = builder.makeTensor(type, storage, builder.storageData(storage),
                                    builder.index(dims.size()));
  for (auto [index, dim] : llvm::enumerate(dims))
    memref::StoreOp::create(builder, builder.toWord(dim), tensor,
                            ValueRange(builder.index(index)));
  set(op.getResult(), {tensor});
  return success();
}

void FunctionLowering::lowerTensorToShape(TensorToShapeOp op) {
  Value tensor = getOne(op.getInput());
  Values dims;
  auto shape = cast<ShapeType>(op.getType());
  for (int64_t i = 0; i < shape.getRank(); ++i) {
    Value element =
        memref::LoadOp::create(builder, tensor, ValueRange(builder.index(i)));
    Value dim =
        arith::IndexCastOp::create(builder, builder.getIndexType(), element);
    builder.check(context,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, dim,
                                        builder.index(0)),
                  "ValueError",
                  functionName + ": element %1 of a shape is %0, which is "
                                 "negative",
                  dim, builder.index(i));
    dims.push_back(dim);
  }
  set(op.getResult(), dims);
}

LogicalResult FunctionLowering::lowerOp(Operation &op) {
  builder.setLoc(op.getLoc());
  auto setIndices = [&](ArrayRef<SymExprAttr> dims) {
    Values host;
    for (SymExprAttr dim : dims) {
      host.push_back(evaluate(&op, dim));
      if (!host.back())
        return failure();
    }
    set(op.getResult(0), host);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](CallTIRInplaceOp op) { return lowerKernelCall(op); })
      .Case<ReshapeOp, FlattenOp, ExpandDimsOp, SqueezeOp>(
          [&](auto op) { return lowerReshape(op); })
      .Case([&](MatchCastOp op) { return lowerMatchCast(op); })
      .Case([&](ConstantOp op) { return lowerConstant(op); })
      .Case([&](IfOp op) { return lowerIf(op); })
      .Case([&](WhileOp op) { return lowerWhile(op); })
      .Case([&](CallOp op) { return lowerCall(op); })
      .Case([&](MakeClosureOp op) { return lowerMakeClosure(op); })
      .Case([&](CallClosureOp op) { return lowerCallClosure(op); })
      .Case([&](CallLibraryInplaceOp op) { return lowerLibraryCall(op); })
      .Case([&](ShapeToTensorOp op) { return lowerShapeToTensor(op); })
      .Case([&](TensorToShapeOp op) {
        lowerTensorToShape(op);
        return success();
      })
      .Case([&](AllocStorageOp op) {
        lowerAlloc(op);
        return success(values.contains(op.getStorage()));
      })
      .Case([&](TensorFromStorageOp op) {
        lowerTensorFromStorage(op);
        return success(values.contains(op.getResult()));
      })
      .Case([&](KillOp op) {
        for (Value value : get(op.getInput()))
          if (Value storage = builder.storageOf(value))
            builder.call("relax_rt_release", {}, {storage});
        return success();
      })
      .Case([&](SymOp op) { return setIndices(op.getExpr()); })
      .Case([&](ShapeOp op) -> LogicalResult {
        ArrayRef<SymExprAttr> dims = op.getDims().getDims();
        if (failed(setIndices(dims)))
          return failure();
        for (auto [dim, size] : llvm::zip(dims, get(op.getResult())))
          checkNotNegative(op, dim, size);
        return success();
      })
      .Case([&](MakeShapeOp op) {
        Values host;
        for (Value operand : op.getOperands())
          host.push_back(getOne(operand));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](ShapeOfOp op) {
        Values host;
        Value tensor = getOne(op.getInput());
        for (int64_t i = 0; i < cast<MemRefType>(tensor.getType()).getRank();
             ++i)
          host.push_back(builder.dim(tensor, i));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](DimOp op) {
        ArrayRef<Value> host = get(op.getInput());
        int64_t index = op.getIndex();
        if (auto type = dyn_cast<RankedTensorType>(op.getInput().getType())) {
          index += index < 0 ? type.getRank() : 0;
          set(op.getResult(), {builder.dim(host.front(), index)});
        } else {
          index += index < 0 ? static_cast<int64_t>(host.size()) : 0;
          set(op.getResult(), {host[index]});
        }
        return success();
      })
      .Case([&](TupleOp op) {
        Values host;
        for (Value operand : op.getOperands())
          llvm::append_range(host, get(operand));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](GetOp op) {
        ArrayRef<Value> host = get(op.getInput());
        auto tuple = cast<TupleType>(op.getInput().getType());
        SmallVector<Type> flat;
        for (Type member : tuple.getTypes().take_front(op.getIndex()))
          (void)flattenType(member, flat);
        size_t begin = flat.size();
        (void)flattenType(tuple.getType(op.getIndex()), flat);
        set(op.getResult(), Values(host.slice(begin, flat.size() - begin)));
        return success();
      })
      .Case([&](AssertOp op) {
        auto shown = [&](Value value) { return value ? getOne(value) : value; };
        builder.check(context, condition(op.getCondition()), "ValueError",
                      op.getMessage(), shown(op.getFirst()),
                      shown(op.getSecond()));
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        // Scalar computations stay what they are.
        auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
        if (op->getDialect() && op->getDialect()->getNamespace() != "relax" &&
            op->getNumRegions() == 0 &&
            llvm::all_of(op->getOperandTypes(), isScalar) &&
            llvm::all_of(op->getResultTypes(), isScalar)) {
          IRMapping mapping;
          for (Value operand : op->getOperands())
            mapping.map(operand, getOne(operand));
          Operation *copy = builder.clone(*op, mapping);
          for (auto [from, to] :
               llvm::zip(op->getResults(), copy->getResults()))
            set(from, {to});
          return success();
        }
        if (isa<CallTIROp, CallLibraryOp>(op))
          return op->emitOpError()
                 << "allocates its results; run relax-lower-call-tir first";
        if (isa<DataflowOp>(op))
          return op->emitOpError() << "must be inlined before it is lowered; "
                                      "run relax-inline-dataflow first";
        return op->emitOpError()
               << "cannot be lowered to host code; run relax-legalize first";
      });
}

LogicalResult
FunctionLowering::lowerBlock(Block &block,
                             function_ref<void(Operation *)> finish) {
  Operation *terminator = block.getTerminator();
  Block::iterator kills(terminator);
  while (kills != block.begin() && isa<KillOp>(*std::prev(kills)))
    --kills;
  for (Operation &op : llvm::make_range(block.begin(), kills))
    if (failed(lowerOp(op)))
      return failure();
  builder.setLoc(terminator->getLoc());
  finish(terminator);
  for (Operation &op : llvm::make_range(kills, Block::iterator(terminator)))
    if (failed(lowerOp(op)))
      return failure();
  builder.setLoc(terminator->getLoc());
  return success();
}

LogicalResult FunctionLowering::lower(FuncOp function, func::FuncOp host) {
  builder.setInsertionPointToStart(&host.front());
  builder.setLoc(function.getLoc());
  ArrayRef<BlockArgument> rest = host.getArguments().drop_front();
  SmallVector<Claim> claims;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    SmallVector<Type> flat;
    (void)flattenType(argument.getType(), flat);
    Values own(rest.take_front(flat.size()));
    rest = rest.drop_front(flat.size());
    std::string what = "argument " + std::to_string(index);
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      what += " '" + named.getName().str() + "'";
    ArrayRef<Value> left = own;
    claim(argument.getType(), left, what, claims);
    if (auto symbol = function.getArgAttrOfType<StringAttr>(
            index, RelaxDialect::kSymbolAttr)) {
      Value value = own.front();
      if (!value.getType().isIndex())
        value =
            arith::IndexCastOp::create(builder, builder.getIndexType(), value);
      auto expr =
          SymExprAttr::getSymbol(builder.getContext(), symbol.getValue());
      if (!symbols.define(expr, value))
        claims.push_back({expr, value, what});
    }
    set(argument, std::move(own));
  }
  checkRanges(function);
  if (failed(checkClaims(claims)))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "must have one block to be compiled";
  Block &body = function.getBody().front();
  Values returned;
  if (failed(lowerBlock(body, [&](Operation *op) {
        returned = handOn(op->getOperands(), function.getResultTypes());
      })))
    return failure();
  func::ReturnOp::create(builder, returned);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class LowerToHostPass
    : public relax::impl::LowerToHostPassBase<LowerToHostPass> {
public:
  void runOnOperation() override {
    if (failed(lower(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult lower(ModuleOp module) {
    HostBuilder builder(module);
    builder.setInsertionPointToEnd(module.getBody());
    FailureOr<WeightTable> weights = WeightTable::of(module, builder);
    if (failed(weights))
      return failure();
    // Names of their own: one of libm's must stay what it is there.
    SymbolTable kernels(module);
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!kernel.isExternal() &&
          failed(kernels.rename(kernel,
                                ("relax.kernel." + kernel.getName()).str())))
        return failure();
    for (auto kernel : module.getOps<func::FuncOp>()) {
      convertKernelBoundary(kernel);
      kernel->removeAttr(RelaxDialect::kSymbolsAttr);
      if (!kernel.isExternal())
        makeInternal(kernel);
    }
    // Read before there is more in the module: only these are called.
    SymbolTableCollection symbolTable;
    symbolTable.getSymbolTable(module);
    SmallVector<FuncOp> functions(module.getOps<FuncOp>());
    for (FuncOp function : functions) {
      StringRef name = function.getSymName();
      if (name.starts_with("relax_rt_") ||
          (name == "bind_weight" && !weights->empty()))
        return function.emitOpError()
               << "has a name that compiled code uses itself; names that begin "
                  "with 'relax_rt_', and 'bind_weight' beside weights, are "
                  "reserved";
    }
    SmallVector<ExportedFunction> exports;
    for (FuncOp function : functions)
      if (function.isPublic() && !function.isExternal())
        exports.push_back(ExportedFunction::of(function));
    // Beside the functions that they take the place of, until all are done:
    // calls look at the signatures of the old ones.
    SmallVector<func::FuncOp> hosts;
    for (FuncOp function : functions) {
      if (function.isExternal())
        continue;
      SmallVector<Type> args = {builder.pointer()}, results;
      for (auto [types, flat] :
           {std::pair(function.getArgumentTypes(), &args),
            std::pair(function.getResultTypes(), &results)})
        for (Type type : types)
          if (failed(flattenType(type, *flat)))
            return function.emitOpError()
                   << "cannot be compiled with a parameter or result of type "
                   << type << "; give it a known rank, or match_cast";
      builder.setLoc(function.getLoc());
      builder.setInsertionPointToEnd(module.getBody());
      auto host = func::FuncOp::create(builder, function.getLoc(),
                                       hostName(function.getSymName()),
                                       builder.getFunctionType(args, results));
      makeInternal(host);
      host.addEntryBlock();
      FunctionLowering lowering(function, host, builder, *weights, symbolTable);
      if (failed(lowering.lower(function, host)))
        return failure();
      hosts.push_back(host);
    }
    for (FuncOp function : functions)
      function.erase();
    builder.setInsertionPointToEnd(module.getBody());
    builder.setLoc(module.getLoc());
    for (const ExportedFunction &function : exports)
      exportFunction(builder, function, hostName(function.name), *weights);
    weights->exportBinding(builder);
    return success();
  }
};

} // namespace
