// Texture reads for all lanes of a request at once: the rules of memory/texture.h and texture_filter.h in vector code,
// for the common cases. All other cases are read lane by lane.
#pragma once

#include <cstdint>
#include <optional>

#include "base/cpu.h"
#include "device/access/access.h"
#include "device/memory/texel_plane.h"
#include "device/memory/texture.h"
#include "gpu/types.h"

namespace warpgrind::device {

// Meaning of a channel's bits.
enum class ChannelMeaning : std::uint8_t { word, half, unsigned_integer, signed_integer, unsigned_unit, signed_unit };

// Number of lanes in one request: 8 neighbours for a 1D fetch (4 for 16-byte texels), otherwise a quad (measured:
// docs/counters.md).
unsigned lanes_per_request(const jit::TextureCall& call, unsigned bytes);

// A texture prepared for one kind of instruction.
struct LaneSampler {
  enum class Kind : std::uint8_t { none, fetch, point, linear, gather } kind = Kind::none;  // none: lane by lane
  ChannelMeaning meaning = ChannelMeaning::word;
  std::uint8_t axes = 1, bits = 32, channels = 1, component = 0;
  bool layered = false, cube = false, normalized = false, borders = false;
  bool flushes = false;  // subnormal floats become zero
  AddressMode mode[3] = {};
  float farthest[3] = {};            // coordinates from here on are not supported
  std::int32_t size[3] = {1, 1, 1};  // texels along the axes
  std::int32_t slices = 1;
  std::uint8_t group = 4;                                                          // LaneTexels::group
  std::uint8_t corners = 1, corner[LaneTexels::kMost] = {0, 1, 2, 3, 4, 5, 6, 7};  // LaneTexels::corner
  std::int32_t last_word = 0;             // offset of the last position from which 4 bytes can be read
  std::uint32_t outside[4] = {};          // value read outside: bits of the channels
  std::int32_t filtered_outside[4] = {};  // the same in the filter's unit, if that is not float
  TexelPlane plane;
  std::optional<SectorGrid> grid;

  LaneSampler(const Texture& texture, const jit::TextureCall& call);
  // coordinates[c*32 + l], the layer first. Writes out[k*32 + l] for all lanes and records the texels read in `texels`.
  // Returns false if a lane is too far out; the output is then meaningless. wide: use AVX-512.
  bool read(const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out, LaneTexels& texels,
            bool wide = kHaveAvx512) const;
};

}  // namespace warpgrind::device
