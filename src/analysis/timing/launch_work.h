// What one launch asks of a GPU: the input of the time model. Counts are exact or modelled; the rows of launch_work.inc
// say what each is.
#pragma once

#include <array>
#include <string_view>

namespace warpgrind::timing {

inline constexpr double kSectorBytes = 32;

struct LaunchWork {
#define WG_WORK(member, unit, definition) double member = 0;
#include "timing/launch_work.inc"
#undef WG_WORK
  // Of different memory, read and written.
  double touched_bytes() const {
    return kSectorBytes * (read_sectors + write_sectors);
  }
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
