//===- RelaxRuntime.h - what compiled code calls ----------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface between compiled code and the runtime. The runtime knows
// nothing of the compiler: a model runs with it alone.
//
// A call, from the outside in:
//
//   __tvm_ffi_f ──▶ relax_rt_call ──▶ thunk(context, in, out) ──▶ f ──▶ kernels
//    exported        checks and unpacks   compiled: symbols,      host code
//                    arguments to slots   shape checks
//
// A tensor is a memref whose allocated pointer is its `RelaxStorage`, or null
// where somebody else keeps the memory alive (a weight, a constant). Storages
// are counted: whoever returns or carries on a tensor takes a reference.
//
// A failure leaves compiled code by `longjmp` to `relax_rt_call`, which frees
// what the call had allocated: compiled code has nothing to clean up, and no
// check after each call.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_H
#define RELAX_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define RELAX_RT_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// One call from the outside; compiled functions hand it on.
typedef struct RelaxContext RelaxContext;

/// A counted block of memory. Compiled code reads `data` only.
typedef struct RelaxStorage {
  int64_t references;
  void *data;
  int64_t bytes;
  /// The call that is to free it should it fail, and its neighbours there.
  RelaxContext *context;
  struct RelaxStorage *previous, *next;
  /// Gives the memory back: the pool's, or another library's.
  void (*destroy)(struct RelaxStorage *storage);
  void *owner;
} RelaxStorage;

/// At least `bytes` bytes, aligned to `align`; fails where there is no memory.
RELAX_RT_EXPORT RelaxStorage *relax_rt_alloc(RelaxContext *context,
                                             int64_t bytes, int64_t align,
                                             const char *location);
RELAX_RT_EXPORT void relax_rt_retain(RelaxStorage *storage);
RELAX_RT_EXPORT void relax_rt_release(RelaxStorage *storage);

/// Ends the call with an error of a Python exception's name. `%0` and `%1` in
/// the message stand for the values; `location` is a `file:line:column`.
RELAX_RT_EXPORT void relax_rt_fail(RelaxContext *context, const char *kind,
                                   const char *message, const char *location,
                                   int64_t first, int64_t second)
    __attribute__((noreturn));

/// Fails with an IndexError unless each index is in [-d, d), or in [0, d), for
/// its bound `d`. `words`: bits of an index; whether negative ones count from
/// the end; the rank of the tensor, and how many bounds there are; the sizes;
/// the bounds. Several bounds are one for each position in the last dimension.
/// `text`, strings that end in zero: what fails, the operand, and what each
/// bound is.
RELAX_RT_EXPORT void relax_rt_check_indices(RelaxContext *context,
                                            const void *indices,
                                            const int64_t *words,
                                            const char *text,
                                            const char *location);

/// Fails with a RecursionError where little of the stack is left. Functions
/// that may call themselves begin with it.
RELAX_RT_EXPORT void relax_rt_check_stack(RelaxContext *context,
                                          const char *location);

/// Runs `body(closure, begin, end)` over [0, count) in pieces of at least
/// `grain` on the thread pool; the caller takes part. Nested or concurrent
/// calls run where they are.
typedef void (*RelaxParallelBody)(void *closure, int64_t begin, int64_t end);
RELAX_RT_EXPORT void relax_rt_parallel_for(RelaxParallelBody body,
                                           void *closure, int64_t count,
                                           int64_t grain);

/// Scratch memory of kernels, from the pool. Where there is none, the kernel is
/// left, and the call fails.
RELAX_RT_EXPORT void *_mlir_memref_to_llvm_alloc(size_t bytes);
RELAX_RT_EXPORT void *_mlir_memref_to_llvm_aligned_alloc(size_t align,
                                                         size_t bytes);
RELAX_RT_EXPORT void _mlir_memref_to_llvm_free(void *data);

