#include "ptx/inlining.h"

#include <utility>

#include "base/assert.h"
#include "base/demangle.h"
#include "base/library_headers.h"

namespace warpgrind::ptx {

namespace {

std::string file_of(const Module& module, const SourceLocation& at) {
  return at.file < module.files.size() ? module.files[at.file] : std::string();
}

// The location around `at`; kNoId: it is the outermost. Locations are made after those around them, so a chain ends.
std::uint32_t around(const Function& function, std::uint32_t at) {
  const std::int32_t outer = function.locations[at].inlined_at;
  if (outer < 0) return kNoId;
  WG_ASSERT(static_cast<std::size_t>(outer) < function.locations.size());
  return static_cast<std::uint32_t>(outer);
}

}  // namespace

std::uint32_t user_location(const Module& module, const Function& function, const Instruction& instruction) {
  std::size_t depth = 0;
  for (std::uint32_t at = instruction.location; at != kNoId && depth <= function.locations.size();
       at = around(function, at), ++depth) {
    const SourceLocation& l = function.locations[at];
    // Compilers give line 0 to code that they joined from several lines.
    if (l.line != 0 && l.file < module.files.size() && !is_library_header(module.files[l.file])) return at;
  }
  return instruction.location;
}

SourcePlace source_place(const Module& module, const Function& function, const Instruction& instruction) {
  SourcePlace place;
  const std::uint32_t user = user_location(module, function, instruction);
  if (user == kNoId) return place;
  place.file = file_of(module, function.locations[user]);
  place.line = function.locations[user].line;
  const SourceLocation& own = function.locations[instruction.location];
  if (user != instruction.location && is_library_header(file_of(module, own))) {
    place.header = {file_of(module, own), own.function.empty() ? "" : demangle(own.function), own.line};
  }
  // The depth limit protects against a cycle of wrong indexes.
  std::uint32_t at = user;
  for (std::size_t depth = 0; depth < function.locations.size(); ++depth) {
    const std::string& inlined = function.locations[at].function;
    at = around(function, at);
    if (at == kNoId) break;
    const SourceLocation& outer = function.locations[at];
    place.callers.push_back({file_of(module, outer), inlined.empty() ? "" : demangle(inlined), outer.line});
  }
  return place;
}

SourcePlace source_place(const Module& module, const std::string& name, std::uint32_t instruction) {
  for (const Function& f : module.functions)
    if (f.has_body && f.name == name && instruction < f.body.size())
      return source_place(module, f, f.body[instruction]);
  return {};
}

}  // namespace warpgrind::ptx
