// Changes of a launch's work that several rules need.
#pragma once

#include "timing/launch_work.h"

namespace warpgrind::advice {

// Multiplies the instructions of all pipes.
void scale_instructions(timing::LaunchWork& work, double by);
// Multiplies the path of a warp.
void scale_path(timing::LaunchWork& work, double by);
// Divides the waiting for memory in the path of a warp. What L1 and shared memory answer stays.
void divide_waiting(timing::LaunchWork& work, double by);
// Lets the launch read (write) at most so many different sectors, all of them adjacent.
void read_adjacent(timing::LaunchWork& work, double sectors);
void write_adjacent(timing::LaunchWork& work, double sectors);
// Adds the traffic of a tile in shared memory: wavefronts of the whole launch, barriers of a block.
void add_tile(timing::LaunchWork& work, double wavefronts, double barriers);

}  // namespace warpgrind::advice
