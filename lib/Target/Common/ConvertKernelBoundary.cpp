//===- ConvertKernelBoundary.cpp - buffers at kernel boundaries -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/ConvertKernelBoundary.h"

#include "Relax/Ops/Call.h"
#include "Target/Common/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CONVERTKERNELBOUNDARYPASS
#include "Target/Common/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static MemRefType bufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Whether a function is a kernel in tensor form: after the inputs, it has one
/// destination per result. Other functions, such as scalar helpers, are left
/// alone.
static bool isKernel(func::FuncOp function) {
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  return llvm::any_of(function.getArgumentTypes(), isTensor) &&
         llvm::all_of(function.getResultTypes(), isTensor) &&
         llvm::count_if(function.getArgumentTypes(), isTensor) >=
             function.getNumResults();
}

static void convert(func::FuncOp kernel, ArrayRef<int64_t> destinations) {
  if (!isKernel(kernel))
    return;
  if (kernel.isExternal()) {
    // Only the type of a declaration changes.
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
  auto trailing = llvm::to_vector(llvm::seq<int64_t>(
      buffers.size() - kernel.getNumResults(), buffers.size()));
  if (destinations.empty())
    destinations = trailing;
  for (auto [index, argument] : llvm::enumerate(buffers)) {
    auto type = cast<RankedTensorType>(argument.getType());
    argument.setType(bufferType(type));
    auto tensor = bufferization::ToTensorOp::create(
        builder, loc, type, argument, /*restrict=*/true,
        /*writable=*/llvm::is_contained(destinations, index));
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  Operation *terminator = entry.getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [result, index] :
       llvm::zip_equal(terminator->getOperands(), destinations))
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, TypeRange(), result, buffers[index], /*restrict=*/true,
        /*writable=*/true);
  terminator->setOperands({});
  kernel.removeResAttrsAttr();
  kernel.setType(
      FunctionType::get(kernel.getContext(), entry.getArgumentTypes(), {}));
}

/// The operands that receive the results of each kernel. The destinations of a
/// kernel are fixed, so all calls must agree.
static FailureOr<llvm::StringMap<SmallVector<int64_t>>>
findDestinations(ModuleOp module) {
  llvm::StringMap<SmallVector<int64_t>> found;
  WalkResult walked = module.walk([&](CallTIRInplaceOp call) {
    SmallVector<int64_t> indices(call.getInplaceIndices());
    int64_t next = call.getOperands().size();
    for (int64_t &index : indices)
      if (index < 0) // a separate destination after the operands
        index = next++;
    auto [known, isNew] = found.try_emplace(call.getCallee(), indices);
    if (isNew || known->second == indices)
      return WalkResult::advance();
    call.emitOpError() << "leaves the results of '" << call.getCallee()
                       << "' in operands [" << indices
                       << "], and another call in [" << known->second
                       << "]; call a copy of the kernel";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  return found;
}

/// Whether code can store elements of a type in memory. Other types are
/// rejected here: some crash MLIR's memory lowerings, and elements of 2 to 7
/// bits would be laid out differently in vectors and in arrays.
static bool canHold(Type element) {
  if (isa<IntegerType>(element))
    return llvm::is_contained({1, 8, 16, 32, 64},
                              element.getIntOrFloatBitWidth());
  if (isa<FloatType>(element))
    return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
               Float8E4M3FNType, Float8E5M2Type>(element);
  return !isa<ComplexType>(element);
}

LogicalResult relax::checkElementTypes(ModuleOp module) {
  auto check = [](Operation *op, Location loc, Type type) -> LogicalResult {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || canHold(shaped.getElementType()))
      return success();
    return emitError(loc)
           << "'" << op->getName() << "' has a value of type " << type
           << ", and there is no code for elements of type "
           << shaped.getElementType()
           << "; expected i1, i8, i16, i32, i64 or their unsigned forms, f16, "
              "bf16, f32, f64, f8E4M3FN or f8E5M2";
  };
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op, op->getLoc(), type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(op, argument.getLoc(), argument.getType())))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult relax::convertKernelBoundaries(ModuleOp module) {
  if (failed(checkElementTypes(module)))
    return failure();
  auto destinations = findDestinations(module);
  if (failed(destinations))
    return failure();
  for (auto kernel : module.getOps<func::FuncOp>())
    convert(kernel, destinations->lookup(kernel.getName()));
  return success();
}

namespace {

struct ConvertKernelBoundary
    : relax::impl::ConvertKernelBoundaryPassBase<ConvertKernelBoundary> {
  void runOnOperation() override {
    if (failed(convertKernelBoundaries(getOperation())))
      signalPassFailure();
  }
};

} // namespace
