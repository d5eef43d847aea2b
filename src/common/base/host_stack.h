// Call stack of a host thread: the program's functions that called into this library.
#pragma once

#include <string>
#include <vector>

namespace warpgrind {

struct HostStack {
  std::string call;                  // the entry point as the manual names it: the outermost function of this library
  std::vector<const void*> callers;  // return addresses outside this library, innermost first, kMostCallers at most
  static constexpr std::size_t kMostCallers = 8;
};

// The stack of the calling thread. Takes some microseconds: it reads no debug information.
HostStack host_stack();

}  // namespace warpgrind