/// A value's form in the words of a signature, and in slots:
///   integer  bits                      1 slot
///   boolean                            1 slot
///   real     bits                      1 slot, a double
///   tensor   code bits flags rank dims  2 + rank: storage, data, sizes
///   shape    rank dims                 rank slots
///   tuple    count values              those of its members
///   callable words, then as a function 1 slot: its storage
/// An unknown size is -1; `words` is how many words follow.
enum RelaxValueKind {
  RelaxInteger = 1,
  RelaxBoolean = 2,
  RelaxReal = 3,
  RelaxTensor = 4,
  RelaxShape = 5,
  RelaxTuple = 6,
  RelaxCallable = 7,
};
enum RelaxTensorFlags {
  /// The function writes into this argument.
  RelaxMutable = 1,
  /// From this bit on: DLPack's type of the device that has it; 0 for the CPU.
  RelaxDeviceShift = 8,
};
/// Beside the type of a device: some of the function runs on the host.
enum { RelaxHostParts = 1 << 16 };

/// A callable is a storage whose data begins with these words; behind them lie
/// the slots of what is bound to it, then the storages that those hold on to.
typedef void (*RelaxClosureBody)(RelaxContext *context, int64_t *bound,
                                 int64_t *in, int64_t *out);
typedef struct RelaxClosure {
  RelaxClosureBody body;
  int64_t bound, storages;
} RelaxClosure;
/// Takes over a reference of each storage.
RELAX_RT_EXPORT RelaxStorage *
relax_rt_make_closure(RelaxContext *context, RelaxClosureBody body,
                      int64_t bound, const int64_t *slots, int64_t storages,
                      RelaxStorage *const *kept, const char *location);

/// Calls a function that is registered with TVM FFI under a name, or one of the
/// runtime: "relax.copy" copies its first tensor into the second, from or to
/// the host or a device; "relax.cublaslt" multiplies (CublasLt.h). `words`: how
/// many tensors, then each; `slots`: those of the tensors, then `integers`
/// numbers.
RELAX_RT_EXPORT void
relax_rt_call_library(RelaxContext *context, const char *name,
                      const char *location, const int64_t *words,
                      const int64_t *slots, int64_t integers);

/// Results are handed over as values of TVM FFI; or copied to tensors that the
/// caller gives behind the arguments, one for each result.
///
/// `words`: parameters, results, slots in, slots out, the type of the device
/// that the function uses (0 for none; with `RelaxHostParts`), then each value.
/// `names`: the function, then for each parameter its name and its type, as
/// strings that end in zero.
struct TVMFFIAny;
RELAX_RT_EXPORT int relax_rt_call(const int64_t *words, const char *names,
                                  void (*thunk)(RelaxContext *, int64_t *,
                                                int64_t *),
                                  const struct TVMFFIAny *args, int32_t count,
                                  struct TVMFFIAny *result);

/// Fails with the features of `features`, LLVM's names with commas between
/// them, that this CPU lacks; else notes in `isChecked` that it has all. The
/// entries of compiled code begin with it (CPUFeatures.h).
RELAX_RT_EXPORT int relax_rt_require_cpu(const char *features,
                                         int32_t *isChecked);
/// Writes the names of those that are missing, in the same form, as a string of
/// at most `size` bytes; returns how many are needed.
RELAX_RT_EXPORT int64_t relax_rt_missing_features(const char *features,
                                                  char *out, int64_t size);

/// Binds weights: the arguments are a name and a tensor, or several such pairs,
/// which are bound together or not at all. A tensor object is held until other
/// weights are bound in its place, or the code is unloaded, and the last call
/// that uses it is over. A bare DLTensor cannot be held: its memory must stay
/// as long. Calls that run meanwhile use what was bound when they began.
/// `words`: how many, then each tensor; `names`: each name and type; `table`:
/// one pointer, the runtime's, null at the start.
RELAX_RT_EXPORT int relax_rt_bind_weights(const int64_t *words,
                                          const char *names, void **table,
                                          const struct TVMFFIAny *args,
                                          int32_t count,
                                          struct TVMFFIAny *result);

