// Drawing of one request of a warp as SVG: its 32 lanes in the lines of memory, or in the banks of shared memory.
#pragma once

#include <string>

#include "results/detail.h"

namespace warpgrind::exercises {

// Rows of 128 bytes, 32 cells of 4 bytes. Global memory: 4 sectors a row; what is moved and not asked for is grey.
// Shared memory: a column is a bank. At most 12 rows are drawn. No scripts, no outside files.
std::string access_picture(const results::AccessPattern& pattern);

}  // namespace warpgrind::exercises
