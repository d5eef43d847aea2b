#include "ptx/inlining.h"

#include "base/assert.h"
#include "base/demangle.h"

namespace warpgrind::ptx {

std::vector<Caller> inlined_callers(const Module& module, const std::string& name, std::uint32_t instruction) {
  std::vector<Caller> chain;
  const Function* function = nullptr;
  for (const Function& f : module.functions)
    if (f.has_body && f.name == name) function = &f;
  if (!function || instruction >= function->body.size()) return chain;
  const std::uint32_t location = function->body[instruction].location;
  if (location == kNoId) return chain;
  const SourceLocation* at = &function->locations[location];
  for (std::size_t depth = 0; at->inlined_at >= 0 && depth < function->locations.size(); ++depth) {
    Caller caller;
    caller.function = at->function.empty() ? "" : demangle(at->function);
    WG_ASSERT(static_cast<std::size_t>(at->inlined_at) < function->locations.size());
    at = &function->locations[static_cast<std::size_t>(at->inlined_at)];
    if (at->file < module.files.size()) caller.file = module.files[at->file];
    caller.line = at->line;
    chain.push_back(std::move(caller));
  }
  return chain;
}

}  // namespace warpgrind::ptx
