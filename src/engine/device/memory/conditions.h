// Values of conditional handles of graphs. Kernels set them (cudaGraphSetConditional), launches of graphs read them.
#pragma once

#include <cstdint>
#include <optional>

namespace warpgrind::device {

// Handles are never 0 and never reused. Thread-safe.
std::uint64_t create_condition(std::uint32_t value);
void set_condition(std::uint64_t handle, std::uint32_t value);  // ignores unknown handles
std::optional<std::uint32_t> condition(std::uint64_t handle);

}  // namespace warpgrind::device
