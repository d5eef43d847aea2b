#include "observers/written_tiles.h"

#include <algorithm>
#include <bit>

#include "events/blocks.h"
#include "gpu/tensor_box.h"

namespace warpgrind::observers {

std::uint64_t WrittenTiles::owner_of(const events::Launch& launch, const Dim3& block, std::uint64_t& offset) {
  const std::int64_t ranks = events::ranks_apart(offset);
  if (ranks == 0) return events::linear_block(launch, block);
  offset &= (std::uint64_t{1} << kClusterShift) - 1;
  return events::block_of_cluster(launch, block, ranks);
}

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
    std::uint64_t offset = a.addresses[lane];
    blocks_[owner_of(*a.launch, a.block, offset)].write(offset, a.bytes_of(lane), layout, current_);
  }
}

std::optional<Tile> WrittenTiles::tile_at(const events::Launch& launch, const Dim3& block, std::uint64_t offset) const {
  const auto found = blocks_.find(owner_of(launch, block, offset));
  if (found == blocks_.end()) return std::nullopt;
  const auto written = found->second.writer(offset);
  if (!written) return std::nullopt;
  Tile tile = tiles_[written->copy];
  tile.begin = written->begin;
  return tile;
}

std::optional<Tile> WrittenTiles::tile_of(const events::Access& a) const {
  if (blocks_.empty()) return std::nullopt;
  std::optional<Tile> all;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto tile = tile_at(*a.launch, a.block, a.addresses[static_cast<unsigned>(std::countr_zero(m))]);
    if (!tile || (all && *all != *tile)) return std::nullopt;
    all = tile;
  }
  return all;
}

void WrittenTiles::end_block(const events::Launch& launch, const Dim3& block) {
  if (!blocks_.empty()) blocks_.erase(events::linear_block(launch, block));
}

void WrittenTiles::clear() {
  blocks_.clear();
  tiles_.clear();
}

}  // namespace warpgrind::observers
