// The debugger of a device's kernels: breakpoints, steps forwards and backwards, stops. It knows launches, warps and
// positions; adapter.h speaks the Debug Adapter Protocol over it.
//
// Two threads meet here. The thread of a launch calls the functions of StopHandler; in stopped() it waits until the
// user goes on. The adapter's thread calls all others; warps may be looked at only while one is stopped.
//
// Going back runs the launch again from its start. Launches have one worker, so a position (block, warp, places that
// the warp has passed) is reached again by the same steps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dap/hit_rule.h"
#include "debugger/breakpoints.h"
#include "debugger/kernel_places.h"
#include "debugger/positions.h"
#include "debugger/stopped_warp.h"
#include "debugger/warp_events.h"
#include "debugger/watched_register.h"
#include "device/access/watchpoints.h"
#include "device/stop_handler.h"

namespace warpgrind::debugger {

enum class StopReason : std::uint8_t { breakpoint, entry, step, pause, exception, data, history_start };

struct Stop {
  StopReason reason = StopReason::step;
  std::string exception;              // "fault", "finding", "api": as the exception filters of DAP
  std::string text;                   // for the user; of an exception its message
  std::string details;                // exception: advice
  std::vector<unsigned> hit;          // numbers of breakpoints
  std::vector<unsigned> ended;        // those of them that exist no longer
  device::WarpFiber* warp = nullptr;  // null: the program has stopped in host code
  unsigned lane = 0;
  Position position;
  std::string call;                  // host code: the CUDA call
  std::vector<const void*> callers;  // host code: return addresses, innermost first
};

enum class Step : std::uint8_t { in, over, out, instruction };

// Called by either thread, never with a lock held.
class DebugListener {
 public:
  virtual ~DebugListener() = default;
  virtual void on_stop(const Stop& stop) = 0;
  virtual void on_output(const std::string& text) = 0;
  virtual void on_resolved(unsigned breakpoint, const debuginfo::SourcePlace& at) = 0;
  // A watchpoint exists no longer. why: for the user; empty: a stop has said it.
  virtual void on_removed(unsigned breakpoint, const std::string& why) = 0;
};

class Debugger final : public device::StopHandler {
 public:
  // Evaluates a condition, or the expressions of a log message, for one lane. Set by the adapter.
  using Evaluate = std::function<Result<bool>(LaneView&, const std::string& expression)>;
  using Expand = std::function<std::string(LaneView&, const std::string& message)>;

  explicit Debugger(DebugListener& listener) : listener_(listener) {
    explanations_.say = [this](const std::string& line) { listener_.on_output(line + "\n"); };
  }
  void evaluate_with(Evaluate condition, Expand message);
  // Text for an address of global memory, shown with pointers. Called under hold().
  void explain_with(std::function<std::string(std::uint64_t address)> origin) {
    explanations_.origin = std::move(origin);
  }

