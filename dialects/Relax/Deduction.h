//===- Deduction.h - helpers of deduction rules -----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Deduction is forward and local: it computes the result types of an op from
// its operand types and attributes. Types are symbolic where that can be proved
// and coarser elsewhere; contradictions are errors that show both sides. A rule
// never claims more than holds for every assignment of the symbols.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_DEDUCTION_H
#define RELAX_DEDUCTION_H

#include "Relax/ShapeUtils.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::relax {

class Deduction {
public:
  Deduction(MLIRContext *context, std::optional<Location> location,
            StringRef opName, ValueRange operands);
  Deduction(const Deduction &) = delete;
  Deduction &operator=(const Deduction &) = delete;

  MLIRContext *getContext() const { return context; }

  /// Starts a diagnostic `'relax.add' op ...`, at an unknown location if none
  /// is given.
  InFlightDiagnostic emitError() const;

  /// Builds expressions; overflow is reported as an error of the op.
  SymBuilder &math() { return builder; }
  SymExprAttr constant(int64_t value) { return builder.constant(value); }
  /// Facts of the function in which the operands live.
  const Prover &prover();

  /// The known properties of a tensor operand.
  struct Tensor {
    Type elementType;
    bool ranked = false;
    SymDims dims; // empty if not ranked
    int64_t rank() const { return dims.size(); }
  };
  /// Reads operand `value`, called `name` in diagnostics. Fails if it is not a
  /// tensor.
  FailureOr<Tensor> tensor(Value value, StringRef name) const;
  FailureOr<ShapeType> shape(Value value, StringRef name) const;

  /// A tensor type with these dimensions; unranked if `dims` is nullopt.
  static Type tensorType(std::optional<ArrayRef<SymExprAttr>> dims,
                         Type elementType);
  /// A ranked tensor type with unknown dimensions.
  static Type rankedType(int64_t rank, Type elementType);

  /// Broadcasts two dimensions as NumPy does. Null if nothing is known; error
  /// if they can never be broadcast.
  FailureOr<SymExprAttr> broadcastDim(SymExprAttr lhs, SymExprAttr rhs);
  /// Broadcasts whole shapes, aligned at the last dimension. `names` are the
  /// names of the operands in diagnostics.
  FailureOr<SymDims> broadcast(ArrayRef<SymExprAttr> lhs, StringRef lhsName,
                               ArrayRef<SymExprAttr> rhs, StringRef rhsName);

  /// Requires two dimensions to be equal: an error if they never are, otherwise
  /// returns the one with more information.
  FailureOr<SymExprAttr> equalDim(SymExprAttr lhs, const Twine &lhsName,
                                  SymExprAttr rhs, const Twine &rhsName);

  /// Maps an axis in [-rank, rank) to [0, rank).
  FailureOr<int64_t> axis(int64_t axis, int64_t rank, StringRef name = "axis");
  /// The same for a list, which must not repeat an axis.
  FailureOr<SmallVector<int64_t>> axes(ArrayRef<int64_t> axes, int64_t rank,
                                       StringRef name = "axes");

  /// Requires two operands to have the same element type.
  LogicalResult sameElementType(Type lhs, StringRef lhsName, Type rhs,
                                StringRef rhsName);

private:
  MLIRContext *context;
  std::optional<Location> location;
  StringRef opName;
  ValueRange operands;
  std::function<InFlightDiagnostic()> emitErrorFn;
  SymBuilder builder;
  std::optional<Prover> lazyProver;
};

/// A dimension as diagnostics show it: `n + 1`, `128` or `?`.
std::string describe(SymExprAttr dim);
std::string describe(ArrayRef<SymExprAttr> dims);

namespace detail {
LogicalResult verifyDeducedTypes(Deduction &deduction, TypeRange deduced,
                                 TypeRange annotated);
LogicalResult checkOperandCount(Deduction &deduction, unsigned minimum,
                                unsigned actual);
} // namespace detail

/// Verifies that result types are the ones that the op's rule deduces, or
/// coarser.
template <typename Op>
LogicalResult
verifyDeducedTypes(MLIRContext *context, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr attributes,
                   OpaqueProperties properties, RegionRange regions,
                   SmallVectorImpl<Type> &results) {
  SmallVector<Type> deduced;
  if (failed(Op::inferReturnTypes(context, location, operands, attributes,
                                  properties, regions, deduced)))
    return failure();
  Deduction deduction(context, location, Op::getOperationName(), operands);
  return detail::verifyDeducedTypes(deduction, deduced, results);
}

/// The properties of an op under construction, with default values filled in:
/// these are missing when result types are inferred.
template <typename Op>
class FilledProperties {
  using Properties = typename Op::template InferredProperties<Op>;

public:
  FilledProperties(MLIRContext *context, OpaqueProperties given) {
    if (given)
      storage = *given.as<Properties *>();
    Op::populateDefaultProperties(
        OperationName(Op::getOperationName(), context), storage);
  }
  OpaqueProperties get() { return OpaqueProperties(&storage); }

private:
  Properties storage{};
};

/// Guards a rule against manually built operations: verifies the operands that
/// ODS promises before the adaptor accesses them.
template <typename Op, typename Adaptor>
LogicalResult verifyAdaptor(Deduction &deduction, Adaptor &adaptor,
                            std::optional<Location> location,
                            ValueRange operands) {
  unsigned minimum = 0;
  if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
    minimum = 1;
  else if constexpr (Op::template hasTrait<OpTrait::NOperands<2>::Impl>() ||
                     Op::template hasTrait<
                         OpTrait::AtLeastNOperands<2>::Impl>())
    minimum = 2;
  else if constexpr (Op::template hasTrait<OpTrait::NOperands<3>::Impl>() ||
                     Op::template hasTrait<
                         OpTrait::AtLeastNOperands<3>::Impl>())
    minimum = 3;
  else if constexpr (Op::template hasTrait<
                         OpTrait::AtLeastNOperands<1>::Impl>())
    minimum = 1;
  if (failed(detail::checkOperandCount(deduction, minimum, operands.size())))
    return failure();
  return location ? adaptor.verify(*location) : success();
}

} // namespace mlir::relax

#endif // RELAX_DEDUCTION_H
