// Work of one launch: the input of the time model. The figures are exact or modelled; launch_work.inc defines each.
#pragma once

#include <array>
#include <string_view>

namespace warpgrind::timing {

inline constexpr double kSectorBytes = 32;

struct LaunchWork {
#define WG_WORK(member, unit, definition) double member = 0;
#include "timing/launch_work.inc"
#undef WG_WORK
  // Distinct bytes, read plus written.
  double touched_bytes() const {
    return kSectorBytes * (read_sectors + write_sectors);
  }
  bool operator==(const LaunchWork&) const = default;
};

struct WorkMember {
  std::string_view name, unit, definition;
  double LaunchWork::*value = nullptr;
};

inline constexpr std::array kWorkMembers = {
#define WG_WORK(member, unit, definition) WorkMember{#member, unit, definition, &LaunchWork::member},
#include "timing/launch_work.inc"
#undef WG_WORK
};

}  // namespace warpgrind::timing
