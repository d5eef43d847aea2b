#include "device/memory/shadow_snapshot.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "device/memory/address_space.h"

namespace warpgrind::device {

namespace {

// Whether each page of the shadow is in memory. The others read as zero: defined.
std::vector<unsigned char> shadow_pages_in_use(const ShadowMemory& shadow, std::uint64_t first, std::uint64_t pages) {
  std::vector<unsigned char> used(pages, 1);
  if (mincore(shadow.of(first), pages * kHostPage, used.data()) != 0) std::fill(used.begin(), used.end(), 1);
  return used;
}

bool all_are(const std::uint8_t* bytes, std::uint64_t count, std::uint8_t value) {
  return count == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

}  // namespace

void ShadowSnapshot::take(const ShadowMemory* shadow) {
  pieces_.clear();
  kept_.clear();
  shadow_ = shadow;
  if (!shadow) return;
  for (const Range& range : AddressSpace::instance().snapshot()->ranges()) {
    if (range.constant || !shadow->covers(range.low, range.high - range.low)) continue;
    const std::uint64_t first = range.low & ~(kHostPage - 1);
    const std::vector<unsigned char> used =
        shadow_pages_in_use(*shadow, first, (range.high - first + kHostPage - 1) / kHostPage);
    for (std::size_t p = 0; p < used.size(); ++p) {
      Piece piece{std::max(range.low, first + p * kHostPage), std::min(range.high, first + (p + 1) * kHostPage),
                  Kind::defined, 0};
      const std::uint64_t bytes = piece.high - piece.low;
      const std::uint8_t* const bits = shadow->of(piece.low);
      if ((used[p] & 1) && !all_are(bits, bytes, 0)) {
        piece.kind = all_are(bits, bytes, 0xff) ? Kind::undefined : Kind::mixed;
        piece.at = kept_.size();
        if (piece.kind == Kind::mixed) kept_.insert(kept_.end(), bits, bits + bytes);
      }
      const bool joins =
          !pieces_.empty() && pieces_.back().high == piece.low && pieces_.back().kind == piece.kind && p != 0;
      if (joins)
        pieces_.back().high = piece.high;
      else
        pieces_.push_back(piece);
    }
  }
}

void ShadowSnapshot::restore() const {
  if (!shadow_) return;
  for (const Piece& piece : pieces_) {
    const std::uint64_t bytes = piece.high - piece.low;
    if (piece.kind == Kind::defined)
      shadow_->define(piece.low, bytes);
    else if (piece.kind == Kind::undefined)
      shadow_->undefine(piece.low, bytes);
    else
      std::memcpy(shadow_->of(piece.low), kept_.data() + piece.at, bytes);
  }
}

}  // namespace warpgrind::device
