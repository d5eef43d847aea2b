// Device heap: first fit over free ranges, quarantine, and a bit map of units in use.
#include "device/memory/device_heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/assert.h"
#include "device/memory/address_space.h"

namespace warpgrind::device {

void DeviceHeap::Free::operator()(void* p) const {
  std::free(p);
}

DeviceHeap::~DeviceHeap() {
  if (base_) AddressSpace::instance().release(base_);
}

Status DeviceHeap::open(std::uint64_t bytes, int device, bool by_piece) {
  if (base_) return Ok{};
  if (bytes > ~std::uint64_t{0} / kRoom) return Error{ErrorKind::environment, "no address space for the heap", ""};
  pieces_.left = bytes;
  bytes *= kRoom;
  const std::uint64_t words = bytes / kUnit / 64 + 1;
  void* bits = std::calloc(words, sizeof(std::uint64_t));  // NOLINT: untouched pages cost nothing
  if (!bits) return Error{ErrorKind::environment, "the host has no memory left for the device heap", ""};
  static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
  in_use_.reset(static_cast<std::atomic<std::uint64_t>*>(bits));
  Range attributes;
  attributes.device = device;
  attributes.kernel_heap = by_piece;
  auto address = AddressSpace::instance().allocate(bytes, 512, attributes);
  if (!address) return address.error();
  base_ = *address;
  size_ = bytes;
  pieces_.free[base_] = size_;
  return Ok{};
}

std::shared_ptr<const DeviceHeap::Pieces> DeviceHeap::keep() {
  const std::lock_guard lock(mutex_);
  if (!base_) return nullptr;
  if (!kept_) kept_ = std::make_shared<const Pieces>(pieces_);
  return kept_;
}

void DeviceHeap::restore(const std::shared_ptr<const Pieces>& kept) {
  const std::lock_guard lock(mutex_);
  if (!base_ || (kept_ && kept == kept_)) return;
  for (const auto& [start, bytes] : pieces_.used) mark(start, bytes, false);
  if (kept) {
    pieces_ = *kept;
  } else {
    pieces_ = {size_ / kRoom, {{base_, size_}}, {}, {}};
  }
  for (const auto& [start, bytes] : pieces_.used) mark(start, bytes, true);
  kept_ = kept;
}

// Calls f with each word of the bit map and its bits for these addresses, until f returns false.
template <class F>
bool DeviceHeap::each_word(std::uint64_t start, std::uint64_t bytes, F&& f) const {
  WG_DEBUG_ASSERT(bytes > 0 && start >= base_ && start - base_ + bytes <= size_);
  const std::uint64_t last = (start + bytes - 1 - base_) / kUnit;
  for (std::uint64_t unit = (start - base_) / kUnit; unit <= last; unit = (unit / 64 + 1) * 64) {
    const std::uint64_t count = std::min<std::uint64_t>(64 - unit % 64, last - unit + 1);
    if (!f(in_use_[unit / 64], ~std::uint64_t{0} >> (64 - count) << (unit % 64))) return false;
  }
  return true;
}

void DeviceHeap::mark(std::uint64_t start, std::uint64_t bytes, bool in_use) {
  each_word(start, bytes, [&](std::atomic<std::uint64_t>& word, std::uint64_t bits) {
    if (in_use)
      word.fetch_or(bits, std::memory_order_relaxed);
    else
      word.fetch_and(~bits, std::memory_order_relaxed);
    return true;
  });
}

bool DeviceHeap::holds(std::uint64_t address, std::uint64_t bytes) const {
  if (address < base_ || bytes == 0 || bytes > size_ || address - base_ > size_ - bytes) return false;
  return each_word(address, bytes, [](const std::atomic<std::uint64_t>& word, std::uint64_t bits) {
    return (word.load(std::memory_order_relaxed) & bits) == bits;
  });
}

std::uint64_t DeviceHeap::take(std::uint64_t bytes) {
  const std::uint64_t wanted = taken(bytes);
  for (auto it = pieces_.free.begin(); it != pieces_.free.end(); ++it) {
    if (it->second < wanted) continue;
    const std::uint64_t start = it->first, left = it->second - wanted;
    pieces_.free.erase(it);
    if (left) pieces_.free[start + wanted] = left;
    WG_ASSERT(!pieces_.used.contains(start) && rounded(bytes) <= pieces_.left);
    pieces_.used[start] = bytes;
    pieces_.left -= rounded(bytes);
    mark(start, bytes, true);
    return start;
  }
  return 0;
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const std::lock_guard lock(mutex_);
  kept_.reset();
  if (bytes > size_ || rounded(bytes) > pieces_.left) return 0;
  std::uint64_t start = take(bytes);
  while (!start && !pieces_.quarantine.empty()) {
    leave_quarantine();
    start = take(bytes);
  }
  return start;
}

const DeviceHeap::Piece* DeviceHeap::freed(std::uint64_t address) const {
  for (auto it = pieces_.quarantine.rbegin(); it != pieces_.quarantine.rend(); ++it)
    if (address >= it->start && address < it->start + rounded(it->bytes)) return &*it;
  return nullptr;
}

DeviceHeap::Released DeviceHeap::release(std::uint64_t address) {
  using Was = Released::Was;
  if (address == 0) return {Was::in_use, 0};
  const std::lock_guard lock(mutex_);
  const auto block = pieces_.used.find(address);
  if (block == pieces_.used.end()) {
    const Piece* piece = freed(address);
    return {piece && piece->start == address ? Was::freed_before : Was::no_piece, 0};
  }
  kept_.reset();
  const Piece piece{block->first, block->second};
  pieces_.used.erase(block);
  mark(piece.start, piece.bytes, false);
  pieces_.left += rounded(piece.bytes);
  pieces_.quarantine.push_back(piece);
  if (pieces_.quarantine.size() > kQuarantined) leave_quarantine();
  return {Was::in_use, piece.bytes};
}

// Joins the freed piece with the free ranges around it.
void DeviceHeap::leave_quarantine() {
  WG_ASSERT(!pieces_.quarantine.empty());
  const Piece piece = pieces_.quarantine.front();
  pieces_.quarantine.pop_front();
  std::uint64_t start = piece.start, bytes = taken(piece.bytes);
  auto next = pieces_.free.lower_bound(start);
  if (next != pieces_.free.end() && next->first == start + bytes) {
    bytes += next->second;
    next = pieces_.free.erase(next);
  }
  if (next != pieces_.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      bytes += before->second;
      pieces_.free.erase(before);
    }
  }
  pieces_.free[start] = bytes;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> DeviceHeap::piece_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto above = pieces_.used.upper_bound(address);
  if (above == pieces_.used.begin()) return std::nullopt;
  const auto& [start, bytes] = *std::prev(above);
  if (address >= start + rounded(bytes)) return std::nullopt;
  return std::pair{start, start + rounded(bytes)};
}