  // ---- For the adapter
  // Held while a request is served: no launch begins or stops meanwhile.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock(mutex_); }
  Result<unsigned> add(const Breakpoint& breakpoint);  // its number
  void remove(unsigned breakpoint);
  void set_enabled(unsigned breakpoint, bool enabled);
  // What watchpoints of memory and of registers have in common.
  // `bytes`: those of the value, and behind them as many with its undefined bits.
  using Show = std::function<std::string(device::WarpFiber& warp, const std::vector<std::uint8_t>& bytes)>;
  struct WatchOptions {
    std::string text;           // what the user watches
    std::string condition;      // an expression; empty: always
    std::string hit_condition;  // as Breakpoint::hit_condition
    bool changes_only = true;   // a write of the same value is no stop
    Show show;
  };
  // A register to watch, as register_to_watch(), in the launch that is stopped.
  Result<WatchedRegister> find_register(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                                        const debuginfo::Variable* variable, ptx::RegId reg);
  // The call whose local memory has the byte.
  std::optional<WatchedCall> find_call(const StoppedWarp& warp, unsigned lane, std::uint64_t local);
  // Watches from the next time that the launch goes on. Returns the number. Error: the hit condition is wrong, or the
  // call of the register's function has ended.
  // call: whose local memory it is; none: it is not that of a call.
  Result<unsigned> watch(device::Watchpoint memory, const std::optional<WatchedCall>& call, WatchOptions options);
  Result<unsigned> watch(WatchedRegister value, WatchOptions options);
  // Runs the launch again to find the last write to this memory or register before the stop, and stops there.
  Status go_to_last_write(device::Watchpoint memory);
  Status go_to_last_write(WatchedRegister value);
  // Kernels of later launches are compiled so that they can stop at each instruction. Those that run now are not.
  void stop_at_instructions();
  bool is_resolved(unsigned breakpoint);  // a loaded kernel has its place
  std::vector<std::string> files();       // source files of the kernels that were launched
  void stop_at_faults(bool on);
  void stop_at_reports(Report::Kind kind, bool on);
  void configured();  // until then no launch begins
  void pause();       // stops the first warp that passes a place
  bool is_busy();     // a launch runs
  void disconnect();  // launches go on without stops

  // Under hold(), while a warp is stopped.
  bool has_stopped() const { return is_stopped_; }
  bool in_kernel() const { return is_stopped_ && stop_.warp != nullptr; }  // not in host code
  const Stop& current() const { return stop_; }
  const device::Launch& launch() const { return *launch_; }
  // The newest launch, and those before it that can be entered, the newest first. back: as Launch::back. Empty: earlier
  // ones are not kept. why: why no more can be entered.
  struct KnownLaunch {
    std::uint64_t number = 0, back = 0;
    std::string kernel;
    device::LaunchConfig config;
  };
  std::vector<KnownLaunch> known_launches(std::string* why) const;
  // 1, 2, 3 ... in the order in which launches begin; a launch that runs again keeps its number.
  std::uint64_t launch_number() const;
  std::vector<device::WarpFiber*> warps() const;  // resident ones, by block and number
  StoppedWarp look_at(device::WarpFiber& warp);
  void go_on();
  // frame: Step::out leaves this one, and those inside it.
  void step(Step kind, device::WarpFiber& warp, unsigned lane, std::uint32_t frame = 0);
  Status step_back(Step kind, device::WarpFiber& warp, unsigned lane);
  Status go_back();  // to the breakpoint that was hit last before

  // ---- StopHandler
  jit::StopAt stops_at() const override { return at_instructions_ ? jit::StopAt::instructions : jit::StopAt::lines; }
  void begins(device::Launch& launch) override;
  void stopped(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) override;
  void touched(jit::WarpContext& context, const Touch& touch) override;
  void faulted(device::Launch& launch, const device::Fault& fault, jit::WarpContext* context) override;
  void expect(const device::Fault& fault) override;
  bool wants(Report::Kind kind) override;
  void reported(const Report& report) override;
  std::uint64_t most_kept_bytes() const override { return std::uint64_t{1} << 30; }
  bool runs_again(device::Launch& launch) override;

