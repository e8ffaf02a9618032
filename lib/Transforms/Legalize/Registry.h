//===- Registry.h - which kernels there are ---------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the type of an op to the function that builds its kernel. Each family of
// ops has a file of this folder, which registers its own.
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
  /// Null where there is none.
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
