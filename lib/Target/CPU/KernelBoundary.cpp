//===- KernelBoundary.cpp - kernels with buffers at their boundary --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/KernelBoundary.h"

#include "Target/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CONVERTKERNELBOUNDARYPASS
#include "Target/CPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static MemRefType bufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Whether a function is a kernel in tensor form: a destination for each
/// result, behind the inputs. Others, as a helper on numbers, are left alone.
static bool isKernel(func::FuncOp function) {
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  return llvm::any_of(function.getArgumentTypes(), isTensor) &&
         llvm::all_of(function.getResultTypes(), isTensor) &&
         llvm::count_if(function.getArgumentTypes(), isTensor) >=
             function.getNumResults();
}

void relax::convertKernelBoundary(func::FuncOp kernel) {
  if (!isKernel(kernel))
    return;
  if (kernel.isExternal()) {
    // Declarations change their type alone.
    auto types = llvm::map_to_vector(kernel.getArgumentTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor ? Type(bufferType(tensor)) : type;
    });
    kernel.removeResAttrsAttr();
    kernel.setType(FunctionType::get(kernel.getContext(), types, {}));
    return;
  }
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = kernel.getLoc();
  SmallVector<BlockArgument> buffers;
  for (BlockArgument argument : entry.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      buffers.push_back(argument);
  size_t numInputs = buffers.size() - kernel.getNumResults();
  for (auto [index, argument] : llvm::enumerate(buffers)) {
    auto type = cast<RankedTensorType>(argument.getType());
    argument.setType(bufferType(type));
    auto tensor = bufferization::ToTensorOp::create(
        builder, loc, type, argument, /*restrict=*/true,
        /*writable=*/index >= numInputs);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  Operation *terminator = entry.getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [result, buffer] :
       llvm::zip_equal(terminator->getOperands(),
                       ArrayRef<BlockArgument>(buffers).drop_front(numInputs)))
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, TypeRange(), result, buffer, /*restrict=*/true,
        /*writable=*/true);
  terminator->setOperands({});
  kernel.removeResAttrsAttr();
  kernel.setType(
      FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
}

namespace {

struct ConvertKernelBoundary
    : relax::impl::ConvertKernelBoundaryPassBase<ConvertKernelBoundary> {
  void runOnOperation() override { convertKernelBoundary(getOperation()); }
};

} // namespace
