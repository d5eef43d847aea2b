// Every memory access of one block of each kernel's first launch, in the order it ran: which thread touches which
// element between which barriers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/observer.h"

namespace warpgrind::counters {

struct TraceEvent {
  std::string function;                             // of the instruction, with its line: the site
  std::uint32_t ptx_line = 0, warp = 0, phase = 0;  // phase: barriers that the warp has passed
  LaneMask mask = 0;
  StateSpace space = StateSpace::global;
  std::array<std::uint64_t, kWarpSize> addresses{};  // as in events::Access; 0 for lanes off
  // First address and bytes of the allocation, at the time of the access.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> allocation;
};

struct Trace {
  Dim3 block;
  std::vector<TraceEvent> events;
  std::uint64_t left_out = 0;  // events beyond kMostEvents
};

class BlockTrace : public events::Observer {
 public:
  static constexpr std::size_t kMostEvents = 4096;

  using FindAllocation = std::function<std::optional<std::pair<std::uint64_t, std::uint64_t>>(std::uint64_t)>;
  BlockTrace(Dim3 block, FindAllocation find_allocation)
      : block_(block), find_allocation_(std::move(find_allocation)) {}
  events::Wants wants() const override { return {.counts = false, .accesses = true, .barriers = true}; }
  void on_launch_begin(const events::Launch& launch) override;
  void on_access(const events::Access& access, unsigned worker) override;
  void on_barrier(const events::Launch& launch, const Dim3& block, std::uint32_t warp, std::uint32_t barrier,
                  unsigned worker) override;

  // By mangled name. A kernel whose grid has no such block has none.
  const std::map<std::string, Trace>& traces() const { return traces_; }

 private:
  // The block is run by one worker at a time, and launches of a device one after the other: no lock is needed.
  Dim3 block_;
  FindAllocation find_allocation_;
  std::map<std::string, Trace> traces_;
  Trace* current_ = nullptr;           // of the launch that runs, when it is traced
  std::vector<std::uint32_t> phases_;  // by warp
};

}  // namespace warpgrind::counters
