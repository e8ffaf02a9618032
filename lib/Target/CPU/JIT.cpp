//===- JIT.cpp - runs object code in this process -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/CPU/JIT.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir::relax;

JITSession::JITSession(std::unique_ptr<llvm::orc::LLJIT> jit)
    : jit(std::move(jit)) {}

JITSession::~JITSession() = default;

llvm::Expected<std::unique_ptr<JITSession>> JITSession::create() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  return std::unique_ptr<JITSession>(new JITSession(std::move(*jit)));
}

llvm::Error JITSession::define(llvm::StringRef name, void *address) {
  llvm::orc::SymbolMap symbols;
  symbols[jit->mangleAndIntern(name)] = {
      llvm::orc::ExecutorAddr::fromPtr(address),
      llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}

llvm::Error JITSession::addObject(llvm::ArrayRef<char> object) {
  return jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object.data(), object.size()), "kernels"));
}

llvm::Expected<void *> JITSession::lookup(llvm::StringRef name) {
  llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}
