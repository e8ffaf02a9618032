//===- KernelBuilder.cpp - build the kernel of a graph op -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/KernelBuilder.h"

#include "Relax/Forwarding.h"
#include "Relax/RelaxDialect.h"
#include "Transforms/Legalize/EmptyTensors.h"
#include "Transforms/SymArithmetic.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

SmallVector<int64_t> relax::allBut(int64_t count, ArrayRef<int64_t> without) {
  SmallVector<int64_t> kept;
  for (int64_t index = 0; index < count; ++index)
    if (!llvm::is_contained(without, index))
      kept.push_back(index);
  return kept;
}

SmallVector<int64_t> relax::getAxes(std::optional<ArrayRef<int64_t>> axes,
                                    int64_t rank) {
  if (!axes)
    return llvm::to_vector(llvm::seq(rank));
  return llvm::map_to_vector(
      *axes, [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(Operation *op, Splats splats)
    : op(op), splats(splats), body(op->getLoc(), op->getContext()),
      facts(op->getContext(), SymbolFacts::at(op)),
      expressions(op->getContext()) {
  OpBuilder detached(op->getContext());
  function =
      func::FuncOp::create(detached, op->getLoc(), op->getName().stripDialect(),
                           FunctionType::get(op->getContext(), {}, {}));
  function.setPrivate();
  entry = &function.getBody().emplaceBlock();
  body.setInsertionPointToStart(entry);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !inputs.count(operand))
      inputs[operand] = parameter(operand);
  for (Value result : op->getResults())
    destinations.push_back(parameter(result));
  forwarded.resize(destinations.size());
}

KernelBuilder::~KernelBuilder() {
  if (function)
    function.erase();
}

Value KernelBuilder::parameter(Value graphValue) {
  auto type = cast<RankedTensorType>(graphValue.getType());
  Value argument = entry->addArgument(
      RankedTensorType::get(type.getShape(),
                            getKernelElementType(type.getElementType())),
      graphValue.getLoc());
  dimsOf[argument] = getSymDims(type);
  return argument;
}

/// Whether the sizes of an operand are proved to be 1 or the result's, aligned
/// at the last dimension.
static bool isProvedToFit(KernelBuilder &kernel, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  ArrayRef<SymExprAttr> result = kernel.dims(kernel.destination());
  SymDims own = getSymDims(type);
  if (own.size() > result.size())
    return false;
  SymExprAttr one = kernel.constant(1);
  return llvm::all_of(
      llvm::zip(own, result.take_back(own.size())), [&](auto pair) {
        auto [dim, whole] = pair;
        return dim &&
               (kernel.provedEqual(dim, one) || kernel.provedEqual(dim, whole));
      });
}

Value KernelBuilder::inputOrNumber(Value operand) {
  if (Attribute splat = splats(operand); splat && isProvedToFit(*this, operand))
    return body.number(splat);
  return input(operand);
}

LogicalResult KernelBuilder::reject(const Twine &why) {
  reason = why.str();
  return failure();
}

LogicalResult KernelBuilder::yield(ValueRange results) {
  func::ReturnOp::create(body, results);
  if (Value operand = getCopied(); operand && canForward(operand, op))
    forward(0, operand);
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

ArrayRef<SymExprAttr> KernelBuilder::dims(Value tensor) const {
  auto it = dimsOf.find(tensor);
  assert(it != dimsOf.end() && "the builder does not know this tensor");
  return it->second;
}

Value KernelBuilder::withDims(Value tensor, ArrayRef<SymExprAttr> dims) {
  dimsOf[tensor] = SymDims(dims);
  return tensor;
}

Value KernelBuilder::size(SymExprAttr expr) {
  if (Value known = sizes.lookup(expr))
    return known;
  OpBuilder::InsertionGuard guard(body);
  if (lastSize)
    body.setInsertionPointAfter(lastSize);
  else
    body.setInsertionPointToStart(entry);
  Value value = evaluate(expr);
  if (Operation *defining = value.getDefiningOp())
    lastSize = defining;
  return sizes[expr] = value;
}

Value KernelBuilder::symbolParameter(StringAttr symbol) {
  Value &argument = symbols[symbol];
  if (!argument)
    argument = entry->addArgument(body.getIndexType(), op->getLoc());
  return argument;
}

Value KernelBuilder::evaluate(SymExprAttr expr) {
  if (auto value = expr.getConstantValue())
    return body.index(*value);
  // Prefer destinations, so that inputs used only for their size become dead.
  auto fromShape = [&](Value tensor) -> Value {
    for (auto [index, dim] : llvm::enumerate(dims(tensor)))
      if (dim == expr)
        return tensor::DimOp::create(body, tensor, index);
    return {};
  };
  for (Value tensor : destinations)
    if (Value found = fromShape(tensor))
      return found;
  for (auto [operand, tensor] : inputs)
    if (Value found = fromShape(tensor))
      return found;
  if (expr.isSymbol())
    return symbolParameter(expr.getName());

  SmallVector<Value> operands;
  for (SymExprAttr operand : expr.getOperands()) {
    operands.push_back(size(operand));
    if (lastSize)
      body.setInsertionPointAfter(lastSize);
  }
  computed.push_back(expr);
  return SymArithmetic(body, body.getLoc()).emit(expr, operands);
}

void KernelBuilder::require(arith::CmpIPredicate predicate, SymExprAttr lhs,
                            SymExprAttr rhs, const Twine &message) {
  requireAny({{predicate, lhs, rhs}}, message);
}

void KernelBuilder::requireAny(ArrayRef<Guard::Comparison> anyOf,
                               const Twine &message) {
  using arith::CmpIPredicate;
  auto proved = [&](const Guard::Comparison &comparison) {
    auto [predicate, lhs, rhs] = comparison;
    Truth truth = Truth::Unknown;
    if (predicate == CmpIPredicate::eq)
      truth = facts.equal(lhs, rhs);
    else if (predicate == CmpIPredicate::sle)
      truth = facts.lessEqual(lhs, rhs);
    else if (predicate == CmpIPredicate::slt)
      truth = facts.less(lhs, rhs);
    return truth == Truth::Yes;
  };
  if (llvm::none_of(anyOf, proved))
    guards.push_back({llvm::to_vector<1>(anyOf), message.str()});
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value KernelBuilder::empty(ArrayRef<SymExprAttr> dims, Type elementType) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (SymExprAttr dim : dims) {
    std::optional<int64_t> value = dim.getConstantValue();
    shape.push_back(value ? *value : ShapedType::kDynamic);
    if (!value)
      dynamic.push_back(size(dim));
  }
  return withDims(tensor::EmptyOp::create(body, shape, elementType, dynamic),
                  dims);
}

Value KernelBuilder::fill(Value init, Value number) {
  Value filled = linalg::FillOp::create(body, number, init).getResult(0);
  return withDims(filled, SymDims(dims(init)));
}

Value KernelBuilder::accumulator(Value destination) {
  Type type = cast<RankedTensorType>(destination.getType()).getElementType();
  Type wide = getComputeType(type);
  return wide == type ? destination : empty(SymDims(dims(destination)), wide);
}

Value KernelBuilder::store(Value value, Value destination) {
  if (value.getType() == destination.getType())
    return value;
  return map({value}, destination,
             [](ScalarBuilder &, ValueRange x) { return x[0]; });
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

Value KernelBuilder::getCopied() {
  auto generic = dyn_cast<linalg::GenericOp>(entry->front());
  if (op->getNumResults() != 1 || !generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 ||
      generic->getNextNode() != entry->getTerminator())
    return {};
  // Detect an identity, to be replaced by its input.
  Operation *last = generic.getBlock()->getTerminator();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (maps[0] != maps[1] ||
      last->getOperand(0) != generic.getBlock()->getArgument(0))
    return {};
  for (auto [operand, argument] : inputs)
    if (argument == generic.getDpsInputOperand(0)->get() &&
        operand.getType() == op->getResult(0).getType())
      return operand;
  return {};
}

void KernelBuilder::dropBodyIfEmpty() {
  SmallVector<Value> kept;
  for (auto [argument, operand] : llvm::zip(destinations, forwarded))
    if (!operand)
      kept.push_back(argument);
  auto isEmpty = [](Value destination) {
    return hasNoElement(destination.getType());
  };
  if (!llvm::all_of(kept, isEmpty))
    return;
  entry->clear();
  lastSize = nullptr;
  sizes.clear();
  computed.clear();
  for (auto &[symbol, argument] : llvm::reverse(symbols))
    entry->eraseArgument(cast<BlockArgument>(argument).getArgNumber());
  symbols.clear();
  body.setInsertionPointToStart(entry);
  func::ReturnOp::create(body, kept);
}

func::FuncOp KernelBuilder::finish() {
  MLIRContext *context = op->getContext();
  dropBodyIfEmpty();
  // Drop inputs that are not read and results that are forwarded.
  SmallVector<RankedTensorType> types;
  auto note = [&](Value graphValue) {
    types.push_back(cast<RankedTensorType>(graphValue.getType()));
  };
  for (auto [operand, argument] : inputs) {
    if (argument.use_empty()) {
      entry->eraseArgument(cast<BlockArgument>(argument).getArgNumber());
      continue;
    }
    arguments.push_back(operand);
    note(operand);
  }
  for (auto [result, argument, operand] :
       llvm::zip(op->getResults(), destinations, forwarded)) {
    if (operand)
      entry->eraseArgument(cast<BlockArgument>(argument).getArgNumber());
    else
      note(result);
  }

  // Rename symbols in order of appearance, so that equal kernels print equally.
  DenseMap<StringAttr, SymExprAttr> renamed;
  DenseSet<StringAttr> determined;
  SmallVector<StringAttr> order;
  auto rename = [&](StringAttr symbol) {
    if (renamed
            .try_emplace(symbol,
                         SymExprAttr::getSymbol(
                             context, ("s" + Twine(renamed.size())).str()))
            .second)
      order.push_back(symbol);
  };
  for (RankedTensorType type : types) {
    walkSymbols(type, rename);
    walkDefinedSymbols(type,
                       [&](StringAttr symbol) { determined.insert(symbol); });
  }
  for (StringAttr symbol : order)
    if (!determined.contains(symbol))
      symbolParameter(symbol);
  for (auto [symbol, argument] : symbols)
    rename(symbol);

  function.setFunctionType(
      FunctionType::get(context, entry->getArgumentTypes(),
                        TypeRange(entry->getArgumentTypes())
                            .drop_front(arguments.size())
                            .take_front(types.size() - arguments.size())));
  unsigned position = 0;
  for (RankedTensorType type : types) {
    Type own = mapDims(type, [&](SymExprAttr dim) {
      return expressions.substitute(dim, renamed);
    });
    if (Attribute shape = cast<RankedTensorType>(own).getEncoding()) {
      function.setArgAttr(position, RelaxDialect::kShapeAttr, shape);
      if (position >= arguments.size())
        function.setResultAttr(position - arguments.size(),
                               RelaxDialect::kShapeAttr, shape);
    }
    ++position;
  }
  for (auto [symbol, argument] : symbols) {
    function.setArgAttr(position++, RelaxDialect::kSymbolAttr,
                        renamed.lookup(symbol).getName());
    symArguments.push_back(SymExprAttr::getSymbol(context, symbol.getValue()));
  }
  noteComputedSizes(function,
                    llvm::map_to_vector(computed, [&](SymExprAttr expr) {
                      return expressions.substitute(expr, renamed);
                    }));
  return std::exchange(function, {}); // the caller owns it now
}
