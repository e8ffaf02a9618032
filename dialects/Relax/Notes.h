//===- Notes.h - attributes on functions, for passes -----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is noted for passes and for people. No function depends on a note for
// what it computes: a module without them is as right as one with them.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_NOTES_H
#define RELAX_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::relax::notes {

/// On a kernel: what `relax-annotate-kernel-patterns` found, a string.
constexpr llvm::StringLiteral kPattern = "relax.pattern";
/// On a graph function: `relax-fuse-ops` made it of calls that become one
/// kernel.
constexpr llvm::StringLiteral kPrimitive = "relax.primitive";
/// On a graph function: bytes before and after `relax-plan-memory`.
constexpr llvm::StringLiteral kMemoryPlan = "relax.memory_plan";

/// On a parameter of a kernel: nothing writes into it as long as the module is
/// loaded (`relax-note-invariants`).
constexpr llvm::StringLiteral kInvariant = "relax.invariant";

/// On a parameter of a kernel, an integer N: it holds indices, which are valid
/// in [0, N). `relax-check-indices` checks them before a call.
constexpr llvm::StringLiteral kIndexBound = "relax.index_bound";

/// On a kernel: expressions of its symbols that it computes as they are, an
/// array. Only callers can report what is beyond 64 bits or divides by zero, so
/// they compute them before the call.
constexpr llvm::StringLiteral kComputedSizes = "relax.computed_sizes";

/// On `__tvm_ffi_f`, and on the declaration of a graph function that is in
/// another module: the parameters that it writes into, as indices.
constexpr llvm::StringLiteral kWritten = "relax.written";

/// On the declaration of a graph function that is in another module: for each
/// result, the parameters that it may be, as indices. Without it, any.
constexpr llvm::StringLiteral kReturned = "relax.returned";

/// On a graph function: the parameters that it may write over, as indices,
/// since its callers do not need the values that they give
/// (`relax-update-in-place`). They share no memory with other parameters.
constexpr llvm::StringLiteral kDonated = "relax.donated";

/// On a graph function: it is a pattern of `relax-dispatch-library`, and this
/// what it is replaced by.
constexpr llvm::StringLiteral kLibrary = "relax.library";

/// On a library call: the function keeps nothing of what it is given after it
/// returns, so that its memory may be planned. Others may keep it for any time.
constexpr llvm::StringLiteral kBorrows = "relax.borrows";

/// "host" or "device": on a graph function, where it runs; on its parameters
/// and results, on what allocates and what copies, where the tensors are. Where
/// it is missing, functions run on the device, and all else is where its
/// function runs. A module is checked for it (lib/Analysis/Placement.h).
constexpr llvm::StringLiteral kDevice = "relax.device";
constexpr llvm::StringLiteral kHostPlace = "host";
constexpr llvm::StringLiteral kDevicePlace = "device";

} // namespace mlir::relax::notes

#endif // RELAX_NOTES_H
