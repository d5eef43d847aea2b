// What a row's launches ran, for who wants to see one rung beside another: of a detailed run, the text of each kernel
// and how the requests of its memory instructions looked.
#pragma once

#include "lab/result.h"
#include "results/profile.h"

namespace warpgrind::lab {

// Fills Row::kernels by their ranges and TopicResult::sources with the functions that have lines of these kernels.
void join_kernels(TopicResult& topic, const results::Profile& profile);

}  // namespace warpgrind::lab
