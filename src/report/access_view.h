// `warpgrind explain`: what the requests of the memory instructions on one line looked like.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

struct AccessQuery {
  std::string kernel;  // pattern; empty: the only one
  std::string file;    // name, or end of the path; empty: any
  std::uint32_t line = 0, ptx_line = 0;
};

// Each instruction (those that look the same once): how often each pattern occurred, and the typical, best and worst
// one drawn. An error says which kernels, or which lines, there are.
Result<std::string> access_view(const results::Profile& profile, const AccessQuery& query, const TextOptions& options);

}  // namespace warpgrind::report
