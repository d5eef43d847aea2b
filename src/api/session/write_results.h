// Output of the profile, on stderr and to the requested files.
#pragma once

#include <string>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::session {

struct OutputFiles {
  std::string json, csv;  // empty: not requested; "-": stdout, as the table goes to stderr
  bool quiet = false, each_launch = false;
};

Status write_results(const results::Profile& profile, const OutputFiles& files);

}  // namespace warpgrind::session
