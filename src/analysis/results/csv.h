// CSV export of a profile, with the columns and quoting of `ncu --csv`: one row per metric and launch.
#pragma once

#include <string>

#include "results/profile.h"

namespace warpgrind::results {

// Columns: "ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value". Rows come from
// Profile::launches, or from the summed Profile::kernels if single launches were not kept.
std::string to_csv(const Profile& profile);

}  // namespace warpgrind::results
