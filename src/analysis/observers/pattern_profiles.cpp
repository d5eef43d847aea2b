#include "observers/pattern_profiles.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "gpu/tensor_names.h"

namespace warpgrind::observers {

namespace {

results::TileProfile tile_profile(const Tile& tile, const std::vector<results::SiteProfile>& sites) {
  results::TileProfile out;
  for (const results::SiteProfile& s : sites)
    if (s.function == tile.function && s.ptx_line == tile.ptx_line) out.site = s.id;
  out.begin = tile.begin;
  out.pitch = tile.pitch;
  out.swizzle = name(tile.swizzle);
  out.element = name(tile.element);
  return out;
}

results::OperandProfile operand_profile(const Operand& o, const std::vector<results::SiteProfile>& sites) {
  results::OperandProfile out;
  out.pieces = o.pieces;
  out.swizzle = name(o.swizzle);
  out.base = o.base;
  out.first = o.first;
  if (!o.tile) return out;
  out.tile = tile_profile(*o.tile, sites);
  out.first_row = o.first_row;
  out.last_row = o.last_row;
  out.first_byte = o.first_byte;
  out.last_byte = o.last_byte;
  return out;
}

}  // namespace

void put_operands(results::KernelProfile& kernel, const results::SiteProfile& place, std::vector<Operand> operands) {
  std::sort(operands.begin(), operands.end(), [](const Operand& a, const Operand& b) {
    return std::tie(a.block_index, a.warp, a.first) < std::tie(b.block_index, b.warp, b.first);
  });
  if (operands.size() > AccessPatterns::kListed) operands.resize(AccessPatterns::kListed);
  results::SiteProfile& to = site_of(kernel, place);
  for (const Operand& o : operands) to.operands.push_back(operand_profile(o, kernel.sites));
}

results::AccessPattern pattern_of(results::Profile& profile, const PatternCount& p, AccessType type,
                                  std::uint32_t bytes, const AccessRules& rules,
                                  const std::vector<results::SiteProfile>& sites) {
  results::AccessPattern out;
  out.count = p.count;
  out.mask = p.key.mask;
  out.lane_bytes = bytes;
  out.space = name(p.key.space);
  out.addresses = p.key.offsets;
  if (p.allocation) out.base.allocation = allocation_id(profile, *p.allocation);
  out.base.offset = p.base_offset;
  out.alignment = p.key.alignment;
  out.block = p.block;
  out.warp = p.warp;
  if (p.tile) out.tile = tile_profile(*p.tile, sites);
  if (p.key.space == StateSpace::shared) {
    out.wavefronts = p.cost.wavefronts;
    out.ideal_wavefronts = p.cost.ideal_wavefronts;
    return out;
  }
  out.sectors = p.cost.sectors;
  out.lines_128 = p.cost.lines;
  out.ideal_sectors = p.cost.ideal_sectors;
  // With this rule (compute capability 3.x and later) the transactions are the sectors, which follow from the
  // addresses.
  if (rules.coalescing == CoalescingRule::sectors_32 || p.key.space == StateSpace::local) return out;
  std::int64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = p.key.offsets[l] + p.key.alignment;
  for (const MemoryTransaction& t : global_transactions(rules, type, offsets, p.key.mask, bytes))
    out.transactions.push_back({t.offset - p.key.alignment, t.bytes});
  return out;
}

}  // namespace warpgrind::observers
