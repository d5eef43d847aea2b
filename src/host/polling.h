// How long a thread sleeps between two looks at memory that another process or a kernel may change: the first time, and
// at most, doubled in between.
#pragma once

#include <chrono>

namespace warpgrind::host {

inline constexpr std::chrono::microseconds kFirstPause{20}, kLongestPause{1000};

}  // namespace warpgrind::host
