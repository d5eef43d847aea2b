// The steps of a launch, and of the launches that device code makes in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>

#include "device/access/count.h"
#include "device/block_work.h"
#include "device/device_impl.h"
#include "device/execution/execution.h"
#include "device/execution/leftovers.h"
#include "device/execution/made_launch.h"
#include "device/execution/rounds.h"
#include "device/execution/shares.h"
#include "device/execution/some_blocks.h"
#include "device/memory/address_space.h"
#include "device/memory/earlier_launches.h"
#include "device/memory/kept_memory.h"
#include "device/memory/memory_snapshot.h"
#include "device/memory/shadow_memory.h"
#include "device/stop_handler.h"

namespace warpgrind::device {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

void write_parameters(Engine& engine, const KernelRecord& kernel, const PackedParameters& parameters) {
  std::copy_n(parameters.bytes.data(), std::min<std::size_t>(kernel.code->parameter_bytes, parameters.bytes.size()),
              reinterpret_cast<std::uint8_t*>(engine.parameter_area));
}

void prepare_workers(Engine& engine, Launch& launch) {
  for (unsigned i = 0; i < launch.workers; ++i) {
    prepare_worker(*engine.workers[i], launch);
    if (launch.before) forget_leftovers(*engine.workers[i], launch);
  }
}

void release_workers(Engine& engine, const Launch& launch) {
  for (unsigned i = 0; i < launch.workers; ++i) engine.workers[i]->launch = nullptr;
}

// What a kernel writes without tracking would keep the undefined bits of before. All memory counts as defined instead.
void note_tracking(const ShadowMemory& shadow, bool is_tracked) {
  struct Last {
    std::mutex mutex;
    std::shared_ptr<const RangeTable> defined;  // the ranges, if no tracked kernel has run since they were defined
  };
  static auto* const last = new Last;  // never destroyed: launches may run until the process ends
  const std::lock_guard lock(last->mutex);
  std::shared_ptr<const RangeTable> now = is_tracked ? nullptr : AddressSpace::instance().snapshot();
  if (now && now != last->defined)
    for (const Range& range : now->ranges()) shadow.define(range.low, range.high - range.low);
  last->defined = std::move(now);
}

}  // namespace

// The steps of a launch: compile the kernel, decide everything, run the grid, collect its results. Only the third group
// runs anything of the kernel.
Result<LaunchResult> Device::Impl::run_grid(Engine& engine, LoadedModule& module, std::uint32_t function,
                                            const LaunchConfig& config, const PackedParameters& parameters,
                                            unsigned depth, std::vector<ChildLaunch>* children) {
  const Clock::time_point compile_begin = Clock::now();
  const unsigned interrupts_before = interrupts_requested();  // Ctrl-C during compilation ends the launch too
  const Result<KernelRecord*> found = checked_kernel(module, function, config);
  if (!found) return found.error();
  KernelRecord& kernel = **found;
  improve_if_due(kernel);
  if (Status started = start_watchdog(); !started) return started.error();
  const Clock::time_point begin = Clock::now();

  if (shadow) note_tracking(*shadow, kernel.how.definedness);
  const MemorySnapshot* const before = keep_memory(engine, module, kernel);
  KernelHeaps heaps;
  if (before) {
    heaps = keep_heaps();
    MadeLaunch made{&module, &kernel, config, parameters, depth, cycles.load(), heaps};
    made.config.range = {};  // valid only now
    EarlierLaunches::instance().add(&device, std::make_shared<const MadeLaunch>(std::move(made)));
  }
  bool repeats = false;
  for (;;) {
    write_parameters(engine, kernel, parameters);  // the plan and the observers read them
    Launch launch = make_launch(engine, module, kernel, config, depth);
    launch.before = before;
    launch.clock = cycles.load();
    launch.repeats = repeats;
    LaunchResult result = run_planned(engine, launch, kernel, parameters, interrupts_before, children);
    if (launch.runs_again) {
      repeats = true;
      restore(*before, heaps);
      if (launch.runs_back > 0) run_earlier(engine, *before, heaps, launch.runs_back);
      continue;
    }
    if (options.stops) KeptMemory::instance().end(engine.before);
    result.compile_seconds = seconds_between(compile_begin, begin);
    result.wall_seconds = seconds_between(begin, Clock::now());
    return result;
  }
}

// Runs earlier launches for the debugger, from the `back`-th before the newest on, until the newest is to run. Memory
// is that of its beginning, before and afterwards. Results are dropped. Does nothing if the launch cannot be entered.
void Device::Impl::run_earlier(Engine& engine, const MemorySnapshot& before, const KernelHeaps& heaps,
                               std::uint64_t back) {
  EarlierLaunches& earlier = EarlierLaunches::instance();
  if (!KeptMemory::instance().leave_present(before)) return;
  while (back > 0) {
    const std::shared_ptr<const MadeLaunch> made = earlier.find(back);
    if (!made) break;
    earlier.undo(back);
    restore_heaps(made->heaps);
    write_parameters(engine, *made->kernel, made->parameters);
    Launch launch = make_launch(engine, *made->module, *made->kernel, made->config, made->depth);
    launch.before = &before;
    launch.clock = made->cycles;
    launch.back = back;
    launch.repeats = true;
    // A later Ctrl-C ends the launch that runs then, not this one.
    (void)run_planned(engine, launch, *made->kernel, made->parameters, interrupts_requested(), nullptr);
    restore(before, heaps);
    back = launch.runs_again ? launch.runs_back : 0;
  }
  KeptMemory::instance().return_to_present();
}

