// Whether this is a build for a sanitizer, where code takes some ten times as long. Tests of many random cases run a
// part of them there, because a sanitizer needs each way through the code once.
#pragma once

namespace warpgrind {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WG_SANITIZED true
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WG_SANITIZED true
#endif
#ifdef WG_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace warpgrind
