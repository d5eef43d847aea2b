#include "device/memory/device_heap.h"

#include <algorithm>

#include "device/memory/address_space.h"

namespace warpgrind::device {

DeviceHeap::~DeviceHeap() {
  if (base_) AddressSpace::instance().release(base_);
}

Status DeviceHeap::open(std::uint64_t bytes, int device) {
  if (base_) return Ok{};
  Range attributes;
  attributes.device = device;
  auto address = AddressSpace::instance().allocate(bytes, 512, attributes);
  if (!address) return address.error();
  base_ = *address;
  size_ = bytes;
  free_[base_] = size_;
  return Ok{};
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const std::lock_guard lock(mutex_);
  if (bytes > size_) return 0;
  bytes = (bytes + 15) / 16 * 16;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < bytes) continue;
    const std::uint64_t start = it->first, left = it->second - bytes;
    free_.erase(it);
    if (left) free_[start + bytes] = left;
    used_[start] = bytes;
    return start;
  }
  return 0;
}

std::optional<std::uint64_t> DeviceHeap::release(std::uint64_t address) {
  if (address == 0) return 0;
  const std::lock_guard lock(mutex_);
  const auto block = used_.find(address);
  if (block == used_.end()) return std::nullopt;
  std::uint64_t start = block->first, bytes = block->second;
  const std::uint64_t released = bytes;
  used_.erase(block);
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == start + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  free_[start] = bytes;
  return released;
}

}  // namespace warpgrind::device
