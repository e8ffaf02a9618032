//===- CheckChip.cpp - checks the name of the GPU -------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/GPU/Chip.h"
#include "Target/GPU/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::relax {
#define GEN_PASS_DEF_CHECKCHIPPASS
#include "Target/GPU/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

bool Chip::isKnown(StringRef name) {
  if (name.consume_front("subgroup_")) {
    unsigned size = 0;
    return !name.consumeInteger(10, size) && llvm::isPowerOf2_32(size) &&
           size <= 128 &&
           (name.empty() || name == "_bound" || name == "_narrow" ||
            name == "_bound_narrow" || name == "_overlap" ||
            (name == "_matrices" && size == 32));
  }
  static const llvm::StringSet<> chips{
      "emulated", "sm_80",   "sm_86",  "sm_87",   "sm_88",   "sm_89",
      "sm_90",    "sm_90a",  "sm_100", "sm_100a", "sm_100f", "sm_103",
      "sm_103a",  "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120",
      "sm_120a",  "sm_120f", "sm_121", "sm_121a", "sm_121f"};
  return chips.contains(name);
}

namespace {

struct CheckChip : relax::impl::CheckChipPassBase<CheckChip> {
  using CheckChipPassBase::CheckChipPassBase;

  void runOnOperation() override {
    if (Chip::isKnown(chip))
      return;
    getOperation().emitError("there is no GPU '")
        << chip << "' that code can be made for; those of NVIDIA are named "
        << "'sm_80' (the oldest), 'sm_90', …, those of Vulkan 'subgroup_32'";
    signalPassFailure();
  }
};

} // namespace
