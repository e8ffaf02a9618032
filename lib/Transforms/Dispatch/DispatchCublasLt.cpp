//===- DispatchCublasLt.cpp - matrix products to cuBLASLt -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches a matrix product, followed by the epilogue that cuBLASLt can apply to
// the sums before it writes them, if nothing else uses the intermediate
// results:
//
//   linear, matmul ──▶ add of a vector ──▶ relu, gelu_tanh
//
// This is code rather than patterns (DispatchLibrary.cpp), since the
// combinations of ranks, types and epilogues would need a hundred of them. If
// the decision depends on the number of rows, which is known only when the
// function is called, the function is versioned by the number of rows that most
// of its products have.
//
//===----------------------------------------------------------------------===//

#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Elementwise.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Linear.h"
#include "Relax/RuntimeLibraries.h"
#include "Relax/ShapeUtils.h"
#include "Transforms/Dispatch/Passes.h"
#include "Transforms/Dispatch/Versions.h"
#include "Transforms/Memory/Writes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_DISPATCHCUBLASLTPASS
#include "Transforms/Dispatch/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The number of rows from which the library is faster than our own kernels, as
/// measured on an H200 by benchmarks/gpu/cublaslt.py: in bf16 and f16 by 2 to
/// 72 % for all matrices (and slower below for most of them), in f32 by far.
int64_t getLeastRows(Type element) { return element.isF32() ? 16 : 64; }

enum Activation { None, Relu, GeluTanh }; // in the runtime's numbering

class ProductDispatch {
public:
  ProductDispatch(Operation *product, int64_t workspaceBytes,
                  const Writes &writes)
      : product(product), chain({product}), x(product->getOperand(0)),
        w(product->getOperand(1)), isTransposed(isa<LinearOp>(product)),
        workspaceBytes(workspaceBytes), writes(writes),
        prover(product->getContext(), SymbolFacts::at(product)) {}

  /// Whether this is a product of rows and one matrix, of supported types, with
  /// a nonempty contraction: the library does not write the zeros of an empty
  /// one.
  bool fits() {
    RankedTensorType rows = tensorOf(x), matrix = tensorOf(w),
                     result = tensorOf(product->getResult(0));
    if (!rows || !matrix || !result || rows.getRank() < 2 ||
        matrix.getRank() != 2)
      return false;
    element = result.getElementType();
    Type from = rows.getElementType();
    if (!(from.isBF16() || from.isF16() || from.isF32()) ||
        !(element == from || element.isF32()))
      return false;
    depth = getSymDims(rows).back();
    columns = getSymDims(result).back();
    if (auto linear = dyn_cast<LinearOp>(product); linear && linear.getBias()) {
      if (element != from || !isVector(linear.getBias()))
        return false;
      bias = linear.getBias();
    }
    return isAtLeast(depth, 1);
  }

  /// The number of rows; null if it exceeds 64 bits.
  SymExprAttr getRows() const {
    SymBuilder math(product->getContext());
    SymDims dims = getSymDims(cast<RankedTensorType>(x.getType()));
    return math.product(ArrayRef(dims).drop_back());
  }
  int64_t getLeast() const {
    return getLeastRows(cast<RankedTensorType>(x.getType()).getElementType());
  }
  Truth hasManyRows() const {
    SymExprAttr rows = getRows();
    if (!rows)
      return Truth::No;
    return prover.lessEqual(
        SymExprAttr::getConstant(product->getContext(), getLeast()), rows);
  }

