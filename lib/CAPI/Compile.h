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

/// A CPU by LLVM's names. Empty strings stand for the baseline of the triple.
typedef struct MlirRelaxCPUTarget {
  MlirStringRef triple, cpu, features;
  unsigned optimization;
} MlirRelaxCPUTarget;

/// Passes the triple, the CPU and the features of this machine to `callback`,
/// one call each.
MLIR_CAPI_EXPORTED void mlirRelaxGetHostTarget(MlirStringCallback callback,
                                               void *userData);

/// Bits of the widest vector register of a target.
MLIR_CAPI_EXPORTED unsigned mlirRelaxGetVectorBits(MlirRelaxCPUTarget target);

/// Passes the features that a CPU needs to run code for a target to `callback`,
/// one call each.
MLIR_CAPI_EXPORTED void
mlirRelaxGetRequiredFeatures(MlirRelaxCPUTarget target,
                             MlirStringCallback callback, void *userData);

/// What the name of a GPU says, such as "sm_90" or "subgroup_32_bound".
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

/// Whether code for a GPU runs on a device, both by name.
MLIR_CAPI_EXPORTED bool mlirRelaxChipRunsOn(MlirStringRef code,
                                            MlirStringRef device);

/// Makes an object file of a module in the LLVM dialect, and passes its bytes
/// to `callback`. Errors are diagnostics of the module's context.
MLIR_CAPI_EXPORTED MlirLogicalResult
mlirRelaxEmitObject(MlirModule module, MlirRelaxCPUTarget target,
                    MlirStringCallback callback, void *userData);

/// Links object files into the process.
typedef struct MlirRelaxJITSession {
  void *ptr;
} MlirRelaxJITSession;

/// The functions below pass the message of an error to `callback`, and return
/// null then.
MLIR_CAPI_EXPORTED MlirRelaxJITSession
mlirRelaxJITSessionCreate(MlirStringCallback callback, void *userData);
MLIR_CAPI_EXPORTED void mlirRelaxJITSessionDestroy(MlirRelaxJITSession session);
MLIR_CAPI_EXPORTED bool mlirRelaxJITSessionDefine(MlirRelaxJITSession session,
                                                  MlirStringRef name,
                                                  void *address,
                                                  MlirStringCallback callback,
                                                  void *userData);
MLIR_CAPI_EXPORTED bool
mlirRelaxJITSessionAddObject(MlirRelaxJITSession session, MlirStringRef object,
                             MlirStringCallback callback, void *userData);
MLIR_CAPI_EXPORTED void *mlirRelaxJITSessionLookup(MlirRelaxJITSession session,
                                                   MlirStringRef name,
                                                   MlirStringCallback callback,
                                                   void *userData);

#ifdef __cplusplus
}
#endif

#endif // RELAX_CAPI_COMPILE_H
