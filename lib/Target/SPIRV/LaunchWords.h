//===- LaunchWords.h - the words of a launch --------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which words of a launch a kernel reads (KernelEmitter.h lists them). This is
// known only once all of the kernel is emitted; until then, a placeholder op
// stands for each word.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TARGET_SPIRV_LAUNCHWORDS_H
#define RELAX_TARGET_SPIRV_LAUNCHWORDS_H

#include "Runtime/Vulkan/VulkanImage.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {

class LaunchWords {
public:
  /// Placeholders of this type go to the end of the entry block of `function`,
  /// which may be created later.
  LaunchWords(ImplicitLocOpBuilder &builder, spirv::FuncOp &function, Type type)
      : builder(builder), function(function), type(type) {}

  /// A parameter, by its number among the parameters of the launch.
  Value parameter(int64_t word);
  /// The upper half of a parameter, if words are halves.
  Value upperHalf(int64_t word);
  /// The index of the first block, if the launch is split.
  Value firstBlock();
  /// Requests the words before the parameters, for a kernel that waits.
  void requestHead();
  Value head(int64_t number) { return heads[number]->getResult(0); }

  /// Notes that a parameter is a scalar, not a pointer or a size.
  void noteScalar(int64_t word) { scalars.insert(word); }
  /// The descriptor of the buffer whose pointer is a parameter.
  int64_t bind(int64_t pointer);

  bool waits() const { return heads[0]; }
  bool isEmpty() const { return places.empty() && !first && !waits(); }
  /// The number of words before the parameters.
  int64_t getHeadWords() const { return waits() ? relax_rt::kWaitingWords : 1; }
  /// The parameters that the kernel reads, in order.
  ArrayRef<int64_t> getParameters() const { return parameters; }
  int64_t getNumBindings() const { return bindings.size(); }
  /// For each descriptor, the position of the buffer's pointer in the
  /// parameters; and the positions that are neither pointers nor scalars.
  SmallVector<int64_t> getBindings() const;
  SmallVector<int64_t> getNarrow() const;

  /// Replaces the placeholders: `readHead` returns a word before the
  /// parameters, `readParameter` half `part` of the parameter at a position.
  void
  replace(function_ref<Value(int64_t number)> readHead,
          function_ref<Value(int64_t position, int64_t part)> readParameter);

private:
  Operation *makePlace();
  int64_t positionOf(int64_t word) const {
    return llvm::find(parameters, word) - parameters.begin();
  }

  ImplicitLocOpBuilder &builder;
  spirv::FuncOp &function;
  Type type;
  SmallVector<int64_t> parameters, bindings;
  SmallVector<Operation *> places;
  llvm::MapVector<int64_t, Operation *> upperPlaces;
  Operation *first = nullptr;
  Operation *heads[relax_rt::kWaitingWords] = {};
  DenseSet<int64_t> scalars;
};

} // namespace mlir::relax

#endif // RELAX_TARGET_SPIRV_LAUNCHWORDS_H
