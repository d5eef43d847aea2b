// Search for barriers and branches among the places of a kernel.
#include "debugger/warp_events.h"

#include <algorithm>
#include <set>

#include "flow/cfg.h"

namespace warpgrind::debugger {

namespace {

constexpr auto kNone = ~std::uint32_t{0};

// The places of one function, by number.
struct FunctionPlaces {
  std::uint32_t function = 0, first = 0, end = 0;

  // The last place at the instruction or before it.
  std::uint32_t before(const std::vector<jit::StopPlace>& places, std::uint32_t instruction) const {
    std::uint32_t found = kNone;
    for (std::uint32_t p = first; p < end && places[p].instruction <= instruction; ++p) found = p;
    return found;
  }
};

std::vector<FunctionPlaces> by_function(const std::vector<jit::StopPlace>& places) {
  std::vector<FunctionPlaces> out;
  for (std::uint32_t p = 0; p < places.size(); ++p) {
    if (out.empty() || out.back().function != places[p].function) out.push_back({places[p].function, p, p});
    out.back().end = p + 1;
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> barrier_places(const ptx::Module& module, const std::vector<jit::StopPlace>& places) {
  std::set<std::uint32_t> out;
  for (const FunctionPlaces& of : by_function(places)) {
    const auto& body = module.functions[of.function].body;
    for (std::uint32_t n = 0; n < body.size(); ++n) {
      if (body[n].opcode != ptx::Opcode::bar && body[n].opcode != ptx::Opcode::barrier) continue;
      if (const std::uint32_t place = of.before(places, n); place != kNone) out.insert(place);
    }
  }
  return {out.begin(), out.end()};
}

Branches branches_of(const ptx::Module& module, const std::vector<jit::StopPlace>& places) {
  Branches out;
  for (const FunctionPlaces& of : by_function(places)) {
    const flow::ControlFlow cfg = flow::build_control_flow(module.functions[of.function]);
    for (const flow::BasicBlock& block : cfg.blocks) {
      if (block.successors.size() < 2 || block.end == block.first) continue;
      const std::uint32_t last = of.before(places, block.end - 1);
      if (last == kNone) continue;
      for (const std::uint32_t next : block.successors)
        if (next != cfg.exit())
          if (const std::uint32_t place = of.before(places, cfg.blocks[next].first); place != kNone)
            out[last].push_back(place);
    }
  }
  return out;
}

std::vector<std::uint32_t> branch_places(const Branches& branches) {
  std::set<std::uint32_t> out;
  for (const auto& [place, ways] : branches) {
    out.insert(place);
    out.insert(ways.begin(), ways.end());
  }
  return {out.begin(), out.end()};
}

LaneMask Splits::pass(const Branches& branches, const WarpKey& warp, std::uint32_t place, LaneMask lanes) {
  LaneMask elsewhere = 0;
  if (const auto last = last_.find(warp); last != last_.end()) {
    const auto at = branches.find(last->second.place);
    const bool is_way =
        at != branches.end() && std::find(at->second.begin(), at->second.end(), place) != at->second.end();
    // Lanes that come from elsewhere, by a call or from an earlier branch, are no part of this one.
    if (is_way && (lanes & ~last->second.lanes) == 0) elsewhere = last->second.lanes & ~lanes;
    last_.erase(last);
  }
  if (branches.contains(place)) last_[warp] = {place, lanes};
  return elsewhere;
}

}  // namespace warpgrind::debugger
