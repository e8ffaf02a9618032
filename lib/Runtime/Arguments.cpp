//===- Arguments.cpp - signatures and arguments ---------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Device.h"

#include <cstring>

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
    for (int64_t count = *words++; count > 0; --count)
      value.members.push_back(read(words));
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

std::string Value::nameOf(DLDataType dtype) {
  std::string lanes = dtype.lanes == 1 ? "" : "x" + std::to_string(dtype.lanes);
  std::string bits = std::to_string(dtype.bits) + lanes;
  switch (dtype.code) {
  case kDLInt:
    return "i" + bits;
  case kDLUInt:
    return "u" + bits;
  case kDLFloat:
    return "f" + bits;
  case kDLBfloat:
    return "bf" + bits;
  case kDLBool:
    return "bool";
  }
  return "type " + std::to_string(dtype.code) + " of " + bits + " bits";
}

void Signature::read(const int64_t *words) {
  int64_t parameterCount = *words++, resultCount = *words++;
  inSlots = *words++;
  outSlots = *words++;
  if (int64_t type = *words++)
    device = static_cast<int32_t>(type);
  for (int64_t i = 0; i < parameterCount; ++i)
    parameters.push_back(Value::read(words));
  for (int64_t i = 0; i < resultCount; ++i)
    results.push_back(Value::read(words));
}

Signature::Signature(const int64_t *words, const char *text) {
  read(words);
  function = text;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const char *name = text += strlen(text) + 1;
    const char *type = text += strlen(text) + 1;
    names.push_back({name, type});
  }
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

/// Copies `tensor` row by row in the order of its elements.
void copyStrided(const DLTensor &tensor, const char *from, char *&to,
                 int32_t axis, size_t element) {
  if (axis == tensor.ndim) {
    memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    copyStrided(tensor, from + i * tensor.strides[axis] * int64_t(element), to,
                axis + 1, element);
}

} // namespace

bool relax_rt::fail(Error &error, const char *kind, std::string message) {
  error.kind = kind;
  error.message = std::move(message);
  return false;
}

bool relax_rt::isContiguous(const DLTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t stride = 1;
  bool contiguous = true;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0)
      return true;
    contiguous &= tensor.shape[i] == 1 || tensor.strides[i] == stride;
    stride *= tensor.shape[i];
  }
  return contiguous;
}

