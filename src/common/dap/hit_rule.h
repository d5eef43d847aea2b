// `hitCondition` of a breakpoint.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace warpgrind::dap {

// Number of hits (from 1) that a hit condition accepts. Error: what is wrong with it.
struct HitRule {
  enum class Kind : std::uint8_t {
    every,
    exactly,
    at_least,
    more_than,
    at_most,
    less_than,
    multiple
  } kind = Kind::every;
  std::uint64_t number = 0;
  bool accepts(std::uint64_t hit) const;
};
Result<HitRule> read_hit_rule(const std::string& text);

}  // namespace warpgrind::dap
