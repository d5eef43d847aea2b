// Recordings of a topic's kernels, step by step (`warpgrind lab --steps`).
#pragma once

#include "lab/result.h"
#include "results/profile.h"

namespace warpgrind::lab {

// Moves the recordings of a recorded run into the topic, with the sources that they name, and fills Row::recordings by
// the rows' ranges. Kernels outside all rows, and those of libraries, are left out.
void join_recordings(TopicResult& topic, results::Profile& profile);

// Hands the recordings of `recorded`, a run at a smaller size, to the rows of `topic` with the same rung and
// parameters.
void take_recordings(TopicResult& topic, TopicResult&& recorded);

}  // namespace warpgrind::lab
