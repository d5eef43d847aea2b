// Contents of all ranges that kernels may write: large ones are copied when they are written (written_pages.h), the
// pages in use of the others at once.
#include "device/memory/memory_snapshot.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "device/memory/address_space.h"
#include "device/memory/written_pages.h"

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

// The whole pages inside a large range that only kernels and the engine's own code write. Empty: none.
Pages protectable(const Range& range) {
  constexpr std::uint64_t kLeast = 16 * kHostPage;  // a smaller range is copied faster than it is protected
  const Pages pages{page_of(range.low + kHostPage - 1), page_of(range.high)};
  if (range.host || range.managed || range.internal || range.kernel_heap || range.file >= 0) return {};
  if (pages.low >= pages.high || pages.high - pages.low < kLeast) return {};
  if (!AddressSpace::instance().inside_reserved(range.low)) return {};
  return WrittenPages::instance().is_excluded(pages.low, pages.high) ? Pages() : pages;
}

}  // namespace

bool MemorySnapshot::take(std::uint64_t limit, const ShadowMemory* shadow, const void* writer, bool with_constants) {
  pieces_.clear();
  std::uint64_t bytes = 0;
  const auto add = [&](std::uint64_t low, std::uint64_t high, bool host) {
    if (low >= high) return;
    const std::vector<unsigned char> used = pages_in_use(low, high);
    const std::uint64_t first = page_of(low);
    for (std::size_t p = 0; p < used.size();) {
      std::size_t end = p + 1;
      while (end < used.size() && (used[end] & 1) == (used[p] & 1)) ++end;
      Piece piece{std::max(low, first + p * kHostPage), std::min(high, first + end * kHostPage), kUnused, host};
      if (used[p] & 1) {
        piece.at = bytes;
        bytes += piece.high - piece.low;
      }
      pieces_.push_back(piece);
      p = end;
    }
  };
  const std::shared_ptr<const RangeTable> table = AddressSpace::instance().snapshot();
  table_ = table;
  std::vector<Pages> on_write;
  for (const Range& range : table->ranges())
    if (const Pages pages = protectable(range); !range.constant && pages.low < pages.high) on_write.push_back(pages);
  const bool protects = WrittenPages::instance().begin(on_write, limit, writer);
  for (const Range& range : table->ranges()) {
    if (range.constant && !with_constants) continue;
    const Pages pages = protects && !range.constant ? protectable(range) : Pages();
    if (pages.low >= pages.high) {
      add(range.low, range.high, range.host);
      continue;
    }
    add(range.low, pages.low, false);
    add(pages.high, range.high, false);
  }
  if (bytes > limit) {
    WrittenPages::instance().end();
    return false;
  }
  if (kept_.size() < bytes) kept_.resize(bytes);
  for (const Piece& piece : pieces_)
    if (piece.at != kUnused) std::memcpy(kept_.data() + piece.at, at(piece.low), piece.high - piece.low);
  shadow_.take(shadow);
  return true;
}

// Calls f(low, high) for each page of an unused piece that is in use now and not zero.
template <class F>
void MemorySnapshot::each_new_page(const Piece& piece, F&& f) {
  const std::vector<unsigned char> used = pages_in_use(piece.low, piece.high);
  for (std::size_t p = 0; p < used.size(); ++p) {
    if (!(used[p] & 1)) continue;
    const std::uint64_t page = page_of(piece.low) + p * kHostPage;
    const std::uint64_t low = std::max(piece.low, page), high = std::min(piece.high, page + kHostPage);
    if (!is_zero(low, high)) f(low, high);
  }
}

namespace {

// Calls f(low, high, was) for each part of [low, high) that differs from `was`, in whole pages.
template <class F>
void each_difference(std::uint64_t low, std::uint64_t high, const std::uint8_t* was, F&& f) {
  for (std::uint64_t begin = low; begin < high;) {
    std::uint64_t end = begin;
    while (end < high) {
      const std::uint64_t bytes = std::min(high, page_of(end) + kHostPage) - end;
      if (std::memcmp(at(end), was + (end - low), bytes) == 0) break;
      end += bytes;
    }
    if (end > begin) f(begin, end, was + (begin - low));
    begin = end == begin ? std::min(high, page_of(begin) + kHostPage) : end;
  }
}

// Whether all allocations of a table are still there. Both are sorted.
bool all_remain(const RangeTable& before, const RangeTable& now) {
  auto at = now.ranges().begin();
  for (const Range& range : before.ranges()) {
    while (at != now.ranges().end() && at->low < range.low) ++at;
    if (at == now.ranges().end() || at->low != range.low || at->high != range.high || at->id != range.id ||
        at->file != range.file)
      return false;
  }
  return true;
}

}  // namespace

std::string MemorySnapshot::take_differences(KeptParts* out) const {
  const std::shared_ptr<const RangeTable> now = AddressSpace::instance().snapshot();
  if (!table_ || (now != table_ && !all_remain(*table_, *now))) return "memory of the launch before it was freed";
  if (WrittenPages::instance().is_full()) return "the launch before it changed more memory than is kept";
  *out = WrittenPages::instance().hand_over();
  bool has_room = true;
  const auto keep = [&](std::uint64_t low, std::uint64_t high, const std::uint8_t* was) {
    has_room = has_room && PageStore::instance().extend(out->chunks, out->bytes, out->bytes + (high - low));
    if (!has_room) return;
    out->chunks.write(out->bytes, was, high - low);
    out->parts.push_back({low, high - low, out->bytes});
    out->bytes += high - low;
  };
  for (const Piece& piece : pieces_) {
    if (piece.host) continue;
    if (piece.at != kUnused)
      each_difference(piece.low, piece.high, kept_.data() + piece.at, keep);
    else
      each_new_page(piece, [&](std::uint64_t low, std::uint64_t high) {
        out->parts.push_back({low, high - low, KeptParts::kZeros});
      });
  }
  return has_room ? "" : "there is no memory left to keep it";
}

void MemorySnapshot::restore() const {
  shadow_.restore();
  WrittenPages::instance().restore();
  for (const Piece& piece : pieces_) {
    auto* to = reinterpret_cast<std::uint8_t*>(piece.low);
    if (piece.at != kUnused) {
      std::memcpy(to, kept_.data() + piece.at, piece.high - piece.low);
      continue;
    }
    each_new_page(
        piece, [](std::uint64_t low, std::uint64_t high) { std::memset(reinterpret_cast<void*>(low), 0, high - low); });
  }
}

void MemorySnapshot::copy_before(std::uint64_t low, std::uint64_t high, std::uint8_t* out) const {
  std::memcpy(out, at(low), high - low);
  WrittenPages::instance().copy_before(low, high, out);
  auto piece = std::partition_point(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.high <= low; });
  for (; piece != pieces_.end() && piece->low < high; ++piece) {
    const std::uint64_t first = std::max(low, piece->low), last = std::min(high, piece->high);
    if (piece->at == kUnused)
      std::memset(out + (first - low), 0, last - first);
    else
      std::memcpy(out + (first - low), kept_.data() + piece->at + (first - piece->low), last - first);
  }
}

}  // namespace warpgrind::device
