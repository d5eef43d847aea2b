// Comparison of launches that Nsight Compute measured on a GPU with the same launches on the virtual GPU: equal values,
// the differences of the others, and their causes if known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "correlate/hardware_file.h"
#include "results/profile.h"

namespace warpgrind::correlate {

// Why a counter may differ from the hardware's (causes.inc).
struct Cause {
  const char* pattern;
  const char* text;
};
std::span<const Cause> causes();
const Cause* cause_of(std::string_view metric);  // the first row whose pattern fits; null: none

// One metric over the launches of one kernel and shape.
struct MetricComparison {
  std::string metric, unit;
  Origin origin = Origin::exact;
  std::uint64_t launches = 0, equal = 0;
  // Values of the launch with the largest difference, in `unit`.
  double hardware = 0, here = 0;
  std::string hardware_text, here_text;  // for metrics that are words: the limiter of the occupancy
  double low = 0, high = 0;              // interval of the estimate; 0: none
  std::string cause;                     // empty: all are equal, or the cause is unknown
  // Relative difference of that launch: here / hardware - 1; infinite if only the hardware has 0.
  double difference() const;
};

struct KernelComparison {
  std::string kernel, block, grid;
  std::uint64_t launches = 0;
  std::vector<MetricComparison> metrics;  // sorted by name
};

struct Correlation {
  std::string gpu, program;
  std::vector<KernelComparison> kernels;     // in the order of their first launch
  std::vector<std::string> hardware_only;    // kernels with launches that the virtual GPU did not see (libraries)
  std::vector<std::string> here_only;        // kernels with launches that the file does not have
  std::vector<std::string> metrics_unknown;  // metrics of the file that warpgrind does not count
  std::uint64_t values = 0, equal = 0;       // without times, which are never equal
  std::uint64_t modelled = 0, modelled_equal = 0, modelled_near = 0;  // values of modelled metrics; near: within 5 %
  std::vector<double> time_ratios;                                    // estimated / measured, of each launch
  std::uint64_t times_inside = 0;                                     // measured times inside the estimate's interval
};

// Launches match by bare kernel name, block and grid, in order.
Correlation correlate(const std::vector<HardwareLaunch>& hardware, const results::Profile& here);

// The summary first. `all`: also list equal values.
std::string correlation_text(const Correlation& correlation, bool all);
std::string correlation_json(const Correlation& correlation);  // "format": "warpgrind-correlation 1"

}  // namespace warpgrind::correlate
