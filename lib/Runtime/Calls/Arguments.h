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

/// The text that begins a message, made only where there is one: refers to a
/// function object that must outlive it.
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

/// The type of a parameter or a result. It points into the words of a
/// signature, so reading it allocates nothing and a call can do so anew.
struct Value {
  int64_t kind = 0;
  int64_t bits = 0;
  int64_t flags = 0;
  DLDataType dtype{0, 0, 1};
  int64_t rank = 0;
  /// `rank` sizes, -1 where unknown.
  const int64_t *dims = nullptr;
  /// Of a callable: its signature.
  const int64_t *signature = nullptr;
  /// Of a tuple: so many values.
  int64_t memberCount = 0;
  const int64_t *members = nullptr;

  /// Moves `words` behind the value.
  static Value read(const int64_t *&words);
  /// DLPack's type of the device that has it.
  int32_t device() const { return deviceOfWord(flags >> RelaxDeviceShift); }
  /// Of a tensor with these slots; -1 where they do not fit in 63 bits.
  int64_t countBytes(const int64_t *slots) const;
  /// DLPack's type of a device from a word, where 0 is the CPU.
  static int32_t deviceOfWord(int64_t word) {
    return word ? static_cast<int32_t>(word) : kDLCPU;
  }
  /// "f32", "bool", …
  static std::string nameOf(DLDataType dtype);
};

/// A signature in words, which must outlive it.
struct Signature {
  /// Of a function, with the names of its parameters; of a callable value
  /// without.
  explicit Signature(const int64_t *words, const char *names = nullptr)
      : function(names ? names : "callable"), parameterCount(words[0]),
        resultCount(words[1]), inSlots(words[2]), outSlots(words[3]),
        device(Value::deviceOfWord(words[4] & (RelaxHostParts - 1))),
        hasHostParts(words[4] & RelaxHostParts), parameters(words + 5),
        names(names) {}

  /// Fills `slots` from the arguments. False with `context.error` set where an
  /// argument is not what its parameter says.
  bool unpack(RelaxContext &context, const TVMFFIAny *args, int32_t count,
              int64_t *slots) const;
  /// Gives back what `unpack` made references of.
  void release(const int64_t *slots) const;

  /// The words of the results.
  const int64_t *results() const;
  /// The results as one value: the only one, or a tuple.
  Value result() const;

  /// Whether results can be copied to so many tensors of the caller, for hosts
  /// that have no TVM FFI to hand over new ones.
  bool acceptsDestinations(int32_t count) const;
  /// Checks all that is known of destinations before the results are. False
  /// with `context.error` set.
  bool checkDestinations(RelaxContext &context,
                         const TVMFFIAny *destinations) const;
  /// Copies the results, and gives back their references. False with
  /// `context.error` set, and nothing written, where a destination does not
  /// fit.
  bool copyResults(RelaxContext &context, const int64_t *slots,
                   const TVMFFIAny *destinations) const;

  const char *function;
  int64_t parameterCount, resultCount, inSlots, outSlots;
  /// DLPack's type of the device that the function uses.
  int32_t device;
  /// Whether some of it runs on the host all the same.
  bool hasHostParts;
  /// The words of the parameters.
  const int64_t *parameters;

private:
  /// Whether what the function writes into lies apart from its other arguments.
  bool checkWritten(RelaxContext &context, const int64_t *slots) const;
  /// "main: argument 1 'x' (tensor f32 [n])".
  std::string describeParameter(int64_t index) const;

  const char *names;
};

/// Fills the slots of one value. False with `context.error` set where it is not
/// what `type` says.
bool unpackValue(RelaxContext &context, const Value &type, const TVMFFIAny &arg,
                 const Place &what, int64_t *&slots);

/// Makes a value of its slots, and takes over their references. False where
/// there is no TVM FFI to hold it.
bool makeValue(RelaxContext &context, const Value &type, int64_t *&slots,
               TVMFFIAny *out);
/// A tensor object for the slots of a tensor on a device, that takes over a
/// reference of `storage`, or of nothing where that is null.
bool makeView(const Value &type, DLDevice device, RelaxStorage *storage,
              const int64_t *slots, TVMFFIAny *out);
/// An object of TVM FFI, that a global function makes of its arguments.
bool makeObject(const char *name, std::vector<TVMFFIAny> &args, TVMFFIAny *out);
/// Replaces each storage by a reference for somebody outside the call
/// (`share`). False where there is no memory for one; moves `slots` behind the
/// value.
bool shareSlots(const Value &type, int64_t *&slots);
/// Gives back the reference of each slot that has a storage; moves `slots`
/// behind the value.
void releaseSlots(const Value &type, const int64_t *&slots);
/// Makes a value of the results of a function. False with `context.error` set
/// where they cannot be handed over.
bool makeResult(RelaxContext &context, const Signature &signature,
                int64_t *slots, TVMFFIAny *out);

/// A function of the caller's language, as a callable of compiled code.
RelaxStorage *makeForeignClosure(RelaxContext &context, const Value &type,
                                 TVMFFIObject *function);

/// The tensor that an argument is; null where it is something else.
const DLTensor *tensorOf(const TVMFFIAny &arg);
/// The same, checked; null with `error` set where it is not as `type` says.
/// `what` begins the message; `device` is where it must be.
const DLTensor *readTensor(const Value &type, const TVMFFIAny &arg,
                           const Place &what, DLDevice device, Error &error);
/// Whether it is a tensor that nothing may be written into.
bool isReadOnly(const TVMFFIAny &arg);
/// Where a tensor of a call is.
DLDevice deviceOf(const RelaxContext &context, const Value &type);

/// Writes a number as an element of a float type; false for other types.
bool writeReal(DLDataType dtype, double real, void *to);
/// Whether its sizes can be those of a tensor: none is negative, and the bytes
/// fit in 63 bits. False with the error set; `what` begins the message.
bool checkSizes(const DLTensor &tensor, const Place &what, Error &error);
/// The same of the strides of a tensor with such sizes.
bool checkOffsets(const DLTensor &tensor, const Place &what, Error &error);
/// Whether the elements lie one behind the other.
bool isContiguous(const DLTensor &tensor);
/// Whether code may read a tensor 16 bytes at once; on the host it need not be
/// told.
bool isAligned(const DLTensor &tensor);
/// -1 where they do not fit in 63 bits (`checkSizes`).
int64_t countBytes(const DLTensor &tensor);
/// Copies a tensor of the host in the order of its elements.
void copyElements(const DLTensor &tensor, char *to);
inline char *dataOf(const DLTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.byteOffset;
}

/// A piece of memory.
struct Span {
  char *begin;
  int64_t bytes;

  bool overlaps(const Span &other) const {
    return bytes && other.bytes && begin < other.begin + other.bytes &&
           other.begin < begin + bytes;
  }
};
/// That of a tensor.
inline Span spanOf(const DLTensor &tensor) {
  return {dataOf(tensor), countBytes(tensor)};
}

} // namespace relax_rt

#endif // RELAX_RUNTIME_CALLS_ARGUMENTS_H
