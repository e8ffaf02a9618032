//===- TVMFFI.h - the stable C ABI of TVM FFI, as far as used ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts and functions of the C ABI that compiled functions follow
// (apache-tvm-ffi 0.1). The functions are weak: a host that has no libtvm_ffi
// can call compiled functions with plain DLTensors.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_TVMFFI_H
#define RELAX_RUNTIME_TVMFFI_H

#include <cstddef>
#include <cstdint>

extern "C" {

struct DLDevice {
  int32_t type, id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor tensor;
};

struct TVMFFIObject {
  uint64_t references;
  int32_t typeIndex;
  uint32_t padding;
  void (*deleter)(void *self, int flags);
};
struct TVMFFIAny {
  int32_t typeIndex;
  uint32_t smallLength;
  union {
    int64_t integer;
    double real;
    void *pointer;
    TVMFFIObject *object;
    const char *text;
    char bytes[8];
  };
};
struct TVMFFIByteArray {
  const char *data;
  size_t size;
};
/// What a shape object holds after its header.
struct TVMFFIShapeCell {
  const int64_t *data;
  size_t size;
};
/// What an array object holds after its header.
struct TVMFFISequenceCell {
  TVMFFIAny *data;
  int64_t size;
};

#define RELAX_WEAK __attribute__((weak))
int TVMFFIObjectIncRef(void *object) RELAX_WEAK;
int TVMFFIObjectDecRef(void *object) RELAX_WEAK;
int TVMFFIErrorCreate(const TVMFFIByteArray *kind,
                      const TVMFFIByteArray *message,
                      const TVMFFIByteArray *backtrace, void **out) RELAX_WEAK;
void TVMFFIErrorSetRaised(void *error) RELAX_WEAK;
int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned *from,
                                    int32_t alignment, int32_t contiguous,
                                    void **out) RELAX_WEAK;
int TVMFFIFunctionCreate(void *self,
                         int (*call)(void *self, const TVMFFIAny *args,
                                     int32_t count, TVMFFIAny *result),
                         void (*deleter)(void *self), void **out) RELAX_WEAK;
int TVMFFIFunctionGetGlobal(const TVMFFIByteArray *name, void **out) RELAX_WEAK;
int TVMFFIFunctionCall(void *function, TVMFFIAny *args, int32_t count,
                       TVMFFIAny *result) RELAX_WEAK;
int TVMFFIStringFromByteArray(const TVMFFIByteArray *from,
                              TVMFFIAny *out) RELAX_WEAK;
/// The stream that the caller works on.
void *TVMFFIEnvGetStream(int32_t deviceType, int32_t deviceId) RELAX_WEAK;
#undef RELAX_WEAK

} // extern "C"

namespace relax_rt {

enum TypeIndex : int32_t {
  kNone = 0,
  kInteger = 1,
  kBoolean = 2,
  kReal = 3,
  kTensorPointer = 7,
  kRawString = 8,
  kSmallString = 11,
  kString = 65,
  kFunction = 68,
  kShape = 69,
  kTensor = 70,
  kArray = 71,
  kList = 75,
};

enum DataTypeCode : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8e4m3fn = 10,
  kDLFloat8e5m2 = 12,
};

constexpr int32_t kDLCPU = 1;
constexpr int32_t kDLCUDA = 2;

/// What lies behind an object's header.
template <typename T>
T *contentOf(TVMFFIObject *object) {
  return reinterpret_cast<T *>(object + 1);
}

} // namespace relax_rt

#endif // RELAX_RUNTIME_TVMFFI_H