  /// Replaces the product and its epilogue by a call.
  void dispatch() {
    extend();
    replace();
  }

private:
  static RankedTensorType tensorOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isKnown = type && !llvm::is_contained(getSymDims(type), SymExprAttr());
    return isKnown ? type : RankedTensorType();
  }

  bool isAtLeast(SymExprAttr value, int64_t least) const {
    auto bound = SymExprAttr::getConstant(value.getContext(), least);
    return prover.lessEqual(bound, value) == Truth::Yes;
  }

  /// Whether the value is a vector with one element per column.
  bool isVector(Value value) const {
    RankedTensorType type = tensorOf(value);
    return type && type.getRank() == 1 && type.getElementType() == element &&
           prover.provedEqual(getSymDims(type)[0], columns);
  }

  /// The only user of the current result, if it keeps the shape and the product
  /// may be computed there.
  Operation *getNext() const {
    Value value = chain.back()->getResult(0);
    if (!value.hasOneUse())
      return nullptr;
    Operation *user = *value.user_begin();
    return user->getBlock() == product->getBlock() &&
                   user->getNumResults() == 1 &&
                   user->getResult(0).getType() == value.getType() &&
                   writes.mayMove(product, user)
               ? user
               : nullptr;
  }

  void extend() {
    if (auto add = dyn_cast_or_null<AddOp>(getNext()); add && !bias) {
      Value sum = chain.back()->getResult(0);
      Value other = add.getLhs() == sum ? add.getRhs() : add.getLhs();
      if (isVector(other)) {
        bias = other;
        chain.push_back(add);
      }
    }
    Operation *next = getNext();
    if (isa_and_nonnull<ReluOp, GeluTanhOp>(next)) {
      activation = isa<ReluOp>(next) ? Relu : GeluTanh;
      chain.push_back(next);
    }
  }

  void replace() {
    Operation *last = chain.back();
    OpBuilder builder(last);
    SmallVector<Value> operands = {x, w};
    if (bias)
      operands.push_back(bias);
    SmallVector<Attribute> integers;
    for (int64_t number :
         {int64_t(isTransposed), int64_t(activation), int64_t(bool(bias))})
      integers.push_back(
          SymExprAttr::getConstant(builder.getContext(), number));
    // Scratch memory is an unused result, so that memory planning covers it.
    auto workspace =
        RankedTensorType::get({workspaceBytes}, builder.getI8Type());
    auto call = CallLibraryOp::create(
        builder, product->getLoc(),
        TypeRange{last->getResult(0).getType(), workspace}, kCublasLtFunction,
        operands, builder.getArrayAttr(integers));
    last->getResult(0).replaceAllUsesWith(call->getResult(0));
    for (Operation *op : llvm::reverse(chain))
      op->erase();
  }

  Operation *product;
  /// The product and its epilogue.
  SmallVector<Operation *, 3> chain;
  Value x, w, bias;
  bool isTransposed;
  int64_t workspaceBytes;
  const Writes &writes;
  Prover prover;
  Type element;
  SymExprAttr depth, columns;
  Activation activation = None;
};

struct DispatchCublasLt
    : relax::impl::DispatchCublasLtPassBase<DispatchCublasLt> {
  using DispatchCublasLtPassBase::DispatchCublasLtPassBase;

  void runOnOperation() override {
    SymbolTable table(getOperation());
    Writes writes(getOperation());
    for (FuncOp function : llvm::to_vector(getOperation().getOps<FuncOp>()))
      if (!function.isExternal() && !function->hasAttr(notes::kPrimitive))
        run(function, table, writes);
  }

private:
  /// Calls `fn` for each product that the library supports.
  void forEachProduct(FuncOp function, const Writes &writes,
                      function_ref<void(ProductDispatch &)> fn) const {
    SmallVector<Operation *> products;
    function.walk([&](Operation *op) {
      if (isa<LinearOp, MatmulOp>(op))
        products.push_back(op);
    });
    for (Operation *product : products)
      if (ProductDispatch dispatch(product, workspaceBytes, writes);
          dispatch.fits())
        fn(dispatch);
  }

  void run(FuncOp function, SymbolTable &table, const Writes &writes) const {
    // The number of rows to test at run time, and how many products depend on
    // it.
    using Decision = std::pair<SymExprAttr, int64_t>;
    llvm::MapVector<Decision, unsigned> open;
    forEachProduct(function, writes, [&](ProductDispatch &product) {
      Truth isFaster = onlyWhereFaster ? product.hasManyRows() : Truth::Yes;
      if (isFaster == Truth::Yes)
        product.dispatch();
      else if (isFaster == Truth::Unknown)
        ++open[{product.getRows(), product.getLeast()}];
    });
    DenseSet<StringAttr> symbols;
    function.walkParameterSymbols(
        [&](StringAttr name) { symbols.insert(name); });
    Decision decision;
    unsigned most = 0;
    for (auto &[candidate, count] : open) {
      bool isVisible = true;
      candidate.first.walkSymbols(
          [&](StringAttr name) { isVisible &= symbols.contains(name); });
      if (isVisible && count > most) {
        decision = candidate;
        most = count;
      }
    }
    if (!most)
      return;
    FuncOp many =
        makeVersions(function, decision.first, decision.second, table);
    forEachProduct(many, writes, [&](ProductDispatch &product) {
      if (Decision(product.getRows(), product.getLeast()) == decision)
        product.dispatch();
    });
  }
};

} // namespace
