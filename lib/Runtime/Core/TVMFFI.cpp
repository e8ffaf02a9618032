//===- TVMFFI.cpp - TVM FFI functions of this process ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/TVMFFI.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace relax_rt;

#ifdef __APPLE__
constexpr const char *kLibrary = "libtvm_ffi.dylib";
#else
constexpr const char *kLibrary = "libtvm_ffi.so";
#endif

void *relax_rt::findFFIFunction(const char *name) {
  if (void *function = dlsym(RTLD_DEFAULT, name))
    return function;
  // Finds the library even if it was loaded with local visibility. The handle
  // is kept open, as its functions are kept.
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

void relax_rt::failWithoutFFI(const char *name) {
  fprintf(stderr,
          "relax-mlir: got a TVM FFI value, but the process lacks the "
          "function %s; load %s with global visibility\n",
          name, kLibrary);
  abort();
}

// Weak references cover functions linked into the program itself, which `dlsym`
// does not find, and libraries that are already loaded.
#define RELAX_FFI_FUNCTION(name)                                               \
  extern "C" decltype(relax_rt::name)::Type name __attribute__((weak));        \
  decltype(relax_rt::name) relax_rt::name(#name, ::name)

RELAX_FFI_FUNCTION(TVMFFIObjectIncRef);
RELAX_FFI_FUNCTION(TVMFFIObjectDecRef);
RELAX_FFI_FUNCTION(TVMFFIErrorCreate);
RELAX_FFI_FUNCTION(TVMFFIErrorSetRaised);
RELAX_FFI_FUNCTION(TVMFFITensorFromDLPackVersioned);
RELAX_FFI_FUNCTION(TVMFFIFunctionCreate);
RELAX_FFI_FUNCTION(TVMFFIFunctionGetGlobal);
RELAX_FFI_FUNCTION(TVMFFIFunctionCall);
RELAX_FFI_FUNCTION(TVMFFIStringFromByteArray);
RELAX_FFI_FUNCTION(TVMFFIEnvGetStream);
RELAX_FFI_FUNCTION(TVMFFIEnvCheckSignals);
