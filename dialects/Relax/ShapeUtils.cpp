//===- ShapeUtils.cpp - reading, making and comparing symbolic types ------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/ShapeUtils.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

SymDims relax::getSymDims(RankedTensorType type) {
  if (auto shape = dyn_cast_or_null<ShapeAttr>(type.getEncoding()))
    return SymDims(shape.getDims());
  SymDims dims;
  for (int64_t size : type.getShape())
    dims.push_back(ShapedType::isDynamic(size)
                       ? SymExprAttr()
                       : SymExprAttr::getConstant(type.getContext(), size));
  return dims;
}

std::optional<SymDims> relax::getKnownDims(Type type) {
  SymDims dims;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    dims = getSymDims(tensor);
  } else if (auto shape = dyn_cast<ShapeType>(type);
             shape && shape.getRanked()) {
    dims.assign(shape.getDims().begin(), shape.getDims().end());
  } else {
    return std::nullopt;
  }
  if (llvm::is_contained(dims, SymExprAttr()))
    return std::nullopt;
  return dims;
}

RankedTensorType relax::getTensorType(ArrayRef<SymExprAttr> dims,
                                      Type elementType) {
  SmallVector<int64_t> sizes;
  bool symbolic = false;
  for (SymExprAttr dim : dims) {
    std::optional<int64_t> size = dim ? dim.getConstantValue() : std::nullopt;
    sizes.push_back(size.value_or(ShapedType::kDynamic));
    symbolic |= dim && !size;
  }
  Attribute encoding;
  if (symbolic)
    encoding = ShapeAttr::get(elementType.getContext(), dims);
  return RankedTensorType::get(sizes, elementType, encoding);
}

