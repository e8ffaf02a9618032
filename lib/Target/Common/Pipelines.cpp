//===- Pipelines.cpp - lowers loops over memrefs to LLVM ------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::relax;

void relax::buildKernelToLLVMPipeline(OpPassManager &manager) {
  // The meaning of sizes is not needed from here on.
  manager.addNestedPass<func::FuncOp>(createEraseShapesPass());
  manager.addNestedPass<func::FuncOp>(createExpandSmallFloatsPass());
  manager.addNestedPass<func::FuncOp>(createApproximateMathPass());
  manager.addPass(createLibraryMathPass());
  OpPassManager &functions = manager.nest<func::FuncOp>();
  // Multi-dimensional vectors become rows.
  VectorTransferToSCFOptions unroll;
  functions.addPass(createConvertVectorToSCFPass(unroll.enableFullUnroll()));
  // Lower views to arithmetic on offsets.
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createSCFToControlFlowPass());
  // Lower each dialect to LLVM.
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  vectors.vectorContractLowering = vector::VectorContractLowering::OuterProduct;
  functions.addPass(createConvertVectorToLLVMPass(vectors));
  functions.addPass(arith::createArithExpandOpsPass());
  functions.addPass(createConvertMathToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void relax::registerRelaxCommonPipelines() {
  PassPipelineRegistration<>("relax-cpu-to-llvm",
                             "loops over memrefs to the LLVM dialect",
                             buildKernelToLLVMPipeline);
}
