// True in a build for a sanitizer, where code takes some ten times as long. Tests with many random cases run a part of
// them there, because a sanitizer needs each path through the code only once.
#pragma once

#include "base/sanitizers.h"

namespace warpgrind {

#if defined(WG_ADDRESS_SANITIZER) || defined(WG_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace warpgrind
