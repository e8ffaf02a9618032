// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{alignment must be a power of two, got 48}}
  %0 = relax.alloc_storage 64 align 48 : !relax.storage
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{alignment must be a power of two, got 0}}
  %0 = relax.alloc_storage 64 align 0 : !relax.storage
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{alignment must be a power of two, got -64}}
  %0 = relax.alloc_storage 64 align -64 : !relax.storage
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{the size is negative: -1}}
  %0 = relax.alloc_storage -1 align 64 : !relax.storage
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{the size is negative: -n - 1}}
  %0 = relax.alloc_storage -n - 1 align 64 : !relax.storage
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{the offset is negative: -8}}
  %0 = relax.tensor_from_storage %a at -8 : !relax.storage -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{each dimension of the result must be known, got 'tensor<?xf32>'}}
  %0 = relax.tensor_from_storage %a at 0 : !relax.storage -> tensor<?xf32>
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{each dimension of the result must be known, got 'tensor<*xf32>'}}
  %0 = relax.tensor_from_storage %a at 0 : !relax.storage -> tensor<*xf32>
  relax.return
}

// -----

relax.func @f(%s: !relax.shape<[n]>, %a: !relax.storage) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.alloc_storage 4*m align 64 : !relax.storage
  relax.return
}
