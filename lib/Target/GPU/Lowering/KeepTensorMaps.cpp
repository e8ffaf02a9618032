//===- KeepTensorMaps.cpp - passes tensor maps by value -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::relax {
#define GEN_PASS_DEF_KEEPTENSORMAPSPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct KeepTensorMaps : relax::impl::KeepTensorMapsPassBase<KeepTensorMaps> {
  void runOnOperation() override {
    Builder builder(&getContext());
    Type map = LLVM::LLVMArrayType::get(builder.getI64Type(), tensorMapWords);
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto maps = dyn_cast_or_null<DenseI64ArrayAttr>(
          kernel->removeAttr(kTensorMapsAttr));
      for (int64_t at : maps ? maps.asArrayRef() : ArrayRef<int64_t>()) {
        kernel.setArgAttr(at, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(map));
        kernel.setArgAttr(at, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(64));
        kernel.setArgAttr(at, NVVM::NVVMDialect::getGridConstantAttrName(),
                          builder.getUnitAttr());
      }
    }
  }
};

} // namespace
