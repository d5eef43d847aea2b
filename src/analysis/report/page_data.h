// Packed data of the HTML report. Without packing, a profile of 100,000 lines repeats the counter names in each line.
#pragma once

#include <string>

#include "report/html.h"

namespace warpgrind::report {

// Returns JSON. Lists of objects with the same members become {"$keys", "$rows", "$words"}. The counters of a kernel,
// site or line become a flat list [index, value, index, value ...] with indices into "metric_keys". web/src/data.ts
// unpacks it.
Result<std::string> page_data(const HtmlInput& input);

}  // namespace warpgrind::report
