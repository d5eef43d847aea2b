// Cluster launch control (PTX ISA, clusterlaunchcontrol): a block cancels the launch of a cluster that has not begun,
// and does its work. A request is done at once. The response is opaque in PTX, so its layout is ours: the index of the
// cluster's first block, and 1 if the launch was cancelled.
#include <bit>
#include <cstring>

#include "device/access/access.h"
#include "device/calls/cluster_addresses.h"
#include "device/calls/mbarriers.h"
#include "device/fault.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

struct CancelResponse {
  std::uint32_t first_block[3] = {~0u, ~0u, ~0u};
  std::uint32_t cancelled = 0;
};
static_assert(sizeof(CancelResponse) == 16);

CancelResponse request(Launch& launch, const Block& block) {
  CancelResponse r;
  const std::optional<std::uint64_t> cluster = launch.cancellable->cancel(cluster_number(launch, block));
  if (!cluster) return r;
  const Dim3 &grid = launch.config.grid, &size = launch.config.cluster;
  const std::uint64_t wide = grid.x / size.x, high = grid.y / size.y;
  r.first_block[0] = static_cast<std::uint32_t>(*cluster % wide * size.x);
  r.first_block[1] = static_cast<std::uint32_t>(*cluster / wide % high * size.y);
  r.first_block[2] = static_cast<std::uint32_t>(*cluster / wide / high * size.z);
  r.cancelled = 1;
  return r;
}

// Writes the responses, and completes their bytes on the mbarriers.
void respond(jit::WarpContext& w, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* barriers,
             const CancelResponse* responses, LaneMask mask) {
  std::uint32_t sizes[kWarpSize] = {};
  std::uint64_t offsets[kWarpSize];
  for (LaneMask m = mask; m != 0; m &= m - 1) sizes[std::countr_zero(m)] = sizeof(CancelResponse);
  shared_offsets(w, Lanes<GenericAddress>(to), offsets);
  Access write = access_of(w, site).at(Lanes<SharedOffset>(offsets), mask);
  write.form.type = AccessType::store;
  write.path = events::AccessPath::bulk_copy;
  write.sizes = sizes;
  write.counted = false;  // a GPU's counters do not say what it costs
  const Place place = pass(write);
  for (LaneMask m = write.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    std::memcpy(place.of(l), &responses[l], sizeof(CancelResponse));
  }
  complete_bytes(w, site, barriers, sizes, mask);
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// to: of the response. Each lane makes a request of its own.
static void wg_try_cancel(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* barriers,
                          std::uint32_t multicast, std::uint32_t mask) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  Block& block = *fiber_of(w).block;
  if (block.cancel_failed)
    warn(w, site, static_cast<unsigned>(std::countr_zero(mask)), FaultKind::launch_control,
         "a block requests to cancel another launch after it has seen that a request failed, which is undefined "
         "behaviour",
         "leave the loop when clusterlaunchcontrol.query_cancel.is_canceled gives false, in all threads that make "
         "requests");
  CancelResponse responses[kWarpSize];
  for (LaneMask m = mask; m != 0; m &= m - 1) responses[std::countr_zero(m)] = request(launch_of(w), block);
  const Cluster* const cluster = block.cluster;
  if (!multicast || !cluster || cluster->size == 1) return respond(w, site, to, barriers, responses, mask);
  for (std::uint32_t rank = 0; rank < cluster->size; ++rank) {
    std::uint64_t there[kWarpSize] = {}, barriers_there[kWarpSize] = {};
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      there[l] = raw(in_block(GenericAddress{to[l]}, rank));
      barriers_there[l] = raw(in_block(GenericAddress{barriers[l]}, rank));
    }
    respond(w, site, there, barriers_there, responses, mask);
  }
}

// index: 0 to 2: of the first block, in x, y, z; 3: all of them, in three planes of `out`. 4: was the launch cancelled?
static void wg_query_cancel(void* context, std::uint32_t site, std::uint32_t index, const void* responses,
                            std::uint32_t mask, std::uint32_t* out) {
  jit::WarpContext& w = warp(context);
  constexpr std::uint32_t kAll = 3, kCancelled = 4;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    CancelResponse r;
    std::memcpy(&r, static_cast<const std::uint8_t*>(responses) + std::size_t{l} * sizeof r, sizeof r);
    if (index == kCancelled) {
      out[l] = r.cancelled;
      if (!r.cancelled) fiber_of(w).block->cancel_failed = true;
      continue;
    }
    if (!r.cancelled)
      warn(w, site, l, FaultKind::launch_control,
           "the block index of a request that failed is read, which is undefined behaviour",
           "read it only if clusterlaunchcontrol.query_cancel.is_canceled gives true");
    for (unsigned d = 0; d < 3; ++d)
      if (index == d || index == kAll) out[(index == kAll ? d : 0) * kWarpSize + l] = r.first_block[d];
  }
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> launch_control_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_try_cancel", reinterpret_cast<void*>(&wg_try_cancel)},
                                            {"wg_query_cancel", reinterpret_cast<void*>(&wg_query_cancel)}};
  return symbols;
}

}  // namespace warpgrind::device
