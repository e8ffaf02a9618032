//===- RelaxRuntime.h - interface of compiled code --------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface between compiled code and the runtime. The runtime does not
// depend on the compiler: a model runs with the runtime alone.
//
// The path of a call into compiled code:
//
//   __tvm_ffi_f ──▶ relax_rt_call ──▶ thunk(context, in, out) ──▶ f ──▶ kernels
//    exported        checks and unpacks   compiled: symbols,      host code
//                    arguments to slots   shape checks
//
// A tensor is a memref whose allocated pointer is its `RelaxStorage`, or null
// if something else keeps the memory alive (a weight, a constant). Storages are
// reference-counted: code that returns a tensor or passes it on takes a
// reference.
//
// A failure leaves compiled code by `longjmp` to `relax_rt_call`, which frees
// everything that the call had allocated: compiled code needs neither cleanup
// nor a check after each call.
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

/// One call from the outside; compiled functions pass it along, and read its
/// first word, an int32_t: whether kernels are timed.
typedef struct RelaxContext RelaxContext;

/// A reference-counted block of memory. Compiled code reads only `data`.
typedef struct RelaxStorage {
  int64_t references;
  void *data;
  int64_t bytes;
  /// The call that frees it on failure, and its neighbors in that call's list.
  RelaxContext *context;
  struct RelaxStorage *previous, *next;
  /// Returns the memory to the pool or to another library.
  void (*destroy)(struct RelaxStorage *storage);
  void *owner;
} RelaxStorage;

/// Allocates at least `bytes` bytes, aligned to `align`. Ends the call if out
/// of memory.
RELAX_RT_EXPORT RelaxStorage *relax_rt_alloc(RelaxContext *context,
                                             int64_t bytes, int64_t align,
                                             const char *location);
RELAX_RT_EXPORT void relax_rt_retain(RelaxStorage *storage);
RELAX_RT_EXPORT void relax_rt_release(RelaxStorage *storage);

/// Ends the call with an error; `kind` is the name of a Python exception type.
/// `%0` and `%1` in the message stand for the values; `location` is a
/// `file:line:column`.
RELAX_RT_EXPORT void relax_rt_fail(RelaxContext *context, const char *kind,
                                   const char *message, const char *location,
                                   int64_t first, int64_t second)
    __attribute__((noreturn));

/// Fails with an IndexError unless each index is in [-d, d), or in [0, d), for
/// its bound `d`. `words`: the bit width of an index; whether negative ones
/// count from the end; the rank of the tensor and the number of bounds; the
/// sizes; the bounds. Several bounds apply to the positions in the last
/// dimension, one each. `text` holds zero-terminated strings: the failing op,
/// the operand, and the meaning of each bound.
RELAX_RT_EXPORT void relax_rt_check_indices(RelaxContext *context,
                                            const void *indices,
                                            const int64_t *words,
                                            const char *text,
                                            const char *location);

/// Fails with a RecursionError if the stack is nearly exhausted. Functions that
/// may call themselves begin with this check.
RELAX_RT_EXPORT void relax_rt_check_stack(RelaxContext *context,
                                          const char *location);

/// Runs `body(closure, begin, end)` over [0, count) in pieces of at least
/// `grain` on the thread pool; the caller takes part. Nested or concurrent
/// calls run serially in their own thread.
typedef void (*RelaxParallelBody)(void *closure, int64_t begin, int64_t end);
RELAX_RT_EXPORT void relax_rt_parallel_for(RelaxParallelBody body,
                                           void *closure, int64_t count,
                                           int64_t grain);

/// Allocates scratch memory for kernels from the pool. If out of memory, the
/// kernel is left and the call fails.
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
///   tuple    count values              the slots of its members
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
  /// The function writes to this argument.
  RelaxMutable = 1,
  /// Bits from here on: the DLPack type of the value's device; 0 for the CPU.
  RelaxDeviceShift = 8,
};
/// Combined with the type of a device: parts of the function run on the host.
enum { RelaxHostParts = 1 << 16 };

/// A callable is a storage whose data begins with these words, followed by the
/// slots of the bound values and then by the storages that those hold.
typedef void (*RelaxClosureBody)(RelaxContext *context, int64_t *bound,
                                 int64_t *in, int64_t *out);
typedef struct RelaxClosure {
  RelaxClosureBody body;
  int64_t bound, storages;
} RelaxClosure;
/// Takes over a reference to each storage.
RELAX_RT_EXPORT RelaxStorage *
relax_rt_make_closure(RelaxContext *context, RelaxClosureBody body,
                      int64_t bound, const int64_t *slots, int64_t storages,
                      RelaxStorage *const *kept, const char *location);

/// Calls a function registered with TVM FFI, or one of the runtime's own:
/// "relax.copy" copies its first tensor into the second, from or to the host or
/// a device; "relax.cublaslt" multiplies (CublasLt.h). `words`: the number of
/// tensors, then each tensor; `slots`: the slots of the tensors, then
/// `integers` numbers.
RELAX_RT_EXPORT void
relax_rt_call_library(RelaxContext *context, const char *name,
                      const char *location, const int64_t *words,
                      const int64_t *slots, int64_t integers);

