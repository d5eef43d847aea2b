// Pauses of a thread that polls memory which another process or a kernel may change: the first pause, doubled each time
// up to the longest.
#pragma once

#include <chrono>

namespace warpgrind::semantics {

inline constexpr std::chrono::microseconds kFirstPause{20}, kLongestPause{1000};

}  // namespace warpgrind::semantics
