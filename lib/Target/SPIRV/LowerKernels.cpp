//===- LowerKernels.cpp - GPU kernels to SPIR-V for Vulkan ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"
#include "Target/SPIRV/Image.h"
#include "Target/SPIRV/KernelEmitter.h"
#include "Target/SPIRV/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "Target/SPIRV/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

/// Expands copies to loops over the elements.
static void expandCopies(gpu::GPUFuncOp kernel) {
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    OpBuilder builder(copy);
    Location loc = copy.getLoc();
    int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    SmallVector<Value> zeros(rank, zero), ones(rank, one), sizes;
    for (int64_t dim = 0; dim < rank; ++dim)
      sizes.push_back(builder.createOrFold<memref::DimOp>(
          loc, copy.getSource(),
          arith::ConstantIndexOp::create(builder, loc, dim)));
    scf::buildLoopNest(builder, loc, zeros, sizes, ones,
                       [&](OpBuilder &inner, Location at, ValueRange indices) {
                         Value element = memref::LoadOp::create(
                             inner, at, copy.getSource(), indices);
                         memref::StoreOp::create(inner, at, element,
                                                 copy.getTarget(), indices);
                       });
    copy.erase();
  }
}

/// Turns parallel loops, which a single thread runs here, into sequential
/// loops.
static LogicalResult expandParallelLoops(gpu::GPUFuncOp kernel) {
  SmallVector<scf::ParallelOp> loops;
  kernel.walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
  IRRewriter rewriter(kernel.getContext());
  for (scf::ParallelOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (failed(scf::parallelForToNestedFors(rewriter, loop)))
      return failure();
  }
  return success();
}

/// Expands `scf.index_switch` to branches.
static void expandSwitches(gpu::GPUFuncOp kernel) {
  SmallVector<scf::IndexSwitchOp> switches;
  kernel.walk([&](scf::IndexSwitchOp op) { switches.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (scf::IndexSwitchOp op : switches) {
    Location loc = op.getLoc();
    auto moveInto = [&](Region &from, Block *into) {
      if (!into->empty())
        rewriter.eraseOp(into->getTerminator());
      rewriter.mergeBlocks(&from.front(), into);
    };
    // Process the last case first, so that each branch encloses the later ones.
    rewriter.setInsertionPoint(op);
    scf::IfOp outermost;
    for (auto [number, region] :
         llvm::zip(op.getCases(), op.getCaseRegions())) {
      Value isCase = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, op.getArg(),
          arith::ConstantIndexOp::create(rewriter, loc, number));
      auto branch = scf::IfOp::create(rewriter, loc, op.getResultTypes(),
                                      isCase, /*withElseRegion=*/true);
      moveInto(region, branch.thenBlock());
      if (outermost)
        scf::YieldOp::create(rewriter, loc, branch.getResults());
      else
        outermost = branch;
      if (Block *otherwise = branch.elseBlock(); !otherwise->empty())
        rewriter.eraseOp(otherwise->getTerminator());
      rewriter.setInsertionPointToEnd(branch.elseBlock());
    }
    if (!outermost) {
      Operation *yield = op.getDefaultRegion().front().getTerminator();
      SmallVector<Value> results(yield->getOperands());
      rewriter.eraseOp(yield);
      rewriter.inlineBlockBefore(&op.getDefaultRegion().front(), op);
      rewriter.replaceOp(op, results);
      continue;
    }
    rewriter.mergeBlocks(&op.getDefaultRegion().front(),
                         rewriter.getInsertionBlock());
    rewriter.replaceOp(op, outermost);
  }
}

namespace {

struct LowerKernels : relax::impl::LowerKernelsPassBase<LowerKernels> {
  using LowerKernelsPassBase::LowerKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    constexpr int64_t kLeast = relax_rt::kWaitingWords + 1;
    if (pushed < kLeast || pushed > relax_rt::kMostPushedWords) {
      module.emitError("expected from ")
          << kLeast << " to " << relax_rt::kMostPushedWords
          << " words that are pushed, got " << pushed.getValue();
      return signalPassFailure();
    }
    SmallVector<gpu::GPUFuncOp> kernels;
    module.walk([&](gpu::GPUFuncOp kernel) { kernels.push_back(kernel); });
    Builder builder(&getContext());
    for (gpu::GPUFuncOp kernel : kernels) {
      expandCopies(kernel);
      expandSwitches(kernel);
      if (failed(expandParallelLoops(kernel))) {
        kernel.emitOpError("has a parallel loop with results, which cannot be "
                           "lowered to SPIR-V; use scf.for");
        return signalPassFailure();
      }
      KernelEmitter emitter(kernel, bound, narrow, pushed);
      FailureOr<spirv::ModuleOp> made =
          emitter.emit(module.getBody(), getSPIRVName(kernel.getName()));
      if (failed(made))
        return signalPassFailure();
      (*made)->setAttr(
          kParametersAttr,
          builder.getDenseI64ArrayAttr(emitter.getWords().getParameters()));
      (*made)->setAttr(kBlockAttr,
                       builder.getDenseI64ArrayAttr({emitter.getSharedBytes(),
                                                     emitter.getThreads(),
                                                     emitter.getSubgroup()}));
      (*made)->setAttr(kPushedAttr,
                       builder.getDenseI64ArrayAttr(
                           {emitter.getWords().getHeadWords(), pushed}));
      if (auto strided =
              kernel->getAttrOfType<FlatSymbolRefAttr>(kGridStrideAttr))
        (*made)->setAttr(kGridStrideAttr,
                         FlatSymbolRefAttr::get(
                             &getContext(), getSPIRVName(strided.getValue())));
      if (narrow)
        (*made)->setAttr(kNarrowAttr, builder.getDenseI64ArrayAttr(
                                          emitter.getWords().getNarrow()));
      if (bound || narrow)
        (*made)->setAttr(kBindingsAttr, builder.getDenseI64ArrayAttr(
                                            emitter.getWords().getBindings()));
    }
  }
};

} // namespace
