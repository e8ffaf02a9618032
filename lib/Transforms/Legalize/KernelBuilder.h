//===- KernelBuilder.h - build the kernel of a graph op ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder that op families use to write kernels. A kernel is
//
//   func.func private @softmax(%x, %destination, integers...) -> destination
//
// on builtin tensors. Every tensor in it has symbolic dimensions in terms of
// the caller's symbols, which the builder tracks: `dims`. Loops are written as
// a nest over dimensions, with operands and results placed on its loops; the
// builder derives indexing maps, iterator types and broadcasting:
//
//   reads [n, 4], [4]    nest over [n, 4]    writes [n, 4]: element-wise
//   reads [n, 4]         nest over [n, 4]    writes [n] on loop 0: a reduction
//
// Narrow floats are read as f32 and rounded when written, so bodies compute in
// f32, and f32 accumulators accumulate in f32.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_KERNELBUILDER_H
#define RELAX_TRANSFORMS_LEGALIZE_KERNELBUILDER_H

#include "Relax/ShapeUtils.h"
#include "Transforms/Legalize/ScalarBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <functional>

namespace mlir::relax {

/// A tensor or a number that a nest reads or writes, and the loop that each
/// tensor dimension follows. By default dimensions are aligned at the last
/// loop, and operands broadcast, as in NumPy. If loops are given, only the
/// first `broadcasting` dimensions broadcast; the others are as long as their
/// loops. Conditions that are not proved are checked at run time.
struct Access {
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  Access(Value value) : value(value), broadcasting(kAll) {}
  Access(Value value, ArrayRef<int64_t> onLoops, int64_t broadcasting = 0)
      : value(value), loops(llvm::to_vector(onLoops)),
        broadcasting(broadcasting) {}

  Value value;
  std::optional<SmallVector<int64_t>> loops;
  int64_t broadcasting;
};

/// The numbers 0 to `count` - 1 except those in `without`.
SmallVector<int64_t> allBut(int64_t count, ArrayRef<int64_t> without);
/// Axes normalized to start from 0; all axes if none are given.
SmallVector<int64_t> getAxes(std::optional<ArrayRef<int64_t>> axes,
                             int64_t rank);

/// The element type of a tensor in the graph.
inline Type getElementType(Value tensor) {
  return cast<TensorType>(tensor.getType()).getElementType();
}

/// A run-time check of sizes: at least one of several comparisons must hold.
struct Guard {
  struct Comparison {
    arith::CmpIPredicate predicate;
    SymExprAttr lhs, rhs;
  };
  SmallVector<Comparison, 1> anyOf;
  std::string message;
};

class KernelBuilder {
public:
  /// Maps operands whose elements are all equal to that element.
  using Splats = std::function<Attribute(Value)>;

  KernelBuilder(Operation *op, Splats splats);
  ~KernelBuilder();
  KernelBuilder(const KernelBuilder &) = delete;

  /// Fails, with a reason for the diagnostic.
  LogicalResult reject(const Twine &reason);
  StringRef getReason() const { return reason; }

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// The parameter for a tensor operand of the op.
  Value input(Value operand) const { return inputs.lookup(operand); }
  /// The same, or the number that all its elements equal.
  Value inputOrNumber(Value operand);
  /// The destination of a result.
  Value destination(unsigned result = 0) const { return destinations[result]; }

  /// Ends the kernel with the final contents of each destination, except those
  /// of forwarded results.
  LogicalResult yield(ValueRange results);

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  /// The dimensions of a tensor of the kernel, in the caller's symbols.
  ArrayRef<SymExprAttr> dims(Value tensor) const;
  const Prover &prover() const { return facts; }
  SymBuilder &math() { return expressions; }
  SymExprAttr constant(int64_t value) { return math().constant(value); }
  bool provedEqual(SymExprAttr lhs, SymExprAttr rhs) const {
    return facts.provedEqual(lhs, rhs);
  }

  /// The value of an expression as an `index`.
  Value size(SymExprAttr expr);

  /// Checks a condition before the call, unless it is proved.
  void require(arith::CmpIPredicate predicate, SymExprAttr lhs, SymExprAttr rhs,
               const Twine &message);
  void requireEqual(SymExprAttr lhs, SymExprAttr rhs, const Twine &message) {
    require(arith::CmpIPredicate::eq, lhs, rhs, message);
  }
  /// The same, where one of several conditions must hold.
  void requireAny(ArrayRef<Guard::Comparison> anyOf, const Twine &message);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// Inserts at the current end of the kernel.
  ScalarBuilder &builder() { return body; }

