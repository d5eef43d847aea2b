// The constants of the time estimate, of one GPU: timing_constants.inc is their table.
#pragma once

#include <span>
#include <string>

namespace warpgrind {

// The unit is the name's ending, or stands in the table.
struct TimingConstants {
#define WG_TIMING(name, unit, what) double name = 0;
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};

// Where a figure comes from. `assumed`: taken from a similar GPU, or derived from clocks and widths.
enum class TimingOrigin { measured, literature, assumed };
const char* name(TimingOrigin origin);

struct TimingFigure {
  const char* name;  // "block_ns"
  const char* unit;  // "ns"
  const char* what;
  double TimingConstants::*value;
};
std::span<const TimingFigure> timing_figures();  // all, in the order of the table

// What a model file says of one figure beside its value.
struct TimingSource {
  TimingOrigin origin = TimingOrigin::assumed;
  std::string from;  // a paper, a rule; empty for measured figures, whose run stands in GpuModel::timing_measured
};

}  // namespace warpgrind
