// Kernels that a row's launches ran, to compare one rung with another. A detailed run has the text of each kernel and
// the access patterns of its memory instructions.
#pragma once

#include "lab/result.h"
#include "results/profile.h"

namespace warpgrind::lab {

// Fills Row::kernels, by the rows' ranges, and TopicResult::sources with the functions that contain lines of these
// kernels.
void join_kernels(TopicResult& topic, const results::Profile& profile);

}  // namespace warpgrind::lab