KernelHeaps Device::Impl::keep_heaps() {
  return {heap.keep(), launch_memory.keep(), launch_buffers.keep()};
}

void Device::Impl::restore_heaps(const KernelHeaps& heaps) {
  heap.restore(heaps.heap);
  launch_memory.restore(heaps.launch_memory);
  launch_buffers.restore(heaps.launch_buffers);
}

void Device::Impl::restore(const MemorySnapshot& memory, const KernelHeaps& heaps) {
  memory.restore();
  restore_heaps(heaps);
}

// Null: the launch cannot run again.
const MemorySnapshot* Device::Impl::keep_memory(Engine& engine, const LoadedModule& module,
                                                const KernelRecord& kernel) const {
  if (!options.stops) return nullptr;
  // The checks would see pieces allocated twice.
  const bool checks_pieces = wants.heap_problems && module.calls("malloc");
  const char* const why_never = checks_pieces ? "kernels of its module call malloc(), which the checks follow" : "";
  const ShadowMemory* const changed = kernel.how.definedness ? shadow : nullptr;
  const bool kept =
      KeptMemory::instance().begin(engine.before, changed, options.stops->most_kept_bytes(), why_never, &kernel);
  return kept ? &engine.before : nullptr;
}

LaunchResult Device::Impl::run_planned(Engine& engine, Launch& launch, KernelRecord& kernel,
                                       const PackedParameters& parameters, unsigned interrupts_before,
                                       std::vector<ChildLaunch>* children) {
  start_clocks(engine, launch);
  prepare_workers(engine, launch);
  ask_observers(engine, launch);
  for (unsigned i = 0; i < launch.workers; ++i) begin_windows(*engine.workers[i]);
  launch.turns = turns_of(launch);  // observed barriers leave machine code
  const RepeatedLogs::Key log_key = launch.logs ? repeated_logs.key_of(launch, parameters.bytes) : RepeatedLogs::Key();
  const std::shared_ptr<const events::AccessLog> repeated = find_repeated(launch, log_key);  // then it logs nothing

  if (options.blocks == 0 && may_have_shares(launch)) deal_shares(launch);

  LaunchResult result;
  if (launch.stops) launch.stops->begins(launch);
  begin_supervision(engine, launch, interrupts_before);
  better_code.watch(&launch, kernel);
  run_blocks(engine, launch, kernel, result);
  better_code.release(&launch);
  end_supervision(engine, launch);

  launch.runs_again = launch.stops && launch.stops->runs_again(launch);
  collect_results(engine, launch, result, launch.runs_again || launch.back > 0 ? nullptr : children);
  finish_log(engine, launch, log_key, repeated, result.counts);
  report_end(launch, result.counts);
  release_workers(engine, launch);
  return result;
}

Status Device::Impl::start_watchdog() {
  if (options.stops && !is_watched()) return Ok{};
  if (watchdog.start(device) || !is_watched()) return Ok{};
  return Error{ErrorKind::environment, "the host allows no more threads, but the time limit of a launch needs one",
               "raise the limit (ulimit -u), or run without --timeout and --stall"};
}

// The clocks of a kernel that reads one begin at the time at which the last such kernel ended.
void Device::Impl::start_clocks(Engine& engine, Launch& launch) const {
  if (!launch.keeps_time) return;
  engine.kept.sm_cycles.assign(launch.sm_count, launch.clock);
  launch.sm_cycles = engine.kept.sm_cycles;
}

// From here on, Ctrl-C, the time limit and abandon_launches() can end the launch. Earlier requests are checked last, so
// that none is lost.
void Device::Impl::begin_supervision(Engine& engine, Launch& launch, unsigned interrupts_before) {
  launch.counts_ends = options.stall_seconds > 0;
  enlist(&launch);
  engine.running = &launch;
  interrupt_if_requested_since(launch, interrupts_before);
  engine.active_workers = launch.workers;
  if (abandoned) abandon(launch);
  if (is_watched()) watchdog.watch(&launch, options.timeout_seconds, options.stall_seconds);
}

void Device::Impl::end_supervision(Engine& engine, Launch& launch) {
  if (is_watched()) watchdog.release(&launch);
  engine.active_workers = 0;
  engine.running = nullptr;
  delist(&launch);
}

