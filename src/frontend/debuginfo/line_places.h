// Source places of instructions from `.loc` lines, and the instructions of a line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debuginfo/source_place.h"
#include "debuginfo/variable.h"

namespace warpgrind::debuginfo {

class LinePlaces {
 public:
  // Number of the innermost inlined copy that an instruction belongs to, by DWARF; 0: in none.
  using InlinedCopy = std::function<std::uint32_t(CodePlace)>;

  LinePlaces(const ptx::Module& module, InlinedCopy inlined_copy)
      : module_(module), inlined_copy_(std::move(inlined_copy)) {}

  SourcePlace place(CodePlace code) const;
  SourcePlace outermost_place(CodePlace code) const;  // in the PTX function itself
  // As DebugInfo::frames(), without DWARF.
  std::vector<Frame> frames(CodePlace code) const;
  std::uint32_t body_begin(std::uint32_t function) const;
  std::vector<std::string> files() const;
  bool has_lines(std::uint32_t function) const { return !module_.functions[function].locations.empty(); }

  bool has_file(std::uint32_t function, std::string_view file) const;

  // Pieces of the line, each with the calls on it that were inlined. A piece that has nothing but inlined code counts
  // only if all are so: compilers move such code far away from its line.
  std::vector<StopPlace> find_line(std::string_view file, std::uint32_t line) const;
  // Smallest and next line of the function's own code in the file: instructions for which `is_own` is true. 0: none.
  struct LinesAround {
    std::uint32_t first = 0, next = 0, last = 0;
  };
  LinesAround lines_around(std::uint32_t function, std::string_view file, std::uint32_t line,
                           const std::function<bool(std::uint32_t)>& is_own) const;
  // First instruction of each copy that was inlined into the function, by call place, of a function for whose linkage
  // name `matches` is true. The places are in that copy.
  std::vector<StopPlace> inlined_entries(std::uint32_t function,
                                         const std::function<bool(const std::string&)>& matches) const;
  bool has_inlined_names(std::uint32_t function) const;
  // Scopes of the calls that were inlined into the function, one for each call place. They have no variables.
  void add_inlined_scopes(std::uint32_t function, Scope& scope) const;

 private:
  const ptx::SourceLocation* location(CodePlace code) const;
  // Where a line of 0 (code that the compiler added) continues the code before it, that code's location.
  const ptx::SourceLocation* shown_location(CodePlace code) const;
  SourcePlace source(const ptx::SourceLocation& l) const;
  std::vector<bool> matching_files(std::string_view file) const;
  using Copy = std::pair<std::int32_t, std::uint32_t>;  // call (SourceLocation::inlined_at), copy by DWARF
  struct Piece {
    StopPlace stop;
    Copy copy;
    bool has_own_code = false;
  };
  // `wanted`: for each location of the function, the index of that location or of one around it that has the line.
  void add_pieces(std::uint32_t function, const std::vector<std::int32_t>& wanted, std::vector<Piece>& out) const;

  const ptx::Module& module_;
  InlinedCopy inlined_copy_;
};

}  // namespace warpgrind::debuginfo
