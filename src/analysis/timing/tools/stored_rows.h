// Measured rows of the lab with what their launches ask of the GPU. lab-full.json has the times, launches.csv the work:
// one line a launch, by the range (NVTX) of the row; launches of one row follow each other and are timed together.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "timing/estimate.h"

namespace warpgrind::timing {

struct StoredLaunch {
  LaunchWork work;
  unsigned repeat = 1;  // so many alike, one after the other
};

struct StoredRow {
  std::string topic, rung, type, size, range, role;  // as in the lab's results
  double measured_ns = 0;                            // between two events
  std::vector<StoredLaunch> launches;
};

// Rows that have both, in the order of the results; without those whose time is not the GPU's work alone (host effects,
// migration of managed memory, grid barriers that spin).
Result<std::vector<StoredRow>> read_rows(const std::string& results, const std::string& launches);

}  // namespace warpgrind::timing
