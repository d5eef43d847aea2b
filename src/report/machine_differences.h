// Where the machine code that ptxas would make counts differently from PTX, and why.
#pragma once

#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// One sentence each: "ptxas merges neighbours: 64 shared loads of matmul.cu:113 become 40". Empty: no difference.
std::vector<std::string> machine_differences(const results::KernelProfile& kernel);

}  // namespace warpgrind::report