int64_t relax_rt::countBytes(const DLTensor &tensor) {
  int64_t bytes = (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    bytes *= tensor.shape[i];
  return bytes;
}

void relax_rt::copyElements(const DLTensor &tensor, char *to) {
  const char *from = static_cast<char *>(tensor.data) + tensor.byteOffset;
  if (isContiguous(tensor)) {
    memcpy(to, from, countBytes(tensor));
    return;
  }
  copyStrided(tensor, from, to, 0,
              (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8);
}

namespace {

class Unpacker {
public:
  Unpacker(RelaxContext &context, int64_t *slots)
      : context(context), slots(slots) {}

  bool unpack(const Value &type, const TVMFFIAny &arg,
              const std::string &what) {
    Error &error = context.error;
    auto expected = [&](const char *wanted) {
      return fail(error, "TypeError",
                  what + ": expected " + wanted + ", got " + describe(arg));
    };
    switch (type.kind) {
    case RelaxInteger:
      if (arg.typeIndex != kInteger && arg.typeIndex != kBoolean)
        return expected("an integer");
      *slots = arg.integer;
      if (type.bits < 64 && (*slots < -(int64_t(1) << (type.bits - 1)) ||
                             *slots >= int64_t(1) << (type.bits - 1)))
        return fail(error, "ValueError",
                    what + ": " + std::to_string(*slots) + " does not fit in " +
                        std::to_string(type.bits) + " bits");
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
      const int64_t *dims = nullptr;
      std::vector<int64_t> read;
      if (arg.typeIndex == kShape) {
        auto *cell = contentOf<TVMFFIShapeCell>(arg.object);
        read.assign(cell->data, cell->data + cell->size);
      } else if (arg.typeIndex == kArray || arg.typeIndex == kList) {
        auto *cell = contentOf<TVMFFISequenceCell>(arg.object);
        for (int64_t i = 0; i < cell->size; ++i) {
          if (cell->data[i].typeIndex != kInteger)
            return expected("a shape: a sequence of integers");
          read.push_back(cell->data[i].integer);
        }
      } else {
        return expected("a shape");
      }
      dims = read.data();
      if (static_cast<int64_t>(read.size()) != type.rank)
        return fail(error, "ValueError",
                    what + ": expected " + std::to_string(type.rank) +
                        " dimensions, got " + std::to_string(read.size()));
      for (int64_t i = 0; i < type.rank; ++i) {
        if (!checkDim(type, i, dims[i], what))
          return false;
        *slots++ = dims[i];
      }
      return true;
    }
    case RelaxTuple: {
      if (arg.typeIndex != kArray && arg.typeIndex != kList)
        return expected("a tuple");
      auto *cell = contentOf<TVMFFISequenceCell>(arg.object);
      if (cell->size != static_cast<int64_t>(type.members.size()))
        return fail(error, "ValueError",
                    what + ": expected a tuple of " +
                        std::to_string(type.members.size()) + ", got " +
                        std::to_string(cell->size));
      for (size_t i = 0; i < type.members.size(); ++i)
        if (!unpack(type.members[i], cell->data[i],
                    what + ", member " + std::to_string(i)))
          return false;
      return true;
    }
    case RelaxCallable: {
      if (arg.typeIndex != kFunction)
        return expected("a function");
      RelaxStorage *closure = makeForeignClosure(context, type, arg.object);
      if (!closure)
        return fail(error, "MemoryError", what + ": no memory");
      *slots++ = reinterpret_cast<int64_t>(closure);
      return true;
    }
    }
    return fail(error, "TypeError", what + ": a parameter of an unknown kind");
  }

  int64_t *position() const { return slots; }

private:
  bool checkDim(const Value &type, int64_t axis, int64_t actual,
                const std::string &what) {
    if (actual >= 0 && (type.dims[axis] < 0 || type.dims[axis] == actual))
      return true;
    return fail(context.error, "ValueError",
                what + ": dimension " + std::to_string(axis) + " must be " +
                    (type.dims[axis] < 0 ? std::string("at least 0")
                                         : std::to_string(type.dims[axis])) +
                    ", got " + std::to_string(actual));
  }

  /// A number for a tensor without dimensions.
  bool unpackNumber(const Value &type, const TVMFFIAny &arg,
                    const std::string &what) {
    bool isReal = arg.typeIndex == kReal;
    double real = isReal ? arg.real : double(arg.integer);
    int64_t word = 0;
    if (type.dtype.code == kDLFloat && type.dtype.bits == 32) {
      float narrow = static_cast<float>(real);
      memcpy(&word, &narrow, sizeof(narrow));
    } else if (type.dtype.code == kDLFloat && type.dtype.bits == 64) {
      memcpy(&word, &real, sizeof(real));
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
                    what + ": " + std::to_string(arg.integer) +
                        " does not fit in " + Value::nameOf(type.dtype));
      word = arg.integer; // little-endian: the low bytes come first
    } else {
      return fail(context.error, "TypeError",
                  what + ": expected a tensor, got " + describe(arg));
    }
    RelaxStorage *storage = allocateTensor(context, sizeof(word));
    if (!storage)
      return false;
    if (DeviceStream *stream = context.stream) {
      if (!stream->device.driver->upload(storage->data, &word, sizeof(word),
                                         stream->handle, context.error))
        return false;
    } else {
      memcpy(storage->data, &word, sizeof(word));
    }
    *slots++ = reinterpret_cast<int64_t>(storage);
    *slots++ = reinterpret_cast<int64_t>(storage->data);
    return true;
  }

  bool unpackTensor(const Value &type, const TVMFFIAny &arg,
                    const std::string &what) {
    if (type.rank == 0 && !(type.flags & RelaxMutable) &&
        (arg.typeIndex == kInteger || arg.typeIndex == kBoolean ||
         arg.typeIndex == kReal))
      return unpackNumber(type, arg, what);
    const DLTensor *tensor =
        readTensor(type, arg, what, deviceOf(context), context.error);
    if (!tensor)
      return false;
    for (int64_t i = 0; i < type.rank; ++i)
      if (!checkDim(type, i, tensor->shape[i], what))
        return false;
    char *data = static_cast<char *>(tensor->data) + tensor->byteOffset;
    RelaxStorage *storage = nullptr;
    if (!isContiguous(*tensor)) {
      if (type.flags & RelaxMutable)
        return fail(context.error, "ValueError",
                    what + ": the function writes into this tensor, so it must "
                           "be contiguous");
      if (context.stream)
        return fail(context.error, "ValueError",
                    what + ": must be contiguous, as every tensor on " +
                        Device::nameOf(tensor->device) +
                        "; give a contiguous copy");
      if (!copyToContiguous(*tensor, storage, what))
        return false;
      data = static_cast<char *>(storage->data);
    } else if (arg.typeIndex == kTensor) {
      // The result may be this very tensor, which must then stay alive.
      storage =
          static_cast<RelaxStorage *>(Pool::allocate(sizeof(RelaxStorage)));
      if (!storage)
        return fail(context.error, "MemoryError", what + ": no memory");
      TVMFFIObjectIncRef(arg.object);
      *storage = {
          1, data, 0, nullptr, nullptr, nullptr, destroyBorrowed, arg.object};
      link(&context, storage);
    }
    *slots++ = reinterpret_cast<int64_t>(storage);
    *slots++ = reinterpret_cast<int64_t>(data);
    for (int64_t i = 0; i < type.rank; ++i)
      *slots++ = tensor->shape[i];
    return true;
  }

  bool copyToContiguous(const DLTensor &tensor, RelaxStorage *&storage,
                        const std::string &what) {
    int64_t bytes = countBytes(tensor);
    storage = allocate(&context, bytes, kAlignment);
    if (!storage)
      return fail(context.error, "MemoryError",
                  what + ": no memory for a contiguous copy of " +
                      std::to_string(bytes) + " bytes");
    copyElements(tensor, static_cast<char *>(storage->data));
    return true;
  }

  RelaxContext &context;
  int64_t *slots;
};

} // namespace

