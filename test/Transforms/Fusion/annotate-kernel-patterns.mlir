// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -verify-each -relax-annotate-kernel-patterns | FileCheck %s
// RUN: relax-opt %s -relax-annotate-kernel-patterns -relax-annotate-kernel-patterns | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#tr = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// The name of a kernel does not matter: this kernel is element-wise.
// CHECK: @matmul({{.*}}relax.pattern = "element_wise"
func.func private @matmul(%x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, %d: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) -> (tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = math.exp %e : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// A broadcast read does not change the pattern of a kernel with an element-wise
// read.
// CHECK: @bias({{.*}}relax.pattern = "element_wise"
func.func private @bias(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.addf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK: @outer({{.*}}relax.pattern = "broadcast"
func.func private @outer(%x: tensor<4xf32>, %y: tensor<8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %1 = arith.mulf %e, %f : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// All elements are the same number.
// CHECK: @full({{.*}}relax.pattern = "element_wise"
func.func private @full(%d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK: @transpose({{.*}}relax.pattern = "injective"
func.func private @transpose(%x: tensor<8x4xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    linalg.yield %e : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Reads at computed positions are a table lookup.
// CHECK: @take({{.*}}relax.pattern = "injective"
func.func private @take(%x: tensor<9xf32>, %i: tensor<4x8xi64>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi64>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%e: i64, %o: f32):
    %1 = arith.index_cast %e : i64 to index
    %2 = tensor.extract %x[%1] : tensor<9xf32>
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK: @sum({{.*}}relax.pattern = "reduction"
func.func private @sum(%x: tensor<4x8xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.0 : f32
  %i = linalg.fill ins(%c : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %e, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Ops after a reduction may update its result.
// CHECK: @mean({{.*}}relax.pattern = "reduction"
func.func private @mean(%x: tensor<4x8xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 8.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %e, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%0 : tensor<4xf32>) {
  ^bb0(%o: f32):
    %3 = arith.divf %o, %c : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A sum of squares is not a sum of products of two tensors.
// CHECK: @squares({{.*}}relax.pattern = "reduction"
func.func private @squares(%x: tensor<4x8xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.mulf %e, %e : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: @relu({{.*}}relax.pattern = "out_ewise_fusible"
func.func private @relu(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>, %d: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %c = arith.constant 0.0 : f32
  %i = linalg.fill ins(%c : f32) outs(%d : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Narrow elements are widened, summed in f32, and rounded at the end.
// CHECK: @half({{.*}}relax.pattern = "out_ewise_fusible"
func.func private @half(%x: tensor<4x8xf16>, %y: tensor<8xf16>, %d: tensor<4xf16>) -> tensor<4xf16> {
  %c = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%c : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #col, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<4x8xf16>, tensor<8xf16>) outs(%i : tensor<4xf32>) {
  ^bb0(%e: f16, %f: f16, %o: f32):
    %1 = arith.extf %e : f16 to f32
    %2 = arith.extf %f : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%d : tensor<4xf16>) {
  ^bb0(%e: f32, %o: f16):
    %6 = arith.truncf %e : f32 to f16
    linalg.yield %6 : f16
  } -> tensor<4xf16>
  return %5 : tensor<4xf16>
}

// A reduction whose result every element reads needs more than one pass.
// CHECK: @normalise({{.*}}relax.pattern = "opaque"
func.func private @normalise(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%t : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.maximumf %o, %e : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<4x8xf32>, tensor<4xf32>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %3 = arith.subf %e, %f : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The two results are written at different positions.
// CHECK: @two({{.*}}relax.pattern = "opaque"
func.func private @two(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %e: tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #tr], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%d, %e : tensor<4x8xf32>, tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    linalg.yield %a, %a : f32, f32
  } -> (tensor<4x8xf32>, tensor<8x4xf32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<8x4xf32>
}

// Loops outside of linalg.
// CHECK: @loop({{.*}}relax.pattern = "opaque"
func.func private @loop(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %d) -> tensor<4xf32> {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %1 = tensor.insert %e into %a[%i] : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A declaration has no loops, so it gets no pattern.
// CHECK: func.func private @declared(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT: relax.pattern
func.func private @declared(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
