// Warp-wide memory accesses on the careful path: space, bounds, alignment, counting, observers. Also the door for
// atomics, asynchronous copies and textures.
#pragma once

#include <cstdint>

#include "device/execution/state.h"
#include "gpu/access_rules.h"

namespace warpgrind::device {

// An address or offset in the shared window as an offset from the block's own memory: that of another block of the
// cluster, and the driver's, lie below and above it (Block::shared), so that host pointers are one addition.
inline std::uint64_t shared_offset(const jit::WarpContext& c, std::uint64_t address) {
  const std::uint64_t offset = address & (kWindowSize - 1);
  if (offset < kReservedShared) return offset;
  if (offset < kReservedShared + kReservedSharedBytes) return offset - kReservedShared - kReservedSharedBytes;
  return offset >> kClusterShift == 0 ? offset : offset - ((std::uint64_t{c.cluster_rank} + 1) << kClusterShift);
}
// Is it memory that the block may use beyond its own? (cluster.cpp)
bool in_cluster(const jit::WarpContext& context, std::uint64_t offset, std::uint64_t bytes);

// Checks, counts and reports one access of `bytes` a lane by the lanes of `mask` and gives each such lane's host
// pointer. `space` is as written (generic: the addresses decide; shared: offsets). Local memory is not contiguous on
// the host and a fault here (atomics do not work on it). A fault does not return. write: constant memory is a fault.
void resolve_access(jit::WarpContext& context, std::uint32_t site, StateSpace space, const std::uint64_t* addresses,
                    LaneMask mask, unsigned bytes, AccessType type, bool write, std::uint8_t** pointers);

// Only checks: one stretch of memory for one lane (bulk copies, texture data, strings). nullptr: not all of it may be
// touched. Generic addresses; shared and local windows are resolved for shared only.
std::uint8_t* checked_pointer(jit::WarpContext& context, std::uint64_t address, std::uint64_t bytes, bool write);

// Copies `bytes` from a generic address of one lane, local memory included. False: not all of it may be read.
bool read_generic(jit::WarpContext& context, unsigned lane, std::uint64_t address, void* out, std::uint64_t bytes);
bool write_generic(jit::WarpContext& context, unsigned lane, std::uint64_t address, const void* in,
                   std::uint64_t bytes);

// Counts an access that was made by other means (textures): lanes and cost at the site. Nothing when counters are off.
void count_access(jit::WarpContext& context, std::uint32_t site, StateSpace space, const std::uint64_t* addresses,
                  LaneMask mask, unsigned bytes, AccessType type);

}  // namespace warpgrind::device
