// Output of the profile, on stderr and to the requested files.
#pragma once

#include <string>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::session {

struct OutputFiles {
  std::string json, csv;  // empty: not requested; "-": stdout, as the table goes to stderr
  bool quiet = false, each_launch = false;
  bool in_a_run = false;  // `warpgrind run` says itself that no kernel ran, if that is so of all processes
};

Status write_results(const results::Profile& profile, const OutputFiles& files);

}  // namespace warpgrind::session
