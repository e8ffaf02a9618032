//===- EmulateLaunches.cpp - GPU kernels as host functions ----------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Common/HostBuilder.h"
#include "Target/GPU/Lowering/Emulated.h"
#include "Target/GPU/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::relax {
#define GEN_PASS_DEF_EMULATELAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

static constexpr StringLiteral prefix = "relax.emulated.";
/// Size of the static part of a block's shared memory (see test/emulator).
static constexpr int64_t staticSharedBytes = 48 << 10;

SmallVector<func::FuncOp> relax::getEmulatedKernels(ModuleOp module) {
  SmallVector<func::FuncOp> found;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getSymName().starts_with(prefix))
      found.push_back(function);
  return found;
}

int64_t relax::countEmulatedArguments(func::FuncOp function) {
  auto count = function->getAttrOfType<IntegerAttr>(kEmulatedArgumentsAttr);
  return count ? count.getInt() : 0;
}

StringRef relax::getEmulatedName(func::FuncOp function) {
  return function.getSymName().drop_front(prefix.size());
}

namespace {

struct EmulateLaunches : relax::impl::EmulateLaunchesPassBase<EmulateLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    HostBuilder host(module, /*device=*/2);
    builder = &host;
    for (auto device : llvm::to_vector(module.getOps<gpu::GPUModuleOp>())) {
      for (auto kernel : device.getOps<gpu::GPUFuncOp>())
        if (failed(emulate(kernel)))
          return signalPassFailure();
      // Keep the kernels, since launches refer to them by name; erase only
      // those without a body.
      for (auto kernel : llvm::to_vector(device.getOps<gpu::GPUFuncOp>()))
        if (kernel.getBody().empty())
          kernel.erase();
    }
  }

  LogicalResult emulate(gpu::GPUFuncOp kernel) {
    OpBuilder::InsertionGuard guard(*builder);
    builder->setLoc(kernel.getLoc());
    builder->setInsertionPointToEnd(getOperation().getBody());
    Type ptr = builder->pointer();
    auto body =
        func::FuncOp::create(*builder, (prefix + kernel.getName()).str(),
                             builder->getFunctionType({ptr}, {}));
    body.setPrivate();
    body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(
                                      &getContext(), LLVM::Linkage::Internal));
    Block *entry = body.addEntryBlock();
    builder->setInsertionPointToStart(entry);
    IRMapping mapping;
    int32_t next = 0;
    for (BlockArgument argument :
         kernel.getArguments().take_front(kernel.getNumArguments()))
      mapping.map(argument,
                  readArgument(body.getArgument(0), next, argument.getType()));
    body->setAttr(kEmulatedArgumentsAttr, builder->getI64IntegerAttr(next));
    int64_t offset = 0;
    for (BlockArgument shared : kernel.getWorkgroupAttributions()) {
      auto type = cast<MemRefType>(shared.getType());
      auto plain = MemRefType::get(type.getShape(), type.getElementType());
      Value data =
          builder->call("relax_emulator_shared", ptr, {builder->word(offset)});
      mapping.map(shared, builder->makeTensor(plain, data, data, {}));
      int64_t bytes = type.getNumElements() *
                      llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      offset += llvm::alignTo(bytes, 16);
    }
    if (!llvm::hasSingleElement(kernel.getBody()))
      return kernel.emitError("has several blocks");
    for (Operation &op : kernel.getBody().front().without_terminator())
      builder->clone(op, mapping);
    func::ReturnOp::create(*builder);
    WalkResult walk =
        body.walk([&](Operation *op) -> WalkResult { return replace(op); });
    return failure(walk.wasInterrupted());
  }

  /// Reads a kernel parameter from its expansion to LLVM types.
  Value readArgument(Value args, int32_t &next, Type type) {
    auto read = [&](Type word) -> Value {
      Value address =
          LLVM::GEPOp::create(*builder, builder->pointer(), builder->pointer(),
                              args, ArrayRef<LLVM::GEPArg>{next++});
      Value place = LLVM::LoadOp::create(*builder, builder->pointer(), address);
      return LLVM::LoadOp::create(*builder, word, place);
    };
    Type i64 = builder->getI64Type();
    if (type.isIndex())
      return builder->toIndex(read(i64));
    auto tensor = dyn_cast<MemRefType>(type);
    if (!tensor)
      return read(type);
    LLVMTypeConverter converter(&getContext());
    Value all = LLVM::PoisonOp::create(*builder, converter.convertType(type));
    MemRefDescriptor descriptor(all);
    Location loc = builder->getLoc();
    descriptor.setAllocatedPtr(*builder, loc, read(builder->pointer()));
    descriptor.setAlignedPtr(*builder, loc, read(builder->pointer()));
    descriptor.setOffset(*builder, loc, read(i64));
    for (int64_t i = 0; i < tensor.getRank(); ++i)
      descriptor.setSize(*builder, loc, i, read(i64));
    for (int64_t i = 0; i < tensor.getRank(); ++i)
      descriptor.setStride(*builder, loc, i, read(i64));
    return UnrealizedConversionCastOp::create(*builder, TypeRange(type),
                                              ValueRange(Value(descriptor)))
        .getResult(0);
  }

  WalkResult replace(Operation *op) {
    OpBuilder::InsertionGuard guard(*builder);
    builder->setInsertionPoint(op);
    builder->setLoc(op->getLoc());
    Type i32 = builder->getI32Type();
    auto id = [&](int64_t first, gpu::Dimension dimension) {
      Value word =
          builder->call("relax_emulator_id", builder->getI64Type(),
                        {number(first + static_cast<int64_t>(dimension))});
      op->getResult(0).replaceAllUsesWith(builder->toIndex(word));
      op->erase();
      return WalkResult::advance();
    };
    if (auto thread = dyn_cast<gpu::ThreadIdOp>(op))
      return id(0, thread.getDimension());
    if (auto block = dyn_cast<gpu::BlockIdOp>(op))
      return id(3, block.getDimension());
    if (auto size = dyn_cast<gpu::BlockDimOp>(op))
      return id(6, size.getDimension());
    if (auto size = dyn_cast<gpu::GridDimOp>(op))
      return id(9, size.getDimension());
    if (isa<gpu::BarrierOp>(op)) {
      builder->call("relax_emulator_barrier", {}, {});
      op->erase();
      return WalkResult::advance();
    }
    if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
      bool isXor = shuffle.getMode() == gpu::ShuffleMode::XOR;
      if (!shuffle.getValue().getType().isInteger(32) ||
          (!isXor && shuffle.getMode() != gpu::ShuffleMode::IDX) ||
          !shuffle.getValid().use_empty())
        return op->emitError("is not a shuffle that the emulator supports");
      Value result = builder->call(
          "relax_emulator_shuffle", i32,
          {shuffle.getValue(), shuffle.getOffset(), number(isXor ? 0 : 1)});
      shuffle.getShuffleResult().replaceAllUsesWith(result);
      op->erase();
      return WalkResult::advance();
    }
    if (auto view = dyn_cast<memref::ViewOp>(op))
      return viewShared(view);
    if (isa<gpu::DynamicSharedMemoryOp>(op))
      return WalkResult::advance(); // erased along with its views
    if (succeeded(replaceCopies(op)) || succeeded(replaceMatrices(op)))
      return WalkResult::advance();
    if (op->getDialect() &&
        llvm::is_contained({"gpu", "nvgpu", "nvvm"},
                           op->getDialect()->getNamespace()))
      return op->emitError("is not an op that the emulator supports");
    return WalkResult::advance();
  }

  /// Replaces a view of dynamic shared memory.
  WalkResult viewShared(memref::ViewOp view) {
    auto all = view.getSource().getDefiningOp<gpu::DynamicSharedMemoryOp>();
    if (!all)
      return WalkResult::advance();
    Value offset =
        arith::AddIOp::create(*builder, builder->toWord(view.getByteShift()),
                              builder->word(staticSharedBytes));
    Value data =
        builder->call("relax_emulator_shared", builder->pointer(), {offset});
    MemRefType type = view.getType();
    auto plain = MemRefType::get(type.getShape(), type.getElementType());
    view.replaceAllUsesWith(
        builder->makeTensor(plain, data, data, view.getSizes()));
    view.erase();
    if (all->use_empty())
      all.erase();
    return WalkResult::advance();
  }

  /// The address of an array element.
  Value addressOf(Value array, Value index) {
    auto type = cast<MemRefType>(array.getType());
    assert(type.getRank() == 1 && type.getLayout().isIdentity());
    Value data = builder->dataOf(array);
    return LLVM::GEPOp::create(
        *builder, builder->pointer(),
        builder->getIntegerType(type.getElementTypeBitWidth()), data,
        ArrayRef<LLVM::GEPArg>{builder->toWord(index)});
  }

  LogicalResult replaceCopies(Operation *op) {
    if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op)) {
      MemRefType type = cast<MemRefType>(copy.getSrc().getType());
      if (type.getRank() != 1 || copy.getDstIndices().size() != 1)
        return failure();
      int64_t size = type.getElementTypeBitWidth() / 8;
      Value bytes = builder->word(copy.getDstElements().getSExtValue() * size);
      Value valid = bytes;
      if (Value elements = copy.getSrcElements())
        valid = arith::MulIOp::create(*builder, builder->toWord(elements),
                                      builder->word(size));
      builder->call("relax_emulator_copy", {},
                    {addressOf(copy.getDst(), copy.getDstIndices().front()),
                     addressOf(copy.getSrc(), copy.getSrcIndices().front()),
                     bytes, valid});
    } else if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
      builder->call("relax_emulator_end_group", {}, {});
    } else if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
      builder->call("relax_emulator_wait", {}, {number(wait.getN())});
    } else {
      return failure();
    }
    op->erase();
    return success();
  }

  LogicalResult replaceMatrices(Operation *op) {
    Type i32 = builder->getI32Type();
    auto at = [&](Value words, int32_t index) {
      return LLVM::GEPOp::create(*builder, builder->pointer(), i32, words,
                                 ArrayRef<LLVM::GEPArg>{index});
    };
    if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op)) {
      auto type = cast<VectorType>(load.getRes().getType());
      if (load.getNumTiles() != 4 || load.getIndices().size() != 1)
        return failure();
      Value words = builder->allocateWords(2);
      builder->call("relax_emulator_load_matrices", {},
                    {addressOf(load.getSrcMemref(), load.getIndices().front()),
                     words, number(load.getTranspose())});
      Value loaded = LLVM::LoadOp::create(
          *builder, VectorType::get(8, type.getElementType()), words,
          /*alignment=*/8);
      load.getRes().replaceAllUsesWith(
          vector::ShapeCastOp::create(*builder, type, loaded));
      load.erase();
      return success();
    }
    auto multiply = dyn_cast<NVVM::MmaOp>(op);
    if (!multiply || multiply.getOperandA().size() != 4 ||
        multiply.getOperandB().size() != 2 ||
        multiply.getOperandC().size() != 4)
      return failure();
    Value words = builder->allocateWords(5);
    int32_t next = 0;
    for (Value operand : multiply->getOperands())
      LLVM::StoreOp::create(*builder, operand, at(words, next++));
    bool isBF16 = multiply.getMultiplicandAPtxType() == NVVM::MMATypes::bf16;
    builder->call("relax_emulator_multiply", {}, {words, number(isBF16)});
    Value all =
        LLVM::PoisonOp::create(*builder, multiply.getResult().getType());
    for (int64_t i = 0; i < 4; ++i) {
      Value sum = LLVM::LoadOp::create(*builder, builder->getF32Type(),
                                       at(words, 6 + i));
      all = LLVM::InsertValueOp::create(*builder, all, sum, i);
    }
    multiply.getResult().replaceAllUsesWith(all);
    multiply.erase();
    return success();
  }

  Value number(int64_t value) {
    return LLVM::ConstantOp::create(*builder, builder->getI32Type(), value);
  }

  HostBuilder *builder = nullptr;
};

} // namespace
