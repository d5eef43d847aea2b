// A value of all lanes of a warp as a table: body of the response to `warpgrind/warpValues`.
#pragma once

#include <string>

#include "dap/message_reader.h"

namespace warpgrind::debug {

using dap::Json;

// Eight lanes in a row. Inactive lanes are in brackets, "?" follows undefined values. The lines below say whether all
// values of active lanes are equal, or which is the least and the greatest.
std::string warp_table(const Json& values);

}  // namespace warpgrind::debug
