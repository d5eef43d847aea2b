#include "gpu/shared_layouts.h"

#include "gpu/tensor_box.h"

namespace warpgrind {

// Only address bits above the lines' 128 bytes choose the permutation, and only bits below them change. So the function
// is its own inverse, and a pattern that begins `base` lines later uses the permutation of the line `base` lines
// before.
std::uint64_t SharedLayout::place(std::uint64_t offset) const {
  constexpr std::uint64_t kLine = 128, kPattern = 1024;
  const std::uint64_t from = (offset % kPattern + kPattern - base * kLine) % kPattern;
  return offset ^ from ^ swizzled(swizzle, from);
}

void SharedLayouts::write(std::uint64_t offset, std::uint64_t bytes, const std::optional<SharedLayout>& layout,
                          std::uint32_t copy) {
  if (bytes == 0) return;
  const std::uint64_t first = offset / kPiece, last = (offset + bytes - 1) / kPiece;
  if (last >= pieces_.size()) {
    if (!layout && first >= pieces_.size()) return;
    pieces_.resize(last + 1);
  }
  for (std::uint64_t p = first; p <= last; ++p) pieces_[p] = {layout, copy, offset};
}

std::optional<SharedLayouts::Written> SharedLayouts::writer(std::uint64_t offset) const {
  const std::uint64_t p = offset / kPiece;
  if (p >= pieces_.size() || !pieces_[p].layout) return std::nullopt;
  return Written{*pieces_[p].layout, pieces_[p].copy, pieces_[p].begin, p * kPiece};
}

std::optional<SharedLayouts::Written> SharedLayouts::differs(std::uint64_t offset, std::uint64_t bytes,
                                                             const SharedLayout& layout) const {
  if (bytes == 0) return std::nullopt;
  for (std::uint64_t p = offset / kPiece; p <= (offset + bytes - 1) / kPiece && p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    if (!piece.layout || *piece.layout == layout) continue;
    if (piece.layout->place(p * kPiece) == layout.place(p * kPiece)) continue;
    return Written{*piece.layout, piece.copy, piece.begin, p * kPiece};
  }
  return std::nullopt;
}

}  // namespace warpgrind
