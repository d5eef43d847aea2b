// Order in which a launch runs its blocks and their warps. CUDA promises none: code that is correct in one order only
// is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrind::device {

// forward: block by block, lower numbers first, each warp until it waits; the only order that uses several workers.
// reverse: the same, from the last block and the last warp down. interleaved: many blocks at a time, whose warps take
// turns at each place where one may be suspended (execution/order.h). random: blocks, warps and turns chosen by the
// seed.
struct Schedule {
  enum class Order : std::uint8_t { forward, reverse, interleaved, random } order = Order::forward;
  std::uint64_t seed = 0;  // seed of `random`
  bool forward() const { return order == Order::forward; }
  // Whether warps are suspended although they could go on.
  bool preempts() const { return order == Order::interleaved || order == Order::random; }
  bool operator==(const Schedule&) const = default;
};

// "forward", "reverse", "interleaved", "random:7".
std::string name(const Schedule& schedule);
std::optional<Schedule> read_schedule(std::string_view text);  // nullopt: none of these
// Enumerates all schedules: 0 is forward, 3 is random:1, 4 is random:2 ...
Schedule numbered_schedule(unsigned number);

}  // namespace warpgrind::device
