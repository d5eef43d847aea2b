// Facts about a call in the host program: its place in the source, and whether the program uses the returned value. The
// sources are the host's machine code and debug information. The reader is in codegen, because only codegen sees LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpgrind::jit {

enum class ResultUse : std::uint8_t {
  used,       // read after the call: tested, stored, moved
  dropped,    // overwritten before anything read it
  passed_on,  // still in its register when the calling function returns
  unknown     // the analysis could not follow the code
};
// `return_address`: return address of a call that returns a 32-bit number. The analysis follows the code for a few
// instructions, both ways at a conditional jump.
ResultUse result_use(const void* return_address);

struct HostPlace {
  std::string function;  // linker symbol; empty: unknown
  std::string file;      // empty: no debug information
  unsigned line = 0;
};
// Source places of the call before return_address, innermost inlined function first. At least one element.
std::vector<HostPlace> host_places(const void* return_address);

}  // namespace warpgrind::jit
