#include "observers/operands.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "events/blocks.h"

namespace warpgrind::observers {

bool Operand::same_kind(const Operand& o) const {
  if (swizzle != o.swizzle || base != o.base || tile.has_value() != o.tile.has_value()) return false;
  if (!tile) return true;
  const Tile &a = *tile, &b = *o.tile;
  // The copies of an unrolled loop are on one line of the source.
  const bool same_copy = a.line != 0 ? a.line == b.line && a.file == b.file : a.ptx_line == b.ptx_line;
  return same_copy && a.function == b.function && a.rows == b.rows && a.pitch == b.pitch && a.swizzle == b.swizzle &&
         a.element == b.element;
}

void Operand::add(const Operand& from) {
  pieces += from.pieces;
  first_row = std::min(first_row, from.first_row);
  last_row = std::max(last_row, from.last_row);
  first_byte = std::min(first_byte, from.first_byte);
  last_byte = std::max(last_byte, from.last_byte);
  if (std::tie(from.block_index, from.warp) >= std::tie(block_index, warp)) return;
  block_index = from.block_index;
  warp = from.warp;
  first = from.first;
  tile = from.tile;
}

void Operands::add(std::vector<Operand>& all, const Operand& operand) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const Operand& o) { return o.same_kind(operand); });
  if (same == all.end())
    all.push_back(operand);
  else
    same->add(operand);
}

void Operands::add(const events::Access& a, const WrittenTiles& tiles) {
  constexpr std::uint64_t kPiece = 16;
  std::vector<Operand> found;  // of this request: one kind, unless it reads several boxes
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t at = a.addresses[static_cast<unsigned>(std::countr_zero(m))];
    Operand o;
    o.swizzle = *a.swizzle;
    o.base = a.swizzle_base;
    o.pieces = 1;
    o.block_index = events::linear_block(*a.launch, a.block);
    o.warp = a.warp;
    o.first = at;
    o.tile = tiles.tile_at(*a.launch, a.block, at);
    if (o.tile) {
      const std::uint64_t inside = SharedLayout{o.tile->swizzle}.place(at) - o.tile->begin;
      o.first_row = o.last_row = inside / o.tile->pitch;
      o.first_byte = inside % o.tile->pitch;
      o.last_byte = o.first_byte + kPiece - 1;
    }
    const auto same = std::find_if(found.begin(), found.end(), [&](const Operand& f) { return f.same_kind(o); });
    if (same == found.end()) {
      found.push_back(o);
      continue;
    }
    same->add(o);
    if (o.first < same->first) {
      same->first = o.first;
      same->tile = o.tile;
    }
  }
  for (const Operand& o : found) add(a.site, o);
}

}  // namespace warpgrind::observers
