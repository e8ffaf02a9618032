//===- OutlineConstants.cpp - moves constants of kernels to globals -------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/Passes.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::relax {
#define GEN_PASS_DEF_OUTLINECONSTANTSPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct OutlineConstants
    : relax::impl::OutlineConstantsPassBase<OutlineConstants> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    DenseMap<Attribute, memref::GlobalOp> globals;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      kernel.walk([&](arith::ConstantOp constant) {
        auto type = dyn_cast<RankedTensorType>(constant.getType());
        if (type && !type.getEncoding())
          outline(constant, type, symbols, globals);
      });
  }

  void outline(arith::ConstantOp constant, RankedTensorType type,
               SymbolTable &symbols,
               DenseMap<Attribute, memref::GlobalOp> &globals) {
    OpBuilder builder(constant);
    // LLVM has no 8-bit floats; as bytes, both formats become the same type.
    auto elements = cast<ElementsAttr>(constant.getValue());
    Type element = type.getElementType();
    if (auto dense = dyn_cast<DenseElementsAttr>(elements);
        dense && isa<FloatType>(element) && type.getElementTypeBitWidth() == 8)
      elements = dense.bitcast(builder.getI8Type());
    auto bufferType =
        MemRefType::get(type.getShape(), elements.getElementType());
    memref::GlobalOp &global = globals[elements];
    if (!global) {
      OpBuilder detached(&getContext());
      global = memref::GlobalOp::create(
          detached, constant.getLoc(), "constant",
          builder.getStringAttr("private"), bufferType, elements,
          /*constant=*/true, builder.getI64IntegerAttr(64));
      symbols.insert(global, getOperation().getBody()->begin());
    }
    Value buffer = memref::GetGlobalOp::create(builder, constant.getLoc(),
                                               bufferType, global.getSymName());
    if (bufferType.getElementType() != element)
      buffer =
          UnrealizedConversionCastOp::create(builder, constant.getLoc(),
                                             bufferType.clone(element), buffer)
              .getResult(0);
    auto tensor = bufferization::ToTensorOp::create(
        builder, constant.getLoc(), type, buffer, /*restrict=*/true,
        /*writable=*/false);
    constant.replaceAllUsesWith(tensor.getResult());
    constant.erase();
  }
};

} // namespace
