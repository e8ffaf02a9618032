//===- Legalize.cpp - lower graph ops to calls of kernels -----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op, in order:
//
//   1. name the unknown `?` dimensions of operands, tensors and shapes alike,
//      with symbols from a match_cast, and deduce the op's result types again;
//   2. build the kernel, as the op's family registered it (Registry.h);
//   3. reuse an equal kernel, compared by its text, in which symbols are
//      numbered;
//   4. check the conditions on sizes, and call the kernel.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Index.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Ops/Memory.h"
#include "Relax/Ops/Slice.h"
#include "Relax/Ops/SplatFold.h"
#include "Relax/Rules.h"
#include "Transforms/Legalize/Counting.h"
#include "Transforms/Legalize/FreshSymbols.h"
#include "Transforms/Legalize/Indices.h"
#include "Transforms/Legalize/ParallelLoops.h"
#include "Transforms/Legalize/Passes.h"
#include "Transforms/Legalize/PurityLoss.h"
#include "Transforms/Legalize/Registry.h"
#include "Transforms/Legalize/SizeChecks.h"
#include "Transforms/Shapes/RewriteSymbols.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LEGALIZEPASS
#include "Transforms/Legalize/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The kernels of a module, uniqued by their text.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : table(module) {}

  /// Adds a kernel, or finds an equal one.
  FlatSymbolRefAttr add(func::FuncOp kernel) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    kernel->print(stream, OpPrintingFlags().useLocalScope());
    auto [it, inserted] = byText.try_emplace(text, kernel);
    if (inserted)
      table.insert(kernel);
    else
      kernel.erase();
    return FlatSymbolRefAttr::get(it->second);
  }

private:
  SymbolTable table;
  llvm::StringMap<func::FuncOp> byText;
};

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

/// Ops that later stages handle.
bool isKept(Operation *op) {
  return isa<MatchCastOp, ShapeOfOp, ShapeOp, MakeShapeOp, DimOp, SymOp,
             ShapeToTensorOp, TensorToShapeOp, ConstantOp, TupleOp, GetOp,
             ReshapeOp>(op) ||
         isa<CallTIROp, CallTIRInplaceOp, CallLibraryOp, CallLibraryInplaceOp,
             CallOp, MakeClosureOp, CallClosureOp, ReturnOp>(op) ||
         isa<DataflowOp, OutputOp, YieldOp, IfOp, WhileOp, ConditionOp,
             AssertOp, CheckIndicesOp>(op) ||
         isa<AllocStorageOp, TensorFromStorageOp, KillOp>(op);
}

class FunctionLegalizer {
public:
  FunctionLegalizer(FuncOp function, const KernelRegistry &registry,
                    KernelTable &kernels, bool allowPartial, bool manyThreads)
      : function(function), registry(registry), kernels(kernels),
        allowPartial(allowPartial), manyThreads(manyThreads), fresh(function) {}

  LogicalResult run() {
    SmallVector<Operation *> worklist;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function && isa_and_nonnull<RelaxDialect>(op->getDialect()))
        worklist.push_back(op);
    });
    for (Operation *op : worklist)
      if (failed(visit(op)))
        return failure();
    return success();
  }
  bool hasGuards() const { return checks.any(); }