const DLTensor *relax_rt::tensorOf(const TVMFFIAny &arg) {
  if (arg.typeIndex == kTensorPointer)
    return static_cast<const DLTensor *>(arg.pointer);
  if (arg.typeIndex == kTensor)
    return contentOf<DLTensor>(arg.object);
  return nullptr;
}

DLDevice relax_rt::deviceOf(const RelaxContext &context) {
  return context.stream ? context.stream->device.id : DLDevice{kDLCPU, 0};
}

const DLTensor *relax_rt::readTensor(const Value &type, const TVMFFIAny &arg,
                                     const std::string &what, DLDevice device,
                                     Error &error) {
  const DLTensor *tensor = tensorOf(arg);
  if (!tensor) {
    fail(error, "TypeError",
         what + ": expected a tensor, got " + describe(arg));
    return nullptr;
  }
  if (tensor->device.type != device.type ||
      (device.type != kDLCPU && tensor->device.id != device.id)) {
    std::string wanted = Device::nameOf(device);
    fail(error, "ValueError",
         what + ": expected a tensor on " + wanted + ", got one on " +
             Device::nameOf(tensor->device) + "; copy it to " + wanted);
    return nullptr;
  }
  if (tensor->dtype.code != type.dtype.code ||
      tensor->dtype.bits != type.dtype.bits || tensor->dtype.lanes != 1) {
    fail(error, "TypeError",
         what + ": expected elements of type " + Value::nameOf(type.dtype) +
             ", got " + Value::nameOf(tensor->dtype));
    return nullptr;
  }
  if (tensor->ndim != type.rank) {
    fail(error, "ValueError",
         what + ": expected " + std::to_string(type.rank) +
             " dimensions, got " + std::to_string(tensor->ndim));
    return nullptr;
  }
  return tensor;
}

bool relax_rt::unpackValue(RelaxContext &context, const Value &type,
                           const TVMFFIAny &arg, const std::string &what,
                           int64_t *&slots) {
  Unpacker unpacker(context, slots);
  bool unpacked = unpacker.unpack(type, arg, what);
  slots = unpacker.position();
  return unpacked;
}

bool Signature::unpack(RelaxContext &context, const TVMFFIAny *args,
                       int32_t count, int64_t *slots) const {
  if (count != static_cast<int32_t>(parameters.size()))
    return fail(context.error, "TypeError",
                std::string(function) + ": expected " +
                    std::to_string(parameters.size()) + " arguments, got " +
                    std::to_string(count));
  Unpacker unpacker(context, slots);
  for (int32_t i = 0; i < count; ++i) {
    std::string what =
        std::string(function) + ": argument " + std::to_string(i);
    if (!names.empty())
      what = what + " '" + names[i].first + "' (" + names[i].second + ")";
    if (!unpacker.unpack(parameters[i], args[i], what))
      return false;
  }
  return true;
}

Value Signature::result() const {
  if (results.size() == 1)
    return results.front();
  Value tuple;
  tuple.kind = RelaxTuple;
  tuple.members = results;
  return tuple;
}

bool Signature::acceptsDestinations(int32_t count) const {
  if (count != static_cast<int32_t>(results.size()))
    return false;
  for (const Value &result : results)
    if (result.kind != RelaxTensor)
      return false;
  return true;
}

bool Signature::copyResults(RelaxContext &context, const int64_t *slots,
                            const TVMFFIAny *destinations) const {
  for (size_t i = 0; i < results.size(); ++i) {
    const Value &type = results[i];
    std::string what =
        std::string(function) + ": destination " + std::to_string(i);
    const DLTensor *to = readTensor(type, destinations[i], what,
                                    deviceOf(context), context.error);
    if (!to)
      return false;
    int64_t bytes = type.bytes();
    for (int64_t axis = 0; axis < type.rank; ++axis) {
      int64_t size = slots[2 + axis];
      if (to->shape[axis] != size)
        return fail(context.error, "ValueError",
                    what + ": dimension " + std::to_string(axis) + " must be " +
                        std::to_string(size) + ", got " +
                        std::to_string(to->shape[axis]));
      bytes *= size;
    }
    if (!isContiguous(*to))
      return fail(context.error, "ValueError", what + ": must be contiguous");
    char *data = static_cast<char *>(to->data) + to->byteOffset;
    auto *from = reinterpret_cast<const void *>(slots[1]);
    if (DeviceStream *stream = context.stream) {
      if (data != from && !stream->device.driver->copy(
                              data, from, bytes, stream->handle, context.error))
        return false;
    } else {
      memmove(data, from, bytes);
    }
    relax_rt_release(reinterpret_cast<RelaxStorage *>(slots[0]));
    slots += 2 + type.rank;
  }
  return true;
}
