//===- RelaxOps.h - operations of the relax dialect -------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RELAXOPS_H
#define RELAX_RELAXOPS_H

#include "Relax/RelaxOpBase.h"

#include "Relax/Ops/Attention.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Convolution.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Create.h"
#include "Relax/Ops/Elementwise.h"
#include "Relax/Ops/Function.h"
#include "Relax/Ops/Image.h"
#include "Relax/Ops/Index.h"
#include "Relax/Ops/Linear.h"
#include "Relax/Ops/Manipulate.h"
#include "Relax/Ops/Memory.h"
#include "Relax/Ops/Normalization.h"
#include "Relax/Ops/Pooling.h"
#include "Relax/Ops/Quantization.h"
#include "Relax/Ops/Reduction.h"
#include "Relax/Ops/Slice.h"
#include "Relax/Ops/Sort.h"

#endif // RELAX_RELAXOPS_H
