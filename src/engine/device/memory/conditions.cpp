#include "device/memory/conditions.h"

#include <mutex>
#include <unordered_map>

namespace warpgrind::device {

namespace {

struct Conditions {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::uint32_t> values;
  std::uint64_t last = 0;
};
Conditions& conditions() {
  static auto* all = new Conditions;  // never destroyed: kernels may run until the process ends
  return *all;
}

}  // namespace

std::uint64_t create_condition(std::uint32_t value) {
  const std::lock_guard lock(conditions().mutex);
  conditions().values[++conditions().last] = value;
  return conditions().last;
}

void set_condition(std::uint64_t handle, std::uint32_t value) {
  const std::lock_guard lock(conditions().mutex);
  if (const auto found = conditions().values.find(handle); found != conditions().values.end()) found->second = value;
}

std::optional<std::uint32_t> condition(std::uint64_t handle) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().values.find(handle);
  return found == conditions().values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace warpgrind::device
