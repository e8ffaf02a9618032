//===- RelaxOps.td - all ops of the dialect, for -----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_TD
#define RELAX_OPS_TD

include "Relax/Ops/Function.td"
include "Relax/Ops/Call.td"
include "Relax/Ops/Core.td"
include "Relax/Ops/Control.td"
include "Relax/Ops/Memory.td"
include "Relax/Ops/Elementwise.td"
include "Relax/Ops/Create.td"
include "Relax/Ops/Linear.td"
include "Relax/Ops/Reduction.td"
include "Relax/Ops/Normalization.td"
include "Relax/Ops/Attention.td"
include "Relax/Ops/Convolution.td"
include "Relax/Ops/Pooling.td"
include "Relax/Ops/Image.td"
include "Relax/Ops/Quantization.td"
include "Relax/Ops/Manipulate.td"
include "Relax/Ops/Slice.td"
include "Relax/Ops/Index.td"
include "Relax/Ops/Sort.td"

#endif // RELAX_OPS_TD
