//===- Registry.h - the registry of kernel builders -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps op types to functions that build their kernels. Each family of ops has a
// file in this folder, which registers its own.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_REGISTRY_H
#define RELAX_TRANSFORMS_LEGALIZE_REGISTRY_H

#include "Transforms/Legalize/KernelBuilder.h"

namespace mlir::relax {

class KernelRegistry {
public:
  using BuildFn = std::function<LogicalResult(Operation *, KernelBuilder &)>;

  /// `build` takes the op and a KernelBuilder.
  template <typename OpT, typename Fn>
  void add(Fn build) {
    table[TypeID::get<OpT>()] = [build](Operation *op, KernelBuilder &kernel) {
      return build(cast<OpT>(op), kernel);
    };
  }
  /// Returns null if the op has no kernel.
  const BuildFn *lookup(Operation *op) const {
    auto it = table.find(op->getName().getTypeID());
    return it == table.end() ? nullptr : &it->second;
  }

private:
  DenseMap<TypeID, BuildFn> table;
};

void populateElementwiseKernels(KernelRegistry &registry);
void populateCreateKernels(KernelRegistry &registry);
void populateLinearKernels(KernelRegistry &registry);
void populateNormalizationKernels(KernelRegistry &registry);
void populateAttentionKernels(KernelRegistry &registry);
void populateReductionKernels(KernelRegistry &registry, bool manyThreads);
void populateConvolutionKernels(KernelRegistry &registry);
void populatePoolingKernels(KernelRegistry &registry);
void populateManipulateKernels(KernelRegistry &registry);
void populateSliceKernels(KernelRegistry &registry);
void populateIndexKernels(KernelRegistry &registry);
void populateQuantizationKernels(KernelRegistry &registry);
void populateImageKernels(KernelRegistry &registry);
void populateSortKernels(KernelRegistry &registry);

} // namespace mlir::relax

#endif // RELAX_TRANSFORMS_LEGALIZE_REGISTRY_H
