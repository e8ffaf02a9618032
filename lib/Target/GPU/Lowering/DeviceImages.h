//===- DeviceImages.h - kernels in the form of a device ---------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target whose kernels are neither PTX nor host functions says here how they
// lie in a module, and how they get into an object file.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H
#define RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H

#include "Target/Common/HostBuilder.h"

namespace mlir::relax {

/// The kernels of one kind of device.
struct DeviceImage {
  /// The number of the kind of device, as DLPack has it.
  int64_t device;
  /// The kernels in a module. They are erased after their image is made.
  SmallVector<Operation *> (*find)(ModuleOp module);
  /// The image of the kernels for the runtime, and its size.
  FailureOr<LLVM::GlobalOp> (*make)(ModuleOp module, HostBuilder &builder,
                                    int64_t &bytes);
};

/// Adds a kind of device. A target does so when its pipelines are registered.
void registerDeviceImage(const DeviceImage &image);

/// The kind of device whose kernels a module has; null where it has none of
/// those that are registered.
const DeviceImage *findDeviceImage(ModuleOp module);

} // namespace mlir::relax

#endif // RELAX_TARGET_GPU_LOWERING_DEVICEIMAGES_H
