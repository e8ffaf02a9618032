//===- Deduction.cpp - helpers of deduction rules -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Deduction.h"

#include "Relax/DeductionScope.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::relax;

static thread_local Operation *currentScope = nullptr;

DeductionScope::DeductionScope(Operation *around) : outer(currentScope) {
  currentScope = around;
}

DeductionScope::~DeductionScope() { currentScope = outer; }

Operation *DeductionScope::current() { return currentScope; }

Deduction::Deduction(MLIRContext *context, std::optional<Location> location,
                     StringRef opName, ValueRange operands)
    : context(context), location(location), opName(opName), operands(operands),
      emitErrorFn([this] { return emitError(); }),
      builder(context, emitErrorFn) {}

InFlightDiagnostic Deduction::emitError() const {
  Location at = location.value_or(UnknownLoc::get(context));
  return mlir::emitError(at) << "'" << opName << "' op ";
}

const Prover &Deduction::prover() {
  if (!lazyProver) {
    Operation *around = DeductionScope::current();
    if (!operands.empty() && operands.front())
      if (Block *block = operands.front().getParentBlock())
        around = block->getParentOp();
    lazyProver.emplace(context,
                       around ? SymbolFacts::at(around) : SymbolFacts());
  }
  return *lazyProver;
}

FailureOr<Deduction::Tensor> Deduction::tensor(Value value,
                                               StringRef name) const {
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type)
    return emitError() << name << " must be a tensor, got " << value.getType();
  Tensor result;
  result.elementType = type.getElementType();
  if (auto ranked = dyn_cast<RankedTensorType>(type)) {
    result.ranked = true;
    result.dims = getSymDims(ranked);
  }
  return result;
}

FailureOr<ShapeType> Deduction::shape(Value value, StringRef name) const {
  auto type = dyn_cast<ShapeType>(value.getType());
  if (!type)
    return emitError() << name << " must be a !relax.shape, got "
                       << value.getType();
  return type;
}

Type Deduction::tensorType(std::optional<ArrayRef<SymExprAttr>> dims,
                           Type elementType) {
  if (!dims)
    return UnrankedTensorType::get(elementType);
  return getTensorType(*dims, elementType);
}

Type Deduction::rankedType(int64_t rank, Type elementType) {
  return getTensorType(SymDims(rank), elementType);
}

FailureOr<SymExprAttr> Deduction::broadcastDim(SymExprAttr lhs,
                                               SymExprAttr rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs && lhs.isConstant(1))
    return rhs;
  if (rhs && rhs.isConstant(1))
    return lhs;
  // Against a constant other than 1, only that constant or 1 is legal.
  if (lhs && lhs.isConstant() && !(rhs && rhs.isConstant())) {
    SymExprAttr one = constant(1);
    if (rhs && prover().equal(rhs, lhs) == Truth::No &&
        prover().equal(rhs, one) == Truth::No)
      return failure();
    return lhs;
  }
  if (rhs && rhs.isConstant() && !(lhs && lhs.isConstant()))
    return broadcastDim(rhs, lhs);
  if (!lhs || !rhs)
    return SymExprAttr();
  if (lhs.isConstant())
    return failure(); // two different constants
  Truth equal = prover().equal(lhs, rhs);
  if (equal == Truth::Yes)
    return lhs;
  SymExprAttr one = constant(1);
  Truth lhsOne = prover().equal(lhs, one), rhsOne = prover().equal(rhs, one);
  if (lhsOne == Truth::Yes)
    return rhs;
  if (rhsOne == Truth::Yes)
    return lhs;
  if (lhsOne == Truth::No && rhsOne == Truth::No)
    return equal == Truth::No ? FailureOr<SymExprAttr>(failure())
                              : FailureOr<SymExprAttr>(lhs);
  if (equal == Truth::No) {
    if (lhsOne == Truth::No)
      return lhs;
    if (rhsOne == Truth::No)
      return rhs;
  }
  return math().broadcast({lhs, rhs});
}