/// Results are returned as TVM FFI values, or copied to tensors that the caller
/// passes after the arguments, one for each result.
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

/// Fails, naming the missing features, if this CPU lacks any of `features`
/// (comma-separated LLVM names); otherwise records success in `isChecked`. The
/// entry points of compiled code begin with it (CPUFeatures.h).
RELAX_RT_EXPORT int relax_rt_require_cpu(const char *features,
                                         int32_t *isChecked);
/// Writes the names of the missing features, in the same form, as a string of
/// at most `size` bytes; returns the number of bytes needed.
RELAX_RT_EXPORT int64_t relax_rt_missing_features(const char *features,
                                                  char *out, int64_t size);
/// Writes the names of the features that this CPU has, in the same way.
RELAX_RT_EXPORT int64_t relax_rt_cpu_features(char *out, int64_t size);

/// Binds weights. The arguments are one or more pairs of a name and a tensor,
/// which are bound together or not at all. A tensor object is kept alive until
/// it is replaced or the code is unloaded, and the last call that uses it has
/// ended. A bare DLTensor cannot be kept alive: the caller must keep its memory
/// for as long. Running calls continue to use the weights that were bound when
/// they began. `words`: the number of weights, then each tensor; `names`: the
/// name and type of each; `table`: one pointer owned by the runtime, initially
/// null.
RELAX_RT_EXPORT int relax_rt_bind_weights(const int64_t *words,
                                          const char *names, void **table,
                                          const struct TVMFFIAny *args,
                                          int32_t count,
                                          struct TVMFFIAny *result);

/// Returns the addresses of a table's weights, which stay the same for the
/// whole call. Fails if a weight is not bound.
RELAX_RT_EXPORT void *const *relax_rt_weights(RelaxContext *context,
                                              const int64_t *words,
                                              const char *names, void **table);

/// Releases the weights of code that is being unloaded.
RELAX_RT_EXPORT void relax_rt_unload_weights(const int64_t *words,
                                             void **table);

/// Ends the call if the user has interrupted it (Ctrl-C). Host code calls this
/// after each kernel and at loop back edges; multithreaded kernels check
/// between two pieces of their work. Also stops the clock of
/// `relax_rt_begin_kernel`.
RELAX_RT_EXPORT void relax_rt_poll(RelaxContext *context);

/// Starts the clock of a kernel. Host code calls this directly before the
/// kernel if kernels are timed. `names`: the kernel, the function that calls
/// it, and where ("file:line:column", or ""), as strings that end in zero.
RELAX_RT_EXPORT void relax_rt_begin_kernel(RelaxContext *context,
                                           const char *names);

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//
//
// The tensors of a device function live on the device of its first device
// tensor argument, or on device 0 if there is none. Its work is put into the
// caller's stream; host code waits only to read a number or to copy a tensor to
// the host. Parts of the function may run on the host and have their tensors
// there: the signature gives the device of each value.

/// Like `relax_rt_alloc`, but for device memory: the header is in host memory,
/// and the data is used in stream order. `align` is at most 256.
RELAX_RT_EXPORT RelaxStorage *relax_rt_device_alloc(RelaxContext *context,
                                                    int64_t bytes,
                                                    int64_t align,
                                                    const char *location);

/// Globals of compiled code that are loaded to each device on first use there.
/// `loaded` belongs to the runtime and is initially null. When compiled code is
/// unloaded, its function `relax_unload` passes each one to
/// `relax_rt_device_unload`, which does nothing at process exit.
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

/// Frees the loaded instances of a global on every device, after waiting for
/// the devices. The global must not be used again.
RELAX_RT_EXPORT void relax_rt_device_unload(void **loaded);

/// Launches a kernel in the call of this thread. `shape`: the grid's x, y, z,
/// the block's x, y, z, bytes of dynamic shared memory, and 1 if the kernel
/// itself waits for earlier kernels and so may start before they end, else 0;
/// `args`: a pointer to each argument. An empty grid launches nothing.
RELAX_RT_EXPORT void relax_rt_device_launch(RelaxDeviceKernel *kernel,
                                            const int64_t *shape, void **args,
                                            const char *location);
/// Allocates device memory for the call of this thread, like
/// `relax_rt_device_alloc`.
RELAX_RT_EXPORT RelaxStorage *relax_rt_device_scratch(int64_t bytes,
                                                      const char *location);
/// Creates a tensor map (TMA descriptor) of a contiguous tensor on the call's
/// device, by which kernels copy boxes of it. The map is stored within the 23
/// words at `place`; its address, which is returned, is an argument of a
/// launch. `shape`: 1 for bf16 and 0 for f16, the rank, the sizes of the
/// tensor, and the sizes of the box.
RELAX_RT_EXPORT void *relax_rt_device_tensor_map(void *place, const void *data,
                                                 const int64_t *shape,
                                                 const char *location);
