//===- DeviceImages.h - device-specific kernel images -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target whose kernels are neither PTX nor host functions registers here how
// to find the kernels in a module and how to embed them in an object file.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H
#define RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H

#include "Target/Common/HostBuilder.h"

namespace mlir::relax {

/// Describes the kernels of one kind of device.
struct DeviceImage {
  /// The device type in DLPack.
  int64_t device;
  /// Finds the kernels in a module. They are erased once the image is made.
  SmallVector<Operation *> (*find)(ModuleOp module);
  /// Makes the image of the kernels for the runtime and computes its size.
  FailureOr<LLVM::GlobalOp> (*make)(ModuleOp module, HostBuilder &builder,
                                    int64_t &bytes);
};

/// Registers a kind of device. Targets call this when they register their
/// pipelines.
void registerDeviceImage(const DeviceImage &image);

/// The kind of device that the kernels of a module are for; null if it is not
/// registered.
const DeviceImage *findDeviceImage(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H
