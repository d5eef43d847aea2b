// Server of the Model Context Protocol for one client, on two descriptors.
#pragma once

#include "base/descriptor.h"
#include "mcp/tool.h"

namespace warpgrind::mcp {

// Answers requests until the input ends, the client no longer reads, or this process is interrupted. Calls that are
// under way then are stopped with all their processes.
void serve(const Settings& settings, Descriptor in, Descriptor out);

}  // namespace warpgrind::mcp
