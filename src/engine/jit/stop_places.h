// Places of a kernel at which a debugger can stop a warp (CompileOptions::stops). Machine code asks at each of them
// whether to stop (codegen/kernel/stops.h). Found from the PTX alone, so that breakpoints can be set before a kernel is
// compiled.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/layout.h"
#include "jit/stop_at.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

// Before this instruction of a function of the module.
struct StopPlace {
  std::uint32_t function = 0, instruction = 0;
};

// Instructions of one function, in order. lines: the first instruction of the function, of each piece of a source line,
// and of each basic block, and the one behind each call; without line information every instruction.
std::vector<std::uint32_t> stop_instructions(const ptx::Function& function, StopAt stops);

// Places of a kernel and the functions that it may call. A place's number is its index. lines: functions without lines
// of the user have none if others have some, except for the first instruction of the entry.
std::vector<StopPlace> stop_places(const ptx::Module& module, const KernelLayout& layout, StopAt stops);

}  // namespace warpgrind::jit
