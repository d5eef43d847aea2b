#include "device/memory/page_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace warpgrind::device {

void Chunks::write(std::uint64_t position, const std::uint8_t* from, std::uint64_t bytes) const {
  while (bytes > 0) {
    const std::uint64_t offset = position % kBytes, part = std::min(bytes, kBytes - offset);
    std::memcpy(all_[position / kBytes] + offset, from, part);
    position += part;
    from += part;
    bytes -= part;
  }
}

void Chunks::read(std::uint64_t position, std::uint8_t* to, std::uint64_t bytes) const {
  while (bytes > 0) {
    const std::uint64_t offset = position % kBytes, part = std::min(bytes, kBytes - offset);
    std::memcpy(to, all_[position / kBytes] + offset, part);
    position += part;
    to += part;
    bytes -= part;
  }
}

Chunks Chunks::take_first(std::uint64_t bytes) {
  const auto end = all_.begin() + static_cast<std::ptrdiff_t>((bytes + kBytes - 1) / kBytes);
  Chunks first;
  first.all_.assign(all_.begin(), end);
  all_.erase(all_.begin(), end);
  return first;
}

PageStore& PageStore::instance() {
  static auto* const store = new PageStore;  // never destroyed: launches may run until the process ends
  return *store;
}

bool PageStore::extend(Chunks& chunks, std::uint64_t filled, std::uint64_t bytes) {
  if (chunks.bytes() >= bytes) return true;
  const std::lock_guard lock(mutex_);
  std::size_t missing = (bytes - chunks.bytes() + Chunks::kBytes - 1) / Chunks::kBytes;
  const std::size_t old = std::min(missing, used_.size());
  const std::uint64_t first = (filled + Chunks::kBytes - 1) / Chunks::kBytes;
  chunks.all_.insert(chunks.all_.begin() + static_cast<std::ptrdiff_t>(first),
                     used_.end() - static_cast<std::ptrdiff_t>(old), used_.end());
  used_.resize(used_.size() - old);
  missing -= old;
  if (missing == 0) return true;
  const std::uint64_t size = missing * Chunks::kBytes;
  void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  madvise(made, size, MADV_HUGEPAGE);
  auto* const begin = static_cast<std::uint8_t*>(made);
  for (std::size_t k = 0; k < missing; ++k) chunks.all_.push_back(begin + k * Chunks::kBytes);
  return true;
}

void PageStore::give_back(Chunks&& chunks) {
  const std::lock_guard lock(mutex_);
  used_.insert(used_.end(), chunks.all_.begin(), chunks.all_.end());
  chunks.all_.clear();
}

}  // namespace warpgrind::device
