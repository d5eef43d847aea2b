// One launch of a kernel as the API passes it on, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/kernel_counters.h"
#include "device/device.h"
#include "session/program.h"
#include "session/time_estimates.h"
#include "timing/timeline.h"

namespace warpgrind::session {

struct LaunchRequest {
  Program* program = nullptr;
  const KernelEntry* kernel = nullptr;
  int device = 0;
  timing::StreamId stream = 0;
  device::LaunchConfig config;
  int carveout_percent = -1;  // preferred shared memory carveout of the kernel; -1: no preference
  device::PackedParameters parameters;
  bool early = false;      // it may begin before the previous kernel in its stream has ended
  std::string ranges;      // named ranges (NVTX) that were open when it was issued
  std::uint64_t work = 0;  // events::StreamWork::id
};

// Outcome of a grid: a result, which may hold a fault of the user's kernel, or an error of warpgrind (the grid did not
// run).
struct LaunchOutcome {
  std::optional<device::LaunchResult> result;
  std::optional<Error> error;
  TouchedMemory touched;
  std::vector<counters::LaunchShape> shapes;  // of the launch, then of the grids that it launched, with occupancy
};

}  // namespace warpgrind::session