void Device::Impl::run_blocks(Engine& engine, Launch& launch, KernelRecord& kernel, LaunchResult& result) {
  if (!options.kernels) return;
  const Clock::time_point begin = Clock::now();
  std::uint64_t ran = launch.blocks;
  const bool some = options.blocks > 0 && options.blocks * kFewerBlocks <= launch.blocks;
  if (some) result.why_all_blocks = why_all_blocks(launch, options.blocks_despite_data);
  if (some && result.why_all_blocks.empty()) {
    ran = run_some_blocks(engine, launch, result);
  } else {
    begin_work(launch);
    engine.team.run(launch.workers, [&](unsigned i) { run_worker(*engine.workers[i]); });
    if (launch.faulty_block.load() != kNoBlock) launch.stop = true;
  }
  const double seconds = seconds_between(begin, Clock::now()) * launch.workers;  // of one worker
  kernel.seconds_per_block = seconds / static_cast<double>(ran);
  if (kernel.is_quick()) kernel.add_quick_seconds(seconds);
}

// Runs the work that device code launched, and the work launched by that: depth first, in the order of the parent's
// blocks, tail launches last. Uses a list instead of recursion: a kernel may launch itself thousands of times as its
// tail.
Status Device::Impl::run_children(Engine& engine, LoadedModule& module, std::vector<ChildLaunch> children,
                                  LaunchResult& result) {
  std::vector<ChildLaunch> work;  // a stack: the last one is next
  const auto push = [&](std::vector<ChildLaunch> more) {
    std::stable_partition(more.begin(), more.end(), [](const ChildLaunch& c) { return !c.tail; });
    std::move(more.rbegin(), more.rend(), std::back_inserter(work));
  };
  push(std::move(children));
  const auto goes_on = [&] { return !result.fault || result.survived; };
  while (!work.empty() && goes_on()) {
    const ChildLaunch child = std::move(work.back());
    work.pop_back();
    if (child.kind == ChildLaunch::Kind::graph) {
      result.graphs.push_back(child.graph);
      continue;
    }
    if (child.kind != ChildLaunch::Kind::kernel) {
      if (auto fault = run_queued_copy(*this, child, engine.work)) {
        result.fault = std::move(fault);
        result.survived = false;
      }
      continue;
    }
    std::vector<ChildLaunch> below;
    LaunchConfig config = child.config;
    config.counted = result.config.counted;
    auto run = run_grid(engine, module, child.function, config, {child.parameters}, child.depth, &below);
    if (!run) return run.error();
    if (run->fault && (!result.fault || !run->survived)) {
      result.fault = run->fault;
      result.survived = run->survived;
    }
    result.children.push_back(run.take());
    push(std::move(below));
  }
  return Ok{};
}

Result<LaunchResult> Device::Impl::launch(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                                          const PackedParameters& parameters, std::uint64_t work) {
  output.flush_when_half_full();
  Result<Engine*> engine = take_engine();
  if (!engine) return engine.error();
  (*engine)->work = work;
  std::vector<ChildLaunch> children;
  auto result = run_grid(**engine, module, function, config, parameters, 0, &children);
  Status ran = Ok{};
  if (result && (!result->fault || result->survived))
    ran = run_children(**engine, module, std::move(children), *result);
  give_back(**engine);
  if (!ran) return ran.error();
  return result;
}

std::optional<PackedParameters> pack(const std::vector<jit::ParameterLayout>& layout, void* const* arguments) {
  PackedParameters packed;
  packed.bytes.resize(layout.empty() ? 0 : layout.back().offset + layout.back().size);
  for (std::size_t p = 0; p < layout.size(); ++p) {
    if (!arguments || !arguments[p]) return std::nullopt;
    std::memcpy(packed.bytes.data() + layout[p].offset, arguments[p], layout[p].size);
  }
  return packed;
}

Result<const jit::CompiledKernel*> Device::prepare(LoadedModule* module, std::uint32_t function,
                                                   const LaunchConfig& config) {
  auto record = impl_->checked_kernel(*module, function, config);
  if (!record) return record.error();
  return static_cast<const jit::CompiledKernel*>((*record)->code.get());
}

Result<LaunchResult> Device::launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                                    const PackedParameters& parameters, std::uint64_t work) {
  return impl_->launch(*module, function, config, parameters, work);
}

Result<LaunchResult> Device::launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                                    void* const* arguments) {
  const ptx::Module& text = module->module();
  if (function >= text.functions.size() || !text.functions[function].is_entry)
    return Error{ErrorKind::bad_input, "not a kernel of this module", ""};
  auto packed = pack(jit::parameter_layout(text.functions[function]), arguments);
  if (!packed)
    return Error{ErrorKind::bad_input, fmt::format("kernel {}: a parameter is missing", text.functions[function].name),
                 ""};
  return launch(module, function, config, *packed);
}

Result<const jit::CompiledKernel*> Device::compiled(LoadedModule* module, std::uint32_t function, const Dim3& block,
                                                    bool counted) {
  auto record = impl_->kernel(*module, function, block, counted, /*clusters=*/false);
  if (!record) return record.error();
  return static_cast<const jit::CompiledKernel*>((*record)->code.get());
}

}  // namespace warpgrind::device