 private:
  struct Known {
    Breakpoint what;
    dap::HitRule rule;
    bool enabled = true, resolved = false;
    std::uint64_t hits = 0;
  };
  // What is derived once from a compiled kernel. flags: by place, 1 if a breakpoint is there; machine code of all warps
  // reads it, except for those that follow a step or a search.
  struct Kernel : KernelPlaces {
    std::map<std::uint32_t, std::vector<unsigned>> at;         // place -> breakpoints
    Branches branches;                                         // if breakpoints want them
    std::vector<std::uint8_t> flags;                           // of breakpoints
    std::map<std::uint32_t, std::vector<RegisterSite>> sites;  // place -> uses of watched registers
    // with_sites: flags of breakpoints and watched registers. The others are for searches, and have the first place,
    // too: breakpoints alone; with watched registers; the register that go_to_last_write() seeks.
    std::vector<std::uint8_t> with_sites, search_breaks, search_all, search_register;
    std::uint64_t generation = ~std::uint64_t{0};  // of the breakpoints in `at`
  };
  // A watchpoint, and the value when it was last looked at.
  struct Watched {
    WatchOptions options;
    dap::HitRule rule;
    std::vector<std::uint8_t> value;
    std::optional<WatchedRegister> in_register;  // none: one of watched_
    std::optional<WatchedCall> in_call;          // local memory of a call
    std::uint64_t hits = 0;
    const WatchedCall* call() const { return in_register ? &*in_register : in_call ? &*in_call : nullptr; }
  };
  // A watched value is touched before the warp's next place, where it stops.
  struct Touched {
    unsigned watchpoint = 0;
    unsigned lane = 0;
    bool is_write = false;
    Position at;
    std::vector<std::uint8_t> read;  // the watched memory when it was read
    ptx::RegId reg = ptx::kNoId;     // of a watched register; kNoId: memory
  };
  // Where a warp stands, as far as steps compare it.
  struct Standing {
    std::size_t depth = 0;  // frames
    std::string function;
    debuginfo::SourcePlace source;
    std::uint32_t place = 0;
    bool in_prologue = false;  // before the first statement of a function
  };
  // A step that is under way.
  struct Going {
    Step kind = Step::in;
    std::uint64_t launch = 0;  // its serial number
    Position from;
    unsigned lane = 0;
    Standing start;
  };
  // A launch that runs again, or an earlier one in its place: it searches the last good position before `end`, and then
  // travels there.
  struct Again {
    enum class Phase : std::uint8_t { search, travel } phase = Phase::search;
    const device::MemorySnapshot* launch = nullptr;  // Launch::before, the same in all its runs
    std::uint64_t back = 0;                          // which launch, as Launch::back
    Position end;
    bool whole = false;  // search: to the launch's end; there is no `end`
    // search: positions where this step would have stopped; none: breakpoints and watchpoints, or writes to `memory`.
    std::optional<Step> step;
    bool of_memory = false;
    bool last_place = false;  // search: the last place that any warp passes
    // of_memory: where the search began.
    std::uint64_t back_from = 0;
    Position from;
    std::uint64_t searched = 0;  // of_memory: launches before the first one
    bool is_missing = false;     // of_memory: no write was found; it travels to `from`
    unsigned lane = 0;
    std::size_t depth = 0;                 // search: of the frames at the end
    std::optional<Standing> last;          // search: of the warp, where a step would have ended last
    std::optional<Position> found, begin;  // begin: the first position of the search
    std::optional<Position> first;         // of the launch
    std::vector<unsigned> hit;
    bool starts = true;  // the run has been asked for and has not begun
  };

