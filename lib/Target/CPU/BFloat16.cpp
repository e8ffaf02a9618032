//===- BFloat16.cpp - bf16 on x86-64 --------------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bf16 is the upper half of an f32. Instructions that compute, compare or
// convert bf16 are expanded to f32; instructions that only move bf16 values
// move 16-bit integers instead.
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/BFloat16.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

static bool isBFloat16(Type *type) {
  return type->getScalarType()->isBFloatTy();
}

static Value *toFloat(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Value *bits =
      builder.CreateBitCast(value, type->getWithNewType(builder.getInt16Ty()));
  bits = builder.CreateZExt(bits, type->getWithNewType(builder.getInt32Ty()));
  return builder.CreateBitCast(builder.CreateShl(bits, 16),
                               type->getWithNewType(builder.getFloatTy()));
}

/// Converts an f64 to an f32 that rounds to the same bf16 as the f64 does: the
/// last bit records whether anything was lost (rounding to odd).
static Value *roundToOdd(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Type *words = type->getWithNewType(builder.getInt32Ty());
  Value *near =
      builder.CreateFPTrunc(value, type->getWithNewType(builder.getFloatTy()));
  Value *back = builder.CreateFPExt(near, type);
  Value *bits = builder.CreateBitCast(near, words);
  // If inexact, truncate toward zero, then set the last bit.
  Value *isLarger = builder.CreateFCmpOGT(
      builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
      builder.CreateUnaryIntrinsic(Intrinsic::fabs, value));
  Value *inexact = builder.CreateFCmpONE(back, value);
  Value *cut = builder.CreateSub(bits, builder.CreateZExt(isLarger, words));
  Value *odd = builder.CreateOr(cut, ConstantInt::get(words, 1));
  return builder.CreateBitCast(builder.CreateSelect(inexact, odd, bits),
                               near->getType());
}

/// Rounds to nearest, ties to even. NaN becomes a quiet NaN.
static Value *toBFloat16(IRBuilder<> &builder, Value *value) {
  if (value->getType()->getScalarType()->isDoubleTy())
    value = roundToOdd(builder, value);
  Type *type = value->getType();
  Type *words = type->getWithNewType(builder.getInt32Ty());
  auto number = [&](uint32_t bits) { return ConstantInt::get(words, bits); };
  Value *bits = builder.CreateBitCast(value, words);
  Value *upper = builder.CreateLShr(bits, 16);
  Value *lastBit = builder.CreateAnd(upper, number(1));
  Value *rounded = builder.CreateLShr(
      builder.CreateAdd(builder.CreateAdd(bits, number(0x7fff)), lastBit), 16);
  Value *quiet = builder.CreateOr(upper, number(0x40));
  Value *half =
      builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
  half = builder.CreateTrunc(half, type->getWithNewType(builder.getInt16Ty()));
  return builder.CreateBitCast(half,
                               type->getWithNewType(builder.getBFloatTy()));
}

/// The same intrinsic call on f32; null if the intrinsic does not compute.
static Value *callOnFloat(IRBuilder<> &builder, IntrinsicInst &call) {
  Type *wide = call.getType()->getWithNewType(builder.getFloatTy());
  SmallVector<Type *> overloads = {wide};
  switch (call.getIntrinsicID()) {
  case Intrinsic::fabs:
  case Intrinsic::copysign:
  case Intrinsic::sqrt:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
    break;
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fminimum:
  case Intrinsic::vector_reduce_fmaximum:
    overloads = {call.getArgOperand(call.arg_size() - 1)
                     ->getType()
                     ->getWithNewType(builder.getFloatTy())};
    break;
  default:
    return nullptr;
  }
  SmallVector<Value *> arguments;
  for (Value *argument : call.args())
    arguments.push_back(toFloat(builder, argument));
  CallInst *made =
      builder.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments);
  made->copyFastMathFlags(&call);
  return toBFloat16(builder, made);
}

