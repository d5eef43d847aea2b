// Sites of a launch that may touch memory which the launch writes, derived from their address origins
// (events::Site::origins) and the launch's arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/access/inline_cache.h"
#include "device/state.h"

namespace warpgrind::device {

bool may_write(const events::Site& site);     // any space
bool never_global(const events::Site& site);  // also for a generic address whose origins are all in other memory
// By site, for a launch whose observers want only_written. 1 for shared memory, strong accesses, all sites that may
// write global memory, and all that may read what those write. An address without known origins may be anywhere.
// Bounds: of the launch's sites. Wants::host_memory adds and Wants::no_shared removes sites.
std::vector<std::uint8_t> sites_to_watch(const Launch& launch, const std::vector<SiteBounds>& bounds);
// Publishes an affine access that machine code would perform itself. Returns 0 if an observer wants on_access()
// instead. Parameters are plain numbers, not an AffineAddresses. Reading a struct just written field by field waits for
// all earlier stores, the kernel's too (a third of the time of a transpose).
std::uint32_t watch(jit::WarpContext& context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    LaneMask mask);
// Call after Launch::watched is set: machine code of the launch's workers then calls watch() at these sites, if it was
// compiled to.
void watch_in_machine_code(Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace warpgrind::device