/// The addresses of the weights of a table, the same ones for the whole call.
/// Fails where a weight is not bound yet.
RELAX_RT_EXPORT void *const *relax_rt_weights(RelaxContext *context,
                                              const int64_t *words,
                                              const char *names, void **table);

/// Lets go of the weights of code that is unloaded. None is bound afterwards.
RELAX_RT_EXPORT void relax_rt_unload_weights(const int64_t *words,
                                             void **table);

/// Ends the call where the user has asked for that (Ctrl-C). Host code calls it
/// between kernels, and where a loop begins again; kernels on several threads
/// end between two pieces of their work.
RELAX_RT_EXPORT void relax_rt_poll(RelaxContext *context);

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//
//
// A function of a device has its tensors there: on that of the first tensor
// argument there, or on device 0 where there is none. Its work is put into the
// caller's stream, and host code waits only where it reads a number, or a
// tensor is copied to the host. Parts of it may run on the host, and have their
// tensors there: each value of a signature says where it is.

/// As `relax_rt_alloc`, of the device: the header is in the host's memory, and
/// the data is used in the order of the stream. `align` is at most 256.
RELAX_RT_EXPORT RelaxStorage *relax_rt_device_alloc(RelaxContext *context,
                                                    int64_t bytes,
                                                    int64_t align,
                                                    const char *location);

/// Globals of compiled code that are loaded to each device when they are first
/// used there. `loaded` is the runtime's, and null at the start. Each is given
/// to `relax_rt_device_unload` by the function `relax_unload` of compiled code,
/// which is called when that goes; where the process ends it does nothing.
typedef struct RelaxDeviceModule {
  const void *image;
  int64_t bytes;
  void *loaded;
} RelaxDeviceModule;
typedef struct RelaxDeviceKernel {
  RelaxDeviceModule *module;
  const char *name;
  void *loaded;
} RelaxDeviceKernel;
typedef struct RelaxDeviceConstant {
  const void *data;
  int64_t bytes;
  void *loaded;
} RelaxDeviceConstant;

/// Takes back what `loaded` of a global has become on every device, when they
/// are done with it. Nothing uses it any more.
RELAX_RT_EXPORT void relax_rt_device_unload(void **loaded);

/// Launches a kernel in the call of this thread. `shape`: the grid's x, y, z,
/// the block's x, y, z, bytes of dynamic shared memory, and 1 if it may begin
/// before those before it end, as it waits for them itself, else 0; `args`: a
/// pointer to each argument. A grid without blocks launches nothing.
RELAX_RT_EXPORT void relax_rt_device_launch(RelaxDeviceKernel *kernel,
                                            const int64_t *shape, void **args,
                                            const char *location);
/// Memory of the device for the call of this thread, as `relax_rt_device_alloc`
/// gives.
RELAX_RT_EXPORT RelaxStorage *relax_rt_device_scratch(int64_t bytes,
                                                      const char *location);
/// Makes the map of a contiguous tensor on the call's device, by which kernels
/// copy boxes of it, within 23 words at `place`; returns its address, which is
/// an argument of a launch. `shape`: 1 for bf16 and 0 for f16, the rank, the
/// sizes of the tensor, and those of the box.
RELAX_RT_EXPORT void *relax_rt_device_tensor_map(void *place, const void *data,
                                                 const int64_t *shape,
                                                 const char *location);
/// The address of a constant on the call's device.
RELAX_RT_EXPORT void *relax_rt_device_constant(RelaxContext *context,
                                               RelaxDeviceConstant *constant,
                                               const char *location);
/// At most 8 bytes, little-endian, with zeros above. Waits for the stream.
RELAX_RT_EXPORT int64_t relax_rt_device_read(RelaxContext *context,
                                             const void *data, int64_t bytes);