  Kernel& kernel_of(const device::Launch& launch);
  void resolve_all(const device::Launch& launch, Kernel& kernel);
  const std::uint8_t* flags_for(const device::Launch& launch, const Kernel& kernel) const;
  Standing standing(const StoppedWarp& warp, std::uint32_t place) const;
  bool ends_step(const Going& going, const jit::WarpContext& context, const Standing& now, LaneMask lanes) const;
  std::vector<unsigned> hits(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes,
                             bool first_time, unsigned* lane);
  bool act(jit::WarpContext& context, LaneMask lanes, std::uint32_t place);
  bool search(jit::WarpContext& context, Kernel& kernel, const StoppedWarp& warp, LaneMask lanes, std::uint32_t place);
  const device::Watchpoints* watchpoints_for(const device::Launch& launch) const;
  bool searches(const device::Launch& launch) const { return again_ && again_->launch == launch.before; }
  bool condition_holds(const Touched& touch, device::WarpFiber& warp);
  void find_sites(const device::Launch& launch, Kernel& kernel);
  bool is_in(const WatchedCall& value, const device::Launch& launch) const;
  Status is_active(const WatchedCall& call) const;
  void erase_watch(unsigned number);
  const std::uint8_t* flags_for(const device::WarpFiber& warp, const Kernel& kernel) const;
  bool is_watched(const device::WarpFiber& warp) const;
  bool concerns(const device::WarpFiber& warp, const Kernel& kernel, std::uint32_t place) const;
  bool is_due(const RegisterSite& site, const WatchedCall& value, const StoppedWarp& warp, LaneMask lanes) const;
  void expect_touches(device::WarpFiber& warp, const Kernel& kernel, const StoppedWarp& look);
  void expect_all_touches(const device::Launch& launch, const Kernel& kernel);
  void search_registers(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes);
  bool end_calls(const Kernel& kernel, const StoppedWarp& warp, std::uint32_t place, LaneMask lanes, Stop* stop);
  void end_watches(std::uint64_t launch, const std::string& why);
  void read_watched(device::WarpFiber& warp);
  // Without `reg`: where the value is at the warp's place. Empty: nowhere.
  std::vector<std::uint8_t> bytes_of_register(const WatchedRegister& value, device::WarpFiber& warp,
                                              std::optional<ptx::RegId> reg = std::nullopt);
  std::string say_not_written() const;
  std::string say_history_start() const;
  bool seeks_present(const device::Launch& launch) const;
  bool enters_earlier() const;
  void enter_other(const device::Launch& left);
  bool end_search();
  std::string say_touched(const Touched& touch, device::WarpFiber& warp);
  bool look_at_touched(device::WarpFiber& warp, Stop* stop);
  std::unique_lock<std::recursive_mutex> wait_stopped(const Stop& stop, device::Launch* launch);
  bool wait_for_user(const Stop& stop, device::Launch& launch);
  void wait_in_host(const Stop& stop);
  device::Launch* find_launch(const Report& report) const;
  Status begin_again(Again again);
  Status search_last_write();

  DebugListener& listener_;
  Evaluate condition_;
  Expand message_;
  std::mutex one_stop_;  // held by the launch that is stopped
  std::recursive_mutex mutex_;
  std::condition_variable_any resumed_;
  std::map<unsigned, Known> breakpoints_;
  unsigned last_number_ = 0;
  std::uint64_t generation_ = 0;  // counts changes of breakpoints
  std::atomic<bool> at_instructions_{false};
  bool at_findings_ = false, at_api_errors_ = false;
  bool at_faults_ = true, pausing_ = false, connected_ = true, configured_ = false;
  bool is_stopped_ = false, resume_ = false;
  std::optional<device::Fault> expected_;  // of the core file that is open
  Stop stop_;
  device::Launch* launch_ = nullptr;  // the stopped one
  std::vector<device::Launch*> running_;
  std::map<std::uint64_t, std::uint64_t> numbers_;  // of running launches, by their serial number
  // number_again_: of the newest launch, while it runs again or earlier ones run in its place.
  std::uint64_t last_launch_ = 0, number_again_ = 0;
  // left_at_: where the newest launch stood when the user went back last. present_: the same, if an earlier launch was
  // entered then.
  struct Left {
    Position position;
    unsigned lane = 0;
  };
  std::optional<Left> left_at_, present_;
  std::optional<Going> going_;
  std::optional<Again> again_;
  // watched_: as the user set them. active_: those that launches use. searched_, searched_register_: of
  // go_to_last_write(), which has one of them.
  device::Watchpoints watched_, active_, searched_;
  std::optional<WatchedRegister> searched_register_;
  std::map<unsigned, Watched> watches_;  // by number
  std::vector<Touched> touched_;
  Splits splits_;
  LaneMask split_off_ = 0;  // hits(): the lanes that go another way, if a breakpoint stops at that
  std::map<const ptx::Module*, std::unique_ptr<debuginfo::DebugInfo>> infos_;
  std::map<const device::KernelRecord*, Kernel> kernels_;
  Explanations explanations_;
};

}  // namespace warpgrind::debugger
