#include "device/access/log_parts.h"

#include <algorithm>
#include <cstring>

#include "events/access_log.h"

namespace warpgrind::device {

namespace {

std::uint64_t key_of(int device, const LaunchConfig& config, const PackedParameters& parameters) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t word) { hash = events::mixed(hash ^ (word + 1)); };
  add(static_cast<std::uint64_t>(device));
  for (const Dim3& d : {config.grid, config.block, config.cluster})
    for (const std::uint32_t n : {d.x, d.y, d.z}) add(n);
  add(config.dynamic_shared);
  const std::vector<std::uint8_t>& bytes = parameters.bytes;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    add(word);
  }
  return hash;
}

}  // namespace

std::uint32_t LogParts::part_of(const std::string& kernel, int device, const LaunchConfig& config,
                                const PackedParameters& parameters) {
  const std::uint64_t key = key_of(device, config, parameters);
  const std::lock_guard lock(mutex_);
  Kernel& of = kernels_[kernel];
  const bool known = of.keys.contains(key);
  const std::uint64_t before = known ? of.repeats++ : of.keys.size();
  if (!known && of.keys.size() < kMostKeys) of.keys.insert(key);
  return before < kInFull ? 1 : before < kInFull + kQuarter ? 4 : 8;
}

}  // namespace warpgrind::device
