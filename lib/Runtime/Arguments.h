//===- Arguments.h - signatures and arguments -------------------*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_RUNTIME_ARGUMENTS_H
#define RELAX_RUNTIME_ARGUMENTS_H

#include "Context.h"

#include <vector>

namespace relax_rt {

/// The type of a parameter or a result, read from the words of a signature.
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
  std::vector<Value> members;

  static Value read(const int64_t *&words);
  /// DLPack's type of the device that has it.
  int32_t device() const {
    int64_t type = flags >> RelaxDeviceShift;
    return type ? static_cast<int32_t>(type) : kDLCPU;
  }
  /// Of one element.
  int64_t bytes() const { return (dtype.bits + 7) / 8; }
  /// "f32", "bool", …
  static std::string nameOf(DLDataType dtype);
};

struct Signature {
  /// Of a function, with the names of its parameters.
  Signature(const int64_t *words, const char *names);
  /// Of a callable value.
  explicit Signature(const int64_t *words) { read(words); }

  /// Fills `slots` from the arguments. False with `context.error` set where an
  /// argument is not what its parameter says.
  bool unpack(RelaxContext &context, const TVMFFIAny *args, int32_t count,
              int64_t *slots) const;

  /// The results as one value: the only one, or a tuple.
  Value result() const;

  /// Whether results can be copied to so many tensors of the caller, for hosts
  /// that have no TVM FFI to hand over new ones.
  bool acceptsDestinations(int32_t count) const;
  /// Copies the results, and gives back their references. False with
  /// `context.error` set where a destination does not fit.
  bool copyResults(RelaxContext &context, const int64_t *slots,
                   const TVMFFIAny *destinations) const;

  const char *function = "callable";
  int64_t inSlots = 0, outSlots = 0;
  /// DLPack's type of the device that the function runs on.
  int32_t device = kDLCPU;
  std::vector<Value> parameters, results;
  /// Name and type of each parameter.
  std::vector<std::pair<const char *, const char *>> names;

private:
  void read(const int64_t *words);
};

/// Fills the slots of one value. False with `context.error` set where it is not
/// what `type` says.
bool unpackValue(RelaxContext &context, const Value &type, const TVMFFIAny &arg,
                 const std::string &what, int64_t *&slots);

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
/// Takes a reference for each slot that has a storage.
void retainSlots(const Value &type, const int64_t *&slots);
/// The same of the results of a function. False with `context.error` set where
/// they cannot be handed over.
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
                           const std::string &what, DLDevice device,
                           Error &error);
/// Where tensors of a call are.
DLDevice deviceOf(const RelaxContext &context);

bool isContiguous(const DLTensor &tensor);
int64_t countBytes(const DLTensor &tensor);
/// Copies a tensor of the host in the order of its elements.
void copyElements(const DLTensor &tensor, char *to);

} // namespace relax_rt

#endif // RELAX_RUNTIME_ARGUMENTS_H