private:
  LogicalResult visit(Operation *op) {
    if (isa<ReshapeOp, FlattenOp, ExpandDimsOp, SqueezeOp>(op)) {
      toReshape(op);
      return success();
    }
    if (isKept(op))
      return success();
    const KernelRegistry::BuildFn *build = registry.lookup(op);
    if (!build && !isa<ToDeviceOp>(op))
      return refuse(op, "there is no kernel for this op");
    nameOperandDims(op);
    if (hasCountedSize(op) && failed(nameCountedDims(op)))
      return failure();
    nameSlicedDims(op);
    for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
      if (isa<UnrankedTensorType>(value.getType()))
        return refuse(op,
                      "the rank of each tensor must be known; state it with "
                      "relax.match_cast");
    for (Type type : op->getResultTypes())
      if (hasUnknownDims(type))
        return refuse(op, "each dimension of the result must be known before "
                          "it is computed");

    if (auto copy = dyn_cast<ToDeviceOp>(op)) {
      toLibrary(copy);
      return success();
    }
    if (isa<BroadcastToOp>(op))
      checks.addForResult(op, op->getResult(0).getType());
    KernelBuilder kernel(op, [&](Value operand) { return getNumber(operand); });
    if (failed((*build)(op, kernel)))
      return refuse(op, kernel.getReason());
    replace(op, kernel);
    return success();
  }

  /// Inserts the counting kernel and makes the counted sizes symbols.
  LogicalResult nameCountedDims(Operation *op) {
    if (!isa<RankedTensorType>(op->getOperand(0).getType()))
      return success(); // refused later
    OpBuilder builder(op);
    Location loc = op->getLoc();
    MLIRContext *context = op->getContext();
    SmallVector<Type> types;
    if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(
            context, loc, op->getOperands(), op->getAttrDictionary(),
            op->getPropertiesStorage(), op->getRegions(), types)))
      return failure();
    if (llvm::none_of(types, hasUnknownDims))
      return success();
    // A temporary op, not valid, that exists only to build its kernel.
    Counts counts = getCounts(op);
    int64_t total = counts.sizes + counts.errors;
    OperationState state(loc, op->getName(), op->getOperands(),
                         RankedTensorType::get({total}, builder.getI64Type()),
                         op->getAttrs());
    Operation *counter = builder.create(state);
    SymDims symbols;
    for (int64_t index = 0; index < total; ++index)
      symbols.push_back(fresh.make());
    auto shape = TensorToShapeOp::create(
        builder, loc, ShapeType::get(context, SymDims(total)),
        counter->getResult(0));
    MatchCastOp::create(builder, loc, ShapeType::get(context, symbols), shape);
    KernelBuilder kernel(counter,
                         [&](Value operand) { return getNumber(operand); });
    buildCount(counter, kernel, manyThreads);
    replace(counter, kernel);
    SymExprAttr zero = SymBuilder(context).constant(0);
    for (SymExprAttr error : ArrayRef(symbols).drop_front(counts.sizes))
      checks.add(op,
                 {{{arith::CmpIPredicate::eq, error, zero}}, counts.message},
                 /*shows=*/false);
    // The dimensions that deduction leaves open become the symbols, in order.
    for (Type &type : types) {
      auto tensor = cast<RankedTensorType>(type);
      SymDims dims = getSymDims(tensor);
      auto next = symbols.begin();
      for (SymExprAttr &dim : dims)
        if (!dim)
          dim = *next++;
      type = getTensorType(dims, tensor.getElementType());
    }
    nameResults(op, types);
    return success();
  }

  /// Refines the result types; users still see the old types through casts.
  void nameResults(Operation *op, ArrayRef<Type> types) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (auto [result, type] : llvm::zip(op->getResults(), types)) {
      if (type == result.getType())
        continue;
      auto coarse =
          MatchCastOp::create(builder, op->getLoc(), result.getType(), result);
      result.replaceAllUsesExcept(coarse.getResult(), coarse);
      result.setType(type);
    }
  }

  /// The sizes of slices that deduction leaves open, because they depend on
  /// signs that it cannot prove, are computed first and become symbols.
  void nameSlicedDims(Operation *op) {
    if (!isa<StridedSliceOp, SplitOp>(op) ||
        isa<UnrankedTensorType>(op->getOperand(0).getType()) ||
        llvm::none_of(op->getResultTypes(), hasUnknownDims))
      return;
    MLIRContext *context = op->getContext();
    SymBuilder math(context);
    SymDims values, symbols;
    SmallVector<Type> types;
    for (auto [result, exact] :
         llvm::zip(op->getResults(), getSlicedDims(op, math))) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        return; // refused later
      SymDims dims = getSymDims(type);
      for (auto [dim, value] : llvm::zip(dims, exact)) {
        if (dim)
          continue;
        values.push_back(value);
        dim = fresh.make();
        symbols.push_back(dim);
      }
      types.push_back(getTensorType(dims, type.getElementType()));
    }
    // Beyond 64 bits: refused later.
    if (math.failed() || types.size() != op->getNumResults())
      return;
    OpBuilder builder(op);
    auto shape =
        ShapeOp::create(builder, op->getLoc(), ShapeType::get(context, values),
                        ShapeAttr::get(context, values));
    MatchCastOp::create(builder, op->getLoc(), ShapeType::get(context, symbols),
                        shape);
    nameResults(op, types);
  }

  void replace(Operation *op, KernelBuilder &kernel) {
    SmallVector<Value> computed;
    for (auto [result, operand] :
         llvm::zip(op->getResults(), kernel.getForwarded())) {
      if (operand)
        result.replaceAllUsesWith(operand);
      else
        computed.push_back(result);
    }
    if (!computed.empty()) {
      func::FuncOp program = kernel.finish();
      OpBuilder builder(op);
      for (const Guard &guard : kernel.getGuards())
        checks.add(op, guard);
      ArrayRef<SymExprAttr> syms = kernel.getSymArguments();
      auto call = CallTIROp::create(builder, op->getLoc(),
                                    TypeRange(ValueRange(computed)),
                                    kernels.add(program), kernel.getArguments(),
                                    builder.getArrayAttr(SmallVector<Attribute>(
                                        syms.begin(), syms.end())));
      for (auto [from, to] : llvm::zip(computed, call.getResults())) {
        if (Attribute number = getSplat(from))
          numbers[to] = number;
        from.replaceAllUsesWith(to);
      }
    }
    op->erase();
  }

  LogicalResult refuse(Operation *op, StringRef reason) {
    if (allowPartial)
      return success();
    return op->emitOpError() << "cannot be turned into a kernel: " << reason;
  }

  /// The number that all elements equal, also if the op has been lowered
  /// already.
  Attribute getNumber(Value value) {
    auto it = numbers.find(value);
    return it != numbers.end() ? it->second : getSplat(value);
  }

  /// Gives symbols to unknown dimensions of operands, and to the result
  /// dimensions that follow from them.
  void nameOperandDims(Operation *op) {
    bool changed = false;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      // The shape operand of a reshape stays: the op checks it at run time.
      if (!hasUnknownDims(operand.get().getType()) ||
          (isa<ReshapeOp>(op) && isa<ShapeType>(operand.get().getType())))
        continue;
      Value &named = namedValues[operand.get()];
      // A symbol is visible where its cast dominates: in the same block.
      if (!named || named.getParentBlock() != op->getBlock())
        named = MatchCastOp::create(builder, op->getLoc(),
                                    fresh.nameDims(operand.get().getType()),
                                    operand.get());
      operand.set(named);
      changed = true;
    }
    auto inference = dyn_cast<InferTypeOpInterface>(op);
    SmallVector<Type> types;
    // This also holds if an operand got its symbols as the result of another
    // op.
    changed |= llvm::any_of(op->getResultTypes(), hasUnknownDims);
    if (!changed || !inference ||
        failed(inference.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return;
    builder.setInsertionPointAfter(op);
    for (auto [result, type] : llvm::zip(op->getResults(), types)) {
      Type coarse = result.getType();
      bool needsCast = isTypePinned(result) || saysMore(coarse, type);
      result.setType(type);
      if (needsCast && type != coarse) {
        auto cast = MatchCastOp::create(builder, op->getLoc(), coarse, result);
        result.replaceAllUsesExcept(cast.getResult(), cast);
      }
    }
  }

  /// Replaces an op that only changes the shape of its operand by a
  /// `relax.reshape` to the dimensions of its result, if they are known.
  void toReshape(Operation *op) {
    nameOperandDims(op);
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || !from || hasUnknownDims(type) || hasUnknownDims(from))
      return;
    OpBuilder builder(op);
    SymDims dims = getSymDims(type), fromDims = getSymDims(from);
    Prover prover(op->getContext(), SymbolFacts::at(op));
    SymBuilder math(op->getContext());
    auto requireEqual = [&](SymExprAttr lhs, SymExprAttr rhs, StringRef text) {
      if (lhs && rhs && !prover.provedEqual(lhs, rhs))
        checks.add(op, {{{arith::CmpIPredicate::eq, lhs, rhs}}, text.str()});
    };
    if (auto squeeze = dyn_cast<SqueezeOp>(op))
      for (int64_t axis : squeeze.getAxis().value_or(ArrayRef<int64_t>()))
        requireEqual(fromDims[axis < 0 ? axis + fromDims.size() : axis],
                     math.constant(1), "squeezed dimensions must be 1");
    if (isa<ReshapeOp>(op)) {
      checks.addForResult(op, type);
      requireEqual(countElements(math, fromDims), countElements(math, dims),
                   "reshape must keep the number of elements");
    }
    auto reshape = ReshapeOp::create(
        builder, op->getLoc(), type, op->getOperand(0), /*shape=*/Value(),
        builder.getArrayAttr(SmallVector<Attribute>(dims.begin(), dims.end())));
    op->replaceAllUsesWith(reshape);
    op->erase();
  }

  /// Replaces a copy by a call of the runtime's copy function.
  void toLibrary(ToDeviceOp op) {
    OpBuilder builder(op);
    auto call = CallLibraryOp::create(
        builder, op.getLoc(), TypeRange(op.getType()), kCopyFunction,
        ValueRange(op.getInput()), builder.getArrayAttr({}));
    call->setAttr(notes::kDevice, op.getPlaceAttr());
    op->replaceAllUsesWith(call);
    op->erase();
  }

  FuncOp function;
  const KernelRegistry &registry;
  KernelTable &kernels;
  bool allowPartial, manyThreads;
  FreshSymbols fresh;
  DenseMap<Value, Attribute> numbers;
  DenseMap<Value, Value> namedValues;
  SizeChecks checks;
};

