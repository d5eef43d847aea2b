// Attribute for functions that may run before a sanitizer's runtime is initialised.
#pragma once

// clang's no_sanitize("thread") still reports each call to libtsan, which crashes that early. gcc has no stronger
// attribute.
#ifdef __clang__
#define WG_CALLED_EARLY disable_sanitizer_instrumentation
#else
#define WG_CALLED_EARLY no_sanitize("address", "thread", "undefined")
#endif