FailureOr<SymDims> Deduction::broadcast(ArrayRef<SymExprAttr> lhs,
                                        StringRef lhsName,
                                        ArrayRef<SymExprAttr> rhs,
                                        StringRef rhsName) {
  size_t rank = std::max(lhs.size(), rhs.size());
  SymDims result(rank);
  for (size_t fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    SymExprAttr &out = result[rank - fromEnd];
    if (fromEnd > lhs.size()) {
      out = rhs[rhs.size() - fromEnd];
      continue;
    }
    if (fromEnd > rhs.size()) {
      out = lhs[lhs.size() - fromEnd];
      continue;
    }
    SymExprAttr l = lhs[lhs.size() - fromEnd], r = rhs[rhs.size() - fromEnd];
    FailureOr<SymExprAttr> dim = broadcastDim(l, r);
    if (failed(dim))
      return emitError() << "operands cannot be broadcast: dimension "
                         << lhs.size() - fromEnd << " of " << lhsName << " is "
                         << describe(l) << ", dimension "
                         << rhs.size() - fromEnd << " of " << rhsName << " is "
                         << describe(r);
    out = *dim;
  }
  return result;
}

FailureOr<SymExprAttr> Deduction::equalDim(SymExprAttr lhs,
                                           const Twine &lhsName,
                                           SymExprAttr rhs,
                                           const Twine &rhsName) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  if (prover().equal(lhs, rhs) == Truth::No)
    return emitError() << lhsName << " and " << rhsName
                       << " differ: " << describe(lhs) << " and "
                       << describe(rhs);
  return rhs.isConstant() ? rhs : lhs;
}

FailureOr<int64_t> Deduction::axis(int64_t axis, int64_t rank, StringRef name) {
  if (axis < -rank || axis >= rank)
    return emitError() << name << " " << axis
                       << " is out of range for a tensor of rank " << rank;
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> Deduction::axes(ArrayRef<int64_t> axes,
                                                int64_t rank, StringRef name) {
  SmallVector<int64_t> result;
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t given : axes) {
    FailureOr<int64_t> normal = axis(given, rank, name);
    if (failed(normal))
      return failure();
    if (!seen.insert(*normal).second)
      return emitError() << name << " repeat " << given;
    result.push_back(*normal);
  }
  return result;
}

LogicalResult Deduction::sameElementType(Type lhs, StringRef lhsName, Type rhs,
                                         StringRef rhsName) {
  if (lhs == rhs)
    return success();
  return emitError() << "element types differ: " << lhsName << " has " << lhs
                     << ", " << rhsName << " has " << rhs
                     << "; convert one with relax.astype";
}

std::string relax::describe(SymExprAttr dim) { return dim ? dim.str() : "?"; }

std::string relax::describe(ArrayRef<SymExprAttr> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSymDims(os, dims);
  return text;
}

LogicalResult relax::detail::verifyDeducedTypes(Deduction &deduction,
                                                TypeRange deduced,
                                                TypeRange annotated) {
  if (annotated.empty())
    return success(); // elided: nothing to compare
  if (deduced.size() != annotated.size())
    return deduction.emitError() << "has " << annotated.size()
                                 << " results, expected " << deduced.size();
  for (auto [index, d, a] : llvm::enumerate(deduced, annotated)) {
    Truth truth = implies(d, a, deduction.prover());
    if (truth == Truth::Yes)
      continue;
    InFlightDiagnostic diagnostic = deduction.emitError();
    diagnostic << "result #" << index << " is declared as " << a << ", but ";
    if (truth == Truth::No)
      return diagnostic << d << " is deduced";
    return diagnostic << "only " << d
                      << " can be deduced; assert more with relax.match_cast";
  }
  return success();
}

LogicalResult relax::detail::checkOperandCount(Deduction &deduction,
                                               unsigned minimum,
                                               unsigned actual) {
  if (actual >= minimum)
    return success();
  return deduction.emitError()
         << "needs at least " << minimum << " operands, got " << actual;
}
