// Matrices in shared memory that wgmma reads by descriptors: which layout the descriptors name, and which part of the
// boxes of tensor copies they cover.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "events/events.h"
#include "observers/written_tiles.h"

namespace warpgrind::observers {

// Reads of one layout from boxes of one copy. The example is the first request of the lowest block.
struct Operand {
  TensorSwizzle swizzle = TensorSwizzle::none;
  std::uint8_t base = 0;
  std::uint64_t pieces = 0;  // of 16 bytes
  std::uint64_t block_index = 0, first = 0;
  std::uint32_t warp = 0;
  std::optional<Tile> tile;
  std::uint64_t first_row = ~0ull, last_row = 0, first_byte = ~0ull, last_byte = 0;

  bool same_kind(const Operand& o) const;
  void add(const Operand& from);
};

class Operands {
 public:
  static bool is_operand(const events::Access& a) {
    return a.path == events::AccessPath::bulk_copy && a.swizzle && a.space == StateSpace::shared &&
           a.type == AccessType::load;
  }
  void add(const events::Access& a, const WrittenTiles& tiles);
  void add(std::uint32_t site, const Operand& operand) { add(by_site[site], operand); }
  static void add(std::vector<Operand>& all, const Operand& operand);

  std::map<std::uint32_t, std::vector<Operand>> by_site;
};

}  // namespace warpgrind::observers
