// Launches that Nsight Compute saw on a GPU beside the same launches on the virtual one: which values are equal, how
// far the others are apart, and why where that is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/origin.h"
#include "correlate/hardware_file.h"
#include "results/profile.h"

namespace warpgrind::correlate {

// One metric over the launches of one kernel and shape.
struct MetricComparison {
  std::string metric, unit;
  Origin origin = Origin::exact;
  std::uint64_t launches = 0, equal = 0;
  // Of the launch that is furthest apart; in the unit.
  double hardware = 0, here = 0;
  std::string hardware_text, here_text;  // words: what limits the occupancy
  double low = 0, high = 0;              // the estimate's interval; 0: it has none
  std::string cause;                     // empty: all are equal, or it is not known
  // Relative difference of that launch: here / hardware - 1; infinite where only the hardware has 0.
  double difference() const;
};

struct KernelComparison {
  std::string kernel, block, grid;
  std::uint64_t launches = 0;
  std::vector<MetricComparison> metrics;  // in the order of names
};

struct Correlation {
  std::string gpu, program;
  std::vector<KernelComparison> kernels;     // in the order of their first launch
  std::vector<std::string> hardware_only;    // kernels with launches that the virtual GPU did not see (libraries)
  std::vector<std::string> here_only;        // and the other way round
  std::vector<std::string> metrics_unknown;  // of the file, that we do not count
  std::uint64_t values = 0, equal = 0;       // times apart: they never are
  std::uint64_t modelled = 0, modelled_equal = 0, modelled_near = 0;  // of them of modelled ones; near: within 5 %
  std::vector<double> time_ratios;                                    // estimated / measured, of each launch
  std::uint64_t times_inside = 0;                                     // of them inside the estimate's interval
};

// Launches match by bare kernel name, block and grid, in order.
Correlation correlate(const std::vector<HardwareLaunch>& hardware, const results::Profile& here);

// The summary first; `all`: values that are equal too.
std::string correlation_text(const Correlation& correlation, bool all);
std::string correlation_json(const Correlation& correlation);  // "format": "warpgrind-correlation 1"

}  // namespace warpgrind::correlate
