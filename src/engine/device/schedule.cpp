#include "device/schedule.h"

#include <charconv>

#include "base/assert.h"

namespace warpgrind::device {

namespace {
constexpr std::string_view kNames[] = {"forward", "reverse", "interleaved"};
constexpr std::string_view kRandom = "random:";
}  // namespace

std::string name(const Schedule& schedule) {
  if (schedule.order == Schedule::Order::random) return std::string(kRandom) + std::to_string(schedule.seed);
  WG_ASSERT(static_cast<unsigned>(schedule.order) < std::size(kNames));
  return std::string(kNames[static_cast<unsigned>(schedule.order)]);
}

std::optional<Schedule> read_schedule(std::string_view text) {
  for (unsigned k = 0; k < std::size(kNames); ++k)
    if (text == kNames[k]) return Schedule{static_cast<Schedule::Order>(k)};
  if (!text.starts_with(kRandom)) return std::nullopt;
  Schedule schedule{Schedule::Order::random};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + kRandom.size(), end, schedule.seed);
  if (error != std::errc{} || at != end) return std::nullopt;
  return schedule;
}

Schedule numbered_schedule(unsigned number) {
  if (number < std::size(kNames)) return {static_cast<Schedule::Order>(number)};
  return {Schedule::Order::random, number - std::size(kNames) + 1};
}

}  // namespace warpgrind::device
