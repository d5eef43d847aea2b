// Stops of launches, and launches that run again to go back.
#include "debugger/debugger.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "device/access/peek.h"
#include "device/execution/made_launch.h"
#include "device/memory/earlier_launches.h"
#include "device/memory/kept_memory.h"
#include "device/module.h"

namespace warpgrind::debugger {

namespace {

// Pieces of one line may differ in their columns.
bool same_line(const debuginfo::SourcePlace& a, const debuginfo::SourcePlace& b) {
  return a.line == b.line && a.file == b.file;
}

}  // namespace

void Debugger::evaluate_with(Evaluate condition, Expand message) {
  condition_ = std::move(condition);
  message_ = std::move(message);
}

// ---- Breakpoints

Result<unsigned> Debugger::add(const Breakpoint& breakpoint) {
  const auto held = hold();
  Result<dap::HitRule> rule = dap::read_hit_rule(breakpoint.hit_condition);
  if (!rule) return rule.error();
  breakpoints_[++last_number_] = {breakpoint, *rule};
  ++generation_;
  for (device::Launch* launch : running_) resolve_all(*launch, kernel_of(*launch));
  return last_number_;
}

void Debugger::remove(unsigned breakpoint) {
  const auto held = hold();
  if (watches_.contains(breakpoint))
    erase_watch(breakpoint);
  else
    breakpoints_.erase(breakpoint);
  ++generation_;
  for (device::Launch* launch : running_) resolve_all(*launch, kernel_of(*launch));
}

std::vector<std::string> Debugger::files() {
  const auto held = hold();
  std::set<std::string> out;
  for (const auto& [module, info] : infos_)
    for (std::string& file : info->files()) out.insert(std::move(file));
  return {out.begin(), out.end()};
}

void Debugger::set_enabled(unsigned breakpoint, bool enabled) {
  const auto held = hold();
  const auto found = breakpoints_.find(breakpoint);
  if (found == breakpoints_.end()) return;
  found->second.enabled = enabled;
  ++generation_;
  for (device::Launch* launch : running_) resolve_all(*launch, kernel_of(*launch));
}

bool Debugger::is_resolved(unsigned breakpoint) {
  const auto held = hold();
  const auto found = breakpoints_.find(breakpoint);
  return found != breakpoints_.end() && found->second.resolved;
}

void Debugger::configured() {
  const auto held = hold();
  configured_ = true;
  resumed_.notify_all();
}

void Debugger::stop_at_instructions() {
  at_instructions_ = true;
}

void Debugger::stop_at_faults(bool on) {
  const auto held = hold();
  at_faults_ = on;
}

// All warps read the flags of breakpoints while none of them follows a step.
void Debugger::pause() {
  const auto held = hold();
  pausing_ = true;
  for (device::Launch* launch : running_) {
    Kernel& kernel = kernel_of(*launch);
    for (auto* flags :
         {&kernel.flags, &kernel.with_sites, &kernel.search_breaks, &kernel.search_all, &kernel.search_register})
      std::fill(flags->begin(), flags->end(), std::uint8_t{1});
    kernel.generation = ~std::uint64_t{0};  // resolve_all() writes them anew
  }
}

bool Debugger::is_busy() {
  const auto held = hold();
  return !running_.empty();
}

void Debugger::disconnect() {
  const auto held = hold();
  connected_ = false;
  breakpoints_.clear();
  std::erase_if(watches_, [](const auto& one) { return one.second.call() != nullptr; });
  ++generation_;
  for (device::Launch* launch : running_) resolve_all(*launch, kernel_of(*launch));
  going_.reset();
  again_.reset();
  resume_ = true;
  resumed_.notify_all();
}

Debugger::Kernel& Debugger::kernel_of(const device::Launch& launch) {
  Kernel& kernel = kernels_[launch.kernel];
  if (kernel.is_of(launch)) return kernel;
  kernel = {};
  static_cast<KernelPlaces&>(kernel) = KernelPlaces(launch, infos_);
  kernel.flags = kernel.with_sites = kernel.none;
  kernel.search_breaks = kernel.search_all = kernel.search_register = kernel.only_first;
  return kernel;
}

void Debugger::resolve_all(const device::Launch& launch, Kernel& kernel) {
  if (kernel.generation == generation_) return;
  kernel.generation = generation_;
  kernel.at.clear();
  std::fill(kernel.flags.begin(), kernel.flags.end(), std::uint8_t{0});
  for (auto& [number, known] : breakpoints_) {
    if (!known.enabled) continue;
    if (known.what.at == Breakpoint::At::divergence && kernel.branches.empty())
      kernel.branches = branches_of(kernel.info->module(), kernel.places);
    const Resolved found = resolve(known.what, *kernel.info, launch.kernel->function, kernel.places, kernel.branches);
    for (const std::uint32_t place : found.places) {
      kernel.at[place].push_back(number);
      kernel.flags[place] = 1;
    }
    if (found.places.empty() || known.resolved) continue;
    known.resolved = true;
    listener_.on_resolved(number, found.source);
  }
  find_sites(launch, kernel);
}

// Flags for warps of which nothing else is known.
const std::uint8_t* Debugger::flags_for(const device::Launch& launch, const Kernel& kernel) const {
  if (searches(launch)) {
    // At its first place each warp gets its own flags.
    if (again_->phase == Again::Phase::travel || again_->step) return kernel.only_first.data();
    if (again_->of_memory) return searched_register_ ? kernel.only_first.data() : kernel.search_register.data();
    return again_->last_place ? kernel.every.data() : kernel.search_breaks.data();
  }
  if (going_ || pausing_ || seeks_present(launch)) return kernel.every.data();
  // A warp that is not there now may come to the uses of its watched registers later.
  const bool seeks_call = std::any_of(watches_.begin(), watches_.end(), [&](const auto& one) {
    const WatchedCall* value = one.second.call();
    return value && is_in(*value, launch) && !find_warp(launch, value->call.block, value->call.warp);
  });
  return seeks_call ? kernel.with_sites.data() : kernel.flags.data();
}

// ---- What is stopped

std::uint64_t Debugger::launch_number() const {
  const auto found = numbers_.find(launch_->serial);
  return found == numbers_.end() ? 0 : found->second;
}

std::vector<Debugger::KnownLaunch> Debugger::known_launches(std::string* why) const {
  device::EarlierLaunches& earlier = device::EarlierLaunches::instance();
  std::vector<KnownLaunch> out;
  if (device::KeptMemory::instance().why_not(launch_->before).empty())
    for (std::uint64_t back = 0; back <= earlier.count(); ++back)
      if (const auto made = earlier.find(back))
        out.push_back({launch_number() + launch_->back - back, back, made->kernel->demangled, made->config});
  *why = earlier.why_no_more();
  return out;
}

std::vector<device::WarpFiber*> Debugger::warps() const {
  std::vector<device::WarpFiber*> out;
  for (const auto& worker : *launch_->all_workers)
    for (const auto& fiber : worker->fibers)
      if (is_resident(*fiber, *launch_)) out.push_back(fiber.get());
  std::sort(out.begin(), out.end(), [](const device::WarpFiber* a, const device::WarpFiber* b) {
    return std::pair(a->block_linear, a->context.warp) < std::pair(b->block_linear, b->context.warp);
  });
  return out;
}

StoppedWarp Debugger::look_at(device::WarpFiber& warp) {
  const Kernel& kernel = kernel_of(*warp.worker->launch);
  return {warp, *kernel.info, kernel.places, explanations_};
}

void Debugger::go_on() {
  resume_ = true;
  resumed_.notify_all();
}

void Debugger::step(Step kind, device::WarpFiber& warp, unsigned lane, std::uint32_t frame) {
  const StoppedWarp look = look_at(warp);
  const std::uint32_t place = look.frames().empty() ? 0 : look.frames().front().frame->place;
  going_ = Going{kind, launch_->serial, position_of(warp), lane, standing(look, place)};
  if (kind == Step::out) going_->start.depth -= std::min<std::size_t>(frame, going_->start.depth);
  go_on();
}

Status Debugger::begin_again(Again again) {
  if (const std::string why = device::KeptMemory::instance().why_not(launch_->before); !why.empty())
    return Error{ErrorKind::unsupported, "this launch cannot go back: " + why, ""};
  again.launch = launch_->before;
  again.back = again.back_from = launch_->back;
  number_again_ = launch_number() + launch_->back;
  // A fault stops again by itself.
  if (launch_->back == 0) {
    left_at_.reset();
    if (stop_.reason != StopReason::exception) left_at_ = Left{stop_.position, again.lane};
  }
  again_ = std::move(again);
  touched_.clear();
  explanations_.set_by_user.clear();
  go_on();
  return Ok{};
}

Status Debugger::step_back(Step kind, device::WarpFiber& warp, unsigned lane) {
  Again again;
  again.end = position_of(warp);
  again.step = kind;
  again.lane = lane;
  again.depth = look_at(warp).frames().size();
  return begin_again(std::move(again));
}

Status Debugger::go_back() {
  Again again;
  again.end = stop_.position;
  again.lane = stop_.lane;
  return begin_again(std::move(again));
}

Debugger::Standing Debugger::standing(const StoppedWarp& warp, std::uint32_t place) const {
  Standing out;
  out.depth = warp.frames().size();
  out.place = place;
  if (warp.frames().empty()) return out;
  out.function = warp.frames().front().text.function;
  out.source = warp.frames().front().text.place;
  const WarpFrame& frame = warp.frames().front();
  out.in_prologue = !frame.text.is_inlined && frame.code.instruction < warp.info().body_begin(frame.code.function);
  return out;
}

// A line is left at another line or function, or at a place before the one where it was entered: a loop in one line.
bool Debugger::ends_step(const Going& going, const jit::WarpContext& context, const Standing& now,
                         LaneMask lanes) const {
  const device::WarpFiber& f = device::fiber_of(context);
  // From a line, steps by lines pass code without lines, such as Numba's entries.
  if (going.kind != Step::instruction && going.start.source.line != 0 && now.source.line == 0) return false;
  if (!same_warp(position_of(f), going.from)) {
    // The warp has ended: the next one that runs.
    return !find_warp(*f.worker->launch, going.from.block, going.from.warp);
  }
  if (!(lanes >> going.lane & 1) && !(context.exited >> going.lane & 1)) return false;
  const bool other_line = !same_line(now.source, going.start.source) || now.function != going.start.function ||
                          now.depth != going.start.depth || now.place <= going.start.place;
  // As gdb, a step into a function ends where a breakpoint on the function would be.
  if (going.kind != Step::instruction && now.in_prologue && now.depth > going.start.depth) return false;
  switch (going.kind) {
    case Step::instruction:
      return true;
    case Step::in:
      return other_line;
    case Step::over:
      return now.depth <= going.start.depth && other_line;
    case Step::out:
      return now.depth < going.start.depth;
  }
  return true;
}

std::vector<unsigned> Debugger::hits(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes,
                                     bool first_time, unsigned* lane) {
  std::vector<unsigned> out;
  const auto at = kernel.at.find(place);
  split_off_ = 0;
  if (at == kernel.at.end() || lanes == 0) return out;
  LaneMask split_off = 0;
  if (!kernel.branches.empty()) {
    const device::WarpFiber& f = warp.fiber();
    split_off = splits_.pass(kernel.branches, {f.launch, f.block_linear, f.context.warp}, place, lanes);
  }
  for (const unsigned number : at->second) {
    Known& known = breakpoints_[number];
    if (known.what.at == Breakpoint::At::divergence && split_off == 0) continue;
    // A launch has one entry, that of its first warp.
    const Position here = position_of(warp.fiber());
    if (known.what.at == Breakpoint::At::kernel_entry && (here.block != 0 || here.warp != 0)) continue;
    auto first = static_cast<unsigned>(std::countr_zero(lanes));
    if (!known.what.condition.empty() && condition_) {
      bool holds = false;
      for (LaneMask left = lanes; left && !holds; left &= left - 1) {
        first = static_cast<unsigned>(std::countr_zero(left));
        const Result<bool> met = condition_(*warp.lane(first, 0), known.what.condition);
        if (!met) {  // as gdb: it stops and says why
          listener_.on_output(fmt::format("condition '{}': {}\n", known.what.condition, met.error().message));
          holds = true;
        } else {
          holds = *met;
        }
      }
      if (!holds) continue;
    }
    if (first_time) ++known.hits;
    if (first_time && !known.rule.accepts(known.hits)) continue;
    if (!known.what.log_message.empty()) {
      if (first_time && message_) listener_.on_output(message_(*warp.lane(first, 0), known.what.log_message) + "\n");
      continue;
    }
    // A condition chooses the lane, also if a breakpoint without one stops here, too.
    const bool chooses = !known.what.condition.empty() && std::all_of(out.begin(), out.end(), [&](unsigned other) {
      return breakpoints_[other].what.condition.empty();
    });
    if (out.empty() || chooses) *lane = first;
    if (known.what.at == Breakpoint::At::divergence) split_off_ = split_off;
    out.push_back(number);
  }
  return out;
}

// ---- StopHandler

void Debugger::begins(device::Launch& launch) {
  auto held = hold();
  resumed_.wait(held, [&] { return configured_ || !connected_; });
  if (searches(launch) && again_->back != launch.back) {
    again_.reset();
    listener_.on_output("the earlier launch cannot be entered any more: the program has changed memory meanwhile\n");
  }
  if (searches(launch)) again_->starts = false;
  running_.push_back(&launch);
  numbers_[launch.serial] = launch.repeats ? number_again_ - launch.back : ++last_launch_;
  Kernel& kernel = kernel_of(launch);
  resolve_all(launch, kernel);
  launch.stop_flags = flags_for(launch, kernel);
  active_ = watched_;
  launch.watch = watchpoints_for(launch);
}

// Going back leaves a launch for another one.
void Debugger::enter_other(const device::Launch& left) {
  std::erase_if(watched_.all, [](const device::Watchpoint& w) { return w.space != StateSpace::global; });
  end_watches(number_again_ - left.back, "another launch is entered");
  if (left.back == 0 && !present_ && again_->back > 0 && left_at_) present_ = left_at_;
}

bool Debugger::runs_again(device::Launch& launch) {
  const auto held = hold();
  std::erase(running_, &launch);
  const std::uint64_t number = numbers_[launch.serial];
  numbers_.erase(launch.serial);
  if (going_ && going_->launch == launch.serial) going_.reset();
  if (again_ && !searches(launch)) return false;
  const bool searches_on = again_ && !again_->starts && again_->whole && again_->phase == Again::Phase::search;
  if (again_ && (again_->starts || (searches_on && end_search()))) {
    if (again_->back != launch.back) enter_other(launch);
    launch.runs_back = again_->back;
    return true;
  }
  // Shared and local memory ends with the launch.
  std::erase_if(watched_.all, [](const device::Watchpoint& w) { return w.space != StateSpace::global; });
  end_watches(number, "its thread has ended");
  if (again_) {
    again_.reset();
    listener_.on_output("the launch took another way this time: the earlier place was not reached again\n");
  }
  if (launch.back == 0) {
    present_.reset();
    return false;
  }
  launch.runs_back = connected_ ? launch.back - 1 : 0;
  return true;
}

void Debugger::stopped(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) {
  if (act(context, lanes, place)) device::end_here(context);
}

// True: the launch must end, to run again.
bool Debugger::act(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) {
  device::WarpFiber& fiber = device::fiber_of(context);
  device::Launch& launch = *fiber.worker->launch;
  Stop stop;
  {
    const auto held = hold();
    if (!connected_ || (again_ && !searches(launch))) return false;
    if (again_ && again_->starts) return true;  // the user went back while a report of this run was shown
    Kernel& kernel = kernel_of(launch);
    if (!concerns(fiber, kernel, place)) {
      context.stop_flags = flags_for(fiber, kernel);
      return false;
    }
    const StoppedWarp warp(fiber, *kernel.info, kernel.places, explanations_);
    stop.warp = &fiber;
    stop.position = position_of(fiber);
    stop.lane = lanes ? static_cast<unsigned>(std::countr_zero(lanes)) : 0;
    if (again_ && pausing_) {
      stop.reason = StopReason::pause;
      stop.text = "going back was interrupted; this is an earlier place";
      again_.reset();
    } else if (again_) {
      if (!search(context, kernel, warp, lanes, place)) return again_->starts;
      stop.hit = again_->hit;
      stop.lane = again_->lane;
      stop.reason = !again_->found || again_->is_missing ? StopReason::history_start
                    : again_->hit.empty()                ? StopReason::step
                                                         : StopReason::breakpoint;
      if (stop.reason == StopReason::breakpoint && watches_.contains(stop.hit.front())) {
        stop.reason = StopReason::data;
        stop.text = fmt::format("back before an access of {}", watches_[stop.hit.front()].options.text);
      }
      if (stop.reason == StopReason::history_start)
        stop.text = again_->of_memory ? say_not_written() : say_history_start();
      read_watched(fiber);
      again_.reset();
    } else {
      bool data = !touched_.empty() && look_at_touched(fiber, &stop);
      if (!data && !going_ && !pausing_)
        context.stop_flags = flags_for(fiber, kernel);  // touched() may have changed them
      data |= end_calls(kernel, warp, place, lanes, &stop);
      unsigned lane = stop.lane;
      if (!data) stop.hit = hits(kernel, warp, place, lanes, true, &lane);
      if (split_off_ != 0 && !stop.hit.empty())
        stop.text = fmt::format("the lanes of the warp split: {} {} here, {} another way", lanes_named(lanes),
                                std::popcount(lanes) == 1 ? "is" : "are",
                                lanes_named(split_off_) + (std::popcount(split_off_) == 1 ? " goes" : " go"));
      const bool stepped =
          going_ && going_->launch == launch.serial && ends_step(*going_, context, standing(warp, place), lanes);
      if (!data && !stop.hit.empty()) {
        stop.reason = StopReason::breakpoint;
        stop.lane = lane;
      } else if (!data && stepped) {
        stop.reason = StopReason::step;
        if (lanes >> going_->lane & 1) stop.lane = going_->lane;
      } else if (!data && pausing_) {
        stop.reason = StopReason::pause;
      } else if (!data && seeks_present(launch) && stop.position == present_->position) {
        if (lanes >> present_->lane & 1) stop.lane = present_->lane;
        stop.text = "the place from which you went back to an earlier launch";
      } else if (!data) {
        expect_touches(fiber, kernel, warp);
        return false;
      }
      if (going_ && same_warp(stop.position, going_->from) && stop.reason == StopReason::breakpoint &&
          (lanes >> going_->lane & 1) && std::all_of(stop.hit.begin(), stop.hit.end(), [&](unsigned number) {
            return breakpoints_[number].what.condition.empty();
          }))
        stop.lane = going_->lane;
    }
    going_.reset();
    pausing_ = false;
    if (seeks_present(launch) && present_->position == stop.position) present_.reset();
  }
  return wait_for_user(stop, launch);
}

// One place of a launch that runs again. True: the position is reached.
bool Debugger::search(jit::WarpContext& context, Kernel& kernel, const StoppedWarp& warp, LaneMask lanes,
                      std::uint32_t place) {
  Again& again = *again_;
  const Position here = position_of(warp.fiber());
  const bool is_target = same_warp(here, again.end) && (!again.whole || again.phase == Again::Phase::travel);
  if (place == kernel.first) context.stop_flags = is_target ? kernel.every.data() : flags_for(warp.fiber(), kernel);
  if (!again.first) again.first = here;
  if (is_target && here.steps >= again.end.steps) {
    if (again.phase == Again::Phase::travel) return true;
    return !end_search();  // false: this is the very first place, or memory was not written
  }
  if (again.phase == Again::Phase::travel) return false;
  if (!again.step && !again.last_place) search_registers(kernel, warp, place, lanes);
  if (again.of_memory) return false;
  if (again.last_place) {
    again.found = here;
    again.lane = static_cast<unsigned>(std::countr_zero(lanes | 1u << 31));
    return false;
  }
  if (!again.step) {
    if (!again.begin) again.begin = here;
    unsigned lane = 0;
    std::vector<unsigned> hit = hits(kernel, warp, place, lanes, false, &lane);
    if (hit.empty()) return false;
    again.found = here;
    again.hit = std::move(hit);
    again.lane = lane;
    return false;
  }
  if (!is_target) return false;
  if (!again.begin) again.begin = here;
  Standing now = standing(warp, place);
  const bool new_line = !again.last || !same_line(now.source, again.last->source) ||
                        now.function != again.last->function || now.depth != again.last->depth ||
                        now.place <= again.last->place;
  const bool deep_enough = *again.step == Step::over  ? now.depth <= again.depth
                           : *again.step == Step::out ? now.depth < again.depth
                                                      : true;
  const bool may_stop = *again.step == Step::instruction || !now.in_prologue || now.depth <= 1;
  const bool stops = may_stop && (lanes >> again.lane & 1) && deep_enough &&
                     (new_line || *again.step == Step::instruction || !again.found);
  if (stops) again.found = here;
  // A step forwards compares with the place where it began, and ends only where its lane is active.
  if (stops || *again.step == Step::out) again.last = std::move(now);
  return false;
}

void Debugger::faulted(device::Launch& launch, const device::Fault& fault, jit::WarpContext* context) {
  Stop stop;
  {
    const auto held = hold();
    if (!connected_ || !at_faults_ || again_) return;
    stop.reason = StopReason::exception;
    stop.exception = "fault";
    stop.text = fault.message;
    stop.details = fault.advice;
    if (expected_ && !device::is_same(*expected_, fault))
      stop.text += fmt::format("\nThe core file has another fault: {}, in block ({},{},{}), thread ({},{},{})",
                               expected_->message, expected_->block.x, expected_->block.y, expected_->block.z,
                               expected_->thread.x, expected_->thread.y, expected_->thread.z);
    for (const auto& worker : *launch.all_workers)
      for (const auto& fiber : worker->fibers)
        if (!stop.warp && is_resident(*fiber, launch) && (!context || &fiber->context == context))
          stop.warp = fiber.get();
    if (!stop.warp) return;
    stop.position = position_of(*stop.warp);
    const std::uint64_t linear = fault.thread.x + fault.thread.y * std::uint64_t{launch.config.block.x} +
                                 fault.thread.z * std::uint64_t{launch.config.block.x} * launch.config.block.y;
    stop.lane = static_cast<unsigned>(linear % kWarpSize);
    going_.reset();
  }
  // When the user goes back, the launch ends by this fault and runs again.
  wait_for_user(stop, launch);
}

void Debugger::expect(const device::Fault& fault) {
  const auto held = hold();
  expected_ = fault;
}

// Returns with the lock, when the user resumes.
std::unique_lock<std::recursive_mutex> Debugger::wait_stopped(const Stop& stop, device::Launch* launch) {
  {
    const auto held = hold();
    stop_ = stop;
    launch_ = launch;
    resume_ = !connected_;
    is_stopped_ = true;
  }
  listener_.on_stop(stop);
  for (const unsigned number : stop.ended) listener_.on_removed(number, "");
  auto held = hold();
  resumed_.wait(held, [&] { return resume_; });
  is_stopped_ = false;
  launch_ = nullptr;
  return held;
}

bool Debugger::wait_for_user(const Stop& stop, device::Launch& launch) {
  const std::lock_guard turn(one_stop_);
  const auto held = wait_stopped(stop, &launch);
  if (again_) return true;
  Kernel& kernel = kernel_of(launch);
  resolve_all(launch, kernel);
  device::set_stop_flags(launch, flags_for(launch, kernel));
  expect_all_touches(launch, kernel);
  active_ = watched_;
  if (launch.watch || !active_.all.empty()) device::set_watchpoints(launch, watchpoints_for(launch));
  return false;
}

}  // namespace warpgrind::debugger
