//===- KernelModule.cpp - capabilities and memory model -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines the capabilities that a kernel requires, its entry point, and its
// memory model.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

#include <set>

using namespace mlir;
using namespace mlir::relax;

/// Whether a module computes with floats of a width.
static bool usesFloats(spirv::ModuleOp module, unsigned width) {
  WalkResult walk = module.walk([&](Operation *op) {
    return llvm::any_of(op->getResultTypes(),
                        [&](Type type) {
                          Type element = getElementTypeOrSelf(type);
                          return isa<FloatType>(element) && !element.isBF16() &&
                                 element.getIntOrFloatBitWidth() == width;
                        })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// The capabilities that a module requires, derived from its types.
static SmallVector<spirv::Capability> findCapabilities(spirv::ModuleOp module) {
  using spirv::Capability;
  std::set<Capability> found = {Capability::Shader};
  if (module.getAddressingModel() != spirv::AddressingModel::Logical)
    found.insert(Capability::PhysicalStorageBufferAddresses);
  auto see = [&](Type type, bool inMemory) {
    Type element = getElementTypeOrSelf(type);
    if (element.isInteger(8))
      found.insert(Capability::Int8);
    if (element.isInteger(64))
      found.insert(Capability::Int64);
    if (element.isInteger(16))
      found.insert(Capability::Int16);
    if (element.isF16())
      found.insert(Capability::Float16);
    if (element.isF64())
      found.insert(Capability::Float64);
    if (inMemory && element.isInteger(8))
      found.insert(Capability::StorageBuffer8BitAccess);
    if (inMemory && (element.isInteger(16) || element.isF16()))
      found.insert(Capability::StorageBuffer16BitAccess);
  };
  if (usesFloats(module, 16) || usesFloats(module, 32) ||
      usesFloats(module, 64))
    found.insert(Capability::SignedZeroInfNanPreserve);
  module.walk([&](Operation *op) {
    if (isa<spirv::GroupNonUniformShuffleOp,
            spirv::GroupNonUniformShuffleXorOp>(op)) {
      found.insert(Capability::GroupNonUniform);
      found.insert(Capability::GroupNonUniformShuffle);
    }
    for (Type type : op->getResultTypes()) {
      if (auto matrix = dyn_cast<spirv::CooperativeMatrixType>(type)) {
        found.insert(Capability::CooperativeMatrixKHR);
        found.insert(Capability::VulkanMemoryModel);
        if (matrix.getElementType().isBF16())
          found.insert(Capability::BFloat16CooperativeMatrixKHR);
      }
      bool inMemory = false;
      if (auto pointer = dyn_cast<spirv::PointerType>(type)) {
        inMemory =
            llvm::is_contained({spirv::StorageClass::PhysicalStorageBuffer,
                                spirv::StorageClass::StorageBuffer},
                               pointer.getStorageClass());
        type = pointer.getPointeeType();
      }
      if (auto array = dyn_cast<spirv::ArrayType>(type))
        type = array.getElementType();
      see(type, inMemory);
    }
  });
  return llvm::to_vector(found);
}

/// Vulkan's memory model: makes writes to shared memory visible to other
/// threads of the block and, with `amongBlocks`, writes to device memory
/// visible to other blocks.
static void shareMemory(spirv::ModuleOp module, bool amongBlocks) {
  auto isShared = [&](Value pointer) {
    auto where = cast<spirv::PointerType>(pointer.getType()).getStorageClass();
    return where == spirv::StorageClass::Workgroup ||
           (amongBlocks && where == spirv::StorageClass::PhysicalStorageBuffer);
  };
  auto shared = spirv::MemoryAccessAttr::get(
      module.getContext(), spirv::MemoryAccess::NonPrivatePointer);
  auto share = [&](auto access) {
    access.setMemoryAccess(
        access.getMemoryAccess().value_or(spirv::MemoryAccess::None) |
        spirv::MemoryAccess::NonPrivatePointer);
  };
  auto seen = spirv::MemorySemantics::MakeAvailable |
              spirv::MemorySemantics::MakeVisible;
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<spirv::LoadOp>(op)) {
      if (isShared(load.getPtr()))
        share(load);
    } else if (auto store = dyn_cast<spirv::StoreOp>(op)) {
      if (isShared(store.getPtr()))
        share(store);
    } else if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op)) {
      load.setMemoryOperandAttr(shared);
    } else if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op)) {
      store.setMemoryOperandAttr(shared);
    } else if (auto barrier = dyn_cast<spirv::ControlBarrierOp>(op)) {
      barrier.setMemorySemantics(barrier.getMemorySemantics() | seen);
    }
  });
}

void KernelEmitter::finish(StringRef entry) {
  MLIRContext *context = builder.getContext();
  SmallVector<spirv::Capability> capabilities = findCapabilities(module);
  SmallVector<spirv::Extension> extensions;
  if (words.waits()) {
    capabilities.push_back(spirv::Capability::VulkanMemoryModel);
    capabilities.push_back(spirv::Capability::VulkanMemoryModelDeviceScope);
  }
  if (hasMatrices)
    extensions.push_back(spirv::Extension::SPV_KHR_cooperative_matrix);
  if (llvm::is_contained(capabilities,
                         spirv::Capability::BFloat16CooperativeMatrixKHR)) {
    capabilities.push_back(spirv::Capability::BFloat16TypeKHR);
    extensions.push_back(spirv::Extension::SPV_KHR_bfloat16);
  }
  module.setVceTripleAttr(spirv::VerCapExtAttr::get(
      hasMatrices ? spirv::Version::V_1_6 : spirv::Version::V_1_5, capabilities,
      extensions, context));
  if (hasMatrices || words.waits()) {
    module.setMemoryModel(spirv::MemoryModel::Vulkan);
    shareMemory(module, words.waits());
  }
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Attribute> interface;
  for (auto variable : module.getOps<spirv::GlobalVariableOp>())
    interface.push_back(FlatSymbolRefAttr::get(variable));
  spirv::EntryPointOp::create(builder, spirv::ExecutionModel::GLCompute,
                              function, interface);
  SmallVector<int32_t> sizes =
      llvm::to_vector(kernel.getKnownBlockSizeAttr().asArrayRef());
  spirv::ExecutionModeOp::create(builder, function,
                                 spirv::ExecutionMode::LocalSize, sizes);
  // Preserve infinities, NaN and signed zeros as in IEEE 754.
  for (int32_t width : {16, 32, 64})
    if (usesFloats(module, width))
      spirv::ExecutionModeOp::create(
          builder, function, spirv::ExecutionMode::SignedZeroInfNanPreserve,
          width);
}
