// Fast path before pass() for accesses whose lanes have arbitrary addresses (gathers, scatters, atomics). One
// comparison per lane proves them valid. The request is stored and counted later together with others
// (jit::LaneRequests).
#pragma once

#include <optional>

#include "device/access/inline_cache.h"

namespace warpgrind::device {

// Checks and counts if all lanes of the mask lie in the window of their site. The mask must not be empty. nullopt: use
// the normal path.
std::optional<Place> pass_lanes(const Access& a);
// Same, for addresses as the instruction writes them. On success `a` is the access to its resolved space.
std::optional<Place> pass_written(Access& a, Lanes<GenericAddress> addresses, LaneMask mask);
// Stores a checked affine access like these. Returns false if no window contains it.
bool keep_affine(const Access& a, const AffineAddresses& affine);
// Opens a window around a passed access, if allowed, so that the next ones of its site take the fast path.
void open_window(const Access& passed);

}  // namespace warpgrind::device
