// Groups of checks, as `warpgrind check --only` names them.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace warpgrind::checkers {

struct Selection {
  bool memory = false, races = false, init = false, barriers = false, leaks = false, api = false;
  bool any() const { return memory || races || init || barriers || leaks || api; }
};

inline constexpr std::array<std::pair<std::string_view, bool Selection::*>, 6> kGroups = {{
    {"memory", &Selection::memory},
    {"races", &Selection::races},
    {"init", &Selection::init},
    {"barriers", &Selection::barriers},
    {"leaks", &Selection::leaks},
    {"api", &Selection::api},
}};

}  // namespace warpgrind::checkers
