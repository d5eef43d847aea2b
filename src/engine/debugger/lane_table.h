// One expression over the lanes of a warp, as data and as a table.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "debugger/expression.h"
#include "debugger/format.h"
#include "gpu/types.h"

namespace warpgrind::debugger {

struct LaneCell {
  std::string text;   // empty: the lane does not exist, or there is an error
  std::string error;  // why there is no value
  Value value;
};

// A lane that is in no mask has no value: it does not exist, or the expression has none there.
struct LaneTable {
  std::string expression;
  std::string type;
  std::array<LaneCell, kWarpSize> cells;
  LaneMask existing = 0, active = 0, with_value = 0;
  // Of the lanes that are active and have a value. All bits count: 0 and -0 are different.
  bool all_equal = false;
  std::optional<unsigned> minimum, maximum;  // the first lane with it; numbers only
  LaneMask not_a_number = 0;
  LaneMask different = 0;  // lanes with another value than more than half of them; 0: no value is that frequent
};

// `lanes[i]` is lane i, nullptr: the warp has no such lane. `active`: lanes that execute the next instruction.
LaneTable make_lane_table(std::span<LaneView* const> lanes, LaneMask active, TypeTable& types,
                          const Expression& expression, const TextOptions& options = {});

// Lines with line ends. Inactive lanes are in brackets, `*` marks different ones.
//   i (int): 5 in all 32 lanes
std::string lane_table_text(const LaneTable& table);

// "0-3, 7, 9-31"; "none"
std::string lanes_text(LaneMask lanes);

}  // namespace warpgrind::debugger
