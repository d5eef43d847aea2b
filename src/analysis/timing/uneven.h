// What it costs that some blocks and warps of a launch do more than others. A block lasts as long as its slowest warp,
// and the launch as long as the SM that ends last.
#pragma once

#include "events/block_work.h"
#include "timing/launch_work.h"

namespace warpgrind::timing {

// Sets LaunchWork::uneven_1 to uneven_64: the blocks take their places on the SMs in order, each as soon as one is
// free. Also sets LaunchWork::empty_blocks: blocks in stretches that have at most a quarter of the work of the stretch
// with the most. A stretch is as many blocks as the SMs hold at one time. While such blocks are distributed, no others
// run.
void add_unevenness(LaunchWork& work, const events::BlockWork& blocks, unsigned sm_count);

// The factor where `at_once` warps keep an SM's units busy.
double unevenness(const LaunchWork& work, double at_once);

}  // namespace warpgrind::timing
