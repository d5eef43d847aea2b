// Constants of the time estimate for one GPU. Their table is timing_constants.inc.
#pragma once

#include <span>
#include <string>

namespace warpgrind {

// The unit is the end of the name, or stands in the table.
struct TimingConstants {
#define WG_TIMING(name, unit, what, rule) double name = 0;
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};

// Source of a figure. `assumed`: by the rule in timing_constants.inc, or by a guess in the model file.
enum class TimingOrigin { measured, literature, assumed };
const char* name(TimingOrigin origin);

struct TimingFigure {
  const char* name;  // "block_ns"
  const char* unit;  // "ns"
  const char* what;
  double TimingConstants::*value;
  bool may_be_zero;  // 0: the GPU has no such feature
};
std::span<const TimingFigure> timing_figures();  // all, in the order of the table

// Source of one figure.
struct TimingSource {
  TimingOrigin origin = TimingOrigin::assumed;
  std::string from;  // a paper or a rule; empty for measured figures, whose run is in GpuModel::timing_measured_on
};

}  // namespace warpgrind
