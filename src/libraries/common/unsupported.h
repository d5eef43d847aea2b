// Functions of a library that are not carried out (unsupported.inc of its folder). Whatever their parameters are, they
// look at none of them: in the calling convention of this host the caller takes them away again.
#pragma once

extern "C" void warpgrind_library_missing(const char* what);

// status: what the library's documentation has for such calls.
#define WG_LIBRARY_UNSUPPORTED(name, status)                    \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() {                                       \
    warpgrind_library_missing(#name " is not supported");       \
    return status;                                              \
  }