  /// A tensor with undefined elements.
  Value empty(ArrayRef<SymExprAttr> dims, Type elementType);
  /// Fills `init` with a number.
  Value fill(Value init, Value number);
  /// Where to accumulate the contents of `destination`: itself, or a tensor of
  /// a wider type.
  Value accumulator(Value destination);
  /// Stores `value` in `destination`, converting elements if needed.
  Value store(Value value, Value destination);
  /// Records the dimensions of a tensor created without this builder.
  Value withDims(Value tensor, ArrayRef<SymExprAttr> dims);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  using Body = function_ref<Value(ScalarBuilder &, ValueRange)>;
  using Bodies = function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange)>;

  /// Loops over `dims`. The body gets an element of each of `reads` and the
  /// current element of each of `inits`, and returns the next one. A loop that
  /// no init follows is a reduction. Unless `widens`, elements are read without
  /// conversion.
  SmallVector<Value> nest(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
                          ArrayRef<Access> inits, Bodies body,
                          bool widens = true);
  /// The same with a single result.
  Value loop(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads, Access init,
             Body body);
  /// Computes each element of `init` from elements of `reads`.
  Value map(ArrayRef<Access> reads, Value init, Body body);
  /// The same from `value`, each element of which is used once, and other
  /// reads; in place in `value` if it has the type of `init`.
  Value update(Value value, ArrayRef<Access> reads, Value init, Body body);
  /// Reduces over the loops that are not `kept`, starting from `identity`. The
  /// body gets an element of each of `reads` and the current accumulator.
  Value reduce(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
               ArrayRef<int64_t> kept, Value identity, Body body);
  /// Copies each element of `init` unchanged from `read`.
  Value move(Access read, Value init);
  /// Computes each element of `init` from its position.
  Value generate(Value init, Body body);
  /// Sequential loops, the first outermost, that carry tensors and numbers. The
  /// body gets the position and the carried values.
  SmallVector<Value> iterate(
      ScalarBuilder &builder, ValueRange sizes, ValueRange carried,
      function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange, ValueRange)>
          body);

  //===--------------------------------------------------------------------===//
  // The result
  //===--------------------------------------------------------------------===//

  /// Declares that a result equals an operand of the same type and is not
  /// computed.
  void forward(unsigned result, Value operand) { forwarded[result] = operand; }
  /// The operand that each result forwards; null for computed results.
  ArrayRef<Value> getForwarded() const { return forwarded; }
  /// Sets the signature of the function. Called once, after `yield`.
  func::FuncOp finish();
  /// The arguments of the call of the finished kernel.
  ArrayRef<Value> getArguments() const { return arguments; }
  ArrayRef<SymExprAttr> getSymArguments() const { return symArguments; }
  ArrayRef<Guard> getGuards() const { return guards; }

private:
  Value getCopied();
  /// Removes the computation if all results are statically empty. Size checks
  /// stay.
  void dropBodyIfEmpty();
  struct Reading;
  Reading place(const Access &access, ArrayRef<SymExprAttr> loopDims);
  Value extract(ScalarBuilder &scalars, const Reading &reading);
  Value parameter(Value graphValue);
  Value symbolParameter(StringAttr symbol);
  Value evaluate(SymExprAttr expr);

  Operation *op;
  Splats splats;
  func::FuncOp function;
  Block *entry;
  ScalarBuilder body;
  /// Sizes are computed before everything else.
  Operation *lastSize = nullptr;

  Prover facts;
  SymBuilder expressions;
  llvm::MapVector<Value, Value> inputs;
  SmallVector<Value> destinations, forwarded;
  llvm::MapVector<StringAttr, Value> symbols;
  DenseMap<Value, SymDims> dimsOf;
  DenseMap<SymExprAttr, Value> sizes;
  SmallVector<SymExprAttr> computed;
  SmallVector<Guard> guards;
  std::string reason;

  SmallVector<Value> arguments;
  SmallVector<SymExprAttr> symArguments;
};

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_KERNELBUILDER_H