/// The replacement of an instruction; null if it can stay.
static Value *expand(Instruction &instruction) {
  IRBuilder<> builder(&instruction);
  bool makes = isBFloat16(instruction.getType());
  if (auto *cast = dyn_cast<CastInst>(&instruction)) {
    Value *source = cast->getOperand(0);
    Type *wide = cast->getType()->getWithNewType(builder.getFloatTy());
    switch (cast->getOpcode()) {
    case Instruction::FPTrunc:
      return makes ? toBFloat16(builder, source) : nullptr;
    case Instruction::SIToFP:
      return makes ? toBFloat16(builder, builder.CreateSIToFP(source, wide))
                   : nullptr;
    case Instruction::UIToFP:
      return makes ? toBFloat16(builder, builder.CreateUIToFP(source, wide))
                   : nullptr;
    case Instruction::FPExt:
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      if (!isBFloat16(source->getType()))
        return nullptr;
      source = toFloat(builder, source);
      if (cast->getOpcode() == Instruction::FPExt)
        return builder.CreateFPExt(source, cast->getType());
      return builder.CreateCast(cast->getOpcode(), source, cast->getType());
    default:
      return nullptr;
    }
  }
  if (auto *compare = dyn_cast<FCmpInst>(&instruction)) {
    if (!isBFloat16(compare->getOperand(0)->getType()))
      return nullptr;
    return builder.CreateFCmpFMF(
        compare->getPredicate(), toFloat(builder, compare->getOperand(0)),
        toFloat(builder, compare->getOperand(1)), compare);
  }
  if (!makes)
    return nullptr;
  if (auto *binary = dyn_cast<BinaryOperator>(&instruction))
    return toBFloat16(
        builder, builder.CreateBinOpFMF(binary->getOpcode(),
                                        toFloat(builder, binary->getOperand(0)),
                                        toFloat(builder, binary->getOperand(1)),
                                        binary));
  if (auto *unary = dyn_cast<UnaryOperator>(&instruction))
    return toBFloat16(
        builder, builder.CreateFNeg(toFloat(builder, unary->getOperand(0))));
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return callOnFloat(builder, *call);
  return nullptr;
}

static Type *bitsOf(Type *type) {
  return type->getWithNewType(Type::getInt16Ty(type->getContext()));
}

/// Whether `instruction` is a masked load or store. Other calls still use bf16.
static bool isMasked(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call &&
         is_contained({Intrinsic::masked_load, Intrinsic::masked_store,
                       Intrinsic::masked_gather, Intrinsic::masked_scatter},
                      call->getIntrinsicID());
}

/// Replaces the bf16 values that a function moves by 16-bit integers, except
/// for arguments, returned values, and operands and results of calls.
static void moveBits(Function &function) {
  SmallVector<Instruction *> moves, masked, calls;
  for (Instruction &instruction : instructions(function)) {
    if (isMasked(instruction))
      masked.push_back(&instruction);
    else if (isa<CallBase, ReturnInst>(instruction))
      calls.push_back(&instruction);
    else
      moves.push_back(&instruction);
  }
  auto takeBits = [&](Value &value, IRBuilder<> &builder) {
    Value *bits = builder.CreateBitCast(&value, bitsOf(value.getType()));
    for (Use &use : make_early_inc_range(value.uses()))
      if (use.getUser() != bits)
        use.set(bits);
  };
  auto moveConstants = [](Instruction &instruction) {
    for (Use &use : instruction.operands())
      if (auto *constant = dyn_cast<Constant>(use.get());
          constant && isBFloat16(constant->getType()))
        use.set(
            ConstantExpr::getBitCast(constant, bitsOf(constant->getType())));
  };
  // Values that enter or leave the function.
  for (Argument &argument : function.args())
    if (isBFloat16(argument.getType())) {
      IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
      takeBits(argument, builder);
    }
  for (Instruction *call : calls)
    if (isBFloat16(call->getType())) {
      IRBuilder<> builder(&*std::next(call->getIterator()));
      takeBits(*call, builder);
    }
  for (Instruction *instruction : moves) {
    moveConstants(*instruction);
    if (isBFloat16(instruction->getType()))
      instruction->mutateType(bitsOf(instruction->getType()));
  }
  for (Instruction *instruction : masked) {
    auto *call = cast<IntrinsicInst>(instruction);
    bool isStore = call->getType()->isVoidTy();
    FunctionType *before = call->getFunctionType();
    Type *type = isStore ? before->getParamType(0) : before->getReturnType();
    if (!isBFloat16(type))
      continue;
    moveConstants(*call);
    IRBuilder<> builder(call);
    CallInst *made = builder.CreateIntrinsic(
        call->getIntrinsicID(),
        {bitsOf(type), call->getArgOperand(isStore ? 1 : 0)->getType()},
        SmallVector<Value *>(call->args()));
    made->setAttributes(call->getAttributes());
    if (!isStore)
      call->mutateType(made->getType());
    call->replaceAllUsesWith(made);
    call->eraseFromParent();
  }
  for (Instruction *instruction : calls) {
    IRBuilder<> builder(instruction);
    auto bring = [&](Use &use, Type *wanted) {
      if (isBFloat16(wanted) && use->getType() != wanted)
        use.set(builder.CreateBitCast(use, wanted));
    };
    if (auto *call = dyn_cast<CallBase>(instruction)) {
      for (auto [use, wanted] :
           zip_first(call->args(), call->getFunctionType()->params()))
        bring(use, wanted);
    } else if (instruction->getNumOperands()) {
      bring(instruction->getOperandUse(0), function.getReturnType());
    }
  }
}

void mlir::relax::expandBFloat16(Module &module, const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (llvm::Value *made = expand(instruction)) {
        instruction.replaceAllUsesWith(made);
        instruction.eraseFromParent();
      }
    moveBits(function);
  }
}
