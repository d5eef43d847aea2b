// From counts and times to the figures people compare: bandwidth, shares, speed-ups.
#pragma once

#include "lab/result.h"

namespace warpgrind::lab {

// What the GPU can do at most, in 1e9 a second. Theoretical figures come from the model or the device query; ceilings
// are what a plain copy or a chain of FMAs reaches: measured on a real GPU, theory times a fraction of the model else.
struct Limits {
  double dram_gbs = 0, fp32_gflops = 0, fp64_gflops = 0;
  double dram_ceiling_gbs = 0, fp32_ceiling_gflops = 0, fp64_ceiling_gflops = 0;
};

Limits limits_of_model(const std::string& gpu);
// For a real GPU: the device query, the model of the same name if there is one, and the ceilings that the topic
// `bandwidth` measured (rows "copy", "fma float", "fma double").
Limits limits_of_device(const Device& device, const TopicResult* bandwidth);

// The steps that are compared with each other: a rung's name up to " / ", nothing where a topic is one ladder.
std::string ladder_of(const Row& row);

void derive(TopicResult& topic, const Limits& limits);

}  // namespace warpgrind::lab
