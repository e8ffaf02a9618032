//===- Compile.h - C interface of code generation ---------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CAPI_COMPILE_H
#define RELAX_CAPI_COMPILE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A CPU by its LLVM names (Runtime/Core/CPUName.h reads them). Empty strings
/// stand for the baseline of the triple.
typedef struct MlirRelaxCPUTarget {
  MlirStringRef triple, cpu, features;
  unsigned optimization;
} MlirRelaxCPUTarget;

/// Passes the triple, the CPU and the features of this machine to `callback`,
/// in one call each.
MLIR_CAPI_EXPORTED void mlirRelaxGetHostTarget(MlirStringCallback callback,
                                               void *userData);

/// Whether LLVM knows the triple, the CPU and the features, and these do not
/// contradict each other. If not, passes a message that lists the names that
/// LLVM knows to `callback`.
MLIR_CAPI_EXPORTED bool mlirRelaxCheckTarget(MlirRelaxCPUTarget target,
                                             MlirStringCallback callback,
                                             void *userData);

/// Passes the features of a target after a change to `callback`: what a new
/// feature needs comes with it, and what needs a removed feature goes with it.
/// Returns false, and passes a message, if the text of features is not one.
MLIR_CAPI_EXPORTED bool mlirRelaxChangeFeatures(MlirRelaxCPUTarget target,
                                                MlirStringRef changes,
                                                MlirStringCallback callback,
                                                void *userData);

/// The width in bits of a target's widest vector registers.
MLIR_CAPI_EXPORTED unsigned mlirRelaxGetVectorBits(MlirRelaxCPUTarget target);

/// Passes the features that code for a target requires of a CPU to `callback`,
/// in one call each.
MLIR_CAPI_EXPORTED void
mlirRelaxGetRequiredFeatures(MlirRelaxCPUTarget target,
                             MlirStringCallback callback, void *userData);

/// The properties that the name of a GPU gives, such as "sm_90" or
/// "subgroup_32_bound".
typedef struct MlirRelaxChip {
  const char *device; // "cuda" or "vulkan"
  /// Vulkan: what devices may lack, whether kernels wait by themselves, and the
  /// 8-byte words of push constants.
  bool hasAddresses, hasInt64, canOverlap;
  unsigned pushedWords;
} MlirRelaxChip;

/// Reads the name of a GPU; false if it has another form.
MLIR_CAPI_EXPORTED bool mlirRelaxChipParse(MlirStringRef name,
                                           MlirRelaxChip *chip);

/// Compiles a module in the LLVM dialect to an object file and passes its bytes
/// to `callback`. Errors are emitted on the module's context.
MLIR_CAPI_EXPORTED MlirLogicalResult
mlirRelaxEmitObject(MlirModule module, MlirRelaxCPUTarget target,
                    MlirStringCallback callback, void *userData);

#ifdef __cplusplus
}
#endif

#endif // RELAX_CAPI_COMPILE_H
