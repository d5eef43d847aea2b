// Places of a kernel at which a debugger can stop a warp.
#include "jit/stop_places.h"

#include <algorithm>

#include "base/library_headers.h"
#include "flow/cfg.h"

namespace warpgrind::jit {

std::vector<std::uint32_t> stop_instructions(const ptx::Function& function, StopAt stops) {
  std::vector<std::uint32_t> out;
  if (stops == StopAt::nowhere || function.body.empty()) return out;
  const bool each = stops == StopAt::instructions || function.locations.empty();
  const flow::ControlFlow cfg = flow::build_control_flow(function);
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const bool begins_line = n == 0 || function.body[n].location != function.body[n - 1].location;
    const bool returns = n > 0 && function.body[n - 1].opcode == ptx::Opcode::call;
    if (each || begins_line || returns || cfg.blocks[cfg.block_of[n]].first == n) out.push_back(n);
  }
  return out;
}

std::vector<StopPlace> stop_places(const ptx::Module& module, const KernelLayout& layout, StopAt stops) {
  std::vector<StopPlace> out;
  const auto of_user = [&](const ptx::SourceLocation& l) {
    return l.file < module.files.size() && !is_library_header(module.files[l.file]);
  };
  const auto has_lines = [&](std::uint32_t f) {
    const auto& locations = module.functions[f].locations;
    return std::any_of(locations.begin(), locations.end(), of_user);
  };
  const bool some_have = std::any_of(layout.functions.begin(), layout.functions.end(), has_lines);
  for (const std::uint32_t f : layout.functions) {
    // Functions of a library: a step passes over them, and the stack does not show them.
    if (stops == StopAt::lines && some_have && !has_lines(f)) {
      // Each warp passes the first instruction of the entry. Numba's entries have no lines: they call a function.
      if (module.functions[f].is_entry && !module.functions[f].body.empty()) out.push_back({f, 0});
      continue;
    }
    for (const std::uint32_t n : stop_instructions(module.functions[f], stops)) out.push_back({f, n});
  }
  return out;
}

}  // namespace warpgrind::jit
