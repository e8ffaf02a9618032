//===- Compile.cpp - C interface of code generation -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI/Compile.h"

#include "Target/CPU/CodeGen.h"
#include "Target/CPU/JIT.h"
#include "Target/GPU/Chip.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"

using namespace mlir;
using namespace mlir::relax;

DEFINE_C_API_PTR_METHODS(MlirRelaxJITSession, JITSession)

static CPUTarget unwrapTarget(const MlirRelaxCPUTarget &target) {
  return {unwrap(target.triple).str(), unwrap(target.cpu).str(),
          unwrap(target.features).str(), target.optimization};
}

void mlirRelaxGetHostTarget(MlirStringCallback callback, void *userData) {
  CPUTarget host = CPUTarget::host();
  for (const std::string &text : {host.triple, host.cpu, host.features})
    callback(wrap(StringRef(text)), userData);
}

unsigned mlirRelaxGetVectorBits(MlirRelaxCPUTarget target) {
  return unwrapTarget(target).vectorBits();
}

void mlirRelaxGetRequiredFeatures(MlirRelaxCPUTarget target,
                                  MlirStringCallback callback, void *userData) {
  for (const std::string &name : unwrapTarget(target).requiredFeatures())
    callback(wrap(StringRef(name)), userData);
}

bool mlirRelaxChipParse(MlirStringRef name, MlirRelaxChip *chip) {
  std::optional<Chip> parsed = Chip::parse(unwrap(name));
  if (parsed)
    *chip = {parsed->kind == Chip::Kind::Vulkan ? "vulkan" : "cuda",
             parsed->hasAddresses, parsed->hasInt64, parsed->canOverlap,
             parsed->pushedWords};
  return parsed.has_value();
}

bool mlirRelaxChipRunsOn(MlirStringRef code, MlirStringRef device) {
  std::optional<Chip> chip = Chip::parse(unwrap(code));
  std::optional<Chip> there = Chip::parse(unwrap(device));
  return chip && there && chip->runsOn(*there);
}

MlirLogicalResult mlirRelaxEmitObject(MlirModule module,
                                      MlirRelaxCPUTarget target,
                                      MlirStringCallback callback,
                                      void *userData) {
  SmallVector<char, 0> object;
  if (failed(emitObject(unwrap(module), unwrapTarget(target), object)))
    return mlirLogicalResultFailure();
  callback(mlirStringRefCreate(object.data(), object.size()), userData);
  return mlirLogicalResultSuccess();
}

/// Reports `error`, if any. Returns whether there was none.
static bool succeed(llvm::Error error, MlirStringCallback callback,
                    void *userData) {
  if (!error)
    return true;
  callback(wrap(StringRef(llvm::toString(std::move(error)))), userData);
  return false;
}

MlirRelaxJITSession mlirRelaxJITSessionCreate(MlirStringCallback callback,
                                              void *userData) {
  llvm::Expected<std::unique_ptr<JITSession>> session = JITSession::create();
  if (!session) {
    succeed(session.takeError(), callback, userData);
    return {nullptr};
  }
  return wrap(session->release());
}

void mlirRelaxJITSessionDestroy(MlirRelaxJITSession session) {
  delete unwrap(session);
}

bool mlirRelaxJITSessionDefine(MlirRelaxJITSession session, MlirStringRef name,
                               void *address, MlirStringCallback callback,
                               void *userData) {
  return succeed(unwrap(session)->define(unwrap(name), address), callback,
                 userData);
}

bool mlirRelaxJITSessionAddObject(MlirRelaxJITSession session,
                                  MlirStringRef object,
                                  MlirStringCallback callback, void *userData) {
  return succeed(
      unwrap(session)->addObject(ArrayRef(object.data, object.length)),
      callback, userData);
}

void *mlirRelaxJITSessionLookup(MlirRelaxJITSession session, MlirStringRef name,
                                MlirStringCallback callback, void *userData) {
  llvm::Expected<void *> address = unwrap(session)->lookup(unwrap(name));
  if (address)
    return *address;
  succeed(address.takeError(), callback, userData);
  return nullptr;
}