struct Legalize : relax::impl::LegalizePassBase<Legalize> {
  using LegalizePassBase::LegalizePassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal()) {
        function.emitOpError()
            << "is code of the LLVM dialect: the module was lowered before; "
               "compile the program as it was before that, or a clone of it";
        return signalPassFailure();
      }
    KernelRegistry registry;
    populateElementwiseKernels(registry);
    populateCreateKernels(registry);
    populateLinearKernels(registry);
    populateNormalizationKernels(registry);
    populateAttentionKernels(registry);
    populateReductionKernels(registry, manyThreads);
    populateConvolutionKernels(registry);
    populatePoolingKernels(registry);
    populateManipulateKernels(registry);
    populateSliceKernels(registry);
    populateIndexKernels(registry);
    populateQuantizationKernels(registry);
    populateImageKernels(registry);
    populateSortKernels(registry);
    populateUniqueKernels(registry, manyThreads);
    if (manyThreads) {
      populateParallelSortKernels(registry);
      populateParallelScanKernels(registry);
      populateScatterKernels(registry, /*manyThreads=*/true);
    }
    KernelTable kernels(getOperation());
    SmallVector<FuncOp> guarded;
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (function.isExternal())
        continue;
      FunctionLegalizer legalizer(function, registry, kernels, allowPartial,
                                  manyThreads);
      if (failed(legalizer.run()))
        return signalPassFailure();
      if (legalizer.hasGuards())
        guarded.push_back(function);
    }
    PurityLoss purity(getOperation());
    for (FuncOp function : guarded)
      purity.apply(function);
  }
};

} // namespace
