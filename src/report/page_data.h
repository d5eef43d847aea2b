// The data of the HTML report, packed: a profile of 100,000 lines names the same counters in each of them.
#pragma once

#include <string>

#include "report/html.h"

namespace warpgrind::report {

// JSON. Lists of objects with the same members become {"$keys", "$rows", "$words"}; the counters of a kernel, site or
// line become a flat list [index, value, index, value ...] into "metric_keys". web/src/data.ts unpacks them.
Result<std::string> page_data(const HtmlInput& input);

}  // namespace warpgrind::report
