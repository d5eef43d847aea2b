// Source-level view of a PTX module: lines, functions, variables and types, from `.loc` lines and DWARF sections.
//
// nvcc -G, clang -g -O0 and `warpgrind nvcc -G` give all of it; -lineinfo gives lines and inlined calls only. DWARF is
// read when it is first asked for: opening costs nothing, and each compilation unit is read once. Broken DWARF adds a
// line to problems() and leaves out what it describes. Not for several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "debuginfo/source_place.h"
#include "debuginfo/type.h"
#include "debuginfo/variable.h"
#include "ptx/ast.h"

namespace warpgrind::debuginfo {

enum class Detail : std::uint8_t { nothing, lines, variables };  // what the compiler left; each includes those before

class DebugInfo {
 public:
  explicit DebugInfo(std::shared_ptr<const ptx::Module> module);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  const ptx::Module& module() const;
  Detail detail(std::uint32_t function) const;
  // What is wrong with the DWARF that was read so far, one line each: "part 0, .debug_info at 0x12: ...".
  const std::vector<std::string>& problems() const;

  // --- lines

  // Source files with code.
  std::vector<std::string> files() const;
  // The instruction's own line, in the innermost frame. Line 0: none is known.
  SourcePlace place(CodePlace code) const;
  // Innermost first; the last is the PTX function. Never empty for an instruction of the module.
  std::vector<Frame> frames(CodePlace code) const;
  // Places that begin line `line` of each file whose path ends with `file` (whole components: `b.cu` and `a/b.cu` match
  // `/x/a/b.cu`). If the line has no code, the next line with code of the function around it. Empty if neither.
  // A place in a function's prologue is moved behind it.
  std::vector<StopPlace> find_line(std::string_view file, std::uint32_t line) const;
  // Entries behind the prologue of all functions and inlined copies that `name` means, as in gdb: `scale`,
  // `geo::scale`, `scale<float>`, `scale<float>(float, float)`, or the mangled name. `::scale` means no namespace.
  std::vector<StopPlace> find_function(std::string_view name) const;
  // First instruction behind the prologue that is of the function's own file; 0 if there is no prologue, or no line is
  // known.
  std::uint32_t body_begin(std::uint32_t function) const;

  // --- functions and variables

  // The scopes of a PTX function with a body. Without DWARF: its name and the inlined calls, and no variables.
  const Scope& function(std::uint32_t function) const;
  // Parameters and local variables that the source sees at an instruction, innermost block first. `frame` counts as in
  // frames().
  std::vector<VisibleVariable> variables(CodePlace code, std::uint32_t frame = 0) const;
  // __device__, __constant__, __managed__, static and __shared__ variables. Those inside functions are in their scopes.
  const std::vector<Variable>& globals() const;
  // The reason why a function shows no variables, such as: compiled with -lineinfo. Empty if it shows them.
  std::string why_no_variables(std::uint32_t function) const;

  // --- types

  const Type& type(TypeId id) const;              // an id that this object gave
  std::string type_name(TypeId id) const;         // as in C++: `const float *`, `float[16][17]`
  TypeId strip(TypeId id) const;                  // without typedefs, const, volatile and restrict
  TypeId find_type(std::string_view name) const;  // by name; kVoidType if unknown
  // Enumerations with an enumerator of this name, without namespaces.
  std::vector<TypeId> enumerations_with(const std::string& enumerator) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgrind::debuginfo
