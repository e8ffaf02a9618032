//===- KernelBuilder.h - makes the kernel of a graph op ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a family of ops writes its kernels with. A kernel is
//
//   func.func private @softmax(%x, %destination, integers...) -> destination
//
// on plain tensors. Every tensor in it has symbolic dimensions in terms of the
// caller's symbols, which the builder keeps beside the values: `dims`. Loops
// are written as a nest over dimensions, with what is read and written placed
// on its loops; the builder finds maps, kinds of iteration and broadcasting:
//
//   reads [n, 4], [4]    nest over [n, 4]    writes [n, 4]: element-wise
//   reads [n, 4]         nest over [n, 4]    writes [n] on loop 0: a reduction
//
// Narrow floats are read as f32 and rounded when written, so that bodies
// compute, and accumulators that are f32 sum up, in f32.
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
/// dimension of a tensor follows. By default the last dimension follows the
/// last loop and so on, and what is read broadcasts, as NumPy aligns shapes.
/// Where loops are given, only the first `broadcasting` dimensions do; the
/// others are as long as their loops. What is not proved of it is checked where
/// the program runs.
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

/// The numbers from 0 on, but those of `without`.
SmallVector<int64_t> allBut(int64_t count, ArrayRef<int64_t> without);
/// Axes as numbers from 0 on; all where none are given.
SmallVector<int64_t> getAxes(std::optional<ArrayRef<int64_t>> axes,
                             int64_t rank);

/// The element type that a tensor has in the graph.
inline Type getElementType(Value tensor) {
  return cast<TensorType>(tensor.getType()).getElementType();
}

/// A condition on sizes, checked where the program runs: one of some.
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
  /// The elements of operands that are all one number, by operand.
  using Splats = std::function<Attribute(Value)>;

  KernelBuilder(Operation *op, Splats splats);
  ~KernelBuilder();
  KernelBuilder(const KernelBuilder &) = delete;

  /// Gives up, for the reason that a diagnostic shows.
  LogicalResult reject(const Twine &reason);
  StringRef getReason() const { return reason; }

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// The parameter of a tensor operand of the op.
  Value input(Value operand) const { return inputs.lookup(operand); }
  /// The same, or the number that all elements are.
  Value inputOrNumber(Value operand);
  /// The destination of a result.
  Value destination(unsigned result = 0) const { return destinations[result]; }

  /// Ends the kernel: what each destination holds at last, but those of results
  /// that are forwarded.
  LogicalResult yield(ValueRange results);

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  /// The dimensions of a tensor in the kernel, in the symbols of the caller.
  ArrayRef<SymExprAttr> dims(Value tensor) const;
  const Prover &prover() const { return facts; }
  SymBuilder &math() { return expressions; }
  SymExprAttr constant(int64_t value) { return math().constant(value); }
  bool provedEqual(SymExprAttr lhs, SymExprAttr rhs) const {
    return facts.provedEqual(lhs, rhs);
  }

  /// The value of an expression, as an index.
  Value size(SymExprAttr expr);

  /// Checks a condition before the call, unless it is proved.
  void require(arith::CmpIPredicate predicate, SymExprAttr lhs, SymExprAttr rhs,
               const Twine &message);
  void requireEqual(SymExprAttr lhs, SymExprAttr rhs, const Twine &message) {
    require(arith::CmpIPredicate::eq, lhs, rhs, message);
  }
  /// The same where one condition of some must hold.
  void requireAny(ArrayRef<Guard::Comparison> anyOf, const Twine &message);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// At the end of what the kernel has so far.
  ScalarBuilder &builder() { return body; }

  /// A tensor of undefined elements.
  Value empty(ArrayRef<SymExprAttr> dims, Type elementType);
  /// `init` with one number everywhere.
  Value fill(Value init, Value number);
  /// Where to sum up what `destination` will hold: itself, or a tensor of a
  /// wider type.
  Value accumulator(Value destination);
  /// `value`, converted to the elements of `destination` if need be, in it.
  Value store(Value value, Value destination);
  /// Records the dimensions of a tensor that was made without this builder.
  Value withDims(Value tensor, ArrayRef<SymExprAttr> dims);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  using Body = function_ref<Value(ScalarBuilder &, ValueRange)>;
  using Bodies = function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange)>;

  /// Loops over `dims`. The body sees an element of each of `reads`, then the
  /// present one of each of `inits`, and gives the next. A loop that no init
  /// follows is a reduction. Where nothing `widens`, elements are read as they
  /// are.
  SmallVector<Value> nest(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
                          ArrayRef<Access> inits, Bodies body,
                          bool widens = true);
  /// The same with one result.
  Value loop(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads, Access init,
             Body body);
  /// Each element of `init` from those of `reads`.
  Value map(ArrayRef<Access> reads, Value init, Body body);
  /// The same from `value`, of which each element is used once, and other
  /// reads; in the place of `value`, where it has the type of `init`.
  Value update(Value value, ArrayRef<Access> reads, Value init, Body body);
  /// Combines over the loops that are not `kept`, from `identity` on. The body
  /// sees an element of each of `reads` and what there is so far.
  Value reduce(ArrayRef<SymExprAttr> dims, ArrayRef<Access> reads,
               ArrayRef<int64_t> kept, Value identity, Body body);
  /// Each element of `init`, as it is, from that of `read`.
  Value move(Access read, Value init);
  /// Each element of `init` from its position.
  Value generate(Value init, Body body);
  /// Loops in order, the first outermost, over tensors and numbers that they
  /// carry. The body sees the position and what is carried.
  SmallVector<Value> iterate(
      ScalarBuilder &builder, ValueRange sizes, ValueRange carried,
      function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange, ValueRange)>
          body);

  //===--------------------------------------------------------------------===//
  // The result
  //===--------------------------------------------------------------------===//

  /// Says that a result is an operand, of the same type, and not computed.
  void forward(unsigned result, Value operand) { forwarded[result] = operand; }
  /// What each result is that is not computed; null for others.
  ArrayRef<Value> getForwarded() const { return forwarded; }
  /// Gives the function its signature. To be called once, after `yield`.
  func::FuncOp finish();
  /// What the finished kernel is called with.
  ArrayRef<Value> getArguments() const { return arguments; }
  ArrayRef<SymExprAttr> getSymArguments() const { return symArguments; }
  ArrayRef<Guard> getGuards() const { return guards; }

private:
  Value getCopied();
  /// Computes nothing where types say that no result has an element. What is
  /// to be checked of sizes stays.
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
