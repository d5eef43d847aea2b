// Ids of the counters: one for each row of metrics.inc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpgrind::counters {

enum class MetricId : std::uint16_t {
#define WG_METRIC(ID, ...) ID,
#include "counters/metrics.inc"
#undef WG_METRIC
  count
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(MetricId::count);

// The counter's name in files and on the command line (MetricRow::name).
const char* name(MetricId id);

}  // namespace warpgrind::counters
