//===- KernelWaits.cpp - launches that wait for one another in SPIR-V -----===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two launches of which one needs the other, a barrier in the list of
// commands lets the device run empty, and start anew. Where a kernel waits
// itself, its blocks are there already, and have read what nothing writes. The
// blocks of a launch count themselves in a word when they are done; those of
// the next look at it. Those who wait are no more than a device has at once, as
// many that look are in each other's way, and devices take the blocks of
// launches in order, so what is waited for runs, or has run. A block that waits
// too long says so all the same, and goes on.
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/KernelEmitter.h"

using namespace mlir;
using namespace mlir::relax;

/// Looks at a word of up to a microsecond each: a minute at most.
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

/// What this block has written is seen by those that acquire it afterwards.
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
  if (!waits)
    for (Operation *&place : head)
      place = makePlace();
  waits = true;
  Location loc = builder.getLoc();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value upper = spirv::ShiftRightLogicalOp::create(
      builder, i64, head[0]->getResult(0), index(32));
  Value awaited = spirv::UConvertOp::create(builder, i32, upper);
  Value counter = wordAt(head[2]->getResult(0));
  SmallVector<Value> variables = makeVariables({i32, i32});
  Value looks = variables[0], last = variables[1];
  auto lookUntilAllCame = [&] {
    spirv::StoreOp::create(builder, looks, word(0));
    auto loop = spirv::LoopOp::create(builder, spirv::LoopControl::None);
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *merge, *next;
      beginLoop(loop, merge, next);
      // What is loaded may be in a cache of the SM for ever.
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
                        builder, wordAt(head[3]->getResult(0)), word(1),
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
  Value address = head[1]->getResult(0);
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
