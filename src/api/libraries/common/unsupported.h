// Definitions of a library's unsupported functions (unsupported.inc in its folder). They are declared without
// parameters and ignore those passed: in this host's calling convention the caller removes them from the stack.
#pragma once

extern "C" void warpgrind_library_missing(const char* what);

// status: the library's documented error for an unsupported call.
#define WG_LIBRARY_UNSUPPORTED(name, status)                     \
  extern "C" __attribute__((visibility("default"))) int name() { \
    warpgrind_library_missing(#name " is not supported");        \
    return status;                                               \
  }
