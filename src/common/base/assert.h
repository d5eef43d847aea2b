// Assertions of internal invariants. WG_ASSERT stays on in release builds: a wrong counter is worse than a stopped run.
// WG_DEBUG_ASSERT is for code that runs once for each access, executed instruction or lane, and for checks that cost
// more than what they check. It is on in Debug builds and under a sanitizer (WARPGRIND_DEBUG_ASSERTS).
//
// Neither is for what comes from outside (PTX, fatbins, JSON, arguments of API calls). That gets an error message.
#pragma once

namespace warpgrind {
// Prints the failed condition, its place and a request to report it, then aborts.
[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

#ifdef WARPGRIND_DEBUG_ASSERTS
inline constexpr bool kDebugAsserts = true;
#else
inline constexpr bool kDebugAsserts = false;
#endif
}  // namespace warpgrind

#define WG_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::warpgrind::assert_failed(#condition, __FILE__, __LINE__))
// Compiled in every build, but never evaluated in a release.
#define WG_DEBUG_ASSERT(condition) (!::warpgrind::kDebugAsserts ? static_cast<void>(0) : WG_ASSERT(condition))
