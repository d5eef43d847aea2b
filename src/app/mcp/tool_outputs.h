// JSON Schemas of the tools' structured results.
#pragma once

#include "mcp/json_rpc.h"

namespace warpgrind::mcp {

// A member is absent where there is nothing to say. A call that was refused, or whose program did not start, has
// `status` and the reason.
Json run_output();
Json check_output();
Json explain_output();
Json diff_output();
Json scan_output();
Json exercise_output();

}  // namespace warpgrind::mcp
