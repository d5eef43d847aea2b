// Derived parts of a profile's file, for readers without warpgrind: figures of the GPU and definitions of the counters.
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
  double dram_gbs = 0;                  // theoretical, 1e9 bytes/s
  double dram_achievable_fraction = 0;  // of dram_gbs
  std::uint64_t l2_bytes = 0, shared_per_sm = 0;
  double link_gbps_pinned = 0, link_gbps_pageable = 0;  // 1e9 bytes/s
  std::string coalescing;                               // name of the GPU's CoalescingRule
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
std::map<std::string, Definition> definitions_of(const Profile& profile);  // only metrics that occur in the profile

}  // namespace warpgrind::results
