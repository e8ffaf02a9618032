//===- TVMFFI.h - the stable C ABI of TVM FFI (subset) ----------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts and functions of the C ABI that compiled functions follow
// (apache-tvm-ffi 0.1). The functions are optional: a host without libtvm_ffi
// can call compiled functions with plain DLTensors.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CORE_TVMFFI_H
#define RELAX_RUNTIME_CORE_TVMFFI_H

#include <atomic>
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
/// The payload of a shape object.
struct TVMFFIShapeCell {
  const int64_t *data;
  size_t size;
};
/// The payload of an array object.
struct TVMFFISequenceCell {
  TVMFFIAny *data;
  int64_t size;
};

} // extern "C"

namespace relax_rt {

/// Returns the address of a libtvm_ffi function; null if the process lacks it.
void *findFFIFunction(const char *name);
/// Ends the process: it was given a TVM FFI value that nothing can handle.
[[noreturn]] void failWithoutFFI(const char *name);

/// A function of libtvm_ffi, looked up on first use, as that library may be
/// loaded after this one.
template <typename FunctionType>
class FFIFunction;
template <typename Result, typename... Args>
class FFIFunction<Result(Args...)> {
public:
  using Type = Result(Args...);

  /// `linked` is null if the function was missing when this library was loaded.
  constexpr FFIFunction(const char *name, Type *linked)
      : name(name), known(linked) {}

  /// Whether the function exists.
  explicit operator bool() { return find(); }

  Result operator()(Args... args) {
    Type *function = find();
    if (!function)
      failWithoutFFI(name);
    return function(args...);
  }

private:
  Type *find() {
    Type *function = known.load(std::memory_order_relaxed);
    if (!function) {
      function = reinterpret_cast<Type *>(findFFIFunction(name));
      known.store(function, std::memory_order_relaxed);
    }
    return function;
  }

  const char *name;
  std::atomic<Type *> known;
};

extern FFIFunction<int(void *object)> TVMFFIObjectIncRef;
extern FFIFunction<int(void *object)> TVMFFIObjectDecRef;
extern FFIFunction<int(const TVMFFIByteArray *kind,
                       const TVMFFIByteArray *message,
                       const TVMFFIByteArray *backtrace, void **out)>
    TVMFFIErrorCreate;
extern FFIFunction<void(void *error)> TVMFFIErrorSetRaised;
extern FFIFunction<int(DLManagedTensorVersioned *from, int32_t alignment,
                       int32_t contiguous, void **out)>
    TVMFFITensorFromDLPackVersioned;
extern FFIFunction<int(void *self,
                       int (*call)(void *self, const TVMFFIAny *args,
                                   int32_t count, TVMFFIAny *result),
                       void (*deleter)(void *self), void **out)>
    TVMFFIFunctionCreate;
extern FFIFunction<int(const TVMFFIByteArray *name, void **out)>
    TVMFFIFunctionGetGlobal;
extern FFIFunction<int(void *function, TVMFFIAny *args, int32_t count,
                       TVMFFIAny *result)>
    TVMFFIFunctionCall;
extern FFIFunction<int(const TVMFFIByteArray *from, TVMFFIAny *out)>
    TVMFFIStringFromByteArray;
/// The caller's current stream.
extern FFIFunction<void *(int32_t deviceType, int32_t deviceId)>
    TVMFFIEnvGetStream;
/// Runs pending signal handlers of the caller's language. Returns nonzero if
/// one raised an exception.
extern FFIFunction<int()> TVMFFIEnvCheckSignals;

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
constexpr int32_t kDLVulkan = 7;

/// The payload that follows an object's header.
template <typename T>
T *contentOf(TVMFFIObject *object) {
  return reinterpret_cast<T *>(object + 1);
}

} // namespace relax_rt

#endif // RELAX_RUNTIME_CORE_TVMFFI_H
