// Sizes of the logs for the modelled caches (access_log.h). The first launches of a kernel are logged in full, later
// ones in part. A kernel that is launched hundreds of times, each time with other arguments, would spend most of its
// time in the log and in its replay. Exact counts do not come from logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "device/device.h"

namespace warpgrind::device {

// Thread-safe.
class LogParts {
 public:
  // LaunchConfig::log_part of a launch. Call once for each counted launch, in the order of issue: only the launches
  // before decide, not the time at which they run.
  std::uint32_t part_of(const std::string& kernel, int device, const LaunchConfig& config,
                        const PackedParameters& parameters);

  // The first so many launches with new arguments are logged in full, and so many that repeat arguments. (These are
  // logged only if addresses or counts follow from data.) Then come launches with a quarter of the log, then an eighth.
  static constexpr std::uint64_t kInFull = 32, kQuarter = 32;

 private:
  static constexpr std::size_t kMostKeys = 4096;
  struct Kernel {
    std::unordered_set<std::uint64_t> keys;  // hashes of shapes and arguments
    std::uint64_t repeats = 0;               // launches whose key was known
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Kernel> kernels_;  // by mangled name
};

}  // namespace warpgrind::device
