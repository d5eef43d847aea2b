// Reads of mipmapped arrays by levels: finds the levels of the lanes, reads and blends them.
#include "device/calls/texture_levels.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace warpgrind::device {

namespace {

using jit::TextureCall;

struct LaneLevels {
  std::uint8_t low[kWarpSize];
  double fraction[kWarpSize];  // position between level `low` and the next one
  LaneMask blends = 0;         // lanes with a fraction above 0
};

// The level of detail of a lane's gradients.
float level_of_steps(const Texture& t, const TextureCall& call, const std::uint32_t* words, unsigned lane) {
  float steps[2][3] = {};
  const unsigned size = jit::step_size(call.geometry);
  for (unsigned k = 0; k < 2 * size; ++k) steps[k / size][k % size] = std::bit_cast<float>(words[k * kWarpSize + lane]);
  return level_of_gradients(t, call.geometry, steps[0], steps[1]);
}

// Entries of inactive lanes are meaningless. `reads`: lanes whose level exists; a fetch may name a missing one.
LaneLevels find_levels(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates, LaneMask mask,
                       LaneMask& reads) {
  LaneLevels levels;
  const std::uint32_t* const words = coordinates + std::size_t{call.coordinates} * kWarpSize;
  const unsigned count = call.detail == jit::TextureDetail::level ? 1 : 2 * jit::step_size(call.geometry);
  reads = mask;
  LevelPair pair{0, 0};
  unsigned before = kWarpSize;  // the lane that `pair` belongs to
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    bool same = before != kWarpSize;
    for (unsigned k = 0; k < count && same; ++k) same = words[k * kWarpSize + l] == words[k * kWarpSize + before];
    before = l;
    if (call.integer_coordinates) {
      const std::uint32_t level = words[l];
      if (level >= t.levels.size())
        reads &= ~(LaneMask{1} << l);
      else
        pair = {level, 0};
    } else if (!same) {
      const float level =
          call.detail == jit::TextureDetail::level ? std::bit_cast<float>(words[l]) : level_of_steps(t, call, words, l);
      pair = levels_at(t, level);
    }
    levels.low[l] = static_cast<std::uint8_t>(pair.low);
    levels.fraction[l] = pair.fraction;
    if (pair.fraction != 0) levels.blends |= LaneMask{1} << l;
  }
  return levels;
}

LaneMask lanes_at(const LaneLevels& levels, LaneMask mask, unsigned low) {
  LaneMask lanes = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    if (levels.low[std::countr_zero(m)] == low) lanes |= m & (~m + 1);
  return lanes;
}

}  // namespace

bool read_levels(const Texture& t, const std::vector<LaneSampler>& samplers, const TextureCall& call,
                 const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out, LevelTexels& texels) {
  WG_ASSERT(samplers.size() == t.levels.size());
  LaneMask reads;
  const LaneLevels levels = find_levels(t, call, coordinates, mask, reads);
  std::fill_n(out, 4 * kWarpSize, 0u);
  for (LaneMask rest = reads; rest != 0;) {
    const unsigned low = levels.low[std::countr_zero(rest)];
    const LaneMask lanes = lanes_at(levels, rest, low), blends = lanes & levels.blends;
    rest &= ~lanes;
    alignas(64) std::uint32_t values[kMostPlanes][4 * kWarpSize];
    const unsigned planes = blends ? 2 : 1;
    for (unsigned p = 0; p < planes; ++p) {
      WG_ASSERT(low + p < samplers.size());
      const LaneSampler& s = samplers[low + p];
      if (s.kind == LaneSampler::Kind::none ||
          !s.read(coordinates, p == 0 ? lanes : blends, values[p], texels.planes[p]))
        return false;
    }
    for (unsigned k = 0; k < 4 * kWarpSize; ++k) {
      const unsigned l = k % kWarpSize;
      if (blends >> l & 1)
        out[k] = between_levels(values[0][k], values[1][k], levels.fraction[l]);
      else if (lanes >> l & 1)
        out[k] = values[0][k];
    }
    texels.count = lanes == reads ? planes : 0;
    if (texels.count == 0)
      for (unsigned p = 0; p < planes; ++p) texels.planes[p].add_to(texels.by_lanes);
  }
  return true;
}

}  // namespace warpgrind::device
