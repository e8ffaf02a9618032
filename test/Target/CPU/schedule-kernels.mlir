// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-schedule-kernels -canonicalize -cse | FileCheck %s
// RUN: relax-opt %s -relax-convert-kernel-boundary -relax-cpu-schedule-kernels="vector-bits=256" -canonicalize -cse | FileCheck %s --check-prefix=AVX2

// Element-wise: full vectors, then a masked remainder. Producers are inlined
// where they are used.
// CHECK-LABEL: func.func private @chain(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall
// CHECK:           scf.for
// CHECK:             vector.load {{.*}} vector<16xf32>
// CHECK:             math.exp {{.*}} vector<16xf32>
// CHECK:             vector.store
// CHECK:           scf.for
// CHECK:             vector.create_mask
// CHECK:             vector.maskedload
// CHECK:             vector.maskedstore
// AVX2-LABEL:  func.func private @chain(
// AVX2:          vector.load {{.*}} vector<8xf32>
func.func private @chain(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.exp ins(%0 : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Contiguous rows are merged, so short rows also fill vectors.
// CHECK-LABEL: func.func private @collapse(
// CHECK:         memref.collapse_shape {{.*}} into memref<?xf32>
// CHECK:         vector.load {{.*}} : memref<?xf32>, vector<16xf32>
func.func private @collapse(%x: tensor<?x3xf32>, %out: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = linalg.exp ins(%x : tensor<?x3xf32>) outs(%out : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// A contraction with an epilogue: up to 6 rows by 4 vectors in registers, in one loop over the reduction. Rows are
// divided evenly between blocks. A single row gets 8 vectors, so that it need not wait for its own sums.
// CHECK-LABEL: func.func private @matmul(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.index_switch
// CHECK:         case 1 {
// CHECK:           %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c48
// CHECK-NOT:     case
// CHECK:         default {
// CHECK:           scf.forall
// CHECK:           arith.ceildivui %{{.*}}, %c6
// CHECK:           scf.index_switch
// CHECK:           case 1 {
// CHECK:             %{{.*}}:4 = scf.for
// CHECK:           case 6 {
// CHECK:             %{{.*}}:24 = scf.for
// CHECK-COUNT-24:      arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK:               arith.maximumf
// CHECK-NOT:     linalg
// 16 registers hold fewer sums: up to 6 rows by 2 vectors, and for 1, 2 and 3 rows, 8, 4 and 3 vectors.
// AVX2-LABEL:  func.func private @matmul(
// AVX2:          scf.index_switch
// AVX2:          case 1 {
// AVX2:            %{{.*}}:8 = scf.for
// AVX2:          case 2 {
// AVX2:            %{{.*}}:8 = scf.for
// AVX2:          case 3 {
// AVX2:            %{{.*}}:9 = scf.for
// AVX2:          default {
// AVX2:            scf.index_switch
// AVX2:            case 6 {
// AVX2:              %{{.*}}:12 = scf.for
func.func private @matmul(%x: tensor<?x48xf32>, %w: tensor<48x128xf32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x48xf32>, tensor<48x128xf32>) outs(%f : tensor<?x128xf32>) -> tensor<?x128xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
  ^bb0(%a: f32, %c: f32):
    %r = arith.maximumf %a, %z : f32
    linalg.yield %r : f32
  } -> tensor<?x128xf32>
  return %1 : tensor<?x128xf32>
}

// A transposed operand is read along the reduction, 4 by 4 dot products at a time.
// CHECK-LABEL: func.func private @transposed(
// CHECK:         %{{.*}}:16 = scf.for
// CHECK:         vector.reduction <add>
func.func private @transposed(%x: tensor<?x64xf32>, %w: tensor<?x64xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Stages that share rows are computed row by row: the sum is a scalar in a register.
// CHECK-LABEL: func.func private @rows(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall
// CHECK:           scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:             vector.reduction <add>
// CHECK:             math.sqrt %{{.*}} : f32
// CHECK:             vector.store {{.*}}[%[[ROW]],
func.func private @rows(%x: tensor<?x64xf32>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = linalg.sqrt ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %1 : tensor<?x64xf32>, tensor<?xf32>) outs(%out : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// A sum of unknown length is computed in blocks of 32 steps with 4 accumulators; the loop over blocks carries a total
// and its rounding error.
// CHECK-LABEL: func.func private @long_sum(
// CHECK:         %{{.*}}:2 = scf.for {{.*}} step %c2048 iter_args(%[[TOTAL:.*]] = %{{.*}}, %[[LOST:.*]] = %{{.*}})
// CHECK:           %{{.*}}:4 = scf.for {{.*}} step %c64
// CHECK:           %[[BLOCK:.*]] = arith.addf %{{.*}}, %[[LOST]] : vector<16xf32>
// CHECK:           %[[NEXT:.*]] = arith.addf %[[TOTAL]], %[[BLOCK]] : vector<16xf32>
// CHECK:           %[[ADDED:.*]] = arith.subf %[[NEXT]], %[[TOTAL]] : vector<16xf32>
// CHECK:           arith.subf %[[BLOCK]], %[[ADDED]] : vector<16xf32>
// CHECK:           math.absf
// CHECK:         vector.create_mask
// CHECK:         vector.reduction <add>
func.func private @long_sum(%x: tensor<?xf32>, %out: tensor<f32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// A contraction over a known number of terms: blocks of equal size that divides
// it, few enough for totals to be added without compensation.
// CHECK-LABEL: func.func private @long_products(
// CHECK:         %{{.*}}:24 = scf.for {{.*}} to %c1536 step %c512
// CHECK:           %{{.*}}:24 = scf.for {{.*}} step %c1
// CHECK-NOT:     math.absf
// CHECK:         return
func.func private @long_products(%x: tensor<?x1536xf32>, %w: tensor<1536x64xf32>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x1536xf32>, tensor<1536x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// A kernel without a schedule carries the rounding error of a sum as a second
// result. This kernel reads an element at a computed index from the result of
// another op, whose body contains a loop.
// CHECK-LABEL: func.func private @plain_sum(
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]} ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>)
// CHECK:           math.absf
// CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK:         linalg.generic
func.func private @plain_sum(%x: tensor<?xf32>, %y: tensor<?xf32>, %out: tensor<f32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %r = scf.for %j = %c0 to %i step %c1 iter_args(%s = %z) -> f32 {
      %v = tensor.extract %x[%j] : tensor<?xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%g : tensor<?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// Attention: both contractions and the softmax between them for a block of 6 rows. Scores are in 6 rows of memory; keys
// that are stored row by row are summed across the lanes; columns that the mask hides from all rows of the block are
// skipped.
// CHECK-LABEL: func.func private @attention(
// CHECK-COUNT-1: scf.forall
// CHECK:           memref.alloc({{.*}}) {{.*}} : memref<6x?xf32>
// CHECK-NOT:       memref.alloc
// CHECK:           scf.for {{.*}} step %c6
// CHECK:             %[[LAST:.*]] = arith.minsi
// CHECK:             scf.for
// CHECK:               %{{.*}}:16 = scf.for
// CHECK:               vector.shuffle
// CHECK:               arith.select
// CHECK:               vector.store {{.*}} : memref<6x?xf32>
// CHECK:             arith.maximumf
// CHECK:             math.exp
// CHECK:             %{{.*}}:12 = scf.for %{{.*}} = %c0 to %[[LAST]] step %c512
// CHECK:               %{{.*}}:6 = scf.for {{.*}} step %c1
// CHECK:             arith.divf
// CHECK:           scf.for {{.*}} step %c3
// CHECK-NOT:     scf.forall
// CHECK-NOT:     linalg
func.func private @attention(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x32xf32>, %out: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %least = arith.constant -1.0e29 : f32
  %hidden = arith.constant -1.0e30 : f32
  %n = tensor.dim %q, %c0 : tensor<?x64xf32>
  %m = tensor.dim %k, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>],
                            iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x64xf32>, tensor<?x64xf32>) outs(%0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%scores : tensor<?x?xf32>) {
  ^bb0(%s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seen = arith.cmpi sle, %j, %i : index
    %x = arith.select %seen, %s, %hidden : f32
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %1 = linalg.fill ins(%least : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%masked : tensor<?x?xf32>) outs(%1 : tensor<?xf32>) {
  ^bb0(%s: f32, %most: f32):
    %x = arith.maximumf %most, %s : f32
    linalg.yield %x : f32
  } -> tensor<?xf32>
  %powers = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
      ins(%max : tensor<?xf32>) outs(%masked : tensor<?x?xf32>) {
  ^bb0(%most: f32, %s: f32):
    %d = arith.subf %s, %most : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %2 = linalg.fill ins(%z : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<?x?xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%s: f32, %total: f32):
    %x = arith.addf %total, %s : f32
    linalg.yield %x : f32
  } -> tensor<?xf32>
  %3 = linalg.fill ins(%z : f32) outs(%out : tensor<?x32xf32>) -> tensor<?x32xf32>
  %mixed = linalg.matmul ins(%powers, %v : tensor<?x?xf32>, tensor<?x32xf32>) outs(%3 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<?xf32>) outs(%mixed : tensor<?x32xf32>) {
  ^bb0(%total: f32, %x: f32):
    %tiny = arith.constant 1.0e-30 : f32
    %divisor = arith.maximumf %total, %tiny : f32
    %w = arith.divf %x, %divisor : f32
    linalg.yield %w : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Booleans take a byte each in memory: vectors of booleans are accessed as
// vectors of bytes.
// CHECK-LABEL: func.func private @booleans(
// CHECK:         vector.load {{.*}} : memref<?xi8>, vector<{{.*}}xi8>
// CHECK:         arith.cmpi ne
// CHECK:         arith.extui
// CHECK:         vector.store {{.*}} : memref<?xi8>
func.func private @booleans(%x: tensor<?xi1>, %y: tensor<?xi1>, %out: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi1>, tensor<?xi1>) outs(%out : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %c: i1):
    %r = arith.xori %a, %b : i1
    linalg.yield %r : i1
  } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// A kernel with ops that are not structured becomes plain loops.
// CHECK-LABEL: func.func private @other(
// CHECK:         scf.for {{.*}} -> (tensor<4xf32>)
// CHECK:         bufferization.materialize_in_destination
func.func private @other(%x: tensor<4xf32>, %n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Three loops over contiguous memory are merged into one.
// CHECK-LABEL: func.func private @three_loops(
// CHECK:         memref.collapse_shape {{.*}} {{\[\[}}0, 1, 2]] : memref<?x2x64xf32> into memref<?xf32>
// CHECK:         vector.load {{.*}} : memref<?xf32>, vector<16xf32>
func.func private @three_loops(%x: tensor<?x2x64xf32>, %y: tensor<?x2x64xf32>, %out: tensor<?x2x64xf32>) -> tensor<?x2x64xf32> {
  %0 = linalg.add ins(%x, %y : tensor<?x2x64xf32>, tensor<?x2x64xf32>) outs(%out : tensor<?x2x64xf32>) -> tensor<?x2x64xf32>
  return %0 : tensor<?x2x64xf32>
}
