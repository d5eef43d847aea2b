// In front of the door: accesses whose lanes have addresses of their own (gathers, scatters, atomics). One comparison a
// lane says that all are good, and the request is kept, to be counted with others (jit::LaneRequests).
#pragma once

#include <optional>

#include "device/access/inline_cache.h"

namespace warpgrind::device {

// The lanes of the mask, which is not empty, lie in the window of their site: checked and counted. nullopt: not decided
// here.
std::optional<Place> pass_lanes(const Access& a);
// The same of addresses as the instruction writes them; then `a` is the access to its space.
std::optional<Place> pass_written(Access& a, Lanes<GenericAddress> addresses, LaneMask mask);
// An affine access that has been checked: kept like one of these. False: there is no window that it lies in.
bool keep_affine(const Access& a, const AffineAddresses& affine);
// After an access that has passed: the next ones of its site need not look further, where that may be.
void open_window(const Access& passed);

}  // namespace warpgrind::device
