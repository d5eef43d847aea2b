// What the host's own machine code and its debug information tell about a call: where it stands in the source, and
// whether anybody looks at what it returned. Here because only this folder sees LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpgrind::jit {

enum class ResultUse : std::uint8_t {
  used,       // read after the call: tested, stored, moved
  dropped,    // overwritten before anybody read it
  passed_on,  // still in its register when the calling function returns
  unknown     // the code could not be followed
};
// return_address: where a call that returns a 32-bit number continues. Follows the code for a few instructions, both
// ways at a conditional jump.
ResultUse result_use(const void* return_address);

struct HostPlace {
  std::string function;  // as the linker knows it; empty: not known
  std::string file;      // empty: no debug information
  unsigned line = 0;
};
// The call before return_address: innermost inlined function first. At least one element.
std::vector<HostPlace> host_places(const void* return_address);

}  // namespace warpgrind::jit
