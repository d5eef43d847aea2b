// A profile as CSV with the columns and the quoting of `ncu --csv`: one row a metric and launch.
#pragma once

#include <string>

#include "results/profile.h"

namespace warpgrind::results {

// "ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value". Every launch of
// Profile::launches; of Profile::kernels (added up) when the launches were not kept apart.
std::string to_csv(const Profile& profile);

}  // namespace warpgrind::results
