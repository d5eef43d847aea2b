// Handles of textures and surfaces that the lanes of an instruction pass, and what is wrong with them.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "device/calls/texture_unit.h"
#include "device/state.h"

namespace warpgrind::device {

// Reason why a lane cannot go on. A fault never returns to this fiber, so it is raised where no object needs a
// destructor. Until then its data is kept here as plain data.
struct Refusal {
  enum class Why : std::uint8_t { none, no_texture, no_surface, freed, outside } why = Why::none;
  unsigned lane = 0;
  std::uint64_t handle = 0;        // or the address of linear memory
  std::uint64_t bytes = 0;         // size of that memory
  std::int64_t at[3] = {0, 0, 0};  // coordinates outside
  std::uint64_t extent[3] = {0, 0, 0};
};

void raise_if(jit::WarpContext& w, std::uint32_t site, const Refusal& r);  // texture.cpp

// Texture handles of the lanes of an instruction.
struct Handles {
  const std::uint64_t* first;
  bool one;  // one handle for all lanes
  std::uint64_t of(unsigned lane) const { return first[one ? 0 : lane]; }
  // The handle if all lanes use the same, or null.
  const std::uint64_t* only(LaneMask mask) const {
    if (one || mask == 0) return mask ? first : nullptr;
    const std::uint64_t* const used = first + std::countr_zero(mask);
    std::uint64_t others = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) others |= (first[l] ^ *used) & (0 - std::uint64_t{mask >> l & 1});
    return others == 0 ? used : nullptr;
  }
};

inline TextureUnit& unit_of(Worker& worker) {
  if (!worker.textures) worker.textures = std::make_unique<TextureUnit>();
  return *worker.textures;
}

}  // namespace warpgrind::device
