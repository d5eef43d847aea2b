#include "debugger/watched_register.h"

#include <algorithm>

#include "flow/forms.h"

namespace warpgrind::debugger {

namespace {

// The last place at an instruction or before it. A basic block begins with a place, so that it is in the same block.
std::optional<std::uint32_t> place_before(const std::vector<jit::StopPlace>& places, std::uint32_t function,
                                          std::uint32_t instruction) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t p = 0; p < places.size(); ++p)
    if (places[p].function == function && places[p].instruction <= instruction) found = p;
  return found;
}

// The guard of an instruction, unless it is computed behind the place.
ptx::Guard guard_at(const ptx::Function& function, std::uint32_t place, std::uint32_t instruction) {
  const ptx::Guard guard = function.body[instruction].guard;
  if (!guard) return {};
  std::vector<ptx::RegId> regs;
  for (std::uint32_t n = place; n < instruction; ++n) {
    flow::registers_written(function.body[n], regs);
    if (std::find(regs.begin(), regs.end(), guard.reg) != regs.end()) return {};
  }
  return guard;
}

}  // namespace

WatchedCall call_to_watch(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                          const std::vector<jit::StopPlace>& places) {
  WatchedCall out;
  out.call = call_of(warp.fiber(), lane, *frame.frame);
  out.module = &warp.info().module();
  out.function = frame.code.function;
  // Functions of a library have no places: their caller's is the next one.
  std::uint32_t depth = out.call.depth;
  for (const jit::StopFrame* f = frame.frame->caller; f; f = f->caller) {
    --depth;
    if (f->place >= places.size()) continue;
    const auto& body = out.module->functions[places[f->place].function].body;
    std::uint32_t n = places[f->place].instruction;
    while (n < body.size() && body[n].opcode != ptx::Opcode::call) ++n;
    out.behind_call = {places[f->place].function, n + 1};
    out.caller_depth = depth;
    break;
  }
  return out;
}

Result<WatchedRegister> register_to_watch(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                                          const std::vector<jit::StopPlace>& places,
                                          const debuginfo::Variable* variable, ptx::RegId reg) {
  if (!frame.frame->slots)
    return Error{ErrorKind::bad_input,
                 "optimised code keeps a register only as long as it is used: it cannot be watched. Compile with -G",
                 ""};
  WatchedRegister out;
  static_cast<WatchedCall&>(out) = call_to_watch(warp, lane, frame, places);
  out.variable = variable;
  out.reg = reg;
  const ptx::Function& function = out.module->functions[out.function];
  out.uses = variable ? uses_of_variable(function, *variable) : uses_of_register(function, reg);
  return out;
}

std::optional<std::uint32_t> index_of(const Call& call, const StoppedWarp& warp) {
  const jit::StopFrame* const frame = frame_of(call, warp.fiber());
  if (!frame) return std::nullopt;
  for (std::uint32_t n = 0; n < warp.frames().size(); ++n)
    if (warp.frames()[n].frame == frame) return n;
  return std::nullopt;
}

ptx::RegId register_at(const WatchedRegister& value, std::uint32_t instruction) {
  if (!value.variable) return value.reg;
  const debuginfo::Location location = location_at(*value.variable, instruction);
  const auto* in = std::get_if<debuginfo::InRegister>(&location);
  return in ? in->reg : ptx::kNoId;
}

namespace {

using Sites = std::map<std::uint32_t, std::vector<RegisterSite>>;

void add_site(const WatchedCall& call, const std::vector<jit::StopPlace>& places, RegisterSite site,
              std::uint32_t instruction, Sites& out) {
  const auto place = place_before(places, call.function, instruction);
  if (!place) return;
  site.guard = guard_at(call.module->functions[call.function], places[*place].instruction, instruction);
  std::vector<RegisterSite>& at = out[*place];
  const auto known = std::find_if(at.begin(), at.end(),
                                  [&](const RegisterSite& s) { return s.kind == site.kind && s.watch == site.watch; });
  if (known == at.end())
    at.push_back(site);
  else
    *known = site;  // the last one decides the value at the next place
}

}  // namespace

void add_ends(const WatchedCall& call, unsigned watch, const std::vector<jit::StopPlace>& places, Sites& out) {
  using Kind = RegisterSite::Kind;
  const auto& body = call.module->functions[call.function].body;
  for (std::uint32_t n = 0; n < body.size() && call.call.depth == 1; ++n)
    if (body[n].opcode == ptx::Opcode::ret || body[n].opcode == ptx::Opcode::exit)
      add_site(call, places, {Kind::ends, watch, ptx::kNoId, {}}, n, out);
  for (std::uint32_t p = 0; p < places.size() && call.caller_depth != 0; ++p)
    if (places[p].function == call.behind_call.function && places[p].instruction == call.behind_call.instruction)
      out[p].push_back({Kind::returned, watch, ptx::kNoId, {}});
}

void add_sites(const WatchedRegister& value, unsigned watch, const std::vector<jit::StopPlace>& places, Sites& out) {
  using Kind = RegisterSite::Kind;
  if (value.reads)
    for (const RegisterUse& use : value.uses.reads)
      add_site(value, places, {Kind::read, watch, use.reg, {}}, use.instruction, out);
  if (value.writes)
    for (const RegisterUse& use : value.uses.writes)
      add_site(value, places, {Kind::write, watch, use.reg, {}}, use.instruction, out);
}

}  // namespace warpgrind::debugger