bool DeviceHeap::was_freed(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return freed(address) != nullptr;
}

std::optional<DeviceHeap::Near> DeviceHeap::near(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return find_near(address);
}

std::optional<DeviceHeap::Near> DeviceHeap::find_near(std::uint64_t address) const {
  if (const Piece* p = freed(address)) return Near{p->start, p->bytes, false};
  const auto above = pieces_.used.upper_bound(address);
  if (above != pieces_.used.begin()) {
    const auto& [start, bytes] = *std::prev(above);
    const std::uint64_t end = start + bytes;
    if (address < end || above == pieces_.used.end() || address - end <= above->first - address)
      return Near{start, bytes};
  }
  if (above != pieces_.used.end()) return Near{above->first, above->second};
  return std::nullopt;
}

std::string DeviceHeap::describe(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto near = find_near(address);
  if (!near) return "is in the device heap, but not in an allocation of malloc";
  const std::uint64_t end = near->start + near->bytes;
  if (!near->in_use)
    return fmt::format("is {} bytes inside a freed {}-byte allocation of malloc in a kernel", address - near->start,
                       near->bytes);
  if (address < near->start)
    return fmt::format("is {} bytes before the beginning of a {}-byte allocation of malloc in a kernel",
                       near->start - address, near->bytes);
  if (address < end) return fmt::format("runs past the end of a {}-byte allocation of malloc in a kernel", near->bytes);
  return fmt::format("is {} bytes past the end of a {}-byte allocation of malloc in a kernel", address - end,
                     near->bytes);
}

}  // namespace warpgrind::device
