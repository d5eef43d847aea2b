// Definition of bytes: an access that writes them clears their shadow.
#include "device/access/shadows.h"

#include <cstring>

namespace warpgrind::device {

namespace {

// Lanes at adjacent addresses, the usual case. Returns false if they are not, or have no shadow.
bool define_row(const Access& a) {
  if (a.sizes || a.mask != kFullMask) return false;
  for (unsigned l = 1; l < kWarpSize; ++l)
    if (a.addresses[l] != a.addresses[0] + std::uint64_t{l} * a.bytes()) return false;
  const std::uint64_t bytes = std::uint64_t{kWarpSize} * a.bytes();
  const LaneShadow shadow = shadow_of(*a.context, a.form.space, a.addresses[0], bytes, 0);
  if (shadow.at) std::memset(shadow.at, 0, bytes);
  return shadow.at != nullptr;
}

}  // namespace

void define(const Access& access) {
  jit::WarpContext& c = *access.context;
  const StateSpace space = access.form.space;
  if (space == StateSpace::local) {
    for (LaneMask m = access.mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const std::uint64_t bytes = access.bytes_of(lane);
      const LaneShadow shadow = shadow_of(c, space, access.addresses[lane], bytes, lane);
      if (!shadow.at) continue;
      for (std::uint64_t k = 0; k < bytes; ++k) *shadow.byte(k, access.addresses[lane]) = 0;
    }
    return;
  }
  if (space != StateSpace::shared && space != StateSpace::global) return;
  if (define_row(access)) return;
  if (!access.sizes && access.bytes() == 4)  // one store per lane
    return each_shadow(access, [](unsigned, std::uint8_t* at) { std::memset(at, 0, 4); });
  each_shadow(access, [&](unsigned lane, std::uint8_t* at) { std::memset(at, 0, access.bytes_of(lane)); });
}

}  // namespace warpgrind::device
