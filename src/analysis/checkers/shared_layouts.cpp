#include "checkers/shared_layouts.h"

namespace warpgrind::checkers {

namespace {

// Pieces beside each other that the layout permutes, minus one.
std::uint64_t mask_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::bytes_32:
      return 1;
    case Swizzle::bytes_64:
      return 3;
    case Swizzle::bytes_128:
      return 7;
    case Swizzle::unknown:
    case Swizzle::none:
      return 0;
  }
  return 0;
}

}  // namespace

// Bits 4 to 6 of the address (as many as the layout permutes) become their exclusive or with bits 7 to 9.
std::uint64_t swizzled(std::uint64_t offset, Swizzle swizzle) {
  return offset ^ ((offset >> 7 & mask_of(swizzle)) << 4);
}

void SharedLayouts::write(std::uint64_t offset, std::uint64_t bytes, Swizzle swizzle, std::uint32_t site) {
  if (bytes == 0) return;
  const std::uint64_t first = offset / kPiece, last = (offset + bytes - 1) / kPiece;
  if (last >= pieces_.size()) {
    if (swizzle == Swizzle::unknown && first >= pieces_.size()) return;
    pieces_.resize(last + 1);
  }
  for (std::uint64_t p = first; p <= last; ++p) pieces_[p] = {swizzle, site};
}

std::optional<SharedLayouts::Written> SharedLayouts::differs(std::uint64_t offset, std::uint64_t bytes,
                                                             Swizzle swizzle) const {
  if (swizzle == Swizzle::unknown || bytes == 0) return std::nullopt;
  for (std::uint64_t p = offset / kPiece; p <= (offset + bytes - 1) / kPiece && p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    if (piece.swizzle == Swizzle::unknown || piece.swizzle == swizzle) continue;
    if (swizzled(p * kPiece, piece.swizzle) == swizzled(p * kPiece, swizzle)) continue;
    return Written{piece.swizzle, piece.site, p * kPiece};
  }
  return std::nullopt;
}

}  // namespace warpgrind::checkers
