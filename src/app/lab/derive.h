// Figures derived from counts and times, for comparison: bandwidth, shares, speed-ups.
#pragma once

#include "lab/result.h"

namespace warpgrind::lab {

// Upper limits of the GPU, in 1e9 per second. Theoretical limits come from the model or the device query. Ceilings are
// what a plain copy or a chain of FMAs reaches: measured on a real GPU, otherwise theory times a fraction from the
// model.
struct Limits {
  double dram_gbs = 0, fp32_gflops = 0, fp64_gflops = 0;
  double dram_ceiling_gbs = 0, fp32_ceiling_gflops = 0, fp64_ceiling_gflops = 0;
};

Limits limits_of_model(const std::string& gpu);
// For a real GPU: from the device query, the model of the same name if there is one, and the ceilings that the topic
// `bandwidth` measured (rows "copy", "fma float", "fma double").
Limits limits_of_device(const Device& device, const TopicResult* bandwidth);

// The ladder of a row: steps of one ladder are compared with each other. It is the rung's name up to " / ", or empty if
// the topic has a single ladder.
std::string ladder_of(const Row& row);

void derive(TopicResult& topic, const Limits& limits);

}  // namespace warpgrind::lab
