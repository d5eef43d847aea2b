// Implementation of Device::launch: from a kernel and its arguments to counts and faults.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/demangle.h"
#include "device/access/access_log.h"
#include "device/access/bounds.h"
#include "device/access/count.h"
#include "device/access/own_elements.h"
#include "device/access/watched.h"
#include "device/calls/texture_unit.h"
#include "device/device_impl.h"
#include "device/execution/order.h"
#include "device/execution/rounds.h"
#include "device/execution/some_blocks.h"
#include "device/fault.h"
#include "gpu/issue.h"
#include "gpu/launch_limits.h"
#include "sass/code.h"

namespace warpgrind::device {

namespace {

std::atomic<std::uint64_t> g_launches{0};

std::vector<SiteFacts> pack_sites(const events::KernelFacts& facts) {
  std::vector<SiteFacts> out;
  out.reserve(facts.sites.size());
  for (const events::Site& s : facts.sites)
    out.push_back({{s.space, events::access_type(s), static_cast<std::uint8_t>(s.bytes()), s.shared_atomic},
                   s.kind,
                   s.element_bytes,
                   s.vector,
                   s.order,
                   s.scope});
  for (std::uint32_t s = 0; s < facts.sites.size(); ++s) {
    if (facts.sites[s].leader >= out.size()) continue;  // counted alone
    SiteFacts& leader = out[facts.sites[s].leader];
    const std::int64_t distance = facts.sites[s].distance;
    leader.followers.push_back({s, distance});
    leader.least_distance = std::min(leader.least_distance, distance);
    leader.most_distance = std::max(leader.most_distance, distance);
  }
  return out;
}

// If ptxas merges several accesses, the merged access is counted in addition to its parts.
void note_joint_accesses(KernelRecord& record) {
  for (const sass::Block& block : record.machine->blocks)
    for (const sass::Instruction& i : block.instructions)
      if (i.site != sass::kNone && i.bytes > record.sites[i.site].form.bytes)
        record.sites[i.site].joint_bytes = i.bytes;
}

void shape_warps(Launch& launch, const Dim3& block) {
  const auto threads = static_cast<std::uint32_t>(block.count());
  launch.shapes.resize((threads + kWarpSize - 1) / kWarpSize);
  launch.warp_threads.resize(launch.shapes.size());
  launch.shapes_block = block;
  for (std::uint32_t w = 0; w < launch.shapes.size(); ++w) {
    jit::WarpShape& s = launch.shapes[w];
    auto& tid = launch.warp_threads[w].tid;
    s.mask = 0;
    for (std::uint32_t l = 0; l < kWarpSize; ++l) {
      const std::uint32_t t = w * kWarpSize + l;
      tid[0][l] = t % block.x;
      tid[1][l] = t / block.x % block.y;
      tid[2][l] = t / block.x / block.y;
      if (t < threads) s.mask |= 1u << l;
    }
    for (unsigned k = 0; k < 3; ++k) s.tid_base[k] = tid[k][0];
  }
}

// Bytes of local memory per thread: the larger of the stack limit (cudaLimitStackSize) and the known need of the kernel
// and its calls. The CUDA programming guide (runtime, call stack) says only that a call stack that overflows fails, and
// that the limit can be read and set. The rest is what an H100 did (driver 580). Calls of known depth work with any
// limit, also by function pointers. Recursive calls, whose depth ptxas does not know, end in an illegal address when
// their frames exceed the limit by a byte. Without recursion and alloca() the limit has no effect. The default limit is
// then not added, so that an access beyond the kernel's arrays is an error here.
std::uint64_t local_size_of(const jit::CompiledKernel& code, std::uint64_t limit, bool invalid_accesses_observed) {
  std::uint64_t size = code.local_bytes;
  if (code.open_ended)
    size = std::max(size, limit);
  else if (size != 0 && limit != kDefaultStackBytes && !invalid_accesses_observed)
    size = std::max(size, limit);
  return (std::min(size, std::max(code.local_bytes, kMostLocalBytes)) + 15) / 16 * 16;
}

}  // namespace

// One frame for each call that fits into the thread's stack.
std::uint64_t KernelRecord::stack_bytes(const Launch& launch) const {
  const std::uint64_t least = code->least_recursive_frame;
  return newest().frame_bytes * (1 + (least ? launch.local_size / least : 0));
}

Result<KernelRecord*> Device::Impl::kernel(LoadedModule& module, std::uint32_t function, const Dim3& block,
                                           bool counted) {
  const ptx::Module& text = module.module();
  if (function >= text.functions.size() || !text.functions[function].is_entry)
    return Error{ErrorKind::bad_input, "not a kernel of this module", ""};
  const events::Wants asked = counted ? wants : events::Wants();
  LoadedModule::Key key{function,
                        jit::lane_shape_of(block),
                        counted && (options.counters || asked.counts),
                        asked.accesses && !asked.only_written,
                        asked.accesses && asked.only_written,
                        asked.edges,
                        asked.fences || asked.async_groups || asked.warp_syncs || asked.absent_lanes || asked.exits,
                        shadow != nullptr};
  const std::lock_guard lock(mutex);
  std::unique_ptr<KernelRecord>& record = module.kernels[key];
  if (record) return record.get();
  jit::CompileOptions how;
  how.shape = key.shape;
  how.counters = key.counters;
  how.every_access = key.every_access;
  how.watched = key.watched;
  how.edges = key.edges;
  how.synchronization = key.synchronization;
  how.definedness = key.definedness;
  how.cpu = options.cpu;
  how.cache_directory = options.cache_directory;
  how.tier = options.tier;
  how.quick_start = options.quick_start;
  how.on_slow = options.on_slow_compilation;
  how.slow_seconds = options.slow_seconds;
  how.on_cache_refused = options.on_cache_refused;
  auto code = compiler->compile(text, function, how);
  if (!code) {
    module.kernels.erase(key);
    return code.error();
  }
  record = std::make_unique<KernelRecord>();
  record->code = code.take();
  record->text = &text.functions[function];
  record->compiler = compiler.get();
  record->module = &text;
  record->function = function;
  record->how = how;
  record->begin();
  record->sites = pack_sites(record->code->facts());
  if (key.counters) {
    record->machine = std::make_unique<const sass::Code>(sass::translate(text, record->code->facts(), model));
    note_joint_accesses(*record);
  }
  record->demangled = demangle(text.functions[function].name);
  record->shape = key.shape;
  return record.get();
}

const flow::Definitions& KernelRecord::definitions() const {
  std::call_once(defined_,
                 [&] { definitions_ = std::make_unique<const flow::Definitions>(flow::find_definitions(*text)); });
  return *definitions_;
}

Status Device::Impl::check(const LaunchConfig& config, const KernelRecord& kernel) const {
  const Dim3& g = config.grid;
  const auto bad = [](std::string message) { return Error{ErrorKind::bad_input, std::move(message), ""}; };
  if (std::string problem = shape_problem(model, g, config.block); !problem.empty()) return bad(std::move(problem));
  const Dim3& c = config.cluster;
  if (c.count() == 0 || c.count() > kMaxClusterSize || g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
    return bad(
        fmt::format("clusters of {} x {} x {} blocks in a grid of {} x {} x {}: a cluster has up to {} blocks, and a "
                    "grid has whole clusters",
                    c.x, c.y, c.z, g.x, g.y, g.z, kMaxClusterSize));
  if (kernel.code->local_bytes > kMostLocalBytes)
    return bad(
        fmt::format("{} bytes of local memory per thread; a GPU has {}", kernel.code->local_bytes, kMostLocalBytes));
  const std::uint64_t shared = kernel.code->dynamic_shared_offset + config.dynamic_shared;
  const std::uint64_t limit = std::max(model.shared_per_block, model.shared_per_block_optin);
  if (shared > limit)
    return bad(fmt::format("{} bytes of shared memory per block; the {} has {}", shared, model.name, limit));
  return Ok{};
}

Status Device::Impl::open_heaps(const LoadedModule& module) {
  const std::lock_guard lock(mutex);
  constexpr std::uint64_t kLaunchMemory = std::uint64_t{64} << 20;
  const bool allocates = module.calls("malloc") || module.calls("__cudaCDP2Malloc") || module.calls("cudaMalloc");
  const bool launches = module.launches_kernels() || module.calls("__cudaCDP2GetErrorString");
  if (allocates)
    if (Status opened = heap.open(heap_size, ordinal, true); !opened) return opened;
  if (launches)
    if (Status opened = launch_memory.open(kLaunchMemory, ordinal, false); !opened) return opened;
  return Ok{};
}

void Device::Impl::set_up(Engine& engine, LoadedModule& module, const KernelRecord& kernel,
                          const LaunchConfig& config) {
  Launch& launch = engine.current;
  launch.device = &device;
  launch.module = &module;
  launch.kernel = &kernel;
  launch.entry = kernel.entry();
  launch.config = config;
  launch.serial = g_launches++;
  launch.info = {launch.serial,
                 &kernel.code->facts(),
                 &module.module(),
                 config.grid,
                 config.block,
                 config.dynamic_shared,
                 ordinal,
                 engine.workers.front()->number,
                 static_cast<unsigned>(engine.workers.size()),
                 config.cluster,
                 config.cooperative,
                 engine.work,
                 config.range};
  launch.rules = model.rules;
  launch.counters = config.counted && (options.counters || wants.counts);
  launch.bounds_stop = options.bounds_stop;
  launch.shadow = shadow;
  launch.fill = options.fill;
  launch.all_workers = &engine.workers;
  launch.parameters = reinterpret_cast<std::uint8_t*>(engine.parameter_area);
  launch.shared_size =
      std::max(kernel.code->static_shared_bytes, kernel.code->dynamic_shared_offset + config.dynamic_shared);
  launch.local_size = local_size_of(*kernel.code, stack_size, wants.invalid_accesses);
  launch.stack_bytes = kernel.stack_bytes(launch);
  const std::uint64_t unit = std::max<std::uint64_t>(1, model.shared_allocation_unit);
  launch.total_shared = static_cast<std::uint32_t>((launch.shared_size + unit - 1) / unit * unit);
  launch.all_shared = launch.total_shared + static_cast<std::uint32_t>(model.shared_reserved_per_block);
  launch.cluster_size = static_cast<std::uint32_t>(config.cluster.count());
  launch.blocks = config.grid.count();
  launch.threads_per_block = static_cast<std::uint32_t>(config.block.count());
  if (launch.shapes.empty() || !(launch.shapes_block == config.block)) shape_warps(launch, config.block);
  launch.warps_per_block = static_cast<std::uint32_t>(launch.shapes.size());
  launch.ranges = AddressSpace::instance().snapshot();
  launch.sm_count = std::max(1u, model.sm_count);
  launch.sm_groups = {model.sm_parts, model.sms_sharing_requests};
  launch.keeps_time = kernel.code->keeps_time;
  launch.issue_cycles = dependent_issue_cycles(model);
  launch.sm_clock_khz = std::max(1u, static_cast<std::uint32_t>(model.sm_clock_mhz * 1000));
  if (launch.keeps_time) launch.sm_cycles.assign(launch.sm_count, cycles.load());
  launch.workers = static_cast<unsigned>(std::min<std::uint64_t>(engine.workers.size(), launch.blocks));
  // Waking another thread takes longer than a small grid.
  constexpr double kWorthWaking = 20e-6;
  const double seconds = kernel.seconds_per_block;
  if (seconds > 0 && seconds * static_cast<double>(launch.blocks) < kWorthWaking) launch.workers = 1;
  set_order(launch, schedule, alone);
  launch.workers = engine.team.grow(launch.workers);
  std::fill(std::begin(launch.env), std::end(launch.env), 0);
  if (config.cooperative) {
    // cooperative_groups/details/driver_abi.h: %envreg1:%envreg2 = address of {unsigned size, barrier}.
    auto* workspace = reinterpret_cast<std::uint32_t*>(engine.grid_workspace);
    workspace[0] = 64;
    workspace[1] = 0;
    launch.env[1] = static_cast<std::uint32_t>(engine.grid_workspace >> 32);
    launch.env[2] = static_cast<std::uint32_t>(engine.grid_workspace);
  }
  const std::uint64_t resident =
      std::max<std::uint64_t>(1,
                              std::min(model.max_blocks_per_sm, model.max_threads_per_sm / launch.threads_per_block)) *
      launch.sm_count;
  launch.fits_gpu = config.cooperative || launch.blocks <= resident;
  launch.next_block = 0;
  launch.chosen.clear();
  launch.to_run = launch.blocks;
  constexpr std::uint64_t kLargestChunk = 16, kChunksPerWorker = 32;
  launch.chunk = launch.fits_gpu
                     ? 1
                     : std::clamp<std::uint64_t>(launch.blocks / (launch.workers * kChunksPerWorker), 1, kLargestChunk);
  launch.chunk = (launch.chunk + launch.cluster_size - 1) / launch.cluster_size * launch.cluster_size;
  launch.interrupt = 0;
  launch.waited_outside = false;
  launch.stop = false;
  launch.stop_reason = 0;
  launch.fault.reset();
  launch.fault_order = ~0ull;
  launch.survived = false;
  launch.invalid_accesses = 0;
  launch.invalid_sites.clear();
  launch.places.clear();
  launch.bounds.clear();
  launch.watched.clear();
  if (wants.invalid_accesses) launch.bounds = site_bounds(launch);
}

// Collects the observers of the launch and their wants. The kernel is compiled for all that any observer may want, and
// checks `launch.wants` at run time.
void Device::Impl::begin_observation(Engine& engine) {
  Launch& launch = engine.current;
  launch.observers.clear();
  launch.own.clear();
  std::vector<SiteBounds> found;
  const auto bounds = [&]() -> const std::vector<SiteBounds>& {
    if (!launch.bounds.empty()) return launch.bounds;
    if (found.empty()) found = site_bounds(launch);
    return found;
  };
  if (!launch.config.counted) {
    launch.info.own = launch.own;
    launch.wants = {};
    launch.barriers_observed = launch.whole_barriers = launch.shows_affine = false;
    launch.plain_barriers = !launch.keeps_time;
    return;
  }
  if (wants.accesses && wants.only_written) launch.own = own_elements(launch, bounds());
  launch.info.own = launch.own;
  if (!observers.empty()) {
    const std::lock_guard lock(observer_mutex);
    for (events::Observer* o : observers) o->on_launch_begin(launch.info);
    for (events::Observer* o : observers) launch.observers.add(*o, o->wants_of(launch.info));
  }
  launch.wants = launch.observers.wants();
  launch.barriers_observed = launch.wants.barriers || launch.wants.barriers_passed;
  launch.plain_barriers = !launch.barriers_observed && !launch.keeps_time;
  launch.whole_barriers =
      launch.barriers_observed && launch.wants.whole_blocks && !launch.keeps_time && !launch.ordered;
  launch.shows_affine = wants.only_written;
  launch.logs = options.caches && launch.counters && launch.kernel->sites.size() != 0;
  if (launch.logs) begin_logging(launch);
  if (!wants.accesses) return;
  if (launch.wants.accesses && !launch.wants.only_written)
    launch.watched.assign(launch.kernel->sites.size() + 1, 1);
  else if (launch.wants.accesses)
    launch.watched = sites_to_watch(launch, bounds());
  watch_in_machine_code(launch, engine.workers);
}

namespace {

void make_room(events::LaunchCounts& counts, const events::KernelFacts& facts) {
  counts.sites.resize(facts.sites.size());
  counts.blocks.resize(facts.blocks.size());
  counts.guard_lanes.resize(facts.guards.size());
  counts.branches.resize(facts.branches.size());
  counts.edges.resize(facts.edge_counters);
}

}  // namespace

// Block 0 runs first: it decides which blocks are logged. The other logged blocks run as well, so that the modelled
// caches get the same input as in a whole launch. They are not counted, since they are not spread over the grid. The
// first and the last block count once: only the last may be partly outside the data, and it represents only itself.
std::uint64_t Device::Impl::run_some_blocks(Engine& engine, events::LaunchCounts& counts) {
  Launch& launch = engine.current;
  const std::vector<std::uint64_t> spread = spread_blocks(launch.blocks, options.blocks);
  const unsigned workers = launch.workers;
  std::uint64_t ran = 0;
  const auto run = [&](std::vector<std::uint64_t> blocks, events::LaunchCounts* into) {
    if (blocks.empty() || launch.stop.load(std::memory_order_relaxed)) return;
    ran += blocks.size();
    launch.chosen = std::move(blocks);
    launch.to_run = launch.chosen.size();
    launch.next_block = 0;
    launch.workers = static_cast<unsigned>(std::min<std::uint64_t>(workers, launch.to_run));
    engine.active_workers = launch.workers;
    engine.team.run(launch.workers, [&](unsigned i) { run_worker(*engine.workers[i]); });
    events::LaunchCounts not_counted;
    make_room(not_counted, launch.kernel->code->facts());
    for (unsigned i = 0; i < launch.workers; ++i) {
      Worker& worker = *engine.workers[i];
      collect(worker, into ? *into : not_counted);
      worker.warps_ended = worker.threads_ended = 0;
    }
  };
  make_room(counts, launch.kernel->code->facts());
  events::LaunchCounts ends;
  make_room(ends, launch.kernel->code->facts());
  run({0}, &ends);
  std::vector<std::uint64_t> beside;
  const std::vector<std::uint64_t> logged = launch.logs ? logged_blocks(launch) : std::vector<std::uint64_t>();
  std::set_difference(logged.begin(), logged.end(), spread.begin(), spread.end(), std::back_inserter(beside));
  run(std::move(beside), nullptr);
  run({spread.begin() + 1, spread.end() - 1}, &counts);
  run({spread.back()}, &ends);
  launch.workers = workers;
  scale_counts(counts, launch.blocks - 2, spread.size() - 2);
  counts.add(ends);
  counts.blocks_run = spread.size();
  return ran;
}

void Device::Impl::collect_results(Engine& engine, LaunchResult& result, std::vector<ChildLaunch>* children) {
  Launch& launch = engine.current;
  result.waited_outside = launch.waited_outside;
  make_room(result.counts, launch.kernel->code->facts());
  std::vector<OutputRecord> text;
  for (unsigned i = 0; i < launch.workers; ++i) {
    Worker& w = *engine.workers[i];
    collect(w, result.counts);
    std::move(w.output.begin(), w.output.end(), std::back_inserter(text));
    std::move(w.children.begin(), w.children.end(), std::back_inserter(*children));
    for (Fault& warning : w.warnings) {
      const auto same = [&](const Fault& f) { return f.ptx_line == warning.ptx_line && f.kind == warning.kind; };
      const auto known = std::find_if(result.warnings.begin(), result.warnings.end(), same);
      if (known == result.warnings.end())
        result.warnings.push_back(std::move(warning));
      else
        known->went_on += warning.went_on;
    }
    w.output.clear();
    w.children.clear();
    w.child_error = 0;
    w.warnings.clear();
    w.warned.clear();
    w.mapped = {};
    if (w.textures) w.textures->forget();
  }
  const auto by_block = [](const auto& a, const auto& b) { return a.block < b.block; };
  std::stable_sort(text.begin(), text.end(), by_block);
  std::stable_sort(children->begin(), children->end(), by_block);
  for (OutputRecord& record : text) output.append(std::move(record));
  if (launch.keeps_time) {
    std::uint64_t before = cycles.load();
    const std::uint64_t end = *std::max_element(launch.sm_cycles.begin(), launch.sm_cycles.end());
    while (before < end && !cycles.compare_exchange_weak(before, end)) {
    }
  }
  if (launch.fault) {
    result.fault = std::move(launch.fault);
    result.survived = launch.survived;
    if (launch.stop_reason != 0) {
      std::uint64_t ended = 0;
      for (unsigned i = 0; i < launch.workers; ++i) ended += engine.workers[i]->blocks_ended;
      result.fault->message += fmt::format(": {} of its {} blocks had finished", ended, launch.blocks);
    }
    if (!launch.places.empty()) result.fault->warps = std::move(launch.places);
  }
}

// Returns the log of an earlier launch with the same arguments; this one is then not logged.
std::shared_ptr<const events::AccessLog> Device::Impl::find_repeated(Launch& launch,
                                                                     const PackedParameters& parameters) const {
  if (!launch.logs) return nullptr;
  auto found = repeated_logs.find(RepeatedLogs::key_of(launch, parameters.bytes));
  launch.logs = found == nullptr;
  return found;
}

void Device::Impl::keep_log(const Launch& launch, const PackedParameters& parameters, bool repeated,
                            events::LaunchCounts& counts) {
  if (!counts.log || launch.fault) return;
  std::uint64_t sectors = 0, digest = 0;
  for (const events::SiteCounts& c : counts.sites) {
    sectors += c.global.sectors + c.local.sectors;
    for (const std::uint64_t n :
         {c.requests, c.lanes, c.global.sectors, c.global.lines, c.global.wavefronts, c.local.sectors})
      digest = events::mixed(digest ^ (n + 1));
  }
  const auto key = RepeatedLogs::key_of(launch, parameters.bytes);
  if (repeated) return repeated_logs.compare(launch, key, digest);
  counts.log->sectors = sectors;
  repeated_logs.keep(launch, key, counts.log, digest);
}

Result<KernelRecord*> Device::Impl::checked_kernel(LoadedModule& module, std::uint32_t function,
                                                   const LaunchConfig& config) {
  auto compiled = kernel(module, function, config.block, config.counted);
  if (!compiled) return compiled.error();
  if (Status good = check(config, **compiled); !good) return good.error();
  if (Status opened = open_heaps(module); !opened) return opened.error();
  if ((*compiled)->code->parameter_bytes > kParameterAreaBytes)
    return Error{ErrorKind::bad_input, "kernel parameters of more than 32764 bytes", ""};
  return *compiled;
}

Result<LaunchResult> Device::Impl::run_grid(Engine& engine, LoadedModule& module, std::uint32_t function,
                                            const LaunchConfig& config, const PackedParameters& parameters,
                                            unsigned depth, std::vector<ChildLaunch>* children) {
  const auto compile_begin = std::chrono::steady_clock::now();
  const unsigned interrupts_before = interrupts_requested();
  auto compiled = checked_kernel(module, function, config);
  if (!compiled) return compiled.error();
  KernelRecord& record = **compiled;
  improve_if_due(record);
  if (options.timeout_seconds > 0 && !watchdog.start())
    return Error{ErrorKind::environment, "the host allows no more threads, but the time limit of a launch needs one",
                 "raise the limit (ulimit -u), or run without --timeout"};
  const auto begin = std::chrono::steady_clock::now();
  std::copy_n(parameters.bytes.data(), std::min<std::size_t>(record.code->parameter_bytes, parameters.bytes.size()),
              reinterpret_cast<std::uint8_t*>(engine.parameter_area));
  Launch& launch = engine.current;
  set_up(engine, module, record, config);
  launch.depth = depth;
  for (unsigned i = 0; i < launch.workers; ++i) {
    Worker& worker = *engine.workers[i];
    worker.launch = &launch;
    worker.finished = false;
    worker.spins_only = false;
    prepare_worker(worker, record.sites.size(), record.code->scoreboard_slots());
  }
  begin_observation(engine);
  launch.turns = turns_of(launch);
  const auto repeated = find_repeated(launch, parameters);
  enlist(&launch);
  interrupt_if_requested_since(launch, interrupts_before);  // requested during compilation
  engine.active_workers = launch.workers;
  if (abandoned) abandon(launch);
  if (options.timeout_seconds > 0) watchdog.watch(&launch, options.timeout_seconds);
  better_code.watch(&launch, record);
  const auto run_begin = std::chrono::steady_clock::now();
  LaunchResult result;
  std::uint64_t ran = launch.blocks;
  const bool some = options.blocks > 0 && options.blocks < launch.blocks;
  if (some) result.why_all_blocks = why_all_blocks(launch);
  if (some && result.why_all_blocks.empty())
    ran = run_some_blocks(engine, result.counts);
  else
    engine.team.run(launch.workers, [&](unsigned i) { run_worker(*engine.workers[i]); });
  const std::chrono::duration<double> run_time = std::chrono::steady_clock::now() - run_begin;
  record.seconds_per_block = run_time.count() * launch.workers / static_cast<double>(ran);
  if (record.is_quick()) record.quick_seconds += run_time.count() * launch.workers;
  better_code.release(&launch);
  result.quick = record.is_quick();
  if (options.timeout_seconds > 0) watchdog.release(&launch);
  engine.active_workers = 0;
  delist(&launch);
  result.config = config;
  result.kernel = record.code.get();
  result.machine = record.machine.get();
  collect_results(engine, result, children);
  result.counts.log = repeated ? repeated : collect_log(launch, engine.workers);
  keep_log(launch, parameters, repeated != nullptr, result.counts);
  if (!observers.empty() && config.counted) {
    const std::lock_guard lock(observer_mutex);
    for (events::Observer* o : observers) o->on_launch_end(launch.info, result.counts);
  }
  launch.ranges.reset();
  result.compile_seconds = std::chrono::duration<double>(begin - compile_begin).count();
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
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
  auto record = impl_->kernel(*module, function, block, counted);
  if (!record) return record.error();
  return static_cast<const jit::CompiledKernel*>((*record)->code.get());
}

}  // namespace warpgrind::device
