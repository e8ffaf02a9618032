//===- KernelPattern.cpp - classification of kernels by loops -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/KernelPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::relax;
using linalg::LinalgOp;

StringRef relax::stringifyKernelPattern(KernelPattern pattern) {
  switch (pattern) {
  case KernelPattern::ElementWise:
    return "element_wise";
  case KernelPattern::Broadcast:
    return "broadcast";
  case KernelPattern::Injective:
    return "injective";
  case KernelPattern::Reduction:
    return "reduction";
  case KernelPattern::OutEwiseFusible:
    return "out_ewise_fusible";
  case KernelPattern::Opaque:
    return "opaque";
  }
  llvm_unreachable("unknown kernel pattern");
}

//===----------------------------------------------------------------------===//
// One nest
//===----------------------------------------------------------------------===//

/// Classifies a read of a nest that writes at the permutation `write` of its
/// loops.
static KernelPattern compareRead(AffineMap read, AffineMap write) {
  if (read == write)
    return KernelPattern::ElementWise;
  // The read dimensions must be in the order in which they are written.
  int64_t last = -1;
  for (AffineExpr result : read.getResults()) {
    if (isa<AffineConstantExpr>(result))
      continue;
    std::optional<unsigned> position = isa<AffineDimExpr>(result)
                                           ? write.getResultPosition(result)
                                           : std::nullopt;
    if (!position || static_cast<int64_t>(*position) <= last)
      return KernelPattern::Injective;
    last = *position;
  }
  return KernelPattern::Broadcast;
}

/// Whether the body uses nothing but its arguments.
static bool readsOnlyArguments(Block &body) {
  return llvm::none_of(body, [](Operation &op) {
    return isa<tensor::ExtractOp>(op) || op.getNumRegions() != 0;
  });
}

static KernelPattern classifyParallel(LinalgOp op) {
  AffineMap write = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!write.isPermutation())
    return KernelPattern::Opaque;
  for (OpResult result : op->getResults())
    if (op.getIndexingMapMatchingResult(result) != write)
      return KernelPattern::Opaque;
  bool elementWise = op.getNumDpsInputs() == 0, broadcast = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<TensorType>(input->get().getType()))
      continue;
    switch (compareRead(op.getMatchingIndexingMap(input), write)) {
    case KernelPattern::ElementWise:
      elementWise = true;
      break;
    case KernelPattern::Broadcast:
      broadcast = true;
      break;
    default:
      return KernelPattern::Injective;
    }
  }
  if (!readsOnlyArguments(*op.getBlock()))
    return KernelPattern::Injective;
  return broadcast && !elementWise ? KernelPattern::Broadcast
                                   : KernelPattern::ElementWise;
}

/// The arguments of the body that `value` is computed from.
static llvm::SmallBitVector collectArguments(Value value, Block &body) {
  llvm::SmallBitVector found(body.getNumArguments());
  SmallVector<Value> worklist = {value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == &body)
        found.set(argument.getArgNumber());
    } else if (next.getParentBlock() == &body) {
      llvm::append_range(worklist, next.getDefiningOp()->getOperands());
    }
  }
  return found;
}

/// Whether the body adds a product of two different inputs to the output.
static bool isMultiplyAdd(LinalgOp op) {
  Block &body = *op.getBlock();
  if (op.getNumDpsInits() != 1)
    return false;
  Value yielded = body.getTerminator()->getOperand(0);
  Operation *add = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  unsigned output = body.getNumArguments() - 1;
  for (unsigned side : {0, 1}) {
    if (add->getOperand(side) != body.getArgument(output))
      continue;
    Operation *product = add->getOperand(1 - side).getDefiningOp();
    while (isa_and_nonnull<CastOpInterface>(product))
      product = product->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
      continue;
    llvm::SmallBitVector lhs = collectArguments(product->getOperand(0), body),
                         rhs = collectArguments(product->getOperand(1), body);
    if (lhs.any() && rhs.any() && !lhs.anyCommon(rhs) && !lhs.test(output) &&
        !rhs.test(output))
      return true;
  }
  return false;
}

static KernelPattern classifyNest(LinalgOp op) {
  if (op->getNumResults() == 0 || !op.getBlock())
    return KernelPattern::Opaque;
  if (op.getNumReductionLoops() == 0)
    return op.getNumLoops() == op.getNumParallelLoops() ? classifyParallel(op)
                                                        : KernelPattern::Opaque;
  return isMultiplyAdd(op) ? KernelPattern::OutEwiseFusible
                           : KernelPattern::Reduction;
}

//===----------------------------------------------------------------------===//
// A kernel
//===----------------------------------------------------------------------===//

/// Whether `op` creates values that are only overwritten or accumulated into.
static bool isInitialisation(Operation *op) {
  return isa<linalg::FillOp>(op) &&
         llvm::all_of(op->getResult(0).getUses(), [](OpOperand &use) {
           auto user = dyn_cast<LinalgOp>(use.getOwner());
           return user && user.isDpsInit(&use);
         });
}

/// Whether `op` computes no elements: sizes, scalars, casts, empty tensors.
static bool isScaffolding(Operation *op) {
  if (isa<tensor::EmptyOp, tensor::CastOp, tensor::DimOp, func::ReturnOp>(op))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::ConstantLike>() ||
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) &&
         !isa<tensor::ExtractOp>(op);
}

