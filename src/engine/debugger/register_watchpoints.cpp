// Watchpoints of registers, and the end of calls whose variables are watched. Each use of a watched register has a
// place before it in the machine code, whose flag is set for the warp of the watched call alone. There the flags of
// all places are set for this warp, so that it stops at its next place, behind the use.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "debugger/debugger.h"

namespace warpgrind::debugger {

using Kind = RegisterSite::Kind;

bool Debugger::is_in(const WatchedCall& value, const device::Launch& launch) const {
  const auto number = numbers_.find(launch.serial);
  return number != numbers_.end() && number->second == value.call.launch && value.module == &launch.module->module();
}

Result<WatchedRegister> Debugger::find_register(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                                                const debuginfo::Variable* variable, ptx::RegId reg) {
  Result<WatchedRegister> found = register_to_watch(warp, lane, frame, kernel_of(*launch_).places, variable, reg);
  if (found) found->call.launch = launch_number();
  return found;
}

std::optional<WatchedCall> Debugger::find_call(const StoppedWarp& warp, unsigned lane, std::uint64_t local) {
  for (const WarpFrame& frame : warp.frames()) {
    if (frame.frame->local_base > local) continue;
    WatchedCall out = call_to_watch(warp, lane, frame, kernel_of(*launch_).places);
    out.call.launch = launch_number();
    return out;
  }
  return std::nullopt;
}

void Debugger::find_sites(const device::Launch& launch, Kernel& kernel) {
  kernel.sites.clear();
  kernel.with_sites = kernel.flags;
  const auto add = [&](const WatchedRegister& value, unsigned number) {
    if (value.module == &launch.module->module()) add_sites(value, number, kernel.places, kernel.sites);
  };
  for (const auto& [number, watched] : watches_) {
    if (watched.in_register) add(*watched.in_register, number);
    const WatchedCall* const call = watched.call();
    if (call && call->module == &launch.module->module()) add_ends(*call, number, kernel.places, kernel.sites);
  }
  if (searched_register_) add(*searched_register_, 0);
  kernel.search_register = kernel.only_first;
  for (const auto& [place, sites] : kernel.sites)
    for (const RegisterSite& site : sites) (site.watch == 0 ? kernel.search_register : kernel.with_sites)[place] = 1;
  kernel.search_breaks = kernel.flags;
  kernel.search_all = kernel.with_sites;
  kernel.search_breaks[kernel.first] = kernel.search_all[kernel.first] = 1;
}

// A call in this warp is watched, or go_to_last_write() seeks a register of it.
bool Debugger::is_watched(const device::WarpFiber& warp) const {
  const auto is_here = [&](const WatchedCall* value) {
    return value && is_in(*value, *warp.worker->launch) && value->call.block == warp.block_linear &&
           value->call.warp == warp.context.warp;
  };
  if (again_ && again_->of_memory) return searched_register_ && is_here(&*searched_register_);
  return std::any_of(watches_.begin(), watches_.end(), [&](const auto& one) { return is_here(one.second.call()); });
}

const std::uint8_t* Debugger::flags_for(const device::WarpFiber& warp, const Kernel& kernel) const {
  const device::Launch& launch = *warp.worker->launch;
  const std::uint8_t* const flags = flags_for(launch, kernel);
  if (flags == kernel.flags.data()) return is_watched(warp) ? kernel.with_sites.data() : flags;
  const bool searches_uses =
      searches(launch) && again_->phase == Again::Phase::search && !again_->step && !again_->last_place;
  if (!searches_uses || !is_watched(warp)) return flags;
  return again_->of_memory ? kernel.search_register.data() : kernel.search_all.data();
}

// False: nothing is to be done at this place. Cheap, because the flags may be those for another warp.
bool Debugger::concerns(const device::WarpFiber& warp, const Kernel& kernel, std::uint32_t place) const {
  if (again_ || going_ || pausing_ || !touched_.empty() || kernel.at.contains(place)) return true;
  if (seeks_present(*warp.worker->launch)) return true;
  const auto sites = kernel.sites.find(place);
  return sites != kernel.sites.end() &&
         std::any_of(sites->second.begin(), sites->second.end(), [&](const RegisterSite& site) {
           const auto known = watches_.find(site.watch);
           if (known == watches_.end() || !known->second.call()) return false;
           const Call& call = known->second.call()->call;
           return call.block == warp.block_linear && call.warp == warp.context.warp;
         });
}

// The lane comes to the use from this place, in the watched call.
bool Debugger::is_due(const RegisterSite& site, const WatchedCall& value, const StoppedWarp& warp,
                      LaneMask lanes) const {
  const jit::StopFrame* const frame = frame_of(value.call, warp.fiber());
  if (!frame || frame != warp.fiber().context.stop_frame || !(lanes >> value.call.lane & 1)) return false;
  if (warp.frames().empty() || warp.frames().front().frame != frame) return false;
  if (!site.guard) return true;
  const bool guard = (warp.lane(value.call.lane, 0)->read_register(site.guard.reg).low & 1) != 0;
  return guard != site.guard.negated;
}

// Before a warp goes on from its place.
void Debugger::expect_touches(device::WarpFiber& warp, const Kernel& kernel, const StoppedWarp& look) {
  if (look.frames().empty()) return;
  const WarpFrame& frame = look.frames().front();
  const auto sites = kernel.sites.find(frame.frame->place);
  if (sites == kernel.sites.end()) return;
  for (const RegisterSite& site : sites->second) {
    const auto known = watches_.find(site.watch);
    if (known == watches_.end() || (site.kind != Kind::write && site.kind != Kind::read)) continue;
    const WatchedRegister& value = *known->second.in_register;
    if (!is_in(value, *warp.worker->launch) || !is_due(site, value, look, frame.lanes)) continue;
    Touched touch{site.watch, value.call.lane, site.kind == Kind::write, position_of(warp), {}, site.reg};
    if (!touch.is_write) touch.read = bytes_of_register(value, warp, site.reg);
    touched_.push_back(std::move(touch));
    warp.context.stop_flags = kernel.every.data();
  }
}

// Before a launch goes on. The user may have set or removed watchpoints.
void Debugger::expect_all_touches(const device::Launch& launch, const Kernel& kernel) {
  std::erase_if(touched_, [](const Touched& touch) { return touch.reg != ptx::kNoId; });
  std::set<device::WarpFiber*> warps;
  for (const auto& [number, watched] : watches_)
    if (const WatchedCall* const value = watched.call(); value && is_in(*value, launch))
      if (device::WarpFiber* const warp = find_warp(launch, value->call.block, value->call.warp)) warps.insert(warp);
  for (device::WarpFiber* warp : warps) {
    warp->context.stop_flags = flags_for(*warp, kernel);
    expect_touches(*warp, kernel, look_at(*warp));
  }
}

// Going back: the uses from this place on are the last ones that are known so far.
void Debugger::search_registers(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes) {
  const auto sites = kernel.sites.find(place);
  if (sites == kernel.sites.end()) return;
  for (const RegisterSite& site : sites->second) {
    if (again_->of_memory != (site.watch == 0) || (site.kind != Kind::write && site.kind != Kind::read)) continue;
    const auto known = watches_.find(site.watch);
    if (site.watch != 0 && known == watches_.end()) continue;
    const WatchedRegister& value = site.watch == 0 ? *searched_register_ : *known->second.in_register;
    if (!is_in(value, *warp.fiber().worker->launch) || !is_due(site, value, warp, lanes)) continue;
    again_->found = position_of(warp.fiber());
    again_->lane = value.call.lane;
    again_->hit.clear();
    if (site.watch != 0) again_->hit.push_back(site.watch);
  }
}

// Removes watchpoints whose call ends at this place. True: there was one, and the stop says it.
bool Debugger::end_calls(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes,
                         Stop* stop) {
  const auto sites = kernel.sites.find(place);
  if (sites == kernel.sites.end()) return false;
  bool ended = false;
  for (const RegisterSite& site : sites->second) {
    const auto known = watches_.find(site.watch);
    if (known == watches_.end() || (site.kind != Kind::ends && site.kind != Kind::returned)) continue;
    const WatchedCall& value = *known->second.call();
    if (!is_in(value, *warp.fiber().worker->launch)) continue;
    const bool returned = site.kind == Kind::returned;
    if (returned ? depth_of(warp.fiber()) != value.caller_depth || !(lanes >> value.call.lane & 1) ||
                       !has_returned(value.call, warp.fiber())
                 : !is_due(site, value, warp, lanes))
      continue;
    if (!ended && stop->reason != StopReason::data) stop->lane = value.call.lane;
    stop->text +=
        fmt::format("{}{} is watched no longer: {}", stop->text.empty() ? "" : "; ", known->second.options.text,
                    returned ? "its function has returned" : "its thread ends here");
    if (std::find(stop->hit.begin(), stop->hit.end(), site.watch) == stop->hit.end()) stop->hit.push_back(site.watch);
    stop->ended.push_back(site.watch);
    ended = true;
  }
  for (const unsigned number : stop->ended) erase_watch(number);
  if (!ended) return false;
  stop->reason = StopReason::data;
  ++generation_;
  return true;
}

// Of a launch that has ended, or is left for another one.
void Debugger::end_watches(std::uint64_t launch, const std::string& why) {
  std::vector<unsigned> ended;
  for (const auto& [number, watched] : watches_)
    if (watched.call() && watched.call()->call.launch == launch) ended.push_back(number);
  for (const unsigned number : ended) {
    erase_watch(number);
    listener_.on_removed(number, why);
  }
  if (!ended.empty()) ++generation_;
}

std::vector<std::uint8_t> Debugger::bytes_of_register(const WatchedRegister& value, device::WarpFiber& warp,
                                                      std::optional<ptx::RegId> reg) {
  const StoppedWarp look = look_at(warp);
  const auto frame = index_of(value.call, look);
  if (!frame) return {};
  const ptx::RegId from = reg ? *reg : register_at(value, look.frames()[*frame].code.instruction);
  return from == ptx::kNoId ? std::vector<std::uint8_t>() : value.read(*look.lane(value.call.lane, *frame), from);
}

}  // namespace warpgrind::debugger
