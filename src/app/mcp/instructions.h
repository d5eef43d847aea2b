// Text that a client gives to its model at the beginning: what the tools are for, and what their results do not say.
#pragma once

#include <string>

#include "mcp/tool.h"

namespace warpgrind::mcp {

std::string instructions(const Settings& settings);

}  // namespace warpgrind::mcp
