// Lanes of a warp that wait apart from the rest: at a `.sync` operation for its members, at a barrier for other
// threads, in a loop for memory. Machine code has saved their registers. paths.cpp decides which lanes go on.
#pragma once

#include <cstdint>
#include <vector>

#include "device/state.h"

namespace warpgrind::device {

// Lanes that wait together at one place of the code for the same thing.
struct ParkedPath {
  enum class For : std::uint8_t { members, barrier, cluster, memory } waits_for = For::members;
  WarpFiber* fiber = nullptr;
  LaneMask mask = 0;  // 0: not in use
  jit::Paths* frame = nullptr;
  std::uint32_t site = ~0u, place = 0;
  bool released = false;
  std::uint64_t turn = 0;                  // time of the stop, in turns
  LaneMask members = 0, participants = 0;  // For::members: lanes named as members; lanes that met
  LaneMask live = 0;                       // For::members: live lanes of the warp at the stop
  std::uint64_t brought[kWarpSize] = {};   // own values; once released, the values of all lanes that met
  std::uint32_t barrier = 0, operation = 0, result = 0;
  ParkedPath* next = nullptr;  // next path at the same barrier
  std::uint32_t scalar_bytes = 0;
  std::vector<std::uint8_t> saved;
  bool waits_outside() const { return waits_for == For::barrier || waits_for == For::cluster; }  // outside the warp
  bool may_run() const { return released || waits_for == For::memory; }
};

// Parked paths of a warp, each at the index of its lowest lane.
struct ParkedPaths {
  ParkedPath of[kWarpSize];
  LaneMask in_use = 0, joining = 0;  // by index; joining: chosen to run, registers not yet restored
  std::uint64_t turns = 0;
};

// Releases a path after its barrier completed with this result of the reduction.
void release_parked(Worker& worker, ParkedPath& path, std::uint32_t result);
// Adds the places where the warp's lanes wait, for the list of a deadlock or timeout.
void add_places(const Launch& launch, const WarpFiber& fiber, std::vector<std::string>& places);
// Same, as separate entries.
void add_waiting(const Launch& launch, const WarpFiber& fiber, std::vector<FaultPlace>& waiting);
// A path that waits for members of its warp which are elsewhere; null: none.
const ParkedPath* waits_for_members(const WarpFiber& fiber);
// Fault for a warp with such a path that cannot go on.
Fault member_deadlock(const Launch& launch, const WarpFiber& fiber, const ParkedPath& path);
// Whether some parked lanes of the warp may go on.
bool some_may_run(const WarpFiber& fiber);
// barrier.cpp: counts the arrival of the path's lanes. Returns true if it was the last arrival; all other threads have
// then been released.
bool arrive_some(jit::WarpContext& context, ParkedPath& path, std::uint32_t threads, LaneMask predicate);
// cluster.cpp: the subset of `lanes` that arrived at a cluster barrier which is not complete yet.
LaneMask held_by_cluster(WarpFiber& fiber, LaneMask lanes);
// Parks the path at that barrier.
void wait_for_cluster(WarpFiber& fiber, ParkedPath& path);
std::uint32_t barrier_reduction(const Barrier& barrier, std::uint32_t operation);

}  // namespace warpgrind::device
