// Which sites of a launch may touch memory that the launch writes: by where their addresses come from
// (events::Site::origins) and the launch's arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/access/inline_cache.h"
#include "device/execution/state.h"

namespace warpgrind::device {

bool may_write(const events::Site& site);     // memory of any space
bool never_global(const events::Site& site);  // of a generic address too: all that goes into it is in other memory
// By site, for a launch of whose accesses observers want only_written: 1 for all of shared memory, for strong accesses,
// for whatever may write global memory, and for whatever may read what those may write. What an address may come from
// anywhere is all of memory. Bounds: of the launch's sites. Wants::host_memory, Wants::no_shared: as they say.
std::vector<std::uint8_t> sites_to_watch(const Launch& launch, const std::vector<SiteBounds>& bounds);
// Shows observers an access that machine code would serve itself. 0: they want all of it, by the careful way. Numbers
// and no AffineAddresses: what was put together in memory a moment ago is read at once, as a whole, and waits until all
// stores before it are done, those of the kernel too (a third of the time of a transpose).
std::uint32_t watch(jit::WarpContext& context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    LaneMask mask);
// After Launch::watched is set: machine code of the launch's workers asks at these sites, if it is compiled to.
void watch_in_machine_code(Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace warpgrind::device
