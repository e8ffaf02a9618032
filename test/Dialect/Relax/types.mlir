// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt %s -mlir-print-op-generic | relax-opt | FileCheck %s
// RUN: relax-opt %s -emit-bytecode | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func private @shapes(
// CHECK-SAME:    !relax.shape<[n, 4]>, !relax.shape<[n, ?]>, !relax.shape<2>, !relax.shape<[]>, !relax.shape<*>
relax.func private @shapes(!relax.shape<[n, 4]>, !relax.shape<[n, ?]>, !relax.shape<2>, !relax.shape<0>, !relax.shape<*>)
// A shape without any known dimension is printed as its rank.
// CHECK-LABEL: relax.func private @rank(!relax.shape<2>)
relax.func private @rank(!relax.shape<[?, ?]>)
// CHECK-LABEL: relax.func private @others(!relax.object, !relax.storage, tuple<!relax.object, tuple<>>, (!relax.object) -> !relax.object)
relax.func private @others(!relax.object, !relax.storage, tuple<!relax.object, tuple<>>, (!relax.object) -> !relax.object)
// CHECK-LABEL: relax.func private @tensors(
// CHECK-SAME:    tensor<?x0xf32, #relax.shape<[n, 0]>>, tensor<?x?xi1, #relax.shape<[n, ?]>>, tensor<f16>
relax.func private @tensors(tensor<?x0xf32, #relax.shape<[n, 0]>>, tensor<?x?xi1, #relax.shape<[n, ?]>>, tensor<f16>)
