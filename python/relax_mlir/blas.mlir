// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products go to the BLAS (see blas.py): those of two matrices of f32.

!x = tensor<?x?xf32, #relax.shape<[m, k]>>
!w = tensor<?x?xf32, #relax.shape<[k, n]>>
!wt = tensor<?x?xf32, #relax.shape<[n, k]>>
!y = tensor<?x?xf32, #relax.shape<[m, n]>>

relax.func private @blas_sgemm(%x: !x, %w: !w) -> !y attributes {relax.library = {function = "blas.sgemm", relax.borrows}} {
  %0 = relax.matmul %x, %w : (!x, !w) -> !y
  relax.return %0 : !y
}

relax.func private @blas_sgemm_nt(%x: !x, %w: !wt) -> !y attributes {relax.library = {function = "blas.sgemm_nt", relax.borrows}} {
  %0 = relax.linear %x, %w : (!x, !wt) -> !y
  relax.return %0 : !y
}