/// Returns the address of a constant on the call's device.
RELAX_RT_EXPORT void *relax_rt_device_constant(RelaxContext *context,
                                               RelaxDeviceConstant *constant,
                                               const char *location);
/// Reads at most 8 bytes, little-endian and zero-extended. Waits for the
/// stream.
RELAX_RT_EXPORT int64_t relax_rt_device_read(RelaxContext *context,
                                             const void *data, int64_t bytes);
RELAX_RT_EXPORT void relax_rt_device_write(RelaxContext *context, void *data,
                                           const int64_t *words, int64_t count);

// Functions with TVM FFI's calling convention. A device is passed as two
// arguments, its type and its number.

/// (tensor, device) -> a new contiguous tensor on that device.
RELAX_RT_EXPORT int relax_rt_copy(void *self, const struct TVMFFIAny *args,
                                  int32_t count, struct TVMFFIAny *result);
/// (tensor, device tensor) -> nothing; copies the elements of the first into
/// the second, which must be contiguous and have the same shape and type.
RELAX_RT_EXPORT int relax_rt_write(void *self, const struct TVMFFIAny *args,
                                   int32_t count, struct TVMFFIAny *result);
/// (device) -> (name, major and minor compute capability, bytes of memory,
/// subgroup size, architecture that code is compiled for: "sm_90a").
RELAX_RT_EXPORT int relax_rt_device_describe(void *self,
                                             const struct TVMFFIAny *args,
                                             int32_t count,
                                             struct TVMFFIAny *result);
/// (device): waits for all work on the device.
RELAX_RT_EXPORT int relax_rt_device_synchronize(void *self,
                                                const struct TVMFFIAny *args,
                                                int32_t count,
                                                struct TVMFFIAny *result);
/// (device) -> (used, peak, held, requests), as RelaxPoolStatistics.
RELAX_RT_EXPORT int
relax_rt_device_pool_statistics(void *self, const struct TVMFFIAny *args,
                                int32_t count, struct TVMFFIAny *result);
/// (device): resets the peak to the bytes now in use.
RELAX_RT_EXPORT int
relax_rt_device_pool_reset_peak(void *self, const struct TVMFFIAny *args,
                                int32_t count, struct TVMFFIAny *result);
/// (device): releases unused memory.
RELAX_RT_EXPORT int relax_rt_device_pool_trim(void *self,
                                              const struct TVMFFIAny *args,
                                              int32_t count,
                                              struct TVMFFIAny *result);
/// (device, bytes): sets an upper limit on the bytes held; 0 for none.
RELAX_RT_EXPORT int relax_rt_device_pool_set_limit(void *self,
                                                   const struct TVMFFIAny *args,
                                                   int32_t count,
                                                   struct TVMFFIAny *result);

/// (device function, maximum number of graphs for each stream) -> (an
/// equivalent function, a function that reads statistics). Calls of the first
/// are captured and replayed where possible (Graphs.h). The second returns how
/// many calls were captured, replayed, or found impossible to capture; how many
/// graphs there are; and whether the function can be captured at all. The
/// graphs live as long as these two functions.
RELAX_RT_EXPORT int relax_rt_capture(void *self, const struct TVMFFIAny *args,
                                     int32_t count, struct TVMFFIAny *result);

//===----------------------------------------------------------------------===//
// Memory and threads of the host
//===----------------------------------------------------------------------===//

/// Bytes in use, peak bytes in use, bytes held from the system, and number of
/// requests to the system.
typedef struct RelaxPoolStatistics {
  int64_t used, peak, held, requests;
} RelaxPoolStatistics;
RELAX_RT_EXPORT void relax_rt_pool_statistics(RelaxPoolStatistics *out);
/// Resets the peak to the bytes now in use.
RELAX_RT_EXPORT void relax_rt_pool_reset_peak(void);
/// Returns unused memory to the system.
RELAX_RT_EXPORT void relax_rt_pool_trim(void);
/// Sets an upper limit on the bytes held; 0 for none.
RELAX_RT_EXPORT void relax_rt_pool_set_limit(int64_t bytes);

RELAX_RT_EXPORT int32_t relax_rt_thread_count(void);
/// Sets the number of threads; 0 for one per processor. Ignored inside a
/// parallel loop of a kernel, where a signal handler may call it.
RELAX_RT_EXPORT void relax_rt_set_thread_count(int32_t count);

/// How often and how long a kernel or a library function ran while a profile
/// was active: on the host, or on a Vulkan device that the host has waited for.
/// Under the name "": calls of the function from the outside.
typedef struct RelaxTimes {
  const char *name, *function, *location;
  int64_t calls, nanoseconds;
} RelaxTimes;
/// Begins (1) or ends (-1) a profile; several may be active. Calls that begin
/// while one is active are timed.
RELAX_RT_EXPORT void relax_rt_profile(int32_t change);
/// The sums since the process began, one after another in no particular order:
/// the first one if `last` is null, else the one after `last`; null after the
/// last one. They are never freed.
RELAX_RT_EXPORT const RelaxTimes *relax_rt_times(const RelaxTimes *last);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // RELAX_RUNTIME_H
