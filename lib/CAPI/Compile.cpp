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
    *chip = {parsed->device(), parsed->hasAddresses, parsed->hasInt64,
             parsed->canOverlap, parsed->pushedWords};
  return parsed.has_value();
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
