// Which sanitizer this is compiled with: gcc and clang say it in different ways.
#pragma once

#if defined(__has_feature)
#define WG_HAS_FEATURE(name) __has_feature(name)
#else
#define WG_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || WG_HAS_FEATURE(address_sanitizer)
#define WG_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) || WG_HAS_FEATURE(thread_sanitizer)
#define WG_THREAD_SANITIZER 1
#endif
