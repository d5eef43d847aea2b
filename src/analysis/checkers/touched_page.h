// Units (bytes or words) of a memory page that a piece of work touches, and the instructions of a grid that touch them.
// Also a buffer that merges consecutive rows before they reach a page.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace warpgrind::checkers {

// Bit set. kSize is a multiple of 64.
template <std::size_t kSize>
class Bits {
 public:
  void set(std::size_t first, std::size_t last) {
    WG_DEBUG_ASSERT(first <= last && last < kSize);
    if (first / 64 == last / 64) {
      bits_[first / 64] |= ~std::uint64_t{0} >> (63 - (last - first)) << first % 64;
      return;
    }
    for (std::size_t k = first / 64; k <= last / 64; ++k) {
      std::uint64_t bits = ~std::uint64_t{0};
      if (k == first / 64) bits &= ~std::uint64_t{0} << first % 64;
      if (k == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
      bits_[k] |= bits;
    }
  }
  bool operator[](std::size_t bit) const { return (bits_[bit / 64] >> bit % 64 & 1) != 0; }
  bool none() const {
    return std::all_of(bits_.begin(), bits_.end(), [](std::uint64_t bits) { return bits == 0; });
  }
  Bits& operator|=(const Bits& other) {
    for (std::size_t k = 0; k < bits_.size(); ++k) bits_[k] |= other.bits_[k];
    return *this;
  }
  friend Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend Bits operator&(Bits a, const Bits& b) {
    for (std::size_t k = 0; k < a.bits_.size(); ++k) a.bits_[k] &= b.bits_[k];
    return a;
  }
  friend Bits operator~(Bits a) {
    for (std::uint64_t& bits : a.bits_) bits = ~bits;
    return a;
  }
  // Lowest bit that is set; kSize: none.
  std::size_t first() const {
    for (std::size_t k = 0; k < bits_.size(); ++k)
      if (bits_[k] != 0) return k * 64 + static_cast<std::size_t>(std::countr_zero(bits_[k]));
    return kSize;
  }

 private:
  std::array<std::uint64_t, kSize / 64> bits_{};
};

// The reads, or the writes, of one instruction of a grid.
struct Toucher {
  std::uint32_t site = 0;
  bool writes = false;
  std::size_t number() const { return std::size_t{site} * 2 + writes; }
};

template <std::size_t kUnits>
struct TouchedPage {
  struct By : Toucher {
    std::uint16_t low = 0, high = 0;  // lowest and highest unit touched
  };
  Bits<kUnits> read, written;
  std::vector<By> touchers;  // each once, in order of first touch

  // by: null if the work is not a grid. place: where in some page's list the toucher was found last, for speed: pages
  // are mostly touched by the same instructions in the same order. The call updates it.
  void touch(std::size_t low, std::size_t high, bool writes, const Toucher* by, std::uint32_t* place = nullptr) {
    (writes ? written : read).set(low, high);
    if (by) note(low, high, *by, place);
  }
  // Only notes the toucher; the caller sets the units.
  void note(std::size_t low, std::size_t high, const Toucher& by, std::uint32_t* place) {
    const auto same = [&](const By& t) { return t.site == by.site && t.writes == by.writes; };
    const bool at_place = place && *place < touchers.size() && same(touchers[*place]);
    const auto known = at_place ? touchers.begin() + *place : std::find_if(touchers.begin(), touchers.end(), same);
    if (place) *place = static_cast<std::uint32_t>(known - touchers.begin());
    const auto first = static_cast<std::uint16_t>(low), last = static_cast<std::uint16_t>(high);
    if (known == touchers.end()) {
      touchers.push_back({by, first, last});
    } else {
      known->low = std::min(known->low, first);
      known->high = std::max(known->high, last);
    }
  }
};

// Pending range of each toucher: bytes that directly follow its last ones in the same page extend it, for the price of
// a comparison and an addition. A pending range reaches its page only later (settle()). The toucher is in that page's
// list before that, so the order of touchers does not change.
template <std::uint64_t kPageBytes>
class Rows {
 public:
  explicit Rows(std::size_t sites) : rows_(sites * 2) {}
  // False: the bytes do not extend the pending range. Then it calls touch(address, bytes, by) for that range, and the
  // caller must touch the new bytes.
  template <class Touch>
  bool follows(std::uint64_t address, std::uint64_t bytes, const Toucher& by, Touch&& touch) {
    if (by.number() >= rows_.size()) return false;
    Row& row = rows_[by.number()];
    if (address == row.end && bytes <= row.limit - address) {
      row.end += bytes;
      return true;
    }
    if (row.begin != row.end) touch(row.begin, row.end - row.begin, by);
    row.begin = row.end = address + bytes;
    row.limit = (row.end + kPageBytes - 1) / kPageBytes * kPageBytes;
    return false;
  }
  template <class Touch>
  void settle(Touch&& touch) {
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      Row& row = rows_[k];
      if (row.begin != row.end)
        touch(row.begin, row.end - row.begin, Toucher{static_cast<std::uint32_t>(k / 2), k % 2 != 0});
      row = {};
    }
  }

 private:
  struct Row {
    std::uint64_t begin = 0, end = 0;  // pending
    std::uint64_t limit = 0;           // end of the page
  };
  std::vector<Row> rows_;  // by Toucher::number()
};

}  // namespace warpgrind::checkers
