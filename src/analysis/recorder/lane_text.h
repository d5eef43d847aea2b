// Values of several lanes as one short text: runs, separated by tabs. Most values of a warp are equal, or grow evenly.
//   TEXT is written  :TEXT         one value
//                    N:TEXT        N equal values
//                    N+S:FIRST     N whole numbers from FIRST on, each larger by S, which may be negative
// The page reads it (web/src/steps/lanes.ts).
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace warpgrind::recorder {

std::string runs_of(std::span<const std::int64_t> numbers);
// Tabs and line ends in a value become spaces. Whole numbers are written as numbers.
std::string runs_of(std::span<const std::string> texts);

}  // namespace warpgrind::recorder
