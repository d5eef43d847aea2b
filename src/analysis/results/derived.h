// What a profile's file says beside the profile, for whoever reads it without warpgrind: figures of the GPU and
// definitions of the counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/origin.h"
#include "gpu/gpu_model.h"
#include "results/profile.h"

namespace warpgrind::results {

struct Banks {
  std::uint32_t banks = 0, bank_bytes = 0, lanes = 0;
};

struct Model {
  std::string id, name, cc;  // cc: "9.0"
  std::uint32_t sm_count = 0, max_warps_per_sm = 0;
  double sm_clock_mhz = 0, fp32_gflops = 0, fp64_gflops = 0;
  double dram_gbs = 0;                  // GB/s = 1e9, in theory
  double dram_achievable_fraction = 0;  // of it
  std::uint64_t l2_bytes = 0, shared_per_sm = 0;
  double link_gbps_pinned = 0, link_gbps_pageable = 0;  // GB/s = 1e9
  std::string coalescing;                               // the name of its CoalescingRule
  Banks banks;
};
Model model_of(const GpuModel& gpu);
std::optional<Model> model_named(const std::string& name);  // GpuModel::name

struct Definition {
  std::string unit;
  Origin origin = Origin::exact;
  std::string definition;
};
std::map<std::string, Definition> all_definitions();
std::map<std::string, Definition> definitions_of(const Profile& profile);  // of every metric that occurs in it

}  // namespace warpgrind::results
