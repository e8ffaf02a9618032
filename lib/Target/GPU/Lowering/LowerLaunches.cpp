//===- LowerLaunches.cpp - launches to runtime calls ----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Lowering/DeviceImages.h"
#include "Target/GPU/Lowering/Emulated.h"
#include "Target/GPU/Passes.h"

#include "mlir/Conversion/LLVMCommon/StructBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERLAUNCHESPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

struct LowerLaunches : relax::impl::LowerLaunchesPassBase<LowerLaunches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    image = findDeviceImage(module);
    HostBuilder host(module, image ? image->device : kCUDA);
    builder = &host;
    LLVMTypeConverter converter(&getContext());
    types = &converter;
    module.walk([&](gpu::LaunchFuncOp launch) {
      if (auto function = launch->getParentOfType<func::FuncOp>())
        launching.insert(function);
    });
    for (func::FuncOp function : launching)
      allocateScratch(function);
    WalkResult walk = module.walk(
        [&](gpu::LaunchFuncOp launch) -> WalkResult { return lower(launch); });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (auto op : llvm::to_vector(module.getOps<gpu::GPUModuleOp>()))
      op.erase();
    for (auto op : llvm::to_vector(module.getOps<gpu::BinaryOp>()))
      op.erase();
    if (image)
      for (Operation *op : image->find(module))
        op->erase();
    for (func::FuncOp body : getEmulatedKernels(module))
      body->removeAttr(kEmulatedArgumentsAttr);
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

  /// Also allocates scratch memory whose size the callers cannot know on the
  /// device.
  void allocateScratch(func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::DeallocOp>(op))
        ops.push_back(op);
    });
    Type ptr = builder->pointer();
    for (Operation *op : ops) {
      builder->setLoc(op->getLoc());
      builder->setInsertionPoint(op);
      if (auto end = dyn_cast<memref::DeallocOp>(op)) {
        builder->call("relax_rt_release", {},
                      {builder->storageOf(end.getMemref())});
        op->erase();
        continue;
      }
      auto alloc = cast<memref::AllocOp>(op);
      MemRefType type = alloc.getType();
      unsigned bits =
          type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
      Value bytes = builder->word(llvm::divideCeil(bits, 8));
      SmallVector<Value> sizes;
      ValueRange dynamic = alloc.getDynamicSizes();
      for (int64_t size : type.getShape()) {
        sizes.push_back(ShapedType::isDynamic(size) ? dynamic.front()
                                                    : builder->index(size));
        if (ShapedType::isDynamic(size))
          dynamic = dynamic.drop_front();
        bytes =
            LLVM::MulOp::create(*builder, bytes, builder->toWord(sizes.back()));
      }
      Value storage = builder->call(
          "relax_rt_device_scratch", ptr,
          {bytes, builder->string(describeLocation(op->getLoc()))});
      op->getResult(0).replaceAllUsesWith(builder->makeTensor(
          type, storage, builder->storageData(storage), sizes));
      op->erase();
    }
  }

  /// Releases what the runtime keeps for a record when the module is unloaded.
  void unloadAtEnd(LLVM::GlobalOp record) {
    auto unload = getOperation().lookupSymbol<LLVM::LLVMFuncOp>("relax_unload");
    if (!unload)
      return;
    OpBuilder::InsertionGuard guard(*builder);
    builder->setInsertionPoint(unload.getBody().back().getTerminator());
    builder->unload(record);
  }

  /// Makes the image of a GPU module: its assembly, a table of host functions,
  /// or a device-specific image.
  FailureOr<LLVM::GlobalOp> makeImage(Operation *device, int64_t &bytes) {
    if (image)
      return image->make(getOperation(), *builder, bytes);
    if (auto binary = dyn_cast<gpu::BinaryOp>(device)) {
      if (binary.getObjects().size() != 1)
        return binary.emitError("must hold the code of one target");
      auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
      std::string text = object.getObject().getValue().str();
      if (text.empty() || text.back() != '\0')
        text.push_back('\0');
      bytes = text.size();
      return builder->global(
          "relax.gpu_image",
          LLVM::LLVMArrayType::get(builder->getI8Type(), bytes),
          builder->getStringAttr(text), /*constant=*/true);
    }
    // Format: "RELAXEM2", the number of kernels, then the name, function and
    // number of arguments of each.
    SmallVector<func::FuncOp> bodies = getEmulatedKernels(getOperation());
    Type i64 = builder->getI64Type(), ptr = builder->pointer();
    SmallVector<Type> fields = {i64, i64};
    for (size_t i = 0; i < bodies.size(); ++i)
      fields.append({ptr, ptr, i64});
    bytes = 8 * fields.size();
    return builder->record("relax.gpu_image", fields, [&] {
      int64_t magic;
      memcpy(&magic, "RELAXEM2", 8);
      SmallVector<Value> values = {
          builder->word(magic),
          builder->word(static_cast<int64_t>(bodies.size()))};
      for (func::FuncOp body : bodies) {
        values.push_back(builder->string(getEmulatedName(body)));
        values.push_back(builder->addressOfFunction(body));
        values.push_back(builder->word(countEmulatedArguments(body)));
      }
      return values;
    });
  }

  FailureOr<LLVM::GlobalOp> getModule(StringAttr name, Location loc) {
    LLVM::GlobalOp &known = modules[name];
    if (known)
      return known;
    Operation *device = SymbolTable::lookupSymbolIn(getOperation(), name);
    int64_t bytes = 0;
    auto made = makeImage(device, bytes);
    if (failed(made))
      return failure();
    Type ptr = builder->pointer(), i64 = builder->getI64Type();
    known = builder->record("relax.gpu_module", {ptr, i64, ptr}, [&] {
      return SmallVector<Value>{builder->addressOf(*made), builder->word(bytes),
                                builder->null()};
    });
    unloadAtEnd(known);
    return known;
  }

  LogicalResult lower(gpu::LaunchFuncOp launch) {
    builder->setLoc(launch.getLoc());
    builder->setInsertionPoint(launch);
    LLVM::GlobalOp &kernel = kernels[launch.getKernelAttr()];
    if (!kernel) {
      auto module = getModule(launch.getKernelModuleName(), launch.getLoc());
      if (failed(module))
        return failure();
      Type ptr = builder->pointer();
      kernel = builder->record("relax.gpu_kernel", {ptr, ptr, ptr}, [&] {
        return SmallVector<Value>{builder->addressOf(*module),
                                  builder->string(launch.getKernelName()),
                                  builder->null()};
      });
      unloadAtEnd(kernel);
    }
    // Store each argument in a separate word, and collect their addresses.
    SmallVector<Value> words;
    for (Value operand : launch.getKernelOperands())
      appendWords(operand, words);
    SmallVector<Operation *> maps;
    Value values = builder->allocateWords(words.size());
    Value args = builder->allocateWords(words.size());
    auto place = [&](Value base, size_t index) {
      return LLVM::GEPOp::create(
          *builder, builder->pointer(), builder->getI64Type(), base,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    };
    for (auto [index, word] : llvm::enumerate(words)) {
      if (Value map = makeTensorMap(word, launch.getLoc())) {
        LLVM::StoreOp::create(*builder, map, place(args, index));
        maps.push_back(word.getDefiningOp());
        continue;
      }
      Value slot = place(values, index);
      LLVM::StoreOp::create(*builder, word, slot);
      LLVM::StoreOp::create(*builder, slot, place(args, index));
    }
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
    gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
    Value shape = builder->allocateWords(8);
    SmallVector<Value> sizes = {grid.x,  grid.y,  grid.z,
                                block.x, block.y, block.z};
    for (auto [index, size] : llvm::enumerate(sizes))
      LLVM::StoreOp::create(*builder, builder->toWord(size),
                            place(shape, index));
    Value shared = builder->word(0);
    if (Value bytes = launch.getDynamicSharedMemorySize())
      shared = arith::ExtUIOp::create(*builder, builder->getI64Type(), bytes);
    LLVM::StoreOp::create(*builder, shared, place(shape, 6));
    LLVM::StoreOp::create(*builder,
                          builder->word(launch->hasAttr(kOverlapsAttr)),
                          place(shape, 7));
    builder->call("relax_rt_device_launch", {},
                  {builder->addressOf(kernel), shape, args,
                   builder->string(describeLocation(launch.getLoc()))});
    launch.erase();
    for (Operation *cast : maps) {
      Operation *map = cast->getOperand(0).getDefiningOp();
      cast->erase();
      if (map->use_empty())
        map->erase();
    }
    return success();
  }

  /// Creates the tensor map for an argument, in host memory; null for other
  /// arguments.
  Value makeTensorMap(Value argument, Location loc) {
    auto sourceOf = [](Value value) {
      auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
      return cast && cast->getNumOperands() == 1 ? cast->getOperand(0)
                                                 : Value();
    };
    Value map = sourceOf(argument);
    auto type = map ? dyn_cast<nvgpu::TensorMapDescriptorType>(map.getType())
                    : nvgpu::TensorMapDescriptorType();
    if (!type)
      return {};
    Value tensor = sourceOf(map);
    MemRefType box = type.getTensor();
    int64_t rank = box.getRank();
    SmallVector<Value> words = {builder->word(box.getElementType().isBF16()),
                                builder->word(rank)};
    for (int64_t i = 0; i < rank; ++i)
      words.push_back(builder->toWord(builder->dim(tensor, i)));
    for (int64_t size : box.getShape())
      words.push_back(builder->word(size));
    Value shape = builder->allocateWords(words.size());
    for (auto [index, word] : llvm::enumerate(words))
      LLVM::StoreOp::create(
          *builder, word,
          LLVM::GEPOp::create(
              *builder, builder->pointer(), builder->getI64Type(), shape,
              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)}));
    // Extra space for the alignment to 64 bytes.
    Value place = builder->allocateWords(tensorMapWords + 7);
    return builder->call("relax_rt_device_tensor_map", builder->pointer(),
                         {place, builder->dataOf(tensor), shape,
                          builder->string(describeLocation(loc))});
  }

  /// Appends the kernel parameters for a value, in LLVM types.
  void appendWords(Value operand, SmallVectorImpl<Value> &words) {
    Type type = types->convertType(operand.getType());
    Value value = operand;
    if (type != operand.getType())
      value = UnrealizedConversionCastOp::create(*builder, TypeRange(type),
                                                 ValueRange(operand))
                  .getResult(0);
    std::function<void(Value)> flatten = [&](Value part) {
      auto structure = dyn_cast<LLVM::LLVMStructType>(part.getType());
      auto array = dyn_cast<LLVM::LLVMArrayType>(part.getType());
      if (!structure && !array) {
        words.push_back(part);
        return;
      }
      int64_t count =
          structure ? structure.getBody().size() : array.getNumElements();
      for (int64_t i = 0; i < count; ++i)
        flatten(LLVM::ExtractValueOp::create(*builder, part, i));
    };
    flatten(value);
  }

  llvm::SetVector<func::FuncOp> launching;
  HostBuilder *builder = nullptr;
  LLVMTypeConverter *types = nullptr;
  const DeviceImage *image = nullptr; // null for PTX and host functions
  DenseMap<StringAttr, LLVM::GlobalOp> modules;
  DenseMap<Attribute, LLVM::GlobalOp> kernels;
};

} // namespace
