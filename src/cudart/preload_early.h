// What may be called before a sanitizer's own library is ready to be.
#pragma once

// clang's no_sanitize("thread") still tells libtsan of each call, which crashes there; gcc has no other word.
#ifdef __clang__
#define WG_CALLED_EARLY disable_sanitizer_instrumentation
#else
#define WG_CALLED_EARLY no_sanitize("address", "thread", "undefined")
#endif
