// Completion of asynchronous operations on mbarriers (async_copy.cpp).
#pragma once

#include <cstdint>

#include "gpu/types.h"
#include "jit/abi.h"

namespace warpgrind::device {

// Completes bytes[l] on the mbarrier of each lane l of the mask. barriers: addresses in shared memory, also in that of
// another block of the cluster.
void complete_bytes(jit::WarpContext& context, std::uint32_t site, const std::uint64_t* barriers,
                    const std::uint64_t* bytes, LaneMask mask);

}  // namespace warpgrind::device
