// Explanation, in one sentence, of why a rung is faster than the one before, from the counts of both.
#pragma once

#include <string>

#include "lab/result.h"

namespace warpgrind::lab {

// Empty if there are no counts.
std::string explain(const Row& before, const Row& after);

}  // namespace warpgrind::lab
