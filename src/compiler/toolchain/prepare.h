// Precompiled headers made ahead of the first compilation, for `warpgrind prepare`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/plan.h"

namespace warpgrind::toolchain {

struct PreparedHeaders {
  std::vector<std::string> made, lacking;  // names of headers; lacking: not installed, or clang cannot compile them
};

// Makes them in `folder` for compilations with these words (options and one source, which need not exist). Earlier ones
// of the same names are replaced.
Result<PreparedHeaders> prepare_headers(const std::vector<std::string>& words, const Surroundings& surroundings,
                                        const std::string& folder);

}  // namespace warpgrind::toolchain
