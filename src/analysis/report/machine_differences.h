// Explanations of where the counts of ptxas's machine code differ from those of PTX.
#pragma once

#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// One sentence per difference: "ptxas merges neighbours: 64 shared loads of matmul.cu:113 become 40". Empty: none.
std::vector<std::string> machine_differences(const results::KernelProfile& kernel);

}  // namespace warpgrind::report
