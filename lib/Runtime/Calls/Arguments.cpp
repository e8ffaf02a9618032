//===- Arguments.cpp - signatures and arguments ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"
#include "Runtime/Calls/Device.h"

#include <cstring>
#include <vector>

using namespace relax_rt;

Value Value::read(const int64_t *&words) {
  Value value;
  value.kind = *words++;
  switch (value.kind) {
  case RelaxInteger:
  case RelaxReal:
    value.bits = *words++;
    break;
  case RelaxTensor:
    value.dtype.code = static_cast<uint8_t>(*words++);
    value.dtype.bits = static_cast<uint8_t>(*words++);
    value.flags = *words++;
    value.rank = *words++;
    value.dims = words;
    words += value.rank;
    break;
  case RelaxShape:
    value.rank = *words++;
    value.dims = words;
    words += value.rank;
    break;
  case RelaxTuple:
    value.memberCount = *words++;
    value.members = words;
    for (int64_t count = value.memberCount; count > 0; --count)
      read(words);
    break;
  case RelaxCallable: {
    int64_t count = *words++;
    value.signature = words;
    words += count;
    break;
  }
  }
  return value;
}

std::string Signature::describeParameter(int64_t index) const {
  std::string text =
      std::string(function) + ": argument " + std::to_string(index);
  if (!names)
    return text;
  const char *name = names + strlen(names) + 1;
  const char *type = name + strlen(name) + 1;
  for (; index > 0; --index) {
    name = type + strlen(type) + 1;
    type = name + strlen(name) + 1;
  }
  return text + " '" + name + "' (" + type + ")";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

std::string describe(const TVMFFIAny &arg) {
  switch (arg.typeIndex) {
  case kNone:
    return "None";
  case kInteger:
    return "the integer " + std::to_string(arg.integer);
  case kBoolean:
    return arg.integer ? "True" : "False";
  case kReal:
    return "the number " + std::to_string(arg.real);
  case kTensorPointer:
  case kTensor:
    return "a tensor";
  case kRawString:
  case kSmallString:
  case kString:
    return "a string";
  case kFunction:
    return "a function";
  case kShape:
    return "a shape";
  case kArray:
  case kList:
    return "a sequence";
  }
  return "an object of another type";
}

class Unpacker {
public:
  Unpacker(RelaxContext &context, int64_t *slots)
      : context(context), slots(slots) {}

  bool unpack(const Value &type, const TVMFFIAny &arg, const Place &what) {
    Error &error = context.error;
    auto expected = [&](const char *wanted) {
      return fail(error, "TypeError",
                  what.str() + ": expected " + wanted + ", got " +
                      describe(arg));
    };
    switch (type.kind) {
    case RelaxInteger:
      if (arg.typeIndex != kInteger && arg.typeIndex != kBoolean)
        return expected("an integer");
      *slots = arg.integer;
      if (type.bits < 64 && (*slots < -(int64_t(1) << (type.bits - 1)) ||
                             *slots >= int64_t(1) << (type.bits - 1)))
        return fail(error, "ValueError",
                    what.str() + ": " + std::to_string(*slots) +
                        " does not fit in " + std::to_string(type.bits) +
                        " bits");
      ++slots;
      return true;
    case RelaxBoolean:
      if (arg.typeIndex != kInteger && arg.typeIndex != kBoolean)
        return expected("a boolean");
      *slots++ = arg.integer != 0;
      return true;
    case RelaxReal: {
      if (arg.typeIndex != kReal && arg.typeIndex != kInteger)
        return expected("a number");
      double real = arg.typeIndex == kReal ? arg.real : double(arg.integer);
      memcpy(slots++, &real, sizeof(real));
      return true;
    }
    case RelaxTensor:
      return unpackTensor(type, arg, what);
    case RelaxShape: {
      const TVMFFIShapeCell *shape = nullptr;
      const TVMFFISequenceCell *sequence = nullptr;
      if (arg.typeIndex == kShape)
        shape = contentOf<TVMFFIShapeCell>(arg.object);
      else if (arg.typeIndex == kArray || arg.typeIndex == kList)
        sequence = contentOf<TVMFFISequenceCell>(arg.object);
      else
        return expected("a shape");
      int64_t size = shape ? shape->size : sequence->size;
      for (int64_t i = 0; sequence && i < size; ++i)
        if (sequence->data[i].typeIndex != kInteger)
          return expected("a shape: a sequence of integers");
      if (size != type.rank)
        return fail(error, "ValueError",
                    what.str() + ": expected " + std::to_string(type.rank) +
                        " dimensions, got " + std::to_string(size));
      for (int64_t i = 0; i < type.rank; ++i) {
        int64_t dim = shape ? shape->data[i] : sequence->data[i].integer;
        if (!checkDim(type, i, dim, what))
          return false;
        *slots++ = dim;
      }
      return true;
    }
    case RelaxTuple: {
      if (arg.typeIndex != kArray && arg.typeIndex != kList)
        return expected("a tuple");
      auto *cell = contentOf<TVMFFISequenceCell>(arg.object);
      if (cell->size != type.memberCount)
        return fail(error, "ValueError",
                    what.str() + ": expected a tuple of " +
                        std::to_string(type.memberCount) + ", got " +
                        std::to_string(cell->size));
      const int64_t *words = type.members;
      for (int64_t i = 0; i < type.memberCount; ++i) {
        auto member = [&] {
          return what.str() + ", member " + std::to_string(i);
        };
        if (!unpack(Value::read(words), cell->data[i], member))
          return false;
      }
      return true;
    }
    case RelaxCallable: {
      if (arg.typeIndex != kFunction)
        return expected("a function");
      RelaxStorage *closure = makeForeignClosure(context, type, arg.object);
      if (!closure)
        return fail(error, "MemoryError", what.str() + ": no memory");
      *slots++ = reinterpret_cast<int64_t>(closure);
      return true;
    }
    }
    return fail(error, "TypeError",
                what.str() + ": a parameter of an unknown kind");
  }

  int64_t *position() const { return slots; }
  /// Returns whether the function writes into one of the tensors.
  bool writes() const { return isWritten; }

private:
  bool checkDim(const Value &type, int64_t axis, int64_t actual,
                const Place &what) {
    if (actual >= 0 && (type.dims[axis] < 0 || type.dims[axis] == actual))
      return true;
    return fail(context.error, "ValueError",
                what.str() + ": dimension " + std::to_string(axis) +
                    " must be " +
                    (type.dims[axis] < 0 ? std::string("at least 0")
                                         : std::to_string(type.dims[axis])) +
                    ", got " + std::to_string(actual));
  }

  /// Unpacks a number that is passed for a tensor of rank 0.
  bool unpackNumber(const Value &type, const TVMFFIAny &arg,
                    const Place &what) {
    bool isReal = arg.typeIndex == kReal;
    double real = isReal ? arg.real : double(arg.integer);
    int64_t word = 0;
    if (writeReal(type.dtype, real, &word)) {
      // Done.
    } else if (!isReal &&
               (type.dtype.code == kDLBool || type.dtype.code == kDLInt ||
                type.dtype.code == kDLUInt)) {
      int64_t bits = type.dtype.code == kDLBool ? 1 : type.dtype.bits;
      bool isSigned = type.dtype.code == kDLInt;
      int64_t least = isSigned && bits < 64 ? -(int64_t(1) << (bits - 1)) : 0;
      int64_t most = bits == 64
                         ? INT64_MAX
                         : (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
      if (isSigned && bits == 64)
        least = INT64_MIN;
      if (arg.integer < least || arg.integer > most)
        return fail(context.error, "ValueError",
                    what.str() + ": " + std::to_string(arg.integer) +
                        " does not fit in " + Value::nameOf(type.dtype));
      word = arg.integer; // little-endian: the low bytes come first
    } else {
      return fail(context.error, "TypeError",
                  what.str() + ": expected a tensor, got " + describe(arg));
    }
    RelaxStorage *storage =
        allocateTensor(context, type.device(), sizeof(word));
    if (!storage) {
      context.error.message = what.str() + ": " + context.error.message;
      return false;
    }
    if (type.device() != kDLCPU) {
      DeviceStream &stream = *context.stream;
      if (!stream.device.driver->upload(storage->data, &word, sizeof(word),
                                        stream.handle, context.error))
        return false;
    } else {
      memcpy(storage->data, &word, sizeof(word));
    }
    *slots++ = reinterpret_cast<int64_t>(storage);
    *slots++ = reinterpret_cast<int64_t>(storage->data);
    return true;
  }

  bool unpackTensor(const Value &type, const TVMFFIAny &arg,
                    const Place &what) {
    if (type.rank == 0 && !(type.flags & RelaxMutable) &&
        (arg.typeIndex == kInteger || arg.typeIndex == kBoolean ||
         arg.typeIndex == kReal))
      return unpackNumber(type, arg, what);
    const DLTensor *tensor =
        readTensor(type, arg, what, deviceOf(context, type), context.error);
    if (!tensor)
      return false;
    isWritten |= type.flags & RelaxMutable;
    if ((type.flags & RelaxMutable) && isReadOnly(arg))
      return fail(context.error, "ValueError",
                  what.str() +
                      ": the function writes into this tensor, which is "
                      "read-only; pass a writable copy");
    for (int64_t i = 0; i < type.rank; ++i)
      if (!checkDim(type, i, tensor->shape[i], what))
        return false;
    char *data = dataOf(*tensor);
    RelaxStorage *storage = nullptr;
    if (!isContiguous(*tensor)) {
      if (type.flags & RelaxMutable)
        return fail(context.error, "ValueError",
                    what.str() +
                        ": the function writes into this tensor, so it must "
                        "be contiguous");
      if (type.device() != kDLCPU)
        return fail(context.error, "ValueError",
                    what.str() + ": must be contiguous, as every tensor on " +
                        Device::nameOf(tensor->device) +
                        "; give a contiguous copy");
      if (!copyToContiguous(*tensor, storage, what))
        return false;
      data = static_cast<char *>(storage->data);
    } else if (!isAligned(*tensor)) {
      if (type.flags & RelaxMutable)
        return fail(context.error, "ValueError",
                    what.str() +
                        ": the function writes into this tensor, so on " +
                        Device::nameOf(tensor->device) +
                        " it must begin at a multiple of 16 bytes");
      storage = allocateTensor(context, type.device(), countBytes(*tensor));
      if (!storage || !copyTensor(context, type.device(), storage->data, data,
                                  countBytes(*tensor)))
        return false;
      data = static_cast<char *>(storage->data);
    } else if (arg.typeIndex == kTensor) {
      // A result may be this very tensor, which must then stay alive.
      storage = borrow(arg.object, data);
      if (!storage)
        return fail(context.error, "MemoryError", what.str() + ": no memory");
      link(&context, storage);
    }
    *slots++ = reinterpret_cast<int64_t>(storage);
    *slots++ = reinterpret_cast<int64_t>(data);
    for (int64_t i = 0; i < type.rank; ++i)
      *slots++ = tensor->shape[i];
    return true;
  }

  bool copyToContiguous(const DLTensor &tensor, RelaxStorage *&storage,
                        const Place &what) {
    if (!checkOffsets(tensor, what, context.error))
      return false;
    int64_t bytes = countBytes(tensor);
    storage = allocate(&context, bytes, kAlignment);
    if (!storage)
      return fail(context.error, "MemoryError",
                  what.str() + ": no memory for a contiguous copy of " +
                      std::to_string(bytes) + " bytes");
    copyElements(tensor, static_cast<char *>(storage->data));
    return true;
  }

  RelaxContext &context;
  int64_t *slots;
  bool isWritten = false;
};

} // namespace

bool relax_rt::fail(Error &error, const char *kind, std::string message) {
  error.kind = kind;
  error.message = std::move(message);
  return false;
}

const DLTensor *relax_rt::tensorOf(const TVMFFIAny &arg) {
  if (arg.typeIndex == kTensorPointer)
    return static_cast<const DLTensor *>(arg.pointer);
  if (arg.typeIndex == kTensor)
    return contentOf<DLTensor>(arg.object);
  return nullptr;
}

DLDevice relax_rt::deviceOf(const RelaxContext &context, const Value &type) {
  return type.device() != kDLCPU ? context.stream->device.id
                                 : DLDevice{kDLCPU, 0};
}

const DLTensor *relax_rt::readTensor(const Value &type, const TVMFFIAny &arg,
                                     const Place &what, DLDevice device,
                                     Error &error) {
  const DLTensor *tensor = tensorOf(arg);
  if (!tensor) {
    fail(error, "TypeError",
         what.str() + ": expected a tensor, got " + describe(arg));
    return nullptr;
  }
  if (tensor->device.type != device.type ||
      (device.type != kDLCPU && tensor->device.id != device.id)) {
    std::string wanted = Device::nameOf(device);
    fail(error, "ValueError",
         what.str() + ": expected a tensor on " + wanted + ", got one on " +
             Device::nameOf(tensor->device) + "; copy it to " + wanted);
    return nullptr;
  }
  if (tensor->dtype.code != type.dtype.code ||
      tensor->dtype.bits != type.dtype.bits || tensor->dtype.lanes != 1) {
    fail(error, "TypeError",
         what.str() + ": expected elements of type " +
             Value::nameOf(type.dtype) + ", got " +
             Value::nameOf(tensor->dtype));
    return nullptr;
  }
  if (tensor->ndim != type.rank) {
    fail(error, "ValueError",
         what.str() + ": expected " + std::to_string(type.rank) +
             " dimensions, got " + std::to_string(tensor->ndim));
    return nullptr;
  }
  if (!checkSizes(*tensor, what, error))
    return nullptr;
  if (device.type != kDLCPU) {
    Device *known = Device::find(device, error);
    if (!known)
      return nullptr;
    int64_t bytes = countBytes(*tensor);
    if (!known->driver->owns(dataOf(*tensor),
                             isContiguous(*tensor) ? bytes : !!bytes)) {
      std::string name = Device::nameOf(device);
      fail(error, "ValueError",
           what.str() + ": the runtime has not allocated this memory on " +
               name + "; copy the tensor to " + name + " through the host");
      return nullptr;
    }
  }
  return tensor;
}

bool relax_rt::unpackValue(RelaxContext &context, const Value &type,
                           const TVMFFIAny &arg, const Place &what,
                           int64_t *&slots) {
  Unpacker unpacker(context, slots);
  bool unpacked = unpacker.unpack(type, arg, what);
  slots = unpacker.position();
  return unpacked;
}

bool Signature::unpack(RelaxContext &context, const TVMFFIAny *args,
                       int32_t count, int64_t *slots) const {
  if (count != parameterCount)
    return fail(context.error, "TypeError",
                std::string(function) + ": expected " +
                    std::to_string(parameterCount) + " arguments, got " +
                    std::to_string(count));
  Unpacker unpacker(context, slots);
  const int64_t *words = parameters;
  for (int32_t i = 0; i < count; ++i) {
    auto what = [&] { return describeParameter(i); };
    if (!unpacker.unpack(Value::read(words), args[i], what))
      return false;
  }
  return !unpacker.writes() || checkWritten(context, slots);
}

void Signature::release(const int64_t *slots) const {
  const int64_t *words = parameters;
  for (int64_t i = 0; i < parameterCount; ++i)
    releaseSlots(Value::read(words), slots);
}

const int64_t *Signature::results() const {
  const int64_t *words = parameters;
  for (int64_t i = 0; i < parameterCount; ++i)
    Value::read(words);
  return words;
}

Value Signature::result() const {
  const int64_t *words = results();
  if (resultCount == 1)
    return Value::read(words);
  Value tuple;
  tuple.kind = RelaxTuple;
  tuple.memberCount = resultCount;
  tuple.members = words;
  return tuple;
}
