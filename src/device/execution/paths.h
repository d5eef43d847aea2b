// Lanes of a warp that wait apart from the rest: at a `.sync` operation for its members, at a barrier for other
// threads, in a loop for memory. Machine code has put their registers aside; who goes on is decided here (paths.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "device/execution/state.h"

namespace warpgrind::device {

// Lanes that wait together at one place of the code, for one thing.
struct ParkedPath {
  enum class For : std::uint8_t { members, barrier, cluster, memory } waits_for = For::members;
  WarpFiber* fiber = nullptr;
  LaneMask mask = 0;  // 0: not in use
  jit::Paths* frame = nullptr;
  std::uint32_t site = ~0u, place = 0;
  bool released = false;
  std::uint64_t turn = 0;                  // when it stopped
  LaneMask members = 0, participants = 0;  // members: named; who met
  LaneMask live = 0;                       // members: lanes of the warp when it stopped
  std::uint64_t brought[kWarpSize] = {};   // own values; once released, those of all who met
  std::uint32_t barrier = 0, operation = 0, result = 0;
  ParkedPath* next = nullptr;  // of those at the same barrier
  std::uint32_t scalar_bytes = 0;
  std::vector<std::uint8_t> saved;
  bool waits_outside() const { return waits_for == For::barrier || waits_for == For::cluster; }  // of the warp
  bool may_run() const { return released || waits_for == For::memory; }
};

// At the index of their lowest lane.
struct ParkedPaths {
  ParkedPath of[kWarpSize];
  LaneMask in_use = 0, joining = 0;  // by index; joining: chosen, their registers not yet restored
  std::uint64_t turns = 0;
};

// The barrier has been passed, with this result of its reduction.
void release_parked(Worker& worker, ParkedPath& path, std::uint32_t result);
// Where the warp's lanes wait, for the list of a deadlock or timeout.
void add_places(const Launch& launch, const WarpFiber& fiber, std::vector<std::string>& places);
// The same, one by one.
void add_waiting(const Launch& launch, const WarpFiber& fiber, std::vector<FaultPlace>& waiting);
// Lanes that wait for members of their warp which are elsewhere; null: none do.
const ParkedPath* waits_for_members(const WarpFiber& fiber);
// The fault of a warp with such lanes that cannot go on.
Fault member_deadlock(const Launch& launch, const WarpFiber& fiber, const ParkedPath& path);
// May lanes of the warp go on that wait apart?
bool some_may_run(const WarpFiber& fiber);
// barrier.cpp: counts the lanes `mask`. True: it was the last arrival, and everybody else has been released.
bool arrive_some(jit::WarpContext& context, ParkedPath& path, std::uint32_t threads, LaneMask predicate);
// cluster.cpp: the lanes of `lanes` that arrived at a barrier of the cluster which is not passed yet.
LaneMask held_by_cluster(WarpFiber& fiber, LaneMask lanes);
// The path waits for that barrier.
void wait_for_cluster(WarpFiber& fiber, ParkedPath& path);
std::uint32_t barrier_reduction(const Barrier& barrier, std::uint32_t operation);

}  // namespace warpgrind::device
