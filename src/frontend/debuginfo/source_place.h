// Places in source text and in PTX, and how a breakpoint's place is found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::debuginfo {

// Module::functions[function].body[instruction].
struct CodePlace {
  std::uint32_t function = ptx::kNoId;
  std::uint32_t instruction = 0;
  friend auto operator<=>(const CodePlace&, const CodePlace&) = default;
};

// Instructions begin ... end-1 of a function's body.
struct CodeRange {
  std::uint32_t begin = 0, end = 0;
  bool contains(std::uint32_t instruction) const { return instruction >= begin && instruction < end; }
  friend auto operator<=>(const CodeRange&, const CodeRange&) = default;
};

struct SourcePlace {
  std::string file;          // as the compiler wrote it
  std::uint32_t line = 0;    // 0: unknown
  std::uint32_t column = 0;  // 0: unknown
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

// One level of the call stack within a PTX function: the function itself, or one that the compiler inlined.
struct Frame {
  std::string function;      // readable, without parameters: `geo::scale<float>`
  std::string linkage_name;  // mangled; of the PTX function its name
  SourcePlace place;         // where the frame is: the instruction, or the call of the next inner frame
  bool is_inlined = false;
};

// A place where a breakpoint on a line or function stops.
struct StopPlace {
  CodePlace code;
  // In the frame that was asked for, which is not always the innermost. The line can be a later one than was asked for,
  // see DebugInfo::find_line().
  SourcePlace place;
  // gdb stops at these alone: the first place of the line in a function, or in one inlined copy of it. The others
  // are further pieces of the same line, such as the increment of a `for`.
  bool is_first = true;
};

}  // namespace warpgrind::debuginfo
