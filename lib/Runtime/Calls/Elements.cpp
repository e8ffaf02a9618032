//===- Elements.cpp - elements of tensors ---------------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Calls/Arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace relax_rt;

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
  case kDLFloat8e4m3fn:
    return "f8e4m3fn";
  case kDLFloat8e5m2:
    return "f8e5m2";
  }
  return "type " + std::to_string(dtype.code) + " of " + bits + " bits";
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

/// Returns `bytes` times the sizes, or -1 if a size is negative or the product
/// exceeds 63 bits.
static int64_t multiply(int64_t bytes, const int64_t *sizes, int64_t rank) {
  bool isBeyond = false, isEmpty = false;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0)
      return -1;
    isEmpty |= sizes[i] == 0;
    isBeyond |= __builtin_mul_overflow(bytes, sizes[i], &bytes);
  }
  return isEmpty ? 0 : isBeyond ? -1 : bytes;
}

int64_t Value::countBytes(const int64_t *slots) const {
  return multiply((dtype.bits + 7) / 8, slots + 2, rank);
}

static int64_t bytesOfElement(const DLTensor &tensor) {
  return (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
}

int64_t relax_rt::countBytes(const DLTensor &tensor) {
  return multiply(bytesOfElement(tensor), tensor.shape, tensor.ndim);
}

bool relax_rt::checkSizes(const DLTensor &tensor, const Place &what,
                          Error &error) {
  if (tensor.ndim < 0)
    return fail(error, "ValueError",
                what.str() + ": a tensor of " + std::to_string(tensor.ndim) +
                    " dimensions");
  std::string sizes;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    if (tensor.shape[i] < 0)
      return fail(error, "ValueError",
                  what.str() + ": dimension " + std::to_string(i) +
                      " must be at least 0, got " +
                      std::to_string(tensor.shape[i]));
  int64_t bytes = countBytes(tensor);
  if (bytes > 0 && !tensor.data && tensor.device.type == kDLCPU)
    return fail(error, "ValueError",
                what.str() + ": the tensor has elements, and its data is null");
  if (bytes >= 0)
    return true;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    sizes += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return fail(error, "ValueError",
              what.str() + ": a tensor of sizes [" + sizes +
                  "] has more bytes than 63 bits can count");
}

/// Whether the byte offset of every element fits in 63 bits.
static bool hasOffsets(const DLTensor &tensor) {
  int64_t lowest = 0, highest = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int64_t last, bytes = bytesOfElement(tensor);
    if (__builtin_mul_overflow(tensor.strides[i], bytes, &bytes) ||
        __builtin_mul_overflow(bytes, tensor.shape[i] - 1, &last))
      return false;
    int64_t &end = last < 0 ? lowest : highest;
    if (__builtin_add_overflow(end, last, &end))
      return false;
  }
  return true;
}

bool relax_rt::checkOffsets(const DLTensor &tensor, const Place &what,
                            Error &error) {
  return isContiguous(tensor) || hasOffsets(tensor) ||
         fail(error, "ValueError",
              what.str() + ": strides lead beyond the address space");
}

bool relax_rt::isContiguous(const DLTensor &tensor) {
  if (!tensor.strides)
    return true;
  uint64_t stride = 1; // may wrap for tensors without elements
  bool contiguous = true;
  for (int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0)
      return true;
    contiguous &= tensor.shape[i] == 1 ||
                  static_cast<uint64_t>(tensor.strides[i]) == stride;
    stride *= static_cast<uint64_t>(tensor.shape[i]);
  }
  return contiguous;
}

bool relax_rt::isAligned(const DLTensor &tensor) {
  return tensor.device.type == kDLCPU ||
         reinterpret_cast<uintptr_t>(dataOf(tensor)) % 16 == 0;
}

/// Copies `tensor` row by row in row-major order.
static void copyStrided(const DLTensor &tensor, const char *from, char *&to,
                        int32_t axis, int64_t element) {
  if (axis == tensor.ndim) {
    memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    copyStrided(tensor, from + i * tensor.strides[axis] * element, to, axis + 1,
                element);
}

void relax_rt::copyElements(const DLTensor &tensor, char *to) {
  int64_t bytes = countBytes(tensor);
  if (!bytes)
    return;
  if (isContiguous(tensor))
    memcpy(to, dataOf(tensor), bytes);
  else
    copyStrided(tensor, dataOf(tensor), to, 0, bytesOfElement(tensor));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Rounds `real` to a float of the given exponent and mantissa widths, ties to
/// even, and returns its bits.
static uint32_t roundToBits(double real, int exponentBits, int mantissaBits,
                            bool hasInfinity) {
  uint32_t sign = std::signbit(real) ? 1u << (exponentBits + mantissaBits) : 0;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint32_t infinity = ((1u << exponentBits) - 1) << mantissaBits;
  uint32_t nan = infinity | (hasInfinity ? 1u << (mantissaBits - 1)
                                         : (1u << mantissaBits) - 1);
  // Formats without infinities have a single NaN pattern.
  uint32_t beyond = hasInfinity ? infinity : nan;
  if (real == 0)
    return sign;
  if (std::isnan(real))
    return sign | nan;
  if (std::isinf(real))
    return sign | beyond;
  int exponent = 0;
  std::frexp(real, &exponent);
  exponent =
      std::max(exponent - 1, 1 - bias); // subnormal numbers share one exponent
  double steps =
      std::nearbyint(std::ldexp(std::fabs(real), mantissaBits - exponent));
  if (exponent > bias + 1)
    return sign | beyond;
  // A carry out of the mantissa correctly increments the exponent.
  uint32_t bits = (uint32_t(exponent + bias - 1) << mantissaBits) +
                  static_cast<uint32_t>(steps);
  return sign | (bits < beyond ? bits : beyond);
}

bool relax_rt::writeReal(DLDataType dtype, double real, void *to) {
  auto write = [&](auto value) {
    memcpy(to, &value, sizeof(value));
    return true;
  };
  if (dtype.code == kDLFloat && dtype.bits == 64)
    return write(real);
  if (dtype.code == kDLFloat && dtype.bits == 32)
    return write(static_cast<float>(real));
  if (dtype.code == kDLFloat && dtype.bits == 16)
    return write(static_cast<uint16_t>(roundToBits(real, 5, 10, true)));
  if (dtype.code == kDLBfloat)
    return write(static_cast<uint16_t>(roundToBits(real, 8, 7, true)));
  if (dtype.code == kDLFloat8e4m3fn)
    return write(static_cast<uint8_t>(roundToBits(real, 4, 3, false)));
  if (dtype.code == kDLFloat8e5m2)
    return write(static_cast<uint8_t>(roundToBits(real, 5, 2, true)));
  return false;
}
