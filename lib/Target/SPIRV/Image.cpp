//===- Image.cpp - SPIR-V in an object file -------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/Image.h"

#include "Runtime/Vulkan/VulkanImage.h"
#include "Target/GPU/Passes.h"
#include "mlir/Target/SPIRV/Serialization.h"

using namespace mlir;
using namespace mlir::relax;

static constexpr StringLiteral prefix = "spirv.";

std::string relax::getSPIRVName(StringRef kernel) {
  return (prefix + kernel).str();
}

SmallVector<spirv::ModuleOp> relax::getSPIRVKernels(ModuleOp module) {
  SmallVector<spirv::ModuleOp> found;
  for (auto kernel : module.getOps<spirv::ModuleOp>())
    if (kernel->hasAttr(kParametersAttr))
      found.push_back(kernel);
  return found;
}

/// MLIR has no OpAtomicLoad, so kernels contain a relaxed OpAtomicOr with zero,
/// which would serialize all threads that poll the same word. Replaces these by
/// OpAtomicLoad.
static void useAtomicLoads(SmallVectorImpl<uint32_t> &words) {
  constexpr uint32_t kConstant = 43, kAtomicLoad = 227, kAtomicOr = 241;
  constexpr size_t kHeader = 5;
  llvm::DenseSet<uint32_t> zeros;
  SmallVector<uint32_t, 0> made(words.begin(), words.begin() + kHeader);
  for (size_t at = kHeader; at < words.size();) {
    ArrayRef<uint32_t> op = ArrayRef(words).slice(at, words[at] >> 16);
    at += op.size();
    uint32_t code = op[0] & 0xffff;
    if (code == kConstant && op.size() == 4 && op[3] == 0)
      zeros.insert(op[2]);
    if (code != kAtomicOr || !zeros.contains(op[5]) || !zeros.contains(op[6])) {
      llvm::append_range(made, op);
      continue;
    }
    made.push_back((op.size() - 1) << 16 | kAtomicLoad);
    llvm::append_range(made, op.drop_front().drop_back());
  }
  words.assign(made.begin(), made.end());
}

LogicalResult relax::serializeKernel(spirv::ModuleOp kernel,
                                     SmallVectorImpl<uint32_t> &words) {
  if (failed(spirv::serialize(kernel, words)))
    return kernel.emitOpError("cannot be made into a SPIR-V binary");
  useAtomicLoads(words);
  return success();
}

FailureOr<LLVM::GlobalOp>
relax::makeSPIRVImage(ModuleOp module, HostBuilder &builder, int64_t &bytes) {
  struct Part {
    std::string name;
    LLVM::GlobalOp code;
    int64_t bytes;
    /// Shared memory in bytes, threads per block, and subgroup size.
    ArrayRef<int64_t> block;
    ArrayRef<int64_t> parameters;
    DenseI64ArrayAttr bindings; // null: no descriptors
    DenseI64ArrayAttr narrow;   // null: none
    /// Number of words before the parameters, and maximum number of push
    /// constants.
    ArrayRef<int64_t> pushed;
    int64_t strided;
  };
  SmallVector<Part> parts;
  SmallVector<spirv::ModuleOp> kernels = getSPIRVKernels(module);
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    SmallVector<uint32_t, 0> words;
    if (failed(serializeKernel(kernel, words)))
      return failure();
    StringRef text(reinterpret_cast<const char *>(words.data()),
                   words.size() * sizeof(uint32_t));
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
    LLVM::GlobalOp code =
        builder.global("relax.spirv", type, builder.getStringAttr(text),
                       /*constant=*/true);
    code.setAlignment(8);
    int64_t strided = 0;
    if (auto name = kernel->getAttrOfType<FlatSymbolRefAttr>(kGridStrideAttr)) {
      auto *found = llvm::find_if(kernels, [&](spirv::ModuleOp other) {
        return other.getSymName() == name.getValue();
      });
      if (found == kernels.end())
        return kernel.emitError("there is no kernel ") << name;
      strided = found - kernels.begin() - number;
    }
    parts.push_back(
        {kernel.getSymName()->drop_front(prefix.size()).str(), code,
         static_cast<int64_t>(text.size()),
         kernel->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr).asArrayRef(),
         kernel->getAttrOfType<DenseI64ArrayAttr>(kParametersAttr).asArrayRef(),
         kernel->getAttrOfType<DenseI64ArrayAttr>(kBindingsAttr),
         kernel->getAttrOfType<DenseI64ArrayAttr>(kNarrowAttr),
         kernel->getAttrOfType<DenseI64ArrayAttr>(kPushedAttr).asArrayRef(),
         strided});
  }
  auto wordsOf = [](DenseI64ArrayAttr words) {
    return words ? words.asArrayRef() : ArrayRef<int64_t>();
  };
  Type i64 = builder.getI64Type(), ptr = builder.pointer();
  SmallVector<Type> fields = {i64, i64};
  for (size_t i = 0; i < parts.size(); ++i)
    fields.append({ptr, ptr, i64, ptr, i64, i64, i64, i64, ptr, i64, ptr, i64,
                   i64, i64, i64});
  bytes = 8 * fields.size();
  return builder.record("relax.gpu_image", fields, [&] {
    SmallVector<Value> values = {
        builder.word(relax_rt::kVulkanImage),
        builder.word(static_cast<int64_t>(parts.size()))};
    for (Part &part : parts)
      llvm::append_range(
          values,
          ValueRange{builder.string(part.name), builder.addressOf(part.code),
                     builder.word(part.bytes), builder.words(part.parameters),
                     builder.word(part.parameters.size()),
                     builder.word(part.block[0]), builder.word(part.block[1]),
                     builder.word(part.block[2]),
                     builder.words(wordsOf(part.bindings)),
                     builder.word(part.bindings ? part.bindings.size() : -1),
                     builder.words(wordsOf(part.narrow)),
                     builder.word(wordsOf(part.narrow).size()),
                     builder.word(part.pushed[0]), builder.word(part.pushed[1]),
                     builder.word(part.strided)});
    return values;
  });
}
