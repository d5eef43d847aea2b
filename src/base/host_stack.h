// Who called into this library: the functions of the program on the stack of a host thread.
#pragma once

#include <string>
#include <vector>

namespace warpgrind {

struct HostStack {
  std::string call;                  // the entry point as the manual names it: the outermost function of this library
  std::vector<const void*> callers;  // return addresses outside of this library, innermost first, kMostCallers at most
  static constexpr std::size_t kMostCallers = 8;
};

// Of the calling thread. Nothing is looked up in debug information: some microseconds.
HostStack host_stack();

}  // namespace warpgrind
