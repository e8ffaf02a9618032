//===- Notes.h - attributes that passes set on functions --------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Notes for passes and for people. No function computes anything different
// because of a note: a module without notes is equally correct.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_NOTES_H
#define RELAX_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::relax::notes {

/// On a kernel: the pattern that `relax-annotate-kernel-patterns` found, as a
/// string.
constexpr llvm::StringLiteral kPattern = "relax.pattern";
/// On a graph function: its calls become one kernel (set by `relax-fuse-ops`,
/// or by users). On a kernel: it was made of such a function of a user, and
/// fusion leaves it as it is.
constexpr llvm::StringLiteral kPrimitive = "relax.primitive";
/// On a graph function: the memory statistics of `relax-plan-memory`.
constexpr llvm::StringLiteral kMemoryPlan = "relax.memory_plan";

/// On a kernel parameter: nothing writes to it while the module is loaded
/// (`relax-note-invariants`).
constexpr llvm::StringLiteral kInvariant = "relax.invariant";

/// On a kernel parameter, an integer N: it holds indices, which must be in [0,
/// N). `relax-check-indices` inserts checks before calls.
constexpr llvm::StringLiteral kIndexBound = "relax.index_bound";

/// On a kernel, an array: expressions of its symbols that it computes
/// unchecked. Only callers can report overflow or division by zero, so they
/// evaluate them before the call.
constexpr llvm::StringLiteral kComputedSizes = "relax.computed_sizes";

/// On `__tvm_ffi_f`, and on the declaration of a graph function of another
/// module: the indices of the parameters that it writes.
constexpr llvm::StringLiteral kWritten = "relax.written";

/// On the declaration of a graph function of another module: for each result,
/// the indices of the parameters that it may alias. If missing, any.
constexpr llvm::StringLiteral kReturned = "relax.returned";

/// On a graph function: the indices of parameters that it may overwrite, since
/// callers no longer need the values (`relax-update-in-place`). They share no
/// memory with other parameters.
constexpr llvm::StringLiteral kDonated = "relax.donated";

/// On a graph function: it is a pattern of `relax-dispatch-library`, and this
/// is its replacement.
constexpr llvm::StringLiteral kLibrary = "relax.library";

/// On a library call: the function retains none of its arguments after it
/// returns, so that their memory may be planned. Other functions may retain
/// them.
constexpr llvm::StringLiteral kBorrows = "relax.borrows";

/// "host" or "device". On a graph function: where it runs; on its parameters
/// and results, allocations and copies: where the tensors are. By default,
/// functions run on the device, and tensors are where their function runs. A
/// module is checked for consistency (lib/Analysis/Placement.h).
constexpr llvm::StringLiteral kDevice = "relax.device";
constexpr llvm::StringLiteral kHostPlace = "host";
constexpr llvm::StringLiteral kDevicePlace = "device";

} // namespace mlir::relax::notes

#endif // RELAX_NOTES_H
