//===- KernelBuilder.cpp - makes the kernel of a graph op -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Legalize/KernelBuilder.h"

#include "Relax/RelaxDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

Value KernelBuilder::inputOrNumber(Value operand) {
  if (Attribute splat = splats(operand))
    return body.number(splat);
  return input(operand);
}

LogicalResult KernelBuilder::reject(const Twine &why) {
  reason = why.str();
  return failure();
}

LogicalResult KernelBuilder::yield(ValueRange results) {
  func::ReturnOp::create(body, results);
  if (Value operand = getCopied())
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
  // Destinations first, so that an input of which only the size counts goes.
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
  auto fold = [&](auto combine) {
    Value result = operands.front();
    for (Value operand : ArrayRef(operands).drop_front())
      result = combine(result, operand);
    return result;
  };
  switch (expr.getKind()) {
  case SymKind::Sum: {
    Value sum;
    for (auto [operand, coefficient] :
         llvm::zip(operands, expr.getCoefficients())) {
      Value term = coefficient == 1
                       ? operand
                       : body.mul(operand, body.index(coefficient));
      sum = sum ? body.add(sum, term) : term;
    }
    return expr.getValue() == 0 ? sum
                                : body.add(sum, body.index(expr.getValue()));
  }
  case SymKind::Product:
    return fold([&](Value l, Value r) { return body.mul(l, r); });
  case SymKind::Min:
    return fold([&](Value l, Value r) { return body.min(l, r); });
  case SymKind::Max:
    return fold([&](Value l, Value r) { return body.max(l, r); });
  case SymKind::Broadcast:
    return fold([&](Value l, Value r) {
      Value isOne = body.compare(arith::CmpIPredicate::eq, l, body.index(1));
      return body.select(isOne, r, l);
    });
  case SymKind::FloorDiv:
    return arith::FloorDivSIOp::create(body, operands[0], operands[1]);
  case SymKind::CeilDiv:
    return arith::CeilDivSIOp::create(body, operands[0], operands[1]);
  case SymKind::Mod: {
    Value quotient =
        arith::FloorDivSIOp::create(body, operands[0], operands[1]);
    return body.sub(operands[0], body.mul(quotient, operands[1]));
  }
  case SymKind::Constant:
  case SymKind::Symbol:
    break;
  }
  llvm_unreachable("handled above");
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
// Loops
//===----------------------------------------------------------------------===//

/// How a nest reads one of its operands.
struct KernelBuilder::Reading {
  Value value;
  /// For a tensor that is mapped; null for a number, and for one from which the
  /// body extracts.
  AffineMap map;
  /// Of the latter: for each dimension its loop, or none for index 0, and the
  /// size that decides at run time, or none.
  SmallVector<std::optional<int64_t>> loops;
  SmallVector<Value> sizes;
};

/// `loops` of an access, or its alignment at the last.
static SmallVector<int64_t> placeOnLoops(const Access &access, int64_t count) {
  if (access.loops)
    return *access.loops;
  int64_t rank = cast<RankedTensorType>(access.value.getType()).getRank();
  return llvm::to_vector(llvm::seq(count - rank, count));
}

KernelBuilder::Reading KernelBuilder::place(const Access &access,
                                            ArrayRef<SymExprAttr> loopDims) {
  Reading reading{access.value, {}, {}, {}};
  if (!isa<RankedTensorType>(access.value.getType()))
    return reading;
  MLIRContext *context = op->getContext();
  SymExprAttr one = constant(1);
  SmallVector<AffineExpr> positions;
  SymDims own(dims(access.value));
  for (auto [index, dim, loop] :
       llvm::enumerate(own, placeOnLoops(access, loopDims.size()))) {
    bool broadcasts = static_cast<int64_t>(index) < access.broadcasting;
    SymExprAttr whole = loopDims[loop];
    reading.loops.push_back(loop);
    reading.sizes.push_back({});
    positions.push_back(getAffineDimExpr(loop, context));
    if (dim == whole || provedEqual(dim, whole))
      continue;
    if (!broadcasts || facts.equal(dim, one) == Truth::No) {
      requireEqual(dim, whole,
                   "sizes must be equal: " + dim.str() + " and " + whole.str());
    } else if (provedEqual(dim, one)) {
      reading.loops.back() = std::nullopt;
      positions.back() = getAffineConstantExpr(0, context);
    } else {
      using arith::CmpIPredicate;
      guards.push_back(
          {{{CmpIPredicate::eq, dim, one}, {CmpIPredicate::eq, dim, whole}},
           "cannot broadcast a dimension of size " + dim.str() + " to " +
               whole.str()});
      reading.sizes.back() = size(dim);
    }
  }
  if (llvm::none_of(reading.sizes, [](Value size) { return bool(size); }))
    reading.map = AffineMap::get(loopDims.size(), 0, positions, context);
  return reading;
}

/// The element at the position of the loops; 0 in a dimension of size 1.
Value KernelBuilder::extract(ScalarBuilder &scalars, const Reading &reading) {
  SmallVector<Value> position;
  for (auto [loop, size] : llvm::zip(reading.loops, reading.sizes)) {
    Value zero = scalars.index(0);
    Value index = loop ? scalars.position(*loop) : zero;
    if (size)
      index = scalars.select(
          scalars.compare(arith::CmpIPredicate::eq, size, scalars.index(1)),
          zero, index);
    position.push_back(index);
  }
  return tensor::ExtractOp::create(scalars, reading.value, position);
}

SmallVector<Value> KernelBuilder::nest(ArrayRef<SymExprAttr> loopDims,
                                       ArrayRef<Access> reads,
                                       ArrayRef<Access> inits, Bodies fn,
                                       bool widens) {
  SymDims loops(loopDims);
  int64_t count = loops.size();
  MLIRContext *context = op->getContext();
  SmallVector<AffineMap> inputMaps, initMaps;
  SmallVector<Value> inputValues, initValues;
  SmallVector<bool> covered(count, false), parallel(count, false);
  auto cover = [&](AffineMap map) {
    for (AffineExpr position : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(position))
        covered[dim.getPosition()] = true;
  };

  SmallVector<Reading> readings;
  for (const Access &read : reads) {
    Reading reading = place(read, loops);
    if (reading.map) {
      inputMaps.push_back(reading.map);
      inputValues.push_back(read.value);
      cover(reading.map);
    }
    readings.push_back(std::move(reading));
  }
  for (const Access &init : inits) {
    SmallVector<AffineExpr> positions;
    for (int64_t loop : placeOnLoops(init, count)) {
      positions.push_back(getAffineDimExpr(loop, context));
      parallel[loop] = true;
    }
    initMaps.push_back(AffineMap::get(count, 0, positions, context));
    initValues.push_back(init.value);
    cover(initMaps.back());
  }
  // A loop gets its size from an operand: one of which only the shape counts,
  // where there is none.
  SmallVector<int64_t> uncovered;
  for (int64_t loop = 0; loop < count; ++loop)
    if (!covered[loop])
      uncovered.push_back(loop);
  if (!uncovered.empty()) {
    SymDims shape;
    SmallVector<AffineExpr> positions;
    for (int64_t loop : uncovered) {
      shape.push_back(loops[loop]);
      positions.push_back(getAffineDimExpr(loop, context));
    }
    inputValues.push_back(empty(shape, body.getI1Type()));
    inputMaps.push_back(AffineMap::get(count, 0, positions, context));
  }

  SmallVector<utils::IteratorType> iterators;
  for (bool isParallel : parallel)
    iterators.push_back(isParallel ? utils::IteratorType::parallel
                                   : utils::IteratorType::reduction);
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  auto emit = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    ScalarBuilder scalars(loc, builder);
    SmallVector<Value> elements;
    unsigned next = 0;
    for (const Reading &reading : readings) {
      Value element = reading.value;
      if (reading.map)
        element = arguments[next++];
      else if (isa<RankedTensorType>(element.getType()))
        element = extract(scalars, reading);
      elements.push_back(
          widens
              ? scalars.convertFloat(element, getComputeType(element.getType()))
              : element);
    }
    for (Value element : arguments.drop_front(inputValues.size()))
      elements.push_back(element);
    SmallVector<Value> results = fn(scalars, elements);
    for (auto [result, init] : llvm::zip(results, initValues))
      result = scalars.convertFloat(
          result, cast<RankedTensorType>(init.getType()).getElementType());
    linalg::YieldOp::create(scalars, results);
  };
  auto generic =
      linalg::GenericOp::create(body, TypeRange(initValues), inputValues,
                                initValues, maps, iterators, emit);
  for (auto [result, init] : llvm::zip(generic.getResults(), initValues))
    withDims(result, SymDims(dims(init)));
  return llvm::to_vector_of<Value>(generic.getResults());
}

