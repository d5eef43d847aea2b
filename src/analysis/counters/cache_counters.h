// What the modelled caches made of a launch or of one instruction, as values of the table.
#pragma once

#include "counters/metric_table.h"
#include "events/cache_counts.h"

namespace warpgrind::counters {

// Rows that are there only where caches were modelled: a GPU without L2 has none of L2 either.
bool of_caches(MetricId id);
void add_caches(Values& values, const events::CacheCounts& caches);
void add_caches(Values& values, const events::SiteCaches& caches);  // of a site that loads

}  // namespace warpgrind::counters
