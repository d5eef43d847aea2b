// Check of a tool call's arguments against the tool's JSON Schema.
#pragma once

#include <string>

#include "mcp/json_rpc.h"

namespace warpgrind::mcp {

// Empty: the value matches. Otherwise: what is wrong, and where. Knows what the schemas of tools.cpp use: type,
// properties, required, additionalProperties false, items, enum, minimum, maximum, maxLength, maxItems.
std::string find_mismatch(const Json& value, const Json& schema, const std::string& name);

}  // namespace warpgrind::mcp
