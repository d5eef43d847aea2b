// Conversion of the cache model's results for a launch or an instruction into counters of the table.
#pragma once

#include "counters/metric_table.h"
#include "events/cache_counts.h"

namespace warpgrind::counters {

// Does the counter exist only if caches were modelled? A GPU without L2 has no counters of L2 either.
bool of_caches(MetricId id);
void add_caches(Values& values, const events::CacheCounts& caches);
void add_caches(Values& values, const events::SiteCaches& caches);  // for a site that loads

}  // namespace warpgrind::counters
