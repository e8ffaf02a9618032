//===- DeviceImages.cpp - device-specific kernel images -------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Lowering/DeviceImages.h"

using namespace mlir;
using namespace mlir::relax;

/// Written while passes are registered, read afterwards.
static SmallVector<DeviceImage> &getDeviceImages() {
  static SmallVector<DeviceImage> images;
  return images;
}

void relax::registerDeviceImage(const DeviceImage &image) {
  SmallVector<DeviceImage> &images = getDeviceImages();
  if (llvm::none_of(images, [&](const DeviceImage &known) {
        return known.device == image.device;
      }))
    images.push_back(image);
}

const DeviceImage *relax::findDeviceImage(ModuleOp module) {
  for (const DeviceImage &image : getDeviceImages())
    if (!image.find(module).empty())
      return &image;
  return nullptr;
}
