//===- Limits.cpp - changes the reported properties of a device -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include <cstring>

using namespace relax_rt;

namespace {

/// Finds the structure of a type in the chain after another one, or null.
template <typename Which, typename First>
Which *find(First *first) {
  using Any = vk::Chained<0>;
  for (auto *next = reinterpret_cast<Any *>(const_cast<void *>(first->next));
       next; next = reinterpret_cast<Any *>(const_cast<void *>(next->next)))
    if (next->type == Which().type)
      return reinterpret_cast<Which *>(next);
  return nullptr;
}

template <typename Number>
void set(Number &place, const char *name) {
  place = static_cast<Number>(faults::state().get(name, place));
}

} // namespace

void faults::change(vk::Properties *properties) {
  set(properties->api, "api");
  set(properties->driver, "driver");
  auto limit = [&](size_t at, const char *name) {
    uint32_t value;
    memcpy(&value, properties->limits + at, sizeof(value));
    set(value, name);
    memcpy(properties->limits + at, &value, sizeof(value));
  };
  limit(vk::kMaxSharedBytes, "shared");
  limit(vk::kMaxThreads, "threads");
  limit(vk::kMaxGroups, "groups");
  limit(vk::kMaxRange, "range");
  limit(vk::kMaxBindings, "bindings");
  if (auto *found = find<vk::Maintenance3Properties>(properties))
    set(found->maxAllocation, "allocation");
  if (auto *found = find<vk::SubgroupProperties>(properties)) {
    set(found->size, "subgroup");
    set(found->operations, "operations");
  }
}

void faults::change(vk::QueueFamily &family) {
  set(family.timestampBits, "timestamps");
}

void faults::change(vk::Features *features) {
  set(features->all[vk::kInt64], "int64");
  set(features->all[vk::kInt16], "int16");
  set(features->all[vk::kFloat64], "float64");
  if (auto *found = find<vk::Features11>(features))
    set(found->storage16, "storage16");
  if (auto *found = find<vk::Features12>(features)) {
    set(found->all[vk::kStorage8], "storage8");
    set(found->all[vk::kFloat16], "float16");
    set(found->all[vk::kInt8], "int8");
    set(found->all[vk::kTimeline], "timeline");
    set(found->all[vk::kAddresses], "addresses");
  }
}
