// Copies the pages in use of all ranges that kernels may write.
#include "device/memory/memory_snapshot.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "device/memory/address_space.h"

namespace warpgrind::device {

namespace {

std::uint64_t page_of(std::uint64_t address) {
  return address & ~(kHostPage - 1);
}

const std::uint8_t* at(std::uint64_t address) {
  return reinterpret_cast<const std::uint8_t*>(address);
}

bool is_zero(std::uint64_t low, std::uint64_t high) {
  static constexpr std::uint8_t kZeros[kHostPage] = {};
  return std::memcmp(at(low), kZeros, high - low) == 0;
}

// Whether each page of [low, high) is in memory. Pages swapped out count as unused in mincore(), so that only pages of
// the reserved range are asked for, whose memory is anonymous.
std::vector<unsigned char> pages_in_use(std::uint64_t low, std::uint64_t high) {
  const std::uint64_t first = page_of(low), pages = (high - first + kHostPage - 1) / kHostPage;
  std::vector<unsigned char> used(pages, 1);
  if (!AddressSpace::instance().inside_reserved(low)) return used;
  if (mincore(reinterpret_cast<void*>(first), pages * kHostPage, used.data()) != 0)
    std::fill(used.begin(), used.end(), 1);
  return used;
}

}  // namespace

bool MemorySnapshot::take(std::uint64_t limit, const ShadowMemory* shadow) {
  pieces_.clear();
  std::uint64_t bytes = 0;
  for (const Range& range : AddressSpace::instance().snapshot()->ranges()) {
    if (range.constant) continue;
    const std::vector<unsigned char> used = pages_in_use(range.low, range.high);
    const std::uint64_t first = page_of(range.low);
    for (std::size_t p = 0; p < used.size();) {
      std::size_t end = p + 1;
      while (end < used.size() && (used[end] & 1) == (used[p] & 1)) ++end;
      Piece piece{std::max(range.low, first + p * kHostPage), std::min(range.high, first + end * kHostPage), kUnused};
      if (used[p] & 1) {
        piece.at = bytes;
        bytes += piece.high - piece.low;
      }
      pieces_.push_back(piece);
      p = end;
    }
  }
  if (bytes > limit) return false;
  if (kept_.size() < bytes) kept_.resize(bytes);
  for (const Piece& piece : pieces_)
    if (piece.at != kUnused) std::memcpy(kept_.data() + piece.at, at(piece.low), piece.high - piece.low);
  shadow_.take(shadow);
  return true;
}

void MemorySnapshot::restore() const {
  shadow_.restore();
  for (const Piece& piece : pieces_) {
    auto* to = reinterpret_cast<std::uint8_t*>(piece.low);
    if (piece.at != kUnused) {
      std::memcpy(to, kept_.data() + piece.at, piece.high - piece.low);
      continue;
    }
    const std::vector<unsigned char> used = pages_in_use(piece.low, piece.high);
    for (std::size_t p = 0; p < used.size(); ++p) {
      if (!(used[p] & 1)) continue;
      const std::uint64_t page = page_of(piece.low) + p * kHostPage;
      const std::uint64_t low = std::max(piece.low, page), high = std::min(piece.high, page + kHostPage);
      if (!is_zero(low, high)) std::memset(reinterpret_cast<void*>(low), 0, high - low);
    }
  }
}

}  // namespace warpgrind::device
