//===- VulkanMemory.cpp - memory of Vulkan devices ------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Vulkan/VulkanDevice.h"

#include <algorithm>
#include <atomic>

using namespace relax_rt;

/// The first memory type that has all `wanted` properties, or -1.
static int findType(const VulkanDevice &device, uint32_t allowed,
                    vk::Flags wanted) {
  for (uint32_t i = 0; i < device.memory.typeCount; ++i)
    if (allowed >> i & 1 &&
        (device.memory.types[i].properties & wanted) == wanted)
      return static_cast<int>(i);
  return -1;
}

/// Invents a unique address for a buffer without one.
static uint64_t inventAddress(vk::Size bytes) {
  constexpr uint64_t kFirst = uint64_t(1) << 40, kApart = 1 << 16;
  static std::atomic<uint64_t> next{kFirst};
  return next.fetch_add((bytes / kApart + 2) * kApart);
}

VulkanBlock::Result VulkanBlock::make(const VulkanDevice &device, vk::Size size,
                                      bool forHost, Error &error, bool isNear) {
  const vk::Library &vk = device.vk;
  if (device.maxAllocation && size > device.maxAllocation) {
    fail(error, "MemoryError",
         "no allocation of " + std::to_string(size) +
             " bytes: " + device.title + " allocates at most " +
             std::to_string(device.maxAllocation) + " bytes at a time");
    return Result::Failed;
  }
  vk::BufferInfo info;
  info.bytes = bytes = size;
  info.usage = vk::kStorage | vk::kTransferSource | vk::kTransferTarget |
               (device.hasAddresses ? vk::kAddressed : 0);
  auto finish = [&](vk::Result result, const char *what) {
    destroy(device);
    if (result == vk::kOutOfDeviceMemory || result == vk::kOutOfHostMemory ||
        result == vk::kTooManyObjects)
      return Result::NoMemory;
    device.report(result, what, error);
    return Result::Failed;
  };
  if (vk::Result result =
          vk.createBuffer(device.device, &info, nullptr, &buffer))
    return finish(result, "creating a buffer");
  vk::Requirements needs;
  vk.getRequirements(device.device, buffer, &needs);
  int type = -1;
  if (forHost) {
    vk::Flags mapped = vk::kHostVisible | vk::kHostCoherent;
    if (isNear)
      type = findType(device, needs.memoryTypes, mapped | vk::kDeviceLocal);
    if (type < 0)
      type = findType(device, needs.memoryTypes, mapped | vk::kHostCached);
    if (type < 0)
      type = findType(device, needs.memoryTypes, mapped);
  } else {
    type = findType(device, needs.memoryTypes, vk::kDeviceLocal);
  }
  if (type < 0)
    type = findType(device, needs.memoryTypes, 0);
  vk::AllocateFlags flags;
  flags.flags = device.hasAddresses ? vk::kAddressedMemory : 0;
  vk::AllocateInfo allocation;
  allocation.next = &flags;
  allocation.bytes = needs.bytes;
  allocation.memoryType = static_cast<uint32_t>(type);
  if (vk::Result result =
          vk.allocate(device.device, &allocation, nullptr, &memory))
    return finish(result, "allocation");
  if (vk::Result result = vk.bind(device.device, buffer, memory, 0))
    return finish(result, "allocation");
  void *mapped = nullptr;
  if (forHost)
    if (vk::Result result =
            vk.map(device.device, memory, 0, vk::kWhole, 0, &mapped))
      return finish(result, "mapping memory");
  data = static_cast<char *>(mapped);
  vk::BufferAddressInfo of;
  of.buffer = buffer;
  address = device.hasAddresses ? vk.getAddress(device.device, &of)
                                : inventAddress(size);
  return Result::Made;
}

void VulkanBlock::destroy(const VulkanDevice &device) {
  if (buffer)
    device.vk.destroyBuffer(device.device, buffer, nullptr);
  if (memory)
    device.vk.free(device.device, memory, nullptr);
  *this = {};
}

bool VulkanMemory::takeFrom(Slab &slab, vk::Size bytes, uint64_t &address) {
  for (auto part = slab.free.begin(); part != slab.free.end(); ++part) {
    auto [offset, size] = *part;
    if (size < bytes)
      continue;
    slab.free.erase(part);
    if (size > bytes)
      slab.free[offset + bytes] = size - bytes;
    address = slab.block.address + offset;
    return true;
  }
  return false;
}

bool VulkanMemory::allocate(size_t wanted, void *&data, Error &error) {
  data = nullptr;
  vk::Size bytes = (wanted + kAlign - 1) / kAlign * kAlign;
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t address = 0;
  vk::Size whole = kSlab;
  if (device.maxAllocation)
    whole = std::min(whole, device.maxAllocation / kAlign * kAlign);
  bool isSmall = bytes <= whole / 8;
  if (isSmall)
    for (auto &[first, slab] : slabs)
      if (takeFrom(slab, bytes, address))
        break;
  if (!address) {
    Slab slab;
    vk::Size size = isSmall ? whole : bytes;
    switch (slab.block.make(device, size, /*forHost=*/false, error)) {
    case VulkanBlock::Result::Made:
      break;
    case VulkanBlock::Result::NoMemory:
      return true;
    case VulkanBlock::Result::Failed:
      return false;
    }
    slab.free[0] = size;
    takeFrom(slab, bytes, address);
    slabs.emplace(slab.block.address, std::move(slab));
  }
  sizes[address] = bytes;
  data = reinterpret_cast<void *>(address);
  return true;
}

void VulkanMemory::free(void *data) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t address = reinterpret_cast<uint64_t>(data);
  auto known = sizes.find(address);
  if (known == sizes.end())
    return;
  vk::Size bytes = known->second;
  sizes.erase(known);
  auto found = std::prev(slabs.upper_bound(address));
  Slab &slab = found->second;
  // Merge with the adjacent free ranges.
  vk::Size offset = address - slab.block.address;
  auto next = slab.free.lower_bound(offset);
  if (next != slab.free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = slab.free.erase(next);
  }
  if (next != slab.free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      slab.free.erase(before);
    }
  }
  slab.free[offset] = bytes;
  if (bytes < slab.block.bytes)
    return;
  slab.block.destroy(device);
  slabs.erase(found);
}

VulkanMemory::Place VulkanMemory::find(const void *data) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t address = reinterpret_cast<uint64_t>(data);
  auto found = slabs.upper_bound(address);
  if (found == slabs.begin())
    return {};
  const VulkanBlock &block = std::prev(found)->second.block;
  if (address - block.address >= block.bytes)
    return {};
  return {block.buffer, address - block.address,
          block.bytes - (address - block.address)};
}
