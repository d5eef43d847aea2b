// Conditions on numbers of hits, and places of breakpoints.
#include "debugger/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "debugger/warp_events.h"

namespace warpgrind::debugger {

bool HitRule::accepts(std::uint64_t hit) const {
  switch (kind) {
    case Kind::every:
      return true;
    case Kind::exactly:
      return hit == number;
    case Kind::at_least:
      return hit >= number;
    case Kind::more_than:
      return hit > number;
    case Kind::at_most:
      return hit <= number;
    case Kind::less_than:
      return hit < number;
    case Kind::multiple:
      return number != 0 && hit % number == 0;
  }
  return true;
}

Result<HitRule> read_hit_rule(const std::string& text) {
  using Kind = HitRule::Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {">=", Kind::at_least}, {"<=", Kind::at_most}, {"==", Kind::exactly}, {">", Kind::more_than},
      {"<", Kind::less_than}, {"%", Kind::multiple}, {"=", Kind::exactly}};
  std::string_view rest = text;
  const auto skip = [&] {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  };
  skip();
  HitRule rule;
  if (rest.empty()) return rule;
  rule.kind = Kind::exactly;  // a number alone
  for (const auto& [sign, kind] : kKinds) {
    if (!rest.starts_with(sign)) continue;
    rule.kind = kind;
    rest.remove_prefix(sign.size());
    break;
  }
  skip();
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), rule.number);
  if (problem != std::errc() || end != rest.data() + rest.size() || rest.empty())
    return Error{ErrorKind::bad_input, fmt::format("'{}' is no hit condition", text),
                 "write a number, or one of >= > == < <= % and a number"};
  return rule;
}

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

}  // namespace

Resolved resolve(const Breakpoint& breakpoint, const debuginfo::DebugInfo& info, std::uint32_t kernel,
                 const std::vector<jit::StopPlace>& places) {
  Resolved out;
  using At = Breakpoint::At;
  if (breakpoint.at == At::barrier) out.places = barrier_places(info.module(), places);
  if (breakpoint.at == At::divergence) out.places = branch_places(branches_of(info.module(), places));
  if (breakpoint.at == At::instruction && (!breakpoint.module || breakpoint.module == &info.module()))
    for (std::uint32_t p = 0; p < places.size(); ++p)
      if (places[p].function == breakpoint.code.function && places[p].instruction == breakpoint.code.instruction)
        out.places.push_back(p);
  if (breakpoint.at == At::instruction || breakpoint.at == At::barrier || breakpoint.at == At::divergence) {
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
