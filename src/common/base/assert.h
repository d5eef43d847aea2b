// Assertions of internal invariants. They stay on in release builds: a wrong counter is worse than a stopped run.
#pragma once

namespace warpgrind {
// Prints the failed condition, its place and a request to report it, then aborts.
[[noreturn]] void assert_failed(const char* condition, const char* file, int line);
}  // namespace warpgrind

#define WG_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::warpgrind::assert_failed(#condition, __FILE__, __LINE__))
