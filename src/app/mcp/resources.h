// Documents of the server: definitions of counters, rules of the advice, GPU models.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/json_rpc.h"

namespace warpgrind::mcp {

// Results of resources/list, resources/templates/list and resources/read.
Json resource_list();
Json resource_templates();
Result<Json> read_resource(const std::string& uri);

}  // namespace warpgrind::mcp
