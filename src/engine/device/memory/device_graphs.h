// Handles of graphs that kernels may launch (cudaGraphInstantiateFlagDeviceLaunch, uploaded).
#pragma once

#include <cstdint>

namespace warpgrind::device {

// Thread-safe.
void add_device_graph(std::uint64_t handle);
void remove_device_graph(std::uint64_t handle);
// A kernel requests a launch. False: the handle is unknown, or a request of it has not begun. The launch begins.
bool request_device_graph(std::uint64_t handle);
void begin_device_graph(std::uint64_t handle);

}  // namespace warpgrind::device
