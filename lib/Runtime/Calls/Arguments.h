//===- Arguments.h - signatures and arguments -------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_CALLS_ARGUMENTS_H
#define RELAX_RUNTIME_CALLS_ARGUMENTS_H

#include "Runtime/Core/Context.h"

#include <vector>

namespace relax_rt {

/// The prefix of an error message, built lazily. Refers to a function object
/// that must outlive it.
class Place {
public:
  template <typename Text>
  Place(const Text &text)
      : text(&text), print([](const void *text) {
          return (*static_cast<const Text *>(text))();
        }) {}
  std::string str() const { return print(text); }

private:
  const void *text;
  std::string (*print)(const void *text);
};

/// The type of a parameter or a result: a view of the words of a signature, so
/// that reading it allocates nothing and each call can parse it again.
struct Value {
  int64_t kind = 0;
  int64_t bits = 0;
  int64_t flags = 0;
  DLDataType dtype{0, 0, 1};
  int64_t rank = 0;
  /// `rank` sizes, -1 if unknown.
  const int64_t *dims = nullptr;
  /// For a callable: its signature.
  const int64_t *signature = nullptr;
  /// For a tuple: the number of members.
  int64_t memberCount = 0;
  const int64_t *members = nullptr;

  /// Reads a value and advances `words` past it.
  static Value read(const int64_t *&words);
  /// The DLPack type of the device that holds the value.
  int32_t device() const { return deviceOfWord(flags >> RelaxDeviceShift); }
  /// The size of a tensor with these slots; -1 if it does not fit in 63 bits.
  int64_t countBytes(const int64_t *slots) const;
  /// Decodes the DLPack type of a device from a word; 0 is the CPU.
  static int32_t deviceOfWord(int64_t word) {
    return word ? static_cast<int32_t>(word) : kDLCPU;
  }
  /// "f32", "bool", …
  static std::string nameOf(DLDataType dtype);
};

/// A signature encoded in words, which must outlive this object.
struct Signature {
  /// `names` are the names of the function and its parameters; null for
  /// callable values.
  explicit Signature(const int64_t *words, const char *names = nullptr)
      : function(names ? names : "callable"), parameterCount(words[0]),
        resultCount(words[1]), inSlots(words[2]), outSlots(words[3]),
        device(Value::deviceOfWord(words[4] & (RelaxHostParts - 1))),
        hasHostParts(words[4] & RelaxHostParts), parameters(words + 5),
        names(names) {}

  /// Fills `slots` from the arguments. Returns false with `context.error` set
  /// if an argument does not match its parameter.
  bool unpack(RelaxContext &context, const TVMFFIAny *args, int32_t count,
              int64_t *slots) const;
  /// Releases the references that `unpack` took.
  void release(const int64_t *slots) const;

  /// The words that describe the results.
  const int64_t *results() const;
  /// The results as one value: the single result, or a tuple.
  Value result() const;

  /// Whether results can be copied to `count` tensors of the caller, for hosts
  /// without TVM FFI, which cannot receive new ones.
  bool acceptsDestinations(int32_t count) const;
  /// Checks everything known about destinations before the results exist.
  /// Returns false with `context.error` set.
  bool checkDestinations(RelaxContext &context,
                         const TVMFFIAny *destinations) const;
  /// Copies the results and releases their references. If a destination does
  /// not fit, writes nothing and returns false with `context.error` set.
  bool copyResults(RelaxContext &context, const int64_t *slots,
                   const TVMFFIAny *destinations) const;

  const char *function;
  int64_t parameterCount, resultCount, inSlots, outSlots;
  /// The DLPack type of the device that the function uses.
  int32_t device;
  /// Whether parts of a device function run on the host.
  bool hasHostParts;
  /// The words that describe the parameters.
  const int64_t *parameters;

private:
  /// Whether the arguments that the function writes do not overlap the others.
  bool checkWritten(RelaxContext &context, const int64_t *slots) const;
  /// "main: argument 1 'x' (tensor f32 [n])".
  std::string describeParameter(int64_t index) const;

  const char *names;
};

/// Fills the slots of one value. Returns false with `context.error` set if the
/// argument does not match `type`.
bool unpackValue(RelaxContext &context, const Value &type, const TVMFFIAny &arg,
                 const Place &what, int64_t *&slots);

/// Makes a value from its slots and takes over their references. Returns false
/// if there is no TVM FFI to hold it.
bool makeValue(RelaxContext &context, const Value &type, int64_t *&slots,
               TVMFFIAny *out);
/// Makes a tensor object from the slots of a device tensor. Takes over a
/// reference to `storage` unless that is null.
bool makeView(const Value &type, DLDevice device, RelaxStorage *storage,
              const int64_t *slots, TVMFFIAny *out);
/// Makes a TVM FFI object by calling a global function with `args`.
bool makeObject(const char *name, std::vector<TVMFFIAny> &args, TVMFFIAny *out);
/// Replaces each storage by a reference that may outlive the call (`share`) and
/// advances `slots` past the value. Returns false if out of memory.
bool shareSlots(const Value &type, int64_t *&slots);
/// Releases the reference of each slot that has a storage; advances `slots`
/// past the value.
void releaseSlots(const Value &type, const int64_t *&slots);
/// Makes a value of the results of a function. Returns false with
/// `context.error` set if they cannot be passed to the caller.
bool makeResult(RelaxContext &context, const Signature &signature,
                int64_t *slots, TVMFFIAny *out);

/// Wraps a function of the caller's language as a callable of compiled code.
RelaxStorage *makeForeignClosure(RelaxContext &context, const Value &type,
                                 TVMFFIObject *function);

/// Returns the tensor that an argument holds, or null if it is not a tensor.
const DLTensor *tensorOf(const TVMFFIAny &arg);
/// Like `tensorOf`, but checked: returns null with `error` set if the tensor
/// does not match `type`. `what` begins the message; `device` is where the
/// tensor must be.
const DLTensor *readTensor(const Value &type, const TVMFFIAny &arg,
                           const Place &what, DLDevice device, Error &error);
/// Returns whether the argument is a read-only tensor.
bool isReadOnly(const TVMFFIAny &arg);
/// The device of a tensor of this type in a call.
DLDevice deviceOf(const RelaxContext &context, const Value &type);

/// Writes a number as an element of a float type. Returns false for other
/// types.
bool writeReal(DLDataType dtype, double real, void *to);
/// Checks that no size is negative and that the bytes fit in 63 bits. Returns
/// false with `error` set; `what` begins the message.
bool checkSizes(const DLTensor &tensor, const Place &what, Error &error);
/// Checks likewise that the strides keep every offset within 63 bits.
bool checkOffsets(const DLTensor &tensor, const Place &what, Error &error);
/// Returns whether the elements are contiguous in row-major order.
bool isContiguous(const DLTensor &tensor);
/// Whether the data is aligned for 16-byte accesses; required on devices only.
bool isAligned(const DLTensor &tensor);
/// -1 if it does not fit in 63 bits (`checkSizes`).
int64_t countBytes(const DLTensor &tensor);
/// Copies a host tensor, strided or not, to contiguous memory.
void copyElements(const DLTensor &tensor, char *to);
inline char *dataOf(const DLTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.byteOffset;
}

/// A range of memory.
struct Span {
  char *begin;
  int64_t bytes;

  bool overlaps(const Span &other) const {
    return bytes && other.bytes && begin < other.begin + other.bytes &&
           other.begin < begin + bytes;
  }
};
/// The memory range of a tensor.
inline Span spanOf(const DLTensor &tensor) {
  return {dataOf(tensor), countBytes(tensor)};
}

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_ARGUMENTS_H
