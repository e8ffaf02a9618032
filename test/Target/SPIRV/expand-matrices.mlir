// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-gpu-bufferize=chip=subgroup_32_matrices | FileCheck %s --check-prefix=LAUNCH
// RUN: relax-opt %s -relax-gpu-bufferize=chip=subgroup_32_matrices -relax-gpu-to-spirv | FileCheck %s
// RUN: relax-opt %s -relax-gpu-bufferize=chip=subgroup_32_matrices -relax-gpu-to-spirv=overlap=true \
// RUN:   | FileCheck %s --implicit-check-not=AtomicIAdd
// RUN: relax-opt %s -relax-gpu-bufferize=chip=subgroup_32 | FileCheck %s --check-prefix=WITHOUT

// Parts of both operands go through registers to shared memory, in words; a subgroup loads them as cooperative
// matrices, and a loop carries the sums.
// LAUNCH-LABEL: func.func @product
// LAUNCH: gpu.launch
// LAUNCH-DAG: builtin.unrealized_conversion_cast %{{.+}}, %{{.+}} : memref<{{.+}}>, index to !spirv.ptr<i16, Workgroup>
// LAUNCH-DAG: vector.bitcast %{{.+}} : vector<8xbf16> to vector<4xi32>
// LAUNCH: scf.for {{.*}} -> (!spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>, {{.*}}vector<4xi32>
// LAUNCH: gpu.barrier
// LAUNCH: vector.store
// LAUNCH: gpu.barrier
// LAUNCH: %[[A:.+]] = spirv.KHR.CooperativeMatrixLoad %{{.+}}, %{{.+}}, <RowMajor>
// LAUNCH: %[[B:.+]] = spirv.KHR.CooperativeMatrixLoad %{{.+}}, %{{.+}}, <ColumnMajor>
// LAUNCH: spirv.KHR.CooperativeMatrixMulAdd %[[A]], %[[B]], %{{.+}}
// LAUNCH: spirv.KHR.CooperativeMatrixStore

// Shared memory is made of 16-byte vectors, and visibility between threads is declared in Vulkan's memory model.
// CHECK: spirv.module @spirv.product PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.6,
// CHECK-SAME: BFloat16CooperativeMatrixKHR, VulkanMemoryModel
// CHECK-SAME: CooperativeMatrixKHR, BFloat16TypeKHR], [SPV_KHR_cooperative_matrix, SPV_KHR_bfloat16]>
// CHECK: spirv.GlobalVariable @{{.+}} : !spirv.ptr<!spirv.array<{{[0-9]+}} x vector<4xi32>>, Workgroup>
// CHECK: spirv.Variable : !spirv.ptr<!spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>, Function>
// CHECK: spirv.Store "Workgroup" %{{.+}}, %{{.+}} ["NonPrivatePointer"] : vector<4xi32>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK: spirv.KHR.CooperativeMatrixLoad %{{.+}}, %{{.+}}, <RowMajor>, <NonPrivatePointer> : !spirv.ptr<vector<4xi32>, Workgroup>, i32 -> !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixA>
// CHECK: spirv.KHR.CooperativeMatrixMulAdd

// Without cooperative matrices, the product is computed point by point.
// WITHOUT-LABEL: func.func @product
// WITHOUT-NOT: coopmatrix
func.func @product(%x: memref<200x128xbf16>, %y: memref<96x128xbf16>, %out: memref<200x96xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<200x128xbf16> to tensor<200x128xbf16>
  %1 = bufferization.to_tensor %y restrict : memref<96x128xbf16> to tensor<96x128xbf16>
  %2 = bufferization.to_tensor %out restrict writable : memref<200x96xf32> to tensor<200x96xf32>
  %zero = arith.constant 0.0 : f32
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<200x96xf32>) -> tensor<200x96xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%0, %1 : tensor<200x128xbf16>, tensor<96x128xbf16>) outs(%3 : tensor<200x96xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %5 = arith.extf %a : bf16 to f32
    %6 = arith.extf %b : bf16 to f32
    %7 = arith.mulf %5, %6 : f32
    %8 = arith.addf %c, %7 : f32
    linalg.yield %8 : f32
  } -> tensor<200x96xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out : (tensor<200x96xf32>, memref<200x96xf32>) -> ()
  return
}
