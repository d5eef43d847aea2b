// Why one rung is faster than the one before, in one sentence taken from the counts of both.
#pragma once

#include <string>

#include "lab/result.h"

namespace warpgrind::lab {

// Empty where there are no counts to argue with.
std::string explain(const Row& before, const Row& after);

}  // namespace warpgrind::lab
