//===- KernelWaits.cpp - kernels that wait for launches -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier between two dependent launches would drain the device before the
// second one starts. If a kernel waits itself instead, its blocks are already
// resident and have loaded data that nothing writes. Blocks of a launch
// increment a counter in memory when they finish, and blocks of the next launch
// poll it. At most as many blocks wait as are resident at a time, since many
// polling blocks slow each other down. Devices schedule the blocks of launches
// in order, so the blocks that are waited for are running or have finished. A
// block that waits too long reports this and continues.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

using namespace mlir;
using namespace mlir::relax;

/// Polls take up to a microsecond each, so this is at most about a minute.
static constexpr int64_t kMostLooks = 1 << 26;

Value KernelEmitter::isFirstThread() {
  auto which = spirv::BuiltIn::LocalInvocationIndex;
  Value number = read(global(
      spirv::stringifyBuiltIn(which),
      spirv::PointerType::get(builder.getI32Type(), spirv::StorageClass::Input),
      which));
  return spirv::IEqualOp::create(builder, number, word(0));
}

Value KernelEmitter::wordAt(Value address) {
  return spirv::ConvertUToPtrOp::create(
      builder,
      spirv::PointerType::get(builder.getI32Type(),
                              spirv::StorageClass::PhysicalStorageBuffer),
      address);
}

/// Writes of this block become visible to blocks that acquire them afterwards.
constexpr auto kRelease =
    spirv::MemorySemantics::Release | spirv::MemorySemantics::MakeAvailable;
constexpr auto kAcquire =
    spirv::MemorySemantics::Acquire | spirv::MemorySemantics::MakeVisible;

static void fence(OpBuilder &builder, Location loc,
                  spirv::MemorySemantics kind) {
  spirv::MemoryBarrierOp::create(builder, loc, spirv::Scope::Device,
                                 kind | spirv::MemorySemantics::UniformMemory);
}

LogicalResult KernelEmitter::emitWait(Operation *op) {
  if (isBound)
    return op->emitOpError(
        "waits for other launches by buffer addresses, which "
        "the device lacks");
  words.requestHead();
  Location loc = builder.getLoc();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value upper = spirv::ShiftRightLogicalOp::create(builder, i64, words.head(0),
                                                   index(32));
  Value awaited = spirv::UConvertOp::create(builder, i32, upper);
  Value counter = wordAt(words.head(2));
  SmallVector<Value> variables = makeVariables({i32, i32});
  Value looks = variables[0], last = variables[1];
  auto lookUntilAllCame = [&] {
    spirv::StoreOp::create(builder, looks, word(0));
    auto loop = spirv::LoopOp::create(builder, spirv::LoopControl::None);
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *merge, *next;
      beginLoop(loop, merge, next);
      // A plain load could forever return a value from the cache of the SM.
      Value came =
          spirv::AtomicOrOp::create(builder, i32, counter, spirv::Scope::Device,
                                    spirv::MemorySemantics::None, word(0));
      spirv::StoreOp::create(builder, last, came);
      Value count = read(looks);
      spirv::StoreOp::create(
          builder, looks, spirv::IAddOp::create(builder, i32, count, word(1)));
      Value goesOn = spirv::LogicalAndOp::create(
          builder, spirv::ULessThanOp::create(builder, came, awaited),
          spirv::ULessThanOp::create(builder, count, word(kMostLooks)));
      spirv::BranchConditionalOp::create(builder, goesOn, next, ValueRange(),
                                         merge, ValueRange());
    }
    fence(builder, loc, kAcquire);
    emitSelection(spirv::ULessThanOp::create(builder, read(last), awaited),
                  [&] {
                    spirv::StoreOp::create(
                        builder, wordAt(words.head(3)), word(1),
                        spirv::MemoryAccessAttr::get(
                            builder.getContext(), spirv::MemoryAccess::Aligned),
                        builder.getI32IntegerAttr(4));
                  });
  };
  emitSelection(spirv::INotEqualOp::create(builder, awaited, word(0)), [&] {
    emitSelection(isFirstThread(), lookUntilAllCame);
    waitForThreads();
  });
  return success();
}

void KernelEmitter::countBlock() {
  Location loc = builder.getLoc();
  Value address = words.head(1);
  emitSelection(spirv::INotEqualOp::create(builder, address, index(0)), [&] {
    waitForThreads();
    emitSelection(isFirstThread(), [&] {
      fence(builder, loc, kRelease);
      spirv::AtomicIAddOp::create(builder, builder.getI32Type(),
                                  wordAt(address), spirv::Scope::Device,
                                  spirv::MemorySemantics::None, word(1));
    });
  });
}
