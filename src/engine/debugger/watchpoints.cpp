// Watchpoints of memory and of registers, and the search for the last write to one of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "debugger/debugger.h"
#include "device/access/peek.h"
#include "device/memory/earlier_launches.h"
#include "device/memory/kept_memory.h"

namespace warpgrind::debugger {

namespace {

// The watched bytes, and behind them as many with the undefined bits. Empty: another block's memory, or no longer
// there.
std::vector<std::uint8_t> bytes_of(const device::Watchpoint& w, const device::WarpFiber& warp) {
  const std::size_t size = w.high - w.low;
  std::vector<std::uint8_t> out(2 * size);
  if (w.space == StateSpace::shared && warp.block_linear != w.block) return {};
  if (w.space == StateSpace::local && (warp.block_linear != w.block || warp.context.warp != w.warp)) return {};
  if (!device::peek(warp, w.lane, w.space, w.low, std::span(out).first(size))) return {};
  device::peek_undefined(warp, w.lane, w.space, w.low, std::span(out).last(size));
  return out;
}

}  // namespace

// The warp may have begun the call later than where it stands now, after going back.
Status Debugger::is_active(const WatchedCall& call) const {
  const device::WarpFiber* const warp = find_warp(*launch_, call.call.block, call.call.warp);
  if (is_in(call, *launch_) && !(warp && has_returned(call.call, *warp))) return Ok{};
  return Error{ErrorKind::bad_input, "the function of this variable has returned", ""};
}

Result<unsigned> Debugger::watch(device::Watchpoint memory, const std::optional<WatchedCall>& call,
                                 WatchOptions options) {
  Result<dap::HitRule> rule = dap::read_hit_rule(options.hit_condition);
  if (!rule) return rule.error();
  if (call)
    if (Status active = is_active(*call); !active) return active.error();
  memory.number = ++last_number_;
  watches_[memory.number] = {std::move(options), *rule, bytes_of(memory, *stop_.warp), {}, call, 0};
  watched_.all.push_back(memory);
  ++generation_;  // the places where the call ends are found when the launch goes on
  return memory.number;
}

void Debugger::erase_watch(unsigned number) {
  watches_.erase(number);
  std::erase_if(watched_.all, [&](const device::Watchpoint& w) { return w.number == number; });
}

Result<unsigned> Debugger::watch(WatchedRegister value, WatchOptions options) {
  Result<dap::HitRule> rule = dap::read_hit_rule(options.hit_condition);
  if (!rule) return rule.error();
  if (Status active = is_active(value); !active) return active.error();
  device::WarpFiber* const warp = find_warp(*launch_, value.call.block, value.call.warp);
  std::vector<std::uint8_t> now = warp ? bytes_of_register(value, *warp) : std::vector<std::uint8_t>();
  watches_[++last_number_] = {std::move(options), *rule, std::move(now), std::move(value), {}, 0};
  ++generation_;  // the places of its uses are found when the launch goes on
  return last_number_;
}

Status Debugger::go_to_last_write(device::Watchpoint memory) {
  memory.number = 0;
  memory.reads = false;
  memory.writes = true;
  searched_.all = {memory};
  searched_register_.reset();
  return search_last_write();
}

Status Debugger::go_to_last_write(WatchedRegister value) {
  value.reads = false;
  value.writes = true;
  searched_.all.clear();
  searched_register_ = std::move(value);
  return search_last_write();
}

Status Debugger::search_last_write() {
  ++generation_;
  Again again;
  again.end = stop_.position;
  again.lane = stop_.lane;
  again.of_memory = true;
  again.from = again.end;
  return begin_again(std::move(again));
}

const device::Watchpoints* Debugger::watchpoints_for(const device::Launch& launch) const {
  const device::Watchpoints* watch = &active_;
  if (searches(launch)) {
    if (again_->phase == Again::Phase::travel || again_->step) return nullptr;
    if (again_->of_memory) watch = &searched_;
  }
  return watch->all.empty() ? nullptr : watch;
}

// Text for go_to_last_write() without a write in this launch.
std::string Debugger::say_not_written() const {
  if (searched_register_)
    return searched_register_->variable ? "this variable was not written in this call of its function before"
                                        : "this register was not written in this call of its function before";
  std::string text = "this memory was not written in this launch before";
  const device::Watchpoint& memory = searched_.all.front();
  if (memory.space != StateSpace::global) return text;
  const std::uint64_t searched = again_->searched;
  if (searched == 1) text += ", nor in the launch before it";
  if (searched > 1) text += fmt::format(", nor in the {} launches before it", searched);
  const std::string by_host =
      device::KeptMemory::instance().last_host_write(memory.low, memory.high, again_->back, searched);
  return by_host.empty() ? text : text + "; " + by_host;
}

// Text for the user at the first place that can be reached.
std::string Debugger::say_history_start() const {
  device::EarlierLaunches& earlier = device::EarlierLaunches::instance();
  if (again_->back < earlier.count()) return "the beginning of this warp";
  const std::string why = earlier.why_no_more();
  if (why.empty()) return "the beginning of the program's first launch";
  return "the beginning of what was kept: no earlier launch can be entered, because " + why;
}

// Whether the newest launch runs again after an earlier one, up to the place that the user left.
bool Debugger::seeks_present(const device::Launch& launch) const {
  return present_ && launch.repeats && launch.back == 0;
}

// Whether a search that found nothing goes on in the launch before.
bool Debugger::enters_earlier() const {
  const Again& again = *again_;
  if (again.back >= device::EarlierLaunches::instance().count()) return false;
  if (again.of_memory && searched_register_) return false;
  if (again.of_memory) {
    const device::Watchpoint& memory = searched_.all.front();
    return memory.space == StateSpace::global &&
           !device::KeptMemory::instance().host_wrote_just_before(memory.low, memory.high, again.back);
  }
  if (!again.step) return true;
  // Steps stay in their warp. The first place of the launch has no other before it.
  return !again.begin && again.first == again.end;
}

// A search has passed all of its launch that it looks at. True: a launch runs again, to travel or to search on.
bool Debugger::end_search() {
  Again& again = *again_;
  const bool leaves = !again.found && enters_earlier();
  if (leaves) {
    ++again.back;
    again.searched += again.of_memory ? 1 : 0;
    again.whole = true;
    again.last_place = again.step.has_value();
    again.step.reset();
    again.begin.reset();
    again.first.reset();
  } else if (again.found || (again.begin && !again.of_memory)) {
    again.end = again.found ? *again.found : *again.begin;
    again.phase = Again::Phase::travel;
  } else if (again.of_memory && again.whole) {
    again.is_missing = true;
    again.back = again.back_from;
    again.end = again.from;
    again.phase = Again::Phase::travel;
  } else {
    return false;
  }
  again.starts = true;
  return true;
}

void Debugger::touched(jit::WarpContext& context, const Touch& touch) {
  const auto held = hold();
  if (!connected_) return;
  const Position here = position_of(device::fiber_of(context));
  if (again_) {
    if (!searches(device::launch_of(context))) return;
    again_->found = here;
    again_->lane = touch.lane;
    again_->hit.clear();
    if (!again_->of_memory) again_->hit.push_back(touch.watchpoint);
    return;
  }
  if (!watches_.contains(touch.watchpoint)) return;
  Touched seen{touch.watchpoint, touch.lane, touch.is_write, here, {}, ptx::kNoId};
  for (const device::Watchpoint& w : watched_.all)
    if (w.number == touch.watchpoint && !touch.is_write) seen.read = bytes_of(w, device::fiber_of(context));
  touched_.push_back(std::move(seen));
  context.stop_flags = kernel_of(device::launch_of(context)).every.data();  // stops at its next place
}

// Text for the user if the touch is a stop; else empty.
std::string Debugger::say_touched(const Touched& touch, device::WarpFiber& warp) {
  const auto known = watches_.find(touch.watchpoint);
  if (known == watches_.end()) return {};
  Watched& watched = known->second;
  const WatchOptions& options = watched.options;
  std::vector<std::uint8_t> now;
  if (watched.in_register) {
    now = bytes_of_register(*watched.in_register, warp, touch.reg);
  } else {
    const auto memory = std::find_if(watched_.all.begin(), watched_.all.end(),
                                     [&](const device::Watchpoint& w) { return w.number == touch.watchpoint; });
    if (memory != watched_.all.end()) now = bytes_of(*memory, warp);
  }
  // A register may be computed and read between two places, and its call may end there.
  const bool is_read = !touch.is_write;
  if (is_read && (now.empty() || !watched.in_register)) now = touch.read;
  if (now.empty()) return {};
  if (is_read) return fmt::format("{} was read: {}", options.text, options.show(warp, now));
  const std::vector<std::uint8_t> old = std::exchange(watched.value, now);
  if (old == now && options.changes_only) return {};
  return fmt::format("{}: old value {}, new value {}", options.text, old.empty() ? "unknown" : options.show(warp, old),
                     options.show(warp, now));
}

// The lane that touched the value decides; it is behind the access.
bool Debugger::condition_holds(const Touched& touch, device::WarpFiber& warp) {
  const auto known = watches_.find(touch.watchpoint);
  if (known == watches_.end() || known->second.options.condition.empty() || !condition_) return true;
  const StoppedWarp look = look_at(warp);
  if (!same_warp(touch.at, position_of(warp)) || look.frames().empty()) return true;
  const auto& value = known->second.in_register;
  const std::uint32_t frame = value ? index_of(value->call, look).value_or(0) : 0;
  const Result<bool> met = condition_(*look.lane(touch.lane, frame), known->second.options.condition);
  if (!met) listener_.on_output(fmt::format("condition of watchpoint {}: {}\n", touch.watchpoint, met.error().message));
  return !met || *met;
}

// Fills the stop if a touch is one.
bool Debugger::look_at_touched(device::WarpFiber& warp, Stop* stop) {
  bool stops = false;
  struct Said {
    std::string text;
    LaneMask lanes = 0;
  };
  std::vector<Said> all;              // lanes that do the same are one
  std::map<unsigned, bool> accepted;  // by watchpoint: its hit condition holds; all lanes are one hit
  std::vector<Touched> later;         // registers of other warps
  for (Touched& touch : std::exchange(touched_, {})) {
    if (touch.reg != ptx::kNoId && !same_warp(touch.at, position_of(warp))) {
      later.push_back(std::move(touch));
      continue;
    }
    const std::string text = say_touched(touch, warp);
    if (text.empty() || !condition_holds(touch, warp)) continue;
    if (!accepted.contains(touch.watchpoint)) {
      Watched& watched = watches_[touch.watchpoint];
      accepted[touch.watchpoint] = watched.rule.accepts(++watched.hits);
    }
    if (!accepted[touch.watchpoint]) continue;
    if (!stops) stop->lane = same_warp(touch.at, position_of(warp)) ? touch.lane : stop->lane;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Said& said) { return said.text == text; });
    Said& said = same == all.end() ? all.emplace_back(text) : *same;
    said.lanes |= LaneMask{1} << touch.lane;
    if (std::find(stop->hit.begin(), stop->hit.end(), touch.watchpoint) == stop->hit.end())
      stop->hit.push_back(touch.watchpoint);
    stops = true;
  }
  touched_ = std::move(later);
  for (const Said& said : all) {
    stop->text += (stop->text.empty() ? "" : "; ") + said.text;
    if (std::popcount(said.lanes) > 1) stop->text += fmt::format(" ({})", lanes_named(said.lanes));
  }
  if (stops) stop->reason = StopReason::data;
  return stops;
}

// All watched values as they are now, at the end of a search.
void Debugger::read_watched(device::WarpFiber& warp) {
  for (const device::Watchpoint& w : watched_.all) watches_[w.number].value = bytes_of(w, warp);
  for (auto& [number, watched] : watches_) {
    if (!watched.in_register) continue;
    const Call& call = watched.in_register->call;
    device::WarpFiber* const its = find_warp(*warp.worker->launch, call.block, call.warp);
    watched.value = its ? bytes_of_register(*watched.in_register, *its) : std::vector<std::uint8_t>();
  }
  touched_.clear();
}

}  // namespace warpgrind::debugger
