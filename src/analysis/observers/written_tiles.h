// Boxes of tensor copies in the shared memory of the blocks that run: which box a reader of shared memory touches. One
// instance for each worker.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/events.h"
#include "gpu/shared_layouts.h"
#include "observers/access_patterns.h"

namespace warpgrind::observers {

class WrittenTiles {
 public:
  // Call for each copy, before its accesses.
  void begin_copy(const events::TensorCopyEvent& e);
  // Call for each access that writes shared memory.
  void write(const events::Access& a);
  // The box that holds the first byte of each lane; nothing if it is not the same for all.
  std::optional<Tile> tile_of(const events::Access& a) const;
  // The box that holds a byte of shared memory, from the point of view of a block.
  std::optional<Tile> tile_at(const events::Launch& launch, const Dim3& block, std::uint64_t offset) const;
  void end_block(const events::Launch& launch, const Dim3& block);
  void clear();

 private:
  std::optional<SharedLayouts::Written> writer(const events::Launch& launch, const Dim3& block,
                                               std::uint64_t offset) const;
  Tile tile_of(const SharedLayouts::Written& written) const;

  std::unordered_map<std::uint64_t, SharedLayouts> blocks_;  // by linear block number
  std::vector<Tile> tiles_;                                  // by the number of a copy; `begin` is unused
  std::uint32_t current_ = 0;
};

}  // namespace warpgrind::observers