Value relax::lookThroughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// Whether a nest reads results of earlier nests, and only at the element that
/// it writes.
static bool isEpilogue(Operation *op) {
  auto nest = dyn_cast<LinalgOp>(op);
  if (!nest || classifyNest(nest) != KernelPattern::ElementWise)
    return false;
  AffineMap write = nest.getIndexingMapMatchingResult(nest->getResult(0));
  bool reads = false;
  for (OpOperand &init : nest.getDpsInitsMutable())
    reads |= nest.payloadUsesValueFromOperand(&init);
  for (OpOperand *input : nest.getDpsInputOperands()) {
    Operation *producer = lookThroughCasts(input->get()).getDefiningOp();
    if (!producer || isScaffolding(producer))
      continue;
    if (nest.getMatchingIndexingMap(input) != write)
      return false;
    reads = true;
  }
  return reads;
}

/// The kind of a kernel of kind `before` once `op`, of kind `kind`, is added.
static KernelPattern combine(KernelPattern before, KernelPattern kind,
                             Operation *op) {
  if (before <= KernelPattern::Injective)
    return std::max(before, kind);
  return isEpilogue(op) ? before : KernelPattern::Opaque;
}

KernelPattern relax::classifyKernel(func::FuncOp kernel) {
  // The body of a kernel on buffers is not analyzed.
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock() ||
      kernel.getNumResults() == 0)
    return KernelPattern::Opaque;
  std::optional<KernelPattern> kind;
  for (Operation &op : kernel.getBody().front()) {
    if (isScaffolding(&op) || isInitialisation(&op))
      continue;
    KernelPattern next = KernelPattern::Opaque;
    if (auto nest = dyn_cast<LinalgOp>(&op))
      next = classifyNest(nest);
    else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                 tensor::ExtractSliceOp, tensor::PadOp, tensor::ReshapeOp>(op))
      next = KernelPattern::Injective;
    kind = kind ? combine(*kind, next, &op) : next;
  }
  return kind.value_or(KernelPattern::Opaque);
}

//===----------------------------------------------------------------------===//
// Reads of a parameter
//===----------------------------------------------------------------------===//

/// Calls `fn` on each use of `value` other than for its size, looking through
/// casts between static and dynamic sizes.
static void walkElementUses(Value value, function_ref<void(OpOperand &)> fn) {
  for (OpOperand &use : value.getUses()) {
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()))
      walkElementUses(cast, fn);
    else if (!isa<tensor::DimOp>(use.getOwner()))
      fn(use);
  }
}

/// Orders reads from most to least precise.
static int getReadRank(KernelPattern read) {
  switch (read) {
  case KernelPattern::ElementWise:
    return 0;
  case KernelPattern::Injective:
    return 1;
  case KernelPattern::Broadcast:
    return 2;
  default:
    return 3;
  }
}

KernelPattern relax::classifyRead(func::FuncOp kernel, unsigned input) {
  if (kernel.isExternal())
    return KernelPattern::Opaque;
  KernelPattern kind = KernelPattern::ElementWise;
  walkElementUses(kernel.getArgument(input), [&](OpOperand &use) {
    auto nest = dyn_cast<LinalgOp>(use.getOwner());
    KernelPattern next = KernelPattern::Opaque;
    if (nest && nest.isDpsInput(&use) && nest->getNumResults() != 0) {
      AffineMap read = nest.getMatchingIndexingMap(&use);
      AffineMap write = nest.getIndexingMapMatchingResult(nest->getResult(0));
      if (read.isPermutation())
        next = read == write ? KernelPattern::ElementWise
                             : KernelPattern::Injective;
      else
        next = KernelPattern::Broadcast;
    }
    if (getReadRank(next) > getReadRank(kind))
      kind = next;
  });
  return kind;
}

bool relax::isContraction(LinalgOp op) {
  if (!op.getNumReductionLoops())
    return false;
  SmallVector<unsigned> loops;
  op.getParallelDims(loops);
  return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return llvm::any_of(loops, [&](unsigned loop) {
             return !map.isFunctionOfDim(loop);
           });
         }) > 1;
}

bool relax::isCheap(func::FuncOp kernel) {
  return !kernel
              .walk([](Operation *op) {
                Dialect *dialect = op->getDialect();
                if (isa<arith::DivFOp, arith::RemFOp>(op) ||
                    (dialect && dialect->getNamespace() == "math"))
                  return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The only nest of a kernel; null if the kernel has several nests or other
/// computations.
static LinalgOp getOnlyNest(func::FuncOp kernel) {
  LinalgOp only;
  for (Operation &op : kernel.getBody().front()) {
    if (isScaffolding(&op))
      continue;
    auto nest = dyn_cast<LinalgOp>(&op);
    if (!nest || only)
      return {};
    only = nest;
  }
  return only;
}

bool relax::canReuseInput(func::FuncOp kernel, unsigned input,
                          unsigned destination) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock() ||
      kernel.getNumResults() == 0)
    return false;
  LinalgOp nest = getOnlyNest(kernel);
  if (!nest || nest.getNumReductionLoops() != 0 ||
      !readsOnlyArguments(*nest.getBlock()))
    return false;
  AffineMap write;
  for (OpOperand &init : nest.getDpsInitsMutable())
    if (lookThroughCasts(init.get()) == kernel.getArgument(destination))
      write = nest.getMatchingIndexingMap(&init);
  if (!write || !write.isPermutation())
    return false;
  bool read = false, elsewhere = false;
  walkElementUses(kernel.getArgument(input), [&](OpOperand &use) {
    bool same = use.getOwner() == nest && nest.isDpsInput(&use) &&
                nest.getMatchingIndexingMap(&use) == write;
    (same ? read : elsewhere) = true;
  });
  return read && !elsewhere;
}
