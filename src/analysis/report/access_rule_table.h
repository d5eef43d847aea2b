// Table of example accesses on all GPU models: the bytes that each model moves, by the rule of its compute capability.
// For the chapters on coalescing and banks of the lab's page.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace warpgrind::report {

// {"global": [ACCESS], "shared": [ACCESS], "models": [MODEL]}. ACCESS: name, bytes (per lane), addresses (of the 32
// lanes; null: inactive). MODEL: id, name, architecture, cc, rule, banks, "global": for each ACCESS the transactions of
// a load as [offset, bytes], "shared": for each ACCESS its wavefronts.
nlohmann::ordered_json access_rule_table();

}  // namespace warpgrind::report