Value KernelBuilder::loop(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
                          Access init, Body fn) {
  return nest(dims, reads, init,
              [&](ScalarBuilder &scalars, ValueRange elements) {
                return SmallVector<Value>{fn(scalars, elements)};
              })[0];
}

Value KernelBuilder::map(ArrayRef<Access> reads, Value init, Body fn) {
  return loop(SymDims(dims(init)), reads, init, fn);
}

Value KernelBuilder::update(Value value, ArrayRef<Access> reads, Value init,
                            Body fn) {
  bool inPlace = value.getType() == init.getType();
  SmallVector<Access> all(reads);
  if (!inPlace)
    all.insert(all.begin(), value);
  return map(all, inPlace ? value : init,
             [&](ScalarBuilder &scalars, ValueRange elements) {
               SmallVector<Value> inOrder(elements.drop_back());
               if (inPlace)
                 inOrder.insert(inOrder.begin(), elements.back());
               return fn(scalars, inOrder);
             });
}

Value KernelBuilder::reduce(ArrayRef<SymExprAttr> loopDims,
                            ArrayRef<Access> reads, ArrayRef<int64_t> kept,
                            Value identity, Body fn) {
  SymDims keptDims;
  for (int64_t loop : kept)
    keptDims.push_back(loopDims[loop]);
  Value init = fill(empty(keptDims, identity.getType()), identity);
  return loop(loopDims, reads, {init, kept}, fn);
}

