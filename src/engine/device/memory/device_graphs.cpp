#include "device/memory/device_graphs.h"

#include <mutex>
#include <unordered_map>

namespace warpgrind::device {

namespace {

struct DeviceGraphs {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, bool> requested;  // by handle: a request has not begun
};
DeviceGraphs& device_graphs() {
  static auto* all = new DeviceGraphs;  // never destroyed: kernels may run until the process ends
  return *all;
}

}  // namespace

void add_device_graph(std::uint64_t handle) {
  const std::lock_guard lock(device_graphs().mutex);
  device_graphs().requested.try_emplace(handle);
}

void remove_device_graph(std::uint64_t handle) {
  const std::lock_guard lock(device_graphs().mutex);
  device_graphs().requested.erase(handle);
}

bool request_device_graph(std::uint64_t handle) {
  const std::lock_guard lock(device_graphs().mutex);
  const auto found = device_graphs().requested.find(handle);
  if (found == device_graphs().requested.end() || found->second) return false;
  return found->second = true;
}

void begin_device_graph(std::uint64_t handle) {
  const std::lock_guard lock(device_graphs().mutex);
  const auto found = device_graphs().requested.find(handle);
  if (found != device_graphs().requested.end()) found->second = false;
}

}  // namespace warpgrind::device
