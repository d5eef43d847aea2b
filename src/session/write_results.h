// The profile on stderr and in the files asked for.
#pragma once

#include <string>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::session {

struct OutputFiles {
  std::string json, csv;  // empty: not asked for; "-": stderr stays for the table, these go to stdout
  bool quiet = false, each_launch = false;
};

Status write_results(const results::Profile& profile, const OutputFiles& files);

}  // namespace warpgrind::session