Value KernelBuilder::move(Access read, Value init) {
  return nest(
      SymDims(dims(init)), read, Access(init),
      [](ScalarBuilder &, ValueRange x) { return SmallVector<Value>{x[0]}; },
      /*widens=*/false)[0];
}

Value KernelBuilder::generate(Value init, Body fn) {
  int64_t rank = dims(init).size();
  return map({}, init, [&](ScalarBuilder &scalars, ValueRange) {
    SmallVector<Value> position;
    for (int64_t loop = 0; loop < rank; ++loop)
      position.push_back(scalars.position(loop));
    return fn(scalars, position);
  });
}

SmallVector<Value> KernelBuilder::iterate(
    ScalarBuilder &builder, ValueRange sizes, ValueRange carried,
    function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange, ValueRange)>
        fn) {
  Value zero = builder.index(0), one = builder.index(1);
  auto nest = scf::buildLoopNest(builder, builder.getLoc(),
                                 SmallVector<Value>(sizes.size(), zero), sizes,
                                 SmallVector<Value>(sizes.size(), one), carried,
                                 [&](OpBuilder &inner, Location loc,
                                     ValueRange position, ValueRange state) {
                                   ScalarBuilder scalars(loc, inner);
                                   return fn(scalars, position, state);
                                 });
  return nest.results;
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
  // An identity, from the start to the end.
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

func::FuncOp KernelBuilder::finish() {
  MLIRContext *context = op->getContext();
  // What is not read is no input, and what is forwarded no result.
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

  // Symbols by order of appearance, so that equal kernels have equal texts.
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
  return std::exchange(function, {}); // the caller's now
}