Type relax::dropSymbols(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
  if (auto shape = dyn_cast<ShapeType>(type))
    return shape.getRanked()
               ? ShapeType::getRanked(type.getContext(), shape.getRank())
               : type;
  if (auto tuple = dyn_cast<TupleType>(type))
    return TupleType::get(type.getContext(),
                          llvm::map_to_vector(tuple.getTypes(), dropSymbols));
  return type;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

template <typename Element>
static void walkSymbolsImpl(Element element,
                            function_ref<void(StringAttr)> fn) {
  AttrTypeWalker walker;
  walker.addWalk([](FunctionType) { return WalkResult::skip(); });
  walker.addWalk([&](SymExprAttr expr) {
    expr.walkSymbols(fn);
    return WalkResult::skip();
  });
  walker.walk<WalkOrder::PreOrder>(element);
}

void relax::walkSymbols(Type type, function_ref<void(StringAttr)> fn) {
  walkSymbolsImpl(type, fn);
}
void relax::walkSymbols(Attribute attribute,
                        function_ref<void(StringAttr)> fn) {
  walkSymbolsImpl(attribute, fn);
}

void relax::walkDefinedSymbols(Type type, function_ref<void(StringAttr)> fn) {
  auto visit = [&](ArrayRef<SymExprAttr> dims) {
    for (SymExprAttr dim : dims)
      if (dim && dim.isSymbol())
        fn(dim.getName());
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    visit(getSymDims(tensor));
  else if (auto shape = dyn_cast<ShapeType>(type))
    visit(shape.getDims());
  else if (auto tuple = dyn_cast<TupleType>(type))
    for (Type member : tuple.getTypes())
      walkDefinedSymbols(member, fn);
}

Type relax::mapDims(Type type, function_ref<SymExprAttr(SymExprAttr)> fn) {
  auto mapAll = [&](ArrayRef<SymExprAttr> dims) {
    SymDims mapped;
    for (SymExprAttr dim : dims)
      mapped.push_back(dim ? fn(dim) : dim);
    return mapped;
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!isa_and_nonnull<ShapeAttr>(tensor.getEncoding()))
      return type;
    return getTensorType(mapAll(getSymDims(tensor)), tensor.getElementType());
  }
  if (auto shape = dyn_cast<ShapeType>(type))
    return shape.getRanked()
               ? ShapeType::get(type.getContext(), mapAll(shape.getDims()))
               : type;
  if (auto tuple = dyn_cast<TupleType>(type))
    return TupleType::get(type.getContext(),
                          llvm::map_to_vector(tuple.getTypes(), [&](Type t) {
                            return mapDims(t, fn);
                          }));
  return type;
}

Type relax::keepSymbols(Type type, function_ref<bool(StringAttr)> visible) {
  return mapDims(type, [&](SymExprAttr dim) {
    bool known = true;
    dim.walkSymbols([&](StringAttr name) { known = known && visible(name); });
    return known ? dim : SymExprAttr();
  });
}

Type relax::substitute(Type type, const SymSubstitution &with,
                       SymBuilder &math) {
  Type result = mapDims(
      type, [&](SymExprAttr dim) { return math.substitute(dim, with); });
  return math.failed() ? Type() : result;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static Truth both(Truth a, Truth b) {
  if (a == Truth::No || b == Truth::No)
    return Truth::No;
  return a == Truth::Yes && b == Truth::Yes ? Truth::Yes : Truth::Unknown;
}

static Truth impliesDims(ArrayRef<SymExprAttr> fine,
                         ArrayRef<SymExprAttr> coarse, const Prover &prover) {
  if (fine.size() != coarse.size())
    return Truth::No;
  Truth result = Truth::Yes;
  for (auto [f, c] : llvm::zip(fine, coarse))
    if (c)
      result = both(result, prover.equal(f, c));
  return result;
}

Truth relax::implies(Type fine, Type coarse, const Prover &prover) {
  if (fine == coarse || isa<ObjectType>(coarse))
    return Truth::Yes;
  if (isa<ObjectType>(fine))
    return Truth::Unknown;
  if (auto coarseTensor = dyn_cast<TensorType>(coarse)) {
    auto fineTensor = dyn_cast<TensorType>(fine);
    if (!fineTensor ||
        fineTensor.getElementType() != coarseTensor.getElementType())
      return Truth::No;
    if (!coarseTensor.hasRank())
      return Truth::Yes;
    if (!fineTensor.hasRank())
      return Truth::Unknown;
    return impliesDims(getSymDims(cast<RankedTensorType>(fine)),
                       getSymDims(cast<RankedTensorType>(coarse)), prover);
  }
  if (auto coarseShape = dyn_cast<ShapeType>(coarse)) {
    auto fineShape = dyn_cast<ShapeType>(fine);
    if (!fineShape)
      return Truth::No;
    if (!coarseShape.getRanked())
      return Truth::Yes;
    if (!fineShape.getRanked())
      return Truth::Unknown;
    return impliesDims(fineShape.getDims(), coarseShape.getDims(), prover);
  }
  if (auto coarseTuple = dyn_cast<TupleType>(coarse)) {
    auto fineTuple = dyn_cast<TupleType>(fine);
    if (!fineTuple || fineTuple.size() != coarseTuple.size())
      return Truth::No;
    Truth result = Truth::Yes;
    for (auto [f, c] : llvm::zip(fineTuple.getTypes(), coarseTuple.getTypes()))
      result = both(result, implies(f, c, prover));
    return result;
  }
  return Truth::No;
}

//===----------------------------------------------------------------------===//
// Unification
//===----------------------------------------------------------------------===//

static LogicalResult addDims(Unifier &unifier, ArrayRef<SymExprAttr> pattern,
                             ArrayRef<SymExprAttr> actual, const Twine &where,
                             EmitErrorFn emitError) {
  if (pattern.size() != actual.size())
    return emitError() << where << ": expected rank " << pattern.size()
                       << ", got rank " << actual.size();
  for (auto [index, p, a] : llvm::enumerate(pattern, actual))
    if (p)
      unifier.add(p, a, "dimension " + Twine(index) + " of " + where);
  return success();
}

LogicalResult relax::addEquations(Unifier &unifier, Type pattern, Type actual,
                                  const Twine &where, EmitErrorFn emitError) {
  // A coarser argument is checked at run time.
  if (pattern == actual &&
      !isa<RankedTensorType, ShapeType, TupleType>(pattern))
    return success();
  if (isa<ObjectType>(pattern) || isa<ObjectType>(actual))
    return success();
  auto mismatch = [&]() -> LogicalResult {
    return emitError() << where << ": expected " << pattern << ", got "
                       << actual;
  };
  if (auto patternTensor = dyn_cast<TensorType>(pattern)) {
    auto actualTensor = dyn_cast<TensorType>(actual);
    if (!actualTensor)
      return mismatch();
    if (patternTensor.getElementType() != actualTensor.getElementType())
      return emitError() << where << ": expected element type "
                         << patternTensor.getElementType() << ", got "
                         << actualTensor.getElementType();
    if (!patternTensor.hasRank() || !actualTensor.hasRank())
      return success();
    return addDims(unifier, getSymDims(cast<RankedTensorType>(pattern)),
                   getSymDims(cast<RankedTensorType>(actual)), where,
                   emitError);
  }
  if (auto patternShape = dyn_cast<ShapeType>(pattern)) {
    auto actualShape = dyn_cast<ShapeType>(actual);
    if (!actualShape)
      return mismatch();
    if (!patternShape.getRanked() || !actualShape.getRanked())
      return success();
    return addDims(unifier, patternShape.getDims(), actualShape.getDims(),
                   where, emitError);
  }
  if (auto patternTuple = dyn_cast<TupleType>(pattern)) {
    auto actualTuple = dyn_cast<TupleType>(actual);
    if (!actualTuple || actualTuple.size() != patternTuple.size())
      return mismatch();
    for (auto [index, p, a] :
         llvm::enumerate(patternTuple.getTypes(), actualTuple.getTypes()))
      if (failed(addEquations(unifier, p, a,
                              "member " + Twine(index) + " of " + where,
                              emitError)))
        return failure();
    return success();
  }
  return pattern == actual ? success() : mismatch();
}

Type relax::instantiate(Type pattern, const Unifier &unifier) {
  return mapDims(pattern, [&](SymExprAttr dim) {
    return dim.isConstant() ? dim : unifier.instantiate(dim);
  });
}

Type relax::meet(Type first, Type second) {
  if (isa<ObjectType>(first))
    return second;
  auto meetDims = [](ArrayRef<SymExprAttr> a, ArrayRef<SymExprAttr> b) {
    SymDims dims;
    for (auto [x, y] : llvm::zip(a, b)) {
      // A constant is the most precise dimension.
      bool takeSecond = !x || (y && y.isConstant() && !x.isConstant());
      dims.push_back(takeSecond ? y : x);
    }
    return dims;
  };
  if (auto a = dyn_cast<TensorType>(first)) {
    auto b = dyn_cast<TensorType>(second);
    if (!b || !b.hasRank() || a.getElementType() != b.getElementType())
      return first;
    if (!a.hasRank())
      return second;
    if (a.getRank() != b.getRank())
      return first;
    return getTensorType(meetDims(getSymDims(cast<RankedTensorType>(a)),
                                  getSymDims(cast<RankedTensorType>(b))),
                         a.getElementType());
  }
  if (auto a = dyn_cast<ShapeType>(first)) {
    auto b = dyn_cast<ShapeType>(second);
    if (!b || !b.getRanked())
      return first;
    if (!a.getRanked())
      return second;
    if (a.getRank() != b.getRank())
      return first;
    return ShapeType::get(first.getContext(),
                          meetDims(a.getDims(), b.getDims()));
  }
  if (auto a = dyn_cast<TupleType>(first)) {
    auto b = dyn_cast<TupleType>(second);
    if (!b || a.size() != b.size())
      return first;
    SmallVector<Type> members;
    for (auto [x, y] : llvm::zip(a.getTypes(), b.getTypes()))
      members.push_back(meet(x, y));
    return TupleType::get(first.getContext(), members);
  }
  return first;
}

Type relax::join(Type first, Type second, const Prover &prover) {
  if (first == second || isa<ObjectType>(first))
    return first;
  if (isa<ObjectType>(second))
    return second;
  auto joinDims = [&](ArrayRef<SymExprAttr> a, ArrayRef<SymExprAttr> b) {
    SymDims dims;
    for (auto [x, y] : llvm::zip(a, b))
      dims.push_back(prover.provedEqual(x, y) ? x : SymExprAttr());
    return dims;
  };
  if (auto a = dyn_cast<TensorType>(first)) {
    auto b = dyn_cast<TensorType>(second);
    if (!b || a.getElementType() != b.getElementType())
      return {};
    if (!a.hasRank() || !b.hasRank() || a.getRank() != b.getRank())
      return UnrankedTensorType::get(a.getElementType());
    return getTensorType(joinDims(getSymDims(cast<RankedTensorType>(a)),
                                  getSymDims(cast<RankedTensorType>(b))),
                         a.getElementType());
  }
  if (auto a = dyn_cast<ShapeType>(first)) {
    auto b = dyn_cast<ShapeType>(second);
    if (!b)
      return {};
    if (!a.getRanked() || !b.getRanked() || a.getRank() != b.getRank())
      return ShapeType::getUnranked(first.getContext());
    return ShapeType::get(first.getContext(),
                          joinDims(a.getDims(), b.getDims()));
  }
  if (auto a = dyn_cast<TupleType>(first)) {
    auto b = dyn_cast<TupleType>(second);
    if (!b || a.size() != b.size())
      return {};
    SmallVector<Type> members;
    for (auto [x, y] : llvm::zip(a.getTypes(), b.getTypes())) {
      members.push_back(join(x, y, prover));
      if (!members.back())
        return {};
    }
    return TupleType::get(first.getContext(), members);
  }
  return {};
}
