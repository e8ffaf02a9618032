//===- Compile.cpp - C interface of code generation -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI/Compile.h"

#include "Target/CPU/CodeGen.h"
#include "Target/GPU/Chip.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"

using namespace mlir;
using namespace mlir::relax;

/// Returns nothing and sets `error` if the text of the features is not one.
static std::optional<CPUTarget> unwrapTarget(const MlirRelaxCPUTarget &target,
                                             std::string &error) {
  CPUTarget read;
  read.triple = unwrap(target.triple).str();
  read.cpu = unwrap(target.cpu).str();
  read.optimization = target.optimization;
  if (!read.readFeatures(std::string_view(unwrap(target.features)), error))
    return std::nullopt;
  return read;
}

void mlirRelaxGetHostTarget(MlirStringCallback callback, void *userData) {
  CPUTarget host = CPUTarget::host();
  for (const std::string &text : {host.triple, host.cpu, host.featureText()})
    callback(wrap(StringRef(text)), userData);
}

bool mlirRelaxCheckTarget(MlirRelaxCPUTarget target,
                          MlirStringCallback callback, void *userData) {
  std::string error;
  std::optional<CPUTarget> read = unwrapTarget(target, error);
  if (read && read->check(error))
    return true;
  callback(wrap(StringRef(error)), userData);
  return false;
}

bool mlirRelaxChangeFeatures(MlirRelaxCPUTarget target, MlirStringRef changes,
                             MlirStringCallback callback, void *userData) {
  std::string error;
  std::optional<CPUTarget> read = unwrapTarget(target, error);
  relax_rt::CPUName by;
  bool isRight =
      read && by.readFeatures(std::string_view(unwrap(changes)), error);
  if (isRight)
    read->change(by);
  callback(wrap(StringRef(isRight ? read->featureText() : error)), userData);
  return isRight;
}

unsigned mlirRelaxGetVectorBits(MlirRelaxCPUTarget target) {
  std::string error;
  return unwrapTarget(target, error).value_or(CPUTarget()).vectorBits();
}

void mlirRelaxGetRequiredFeatures(MlirRelaxCPUTarget target,
                                  MlirStringCallback callback, void *userData) {
  std::string error;
  if (std::optional<CPUTarget> read = unwrapTarget(target, error))
    for (const std::string &name : read->requiredFeatures())
      callback(wrap(StringRef(name)), userData);
}

bool mlirRelaxChipParse(MlirStringRef name, MlirRelaxChip *chip) {
  std::optional<Chip> parsed = Chip::parse(unwrap(name));
  if (parsed)
    *chip = {parsed->device(), parsed->hasAddresses, parsed->hasInt64,
             parsed->canOverlap, parsed->pushedWords};
  return parsed.has_value();
}

MlirLogicalResult mlirRelaxEmitObject(MlirModule module,
                                      MlirRelaxCPUTarget target,
                                      MlirStringCallback callback,
                                      void *userData) {
  std::string error;
  std::optional<CPUTarget> read = unwrapTarget(target, error);
  if (!read) {
    unwrap(module).emitError(error);
    return mlirLogicalResultFailure();
  }
  SmallVector<char, 0> object;
  if (failed(emitObject(unwrap(module), *read, object)))
    return mlirLogicalResultFailure();
  callback(mlirStringRefCreate(object.data(), object.size()), userData);
  return mlirLogicalResultSuccess();
}