RELAX_RT_EXPORT void relax_rt_device_write(RelaxContext *context, void *data,
                                           const int64_t *words, int64_t count);

// Functions of TVM FFI's convention. The device is given as two arguments, its
// type and its number.

/// (tensor, device) -> a new contiguous tensor there.
RELAX_RT_EXPORT int relax_rt_copy(void *self, const struct TVMFFIAny *args,
                                  int32_t count, struct TVMFFIAny *result);
/// (tensor, tensor of a device) -> nothing; writes the elements of the first
/// into the second, which has its shape and type, without gaps.
RELAX_RT_EXPORT int relax_rt_write(void *self, const struct TVMFFIAny *args,
                                   int32_t count, struct TVMFFIAny *result);
/// (device) -> (name, major and minor of the capability, bytes of memory, how
/// many threads exchange values, what code is compiled for: "sm_90a").
RELAX_RT_EXPORT int relax_rt_device_describe(void *self,
                                             const struct TVMFFIAny *args,
                                             int32_t count,
                                             struct TVMFFIAny *result);
/// (device): waits for all that is under way there.
RELAX_RT_EXPORT int relax_rt_device_synchronize(void *self,
                                                const struct TVMFFIAny *args,
                                                int32_t count,
                                                struct TVMFFIAny *result);
/// (device) -> (used, peak, held, requests), as RelaxPoolStatistics.
RELAX_RT_EXPORT int
relax_rt_device_pool_statistics(void *self, const struct TVMFFIAny *args,
                                int32_t count, struct TVMFFIAny *result);
/// (device): sets the peak to what is in use now.
RELAX_RT_EXPORT int
relax_rt_device_pool_reset_peak(void *self, const struct TVMFFIAny *args,
                                int32_t count, struct TVMFFIAny *result);
/// (device): gives unused memory back.
RELAX_RT_EXPORT int relax_rt_device_pool_trim(void *self,
                                              const struct TVMFFIAny *args,
                                              int32_t count,
                                              struct TVMFFIAny *result);
/// (device, bytes): an upper limit of the bytes held; 0 for none.
RELAX_RT_EXPORT int relax_rt_device_pool_set_limit(void *self,
                                                   const struct TVMFFIAny *args,
                                                   int32_t count,
                                                   struct TVMFFIAny *result);

/// (function of a device, how many graphs to keep for each stream) -> (the
/// same function, a function that reads statistics). Calls of the first are
/// captured where they can be, and replayed (Graphs.h). The second gives how
/// often they were captured, replayed, and not to be captured; how many graphs
/// there are; and whether the function can be captured at all. The graphs go
/// with the two.
RELAX_RT_EXPORT int relax_rt_capture(void *self, const struct TVMFFIAny *args,
                                     int32_t count, struct TVMFFIAny *result);

//===----------------------------------------------------------------------===//
// Memory and threads of the host
//===----------------------------------------------------------------------===//

/// Bytes in use, most bytes in use so far, bytes held from the system, and how
/// often the system was asked.
typedef struct RelaxPoolStatistics {
  int64_t used, peak, held, requests;
} RelaxPoolStatistics;
RELAX_RT_EXPORT void relax_rt_pool_statistics(RelaxPoolStatistics *out);
/// Sets the peak to what is in use now.
RELAX_RT_EXPORT void relax_rt_pool_reset_peak(void);
/// Gives unused memory back to the system.
RELAX_RT_EXPORT void relax_rt_pool_trim(void);
/// An upper limit of the bytes held; 0 for none.
RELAX_RT_EXPORT void relax_rt_pool_set_limit(int64_t bytes);

RELAX_RT_EXPORT int32_t relax_rt_thread_count(void);
/// 0 for one thread a processor. Ignored where the calling thread is inside a
/// parallel loop of a kernel, as a handler of a signal may be.
RELAX_RT_EXPORT void relax_rt_set_thread_count(int32_t count);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // RELAX_RUNTIME_H
