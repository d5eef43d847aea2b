// Answers of the debug adapter about the stopped program, as the text that commands print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dap/channel.h"

namespace warpgrind::debug {

using dap::Json;

std::string triple_text(const Json& parent, std::string_view key);  // "(1,0,0)"
// Of the body of `warpgrind/warps`.
std::string warps_text(const Json& body);
std::string blocks_text(const Json& body);
std::string lanes_text(const Json& body);  // of the warp in focus; empty: none is
// Of `warpgrind/launches`, and of `threads`, where `focused` is the thread in focus.
std::string launches_text(const Json& body);
std::string threads_text(const Json& body, std::int64_t focused);

}  // namespace warpgrind::debug
