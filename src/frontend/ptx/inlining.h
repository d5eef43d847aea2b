// Source places of instructions, from line information. The one rule for all reports: an instruction inside a function
// of a library's header (base/library_headers.h) stands at the user's line that calls it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// A line and the function inlined there; in SourcePlace::header, a line and the function that it belongs to.
struct Caller {
  std::string file, function;  // function: demangled
  std::uint32_t line = 0;
};

struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;        // 0: unknown
  std::vector<Caller> callers;   // calls around `line` that were inlined, innermost first
  std::optional<Caller> header;  // the instruction's own line, if it is inside a header's function that was inlined
};

// Index into function.locations of the user's line of an instruction; kNoId without line information. Where all code
// around it is a library's, the instruction's own.
std::uint32_t user_location(const Module& module, const Function& function, const Instruction& instruction);

SourcePlace source_place(const Module& module, const Function& function, const Instruction& instruction);
// Same, of an instruction of the function of this name. Empty if there is none.
SourcePlace source_place(const Module& module, const std::string& function, std::uint32_t instruction);

// Sets `file` (an index into Module::files) and `line` of a fact of `instruction`.
template <class Facts>
void set_place(Facts& facts, const Module& module, const Function& function, const Instruction& instruction) {
  const std::uint32_t at = user_location(module, function, instruction);
  if (at == kNoId) return;
  facts.line = function.locations[at].line;
  facts.file = function.locations[at].file;
}

}  // namespace warpgrind::ptx
