// Measured rows of the lab with the work of their launches. lab-full.json has the times. launches.csv has the work: one
// line per launch, with the range (NVTX) of its row. Launches of one row run one after the other and are timed
// together.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "timing/estimate.h"

namespace warpgrind::timing {

struct StoredLaunch {
  LaunchWork work;
  unsigned repeat = 1;  // number of equal launches in a row
};

struct StoredRow {
  std::string topic, rung, type, size, range, role;  // as in the lab's results
  double measured_ns = 0;                            // between the two events
  std::vector<StoredLaunch> launches;
};

// Reads rows that have both a time and launches, in the order of the results. It skips rows whose time is not the GPU's
// work alone (host effects, migration of managed memory, grid barriers that spin).
Result<std::vector<StoredRow>> read_rows(const std::string& results, const std::string& launches);

// A kernel of a public program: its mean time, measured and estimated, and the limit of its first launch (its
// name in timing/terms/terms.inc).
struct ProgramKernel {
  std::string limit;
  double measured_ns = 0, estimated_ns = 0;
};
// Reads a file such as lab/results/h200/programs.csv. Lines that begin with # are comments.
Result<std::vector<ProgramKernel>> read_programs(const std::string& path);

}  // namespace warpgrind::timing
