// Places of breakpoints.
#include "debugger/breakpoints.h"

#include <algorithm>

namespace warpgrind::debugger {

namespace {

std::vector<debuginfo::StopPlace> wanted_places(const Breakpoint& b, const debuginfo::DebugInfo& info,
                                                std::uint32_t kernel) {
  switch (b.at) {
    case Breakpoint::At::line:
      return info.find_line(b.file, b.line);
    case Breakpoint::At::function:
      return info.find_function(b.function);
    case Breakpoint::At::kernel_entry: {
      const debuginfo::CodePlace entry{kernel, info.body_begin(kernel)};
      if (!b.function.empty() && info.function(kernel).name.find(b.function) == std::string::npos) return {};
      return {{entry, info.place(entry), true}};
    }
    case Breakpoint::At::instruction:
    case Breakpoint::At::barrier:
    case Breakpoint::At::divergence:
      break;  // resolve() finds their places
  }
  return {};
}

std::vector<std::uint32_t> places_at(const Breakpoint& instruction, const debuginfo::DebugInfo& info,
                                     const std::vector<jit::StopPlace>& places) {
  std::vector<std::uint32_t> out;
  if (instruction.module && instruction.module != &info.module()) return out;
  for (std::uint32_t p = 0; p < places.size(); ++p)
    if (places[p].function == instruction.code.function && places[p].instruction == instruction.code.instruction)
      out.push_back(p);
  return out;
}

}  // namespace

Resolved resolve(const Breakpoint& breakpoint, const debuginfo::DebugInfo& info, std::uint32_t kernel,
                 const std::vector<jit::StopPlace>& places, const Branches& branches) {
  Resolved out;
  using At = Breakpoint::At;
  if (breakpoint.at == At::instruction || breakpoint.at == At::barrier || breakpoint.at == At::divergence) {
    out.places = breakpoint.at == At::barrier      ? barrier_places(info.module(), places)
                 : breakpoint.at == At::divergence ? branch_places(branches)
                                                   : places_at(breakpoint, info, places);
    if (!out.places.empty())
      out.source = info.place({places[out.places[0]].function, places[out.places[0]].instruction});
    return out;
  }
  for (const debuginfo::StopPlace& wanted : wanted_places(breakpoint, info, kernel)) {
    if (!wanted.is_first) continue;
    // The first place at the instruction or after it in its function.
    const auto found = std::find_if(places.begin(), places.end(), [&](const jit::StopPlace& p) {
      return p.function == wanted.code.function && p.instruction >= wanted.code.instruction;
    });
    if (found == places.end()) continue;
    if (out.places.empty()) out.source = wanted.place;
    out.places.push_back(static_cast<std::uint32_t>(found - places.begin()));
  }
  std::sort(out.places.begin(), out.places.end());
  out.places.erase(std::unique(out.places.begin(), out.places.end()), out.places.end());
  return out;
}

}  // namespace warpgrind::debugger
