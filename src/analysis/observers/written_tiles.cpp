#include "observers/written_tiles.h"

#include <algorithm>
#include <bit>

#include "events/blocks.h"
#include "gpu/tensor_box.h"

namespace warpgrind::observers {

namespace {

// Number of the block whose shared memory `block` accesses at this offset.
std::uint64_t owner_of(const events::Launch& launch, const Dim3& block, std::uint64_t offset) {
  return events::linear_block(launch, events::owner_of_shared(launch, block, offset));
}

}  // namespace

void WrittenTiles::begin_copy(const events::TensorCopyEvent& e) {
  const events::Site& site = e.launch->facts->sites[e.site];
  const TensorRows rows = tensor_rows(*e.map, *e.copy);
  const Tile tile{site.function, site.ptx_line, site.file,      site.line,     0,
                  rows.count,    rows.pitch,    e.map->swizzle, e.map->element};
  const auto found = std::find(tiles_.begin(), tiles_.end(), tile);
  current_ = static_cast<std::uint32_t>(found - tiles_.begin());
  if (found == tiles_.end()) tiles_.push_back(tile);
}

void WrittenTiles::write(const events::Access& a) {
  if (tiles_.empty()) return;  // no box yet
  std::optional<SharedLayout> layout;
  if (a.path == events::AccessPath::tensor_copy && a.swizzle) layout = SharedLayout{*a.swizzle, 0};
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t offset = a.addresses[lane];
    SharedLayouts& layouts = blocks_[owner_of(*a.launch, a.block, offset)];
    layouts.write(events::offset_in_owner(offset), a.bytes_of(lane), layout, current_);
  }
}

std::optional<SharedLayouts::Written> WrittenTiles::writer(const events::Launch& launch, const Dim3& block,
                                                           std::uint64_t offset) const {
  const auto found = blocks_.find(owner_of(launch, block, offset));
  return found == blocks_.end() ? std::nullopt : found->second.writer(events::offset_in_owner(offset));
}

Tile WrittenTiles::tile_of(const SharedLayouts::Written& written) const {
  Tile tile = tiles_[written.copy];
  tile.begin = written.begin;
  return tile;
}

std::optional<Tile> WrittenTiles::tile_at(const events::Launch& launch, const Dim3& block, std::uint64_t offset) const {
  const auto written = writer(launch, block, offset);
  return written ? std::optional(tile_of(*written)) : std::nullopt;
}

std::optional<Tile> WrittenTiles::tile_of(const events::Access& a) const {
  if (blocks_.empty()) return std::nullopt;
  std::optional<SharedLayouts::Written> all;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto one = writer(*a.launch, a.block, a.addresses[static_cast<unsigned>(std::countr_zero(m))]);
    if (!one || (all && (all->copy != one->copy || all->begin != one->begin))) return std::nullopt;
    all = one;
  }
  return all ? std::optional(tile_of(*all)) : std::nullopt;
}

void WrittenTiles::end_block(const events::Launch& launch, const Dim3& block) {
  if (!blocks_.empty()) blocks_.erase(events::linear_block(launch, block));
}

void WrittenTiles::clear() {
  blocks_.clear();
  tiles_.clear();
}

}  // namespace warpgrind::observers
