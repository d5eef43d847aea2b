// Steps of a run, in order: the program registers its code, launches kernels, and ends. The work of each step is in the
// lower folders; this file is their table of contents.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "advice/advise.h"
#include "base/demangle.h"
#include "base/file.h"
#include "counters/cache_model.h"
#include "device/memory/address_space.h"
#include "gpu/occupancy.h"
#include "results/sources.h"
#include "session/api_findings.h"
#include "session/interrupts.h"
#include "session/messages.h"
#include "session/processes.h"
#include "session/ranges.h"
#include "session/session.h"
#include "session/write_results.h"

namespace warpgrind::session {

// ---- 1. The program registers its code (before main, or when a library is loaded).
Result<Program*> Session::add_program(const void* wrapper) {
  const std::string name = options_.program.empty() ? "program" : options_.program;
  if (fatbin::gets_parts_later(wrapper)) return add_program([wrapper] { return fatbin::read_wrapper(wrapper); }, name);
  Result<std::vector<fatbin::FatbinEntry>> entries = fatbin::read_wrapper(wrapper);
  if (!entries) return entries.error();
  return add_program(entries.take(), name);
}

Result<Program*> Session::add_program(std::vector<fatbin::FatbinEntry> entries, const std::string& name) {
  return add_program([entries = std::move(entries)] { return Result(entries); }, name);
}

Result<Program*> Session::add_program(Program::Entries entries, const std::string& name) {
  announce();
  auto cc = static_cast<std::uint32_t>(model_->cc_major * 10 + model_->cc_minor);
  std::lock_guard lock(mutex_);
  programs_.push_back(std::make_unique<Program>(std::move(entries), cc, name));
  return programs_.back().get();
}

// ---- 2. A kernel is launched: compile, execute, estimate, count.
namespace {

// Allocations that the kernel's pointer parameters point into. Of managed memory, also notes how many bytes the host
// has written so far.
TouchedMemory touched_memory(const LaunchRequest& request, ManagedMemory& managed) {
  std::set<std::uint64_t> seen;
  TouchedMemory touched;
  for (const jit::ParameterLayout& p : request.kernel->parameters) {
    for (std::uint64_t at = 0; at + 8 <= p.size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, request.parameters.bytes.data() + p.offset + at, 8);
      const auto range = device::AddressSpace::instance().find(word);
      if (!range || !seen.insert(range->low).second) continue;
      const std::uint64_t bytes = range->high - range->low;
      (range->host ? touched.footprint.host : touched.footprint.device) += bytes;
      if (!range->host) touched.device.emplace_back(range->low, bytes);
      if (!range->managed) continue;
      managed.see(range->low, range->high);
      touched.managed.emplace_back(range->low, range->high);
    }
  }
  return touched;
}

// Kind of memory that each site accesses, judged by the first allocation that it accessed.
std::vector<timing::SiteMemory> memories_of(const events::AccessLog& log, int device) {
  std::vector<timing::SiteMemory> out;
  for (const auto& [low, high] : log.ranges) {
    timing::SiteMemory& memory = out.emplace_back(timing::SiteMemory::own);
    const auto range = high != 0 ? device::AddressSpace::instance().find(low) : std::nullopt;
    if (!range || range->managed) continue;
    if (range->host)
      memory = timing::SiteMemory::host;
    else if (range->device != device)
      memory = timing::SiteMemory::peer;
  }
  return out;
}

// Demangled name, cached per kernel: demangling takes a microsecond.
std::string shown_name(const std::string& mangled) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_map<std::string, std::string>;  // launches may end while the process ends
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = names.try_emplace(mangled);
  if (fresh) at->second = demangle(mangled);
  return at->second;
}

counters::LaunchShape shape_of(const GpuModel& model, const KernelResources* needs, const jit::CompiledKernel& kernel,
                               const device::LaunchConfig& config, int carveout_percent) {
  counters::LaunchShape shape{&model,
                              config.grid,
                              config.block,
                              kernel.static_shared_bytes,
                              config.dynamic_shared,
                              kernel.local_bytes,
                              needs ? needs->registers : kernel.register_estimate,
                              needs && needs->registers_exact,
                              carveout_percent};
  shape.occupancy = counters::occupancy_of(shape);
  return shape;
}

// Models the GPU's caches on the logged accesses, and drops the log.
void model_caches(const counters::LaunchShape& shape, device::LaunchResult& result) {
  events::LaunchCounts& counts = result.counts;
  if (counts.log && result.kernel)
    counts.caches = counters::caches_of(*shape.model, counters::cache_sizes(*shape.model, *shape.occupancy),
                                        result.kernel->facts(), counts, *counts.log);
  counts.log.reset();
}

// Computes the shape of each launch once. Child launches have no preferred carveout.
void look_at(const GpuModel& model, const LaunchRequest& request, LaunchOutcome& outcome) {
  const auto look = [&](device::LaunchResult& result, const KernelResources* needs, int percent) {
    counters::LaunchShape& shape = outcome.shapes.emplace_back();
    if (result.kernel) shape = shape_of(model, needs, *result.kernel, result.config, percent);
    model_caches(shape, result);
  };
  look(*outcome.result, &request.kernel->resources, request.carveout_percent);
  for (device::LaunchResult& child : outcome.result->children) {
    const Result<KernelResources> needs =
        request.program->resources(child.kernel ? child.kernel->facts().name : std::string());
    look(child, needs.ok() ? &*needs : nullptr, -1);
  }
}

double part_of_gpu(const counters::LaunchShape& shape, const Occupancy& occupancy) {
  double resident = static_cast<double>(occupancy.blocks_per_sm) * shape.model->sm_count;
  return resident > 0 ? static_cast<double>(shape.grid.count()) / resident : 0;
}

// Passes launches to the collector and adds up their times.
struct Recorder {
  Session& session;
  results::Collector& collector;
  const LaunchRequest& request;
  std::atomic<std::uint64_t>& next_id;
  std::map<std::string, double>& ns_a_block;
  TimeEstimates& estimates;
  timing::KernelTime time{};
  double gpu_fraction = 0;  // the part of the GPU that the blocks of the grid fill

  void record(const device::LaunchResult& result, const TouchedMemory& touched, const counters::LaunchShape& shape) {
    if (!result.kernel) return;
    results::LaunchRecord r;
    r.mangled_name = result.kernel->facts().name;
    r.name = shown_name(r.mangled_name);
    r.id = next_id++;
    r.device = request.device;
    r.range = request.ranges;
    r.shape = shape;
    r.shape.code = result.machine;
    r.facts = &result.kernel->facts();
    r.counts = &result.counts;
    r.footprint = touched.footprint;
    r.wall_seconds = result.wall_seconds;
    r.compile_seconds = result.compile_seconds;
    const Occupancy occupancy = counters::occupancy_of(shape);
    r.estimate = estimate(result, occupancy, touched);
    const double blocks = std::max(1.0, static_cast<double>(result.config.grid.count()));
    double& known = ns_a_block[r.mangled_name];
    if (result.config.counted)
      known = r.estimate.ns / blocks;
    else
      r.estimate.add(std::max(0.0, known * blocks - r.estimate.ns));
    add_time(r.estimate);
    gpu_fraction = std::max(gpu_fraction, part_of_gpu(r.shape, occupancy));
    if (!session.options().counters) return;
    if (result.config.counted)
      collector.add(r);
    else
      collector.leave_out_launch();
  }

 private:
  // Grids that a kernel launches run one after the other.
  void add_time(const timing::KernelEstimate& e) {
    const TimingConstants& c = session.model().timing;
    const bool first = time.queued == 0;
    const double alone = e.event_ns - c.event_pair_ns;
    time.alone += first ? alone : e.queued_ns;
    time.graph_first += first ? alone + c.graph_launch_ns - c.launch_event_ns : e.queued_ns;
    time.graph_next += first ? e.chained_ns(session.model()) : e.queued_ns;
    time.queued += e.queued_ns;
  }

  // Bytes that migrate to the GPU, in pages of 64 KiB. Accesses are assumed to be spread evenly over the allocations.
  double migrated(const device::LaunchResult& result, const TouchedMemory& touched) const {
    constexpr double kPage = 64 * 1024;
    const double all = static_cast<double>(touched.footprint.total());
    const bool moves_all = session.model().timing.migration_gbps <= 0;  // GPUs without page faults move all at a launch
    double part = 1, bytes = 0;
    if (!moves_all && result.counts.caches && all > 0)
      part = std::min(1.0, result.counts.caches->footprint_bytes / all);
    for (const auto& [low, high] : touched.managed)
      bytes += session.managed_memory().to_device(low, std::max(kPage, part * static_cast<double>(high - low)));
    return bytes;
  }

  timing::KernelEstimate estimate(const device::LaunchResult& result, const Occupancy& occupancy,
                                  const TouchedMemory& touched) {
    timing::LaunchSeen seen;
    seen.code = result.machine;
    seen.facts = &result.kernel->facts();
    seen.counts = &result.counts;
    if (result.counts.caches) seen.caches = &*result.counts.caches;
    seen.occupancy = occupancy;
    seen.blocks = result.config.grid.count();
    seen.threads_per_block = result.config.block.count();
    seen.footprint = touched.footprint;
    if (!touched.memories.empty()) seen.memories = &touched.memories;
    seen.migrated_bytes = migrated(result, touched);
    return estimates.launch(request.device, seen, touched, request.ranges, !session.options().work_path.empty());
  }
};

std::string newer_code(const GpuModel& model, bool refused) {
  if (refused)
    return fmt::format(
        "the program has code for newer GPUs only: the {} (sm_{}{}) itself would refuse it "
        "(cudaErrorNoKernelImageForDevice); here it runs",
        model.name, model.cc_major, model.cc_minor);
  return fmt::format(
      "the program has machine code for the {} (sm_{}{}), which does not run here, and PTX for newer GPUs "
      "only: that runs, and may do other than the machine code does",
      model.name, model.cc_major, model.cc_minor);
}

}  // namespace

std::variant<double, Session::Refusal> Session::prepare(const LaunchRequest& request) {
  device::Device& gpu = device(request.device);
  Result<device::LoadedModule*> module = request.program->loaded(gpu);
  if (!module) return Refusal{Refusal::Step::load, module.error()};
  if (request.kernel->beyond_model) return Refusal{Refusal::Step::architecture, *request.kernel->beyond_model};
  if (request.program->newer_than_model() && !options_.quiet)
    say_once(newer_code(*model_, request.program->refused_by_model()));
  const auto note = [&](const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    compiling_ = kernel;
  };
  note(request.kernel->name);
  auto kernel = gpu.compiled(*module, request.kernel->function, request.config.block, request.config.counted);
  note("");
  if (!kernel) return Refusal{Refusal::Step::compile, kernel.error()};
  if (auto fits = gpu.prepare(*module, request.kernel->function, request.config); !fits)
    return Refusal{Refusal::Step::shape, fits.error()};
  const counters::LaunchShape shape =
      shape_of(*model_, &request.kernel->resources, **kernel, request.config, request.carveout_percent);
  return part_of_gpu(shape, counters::occupancy_of(shape));
}

LaunchOutcome Session::run(const LaunchRequest& request) {
  LaunchOutcome outcome;
  device::Device& gpu = device(request.device);
  Result<device::LoadedModule*> module = request.program->loaded(gpu);
  if (!module) {
    outcome.error = module.error();
    return outcome;
  }
  outcome.touched = touched_memory(request, managed_memory_);
  const std::unique_ptr<Snapshot> snapshot = snapshot_before(gpu, request, *module);
  RunningKernel running;  // Ctrl-C stops the kernel, which then reports its position
  device::LaunchConfig config = request.config;
  config.range = request.ranges;
  Result<device::LaunchResult> result =
      gpu.launch(*module, request.kernel->function, config, request.parameters, request.work);
  if (!result) {
    outcome.error = result.error();
    return outcome;
  }
  if (result->fault && result->fault->kind == device::FaultKind::interrupted) {
    finding(*result->fault, results::Severity::error);
    finish();
    running.die_of_interrupt();
  }
  outcome.result = result.take();
  if (outcome.result->counts.log) outcome.touched.memories = memories_of(*outcome.result->counts.log, request.device);
  look_at(*model_, request, outcome);
  if (snapshot) try_other_orders(*snapshot, request, *outcome.result);
  return outcome;
}

// With --blocks: reports once which launches ran in part, and for each kernel that had to run whole.
void Session::note_blocks(const device::LaunchResult& result) {
  if (options_.blocks == 0 || !result.kernel) return;
  results::Finding finding;
  finding.severity = results::Severity::warning;
  finding.kind = "some-blocks";
  if (!result.why_all_blocks.empty()) {
    finding.kernel = shown_name(result.kernel->facts().name);
    finding.message = fmt::format("all blocks ran in spite of --blocks {}: {}", options_.blocks, result.why_all_blocks);
  } else if (result.counts.blocks_run != 0) {
    finding.message = fmt::format(
        "of each launch about {} blocks ran (--blocks), and the counts are scaled to all of them; what the program "
        "computed is not valid",
        options_.blocks);
  } else {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!blocks_noted_.insert(finding.kernel).second) return;
  }
  say(std::move(finding));
}

timing::Span Session::record(const LaunchRequest& request, const LaunchOutcome& outcome, timing::HostClock& host) {
  if (outcome.error) problem(*outcome.error);
  if (!outcome.result) return timeline_->work(request.stream, host, 0);
  const device::LaunchResult& result = *outcome.result;
  if (checkers_ && result.fault) {
    checkers_->note_fault();
    after_fault_.failed(*result.fault);
  }
  const auto warn = [&](const device::LaunchResult& of) {
    for (const device::Fault& warning : of.warnings)
      if (warning.went_on)
        went_on(warning);
      else
        finding(warning, results::Severity::warning);
  };
  warn(result);
  for (const device::LaunchResult& child : result.children) warn(child);
  if (result.fault && !result.survived) {  // else a checker reports it
    finding(*result.fault, results::Severity::error);
    if (result.fault->kind == device::FaultKind::unsupported)
      leave_status("problem", "a kernel needs something that is not supported yet");
  }
  note_blocks(result);
  Recorder recorder{*this, *collector_, request, next_launch_, ns_a_block_, *estimates_};
  recorder.record(result, outcome.touched, outcome.shapes.front());
  for (std::size_t i = 0; i < result.children.size(); ++i)
    recorder.record(result.children[i], {}, outcome.shapes[i + 1]);
  const timing::Span span =
      timeline_->kernel(request.stream, host, recorder.time, std::min(1.0, recorder.gpu_fraction));
  collector_->add_to_timeline({request.device, request.stream, "kernel", shown_name(request.kernel->name), span.begin,
                               span.end, 0, request.work});
  return span;
}

// ---- 3. The program ends: one profile, on stderr and in the requested files.
void Session::finish(bool at_once) {
  if (forked_) return;  // before the lock: a thread that the fork did not copy may have held it
  std::unique_ptr<std::atomic<bool>, decltype([](std::atomic<bool>* told) { told->store(true); })> at_end;
  {
    std::lock_guard lock(mutex_);
    if (finished_ || !announced_) return;
    at_end.reset(&told_);
    finished_ = true;
    ended_ = true;
    if (number_ == 0) {
      if (any_process(options_.status_directory)) return;  // it has only started processes that use CUDA
      take_name();
      number_ = claim_process_number(options_.status_directory);
    }
  }
  if (!at_once) {
    for (auto& gpu : devices_)
      if (gpu) gpu->flush_output();
    std::fflush(stdout);
  }
  sum_up_what_went_on();
  say_nvidias_libraries();  // libraries that were loaded late
  if (!checkers_)
    for (results::Finding& finding : api_errors_.not_asked_for()) say(std::move(finding));
  results::Profile profile = collector_->profile();
  profile.program = options_.program;
  profile.command = options_.command;
  profile.gpu = model_->name;
  profile.detail = options_.detail;
  profile.chosen_launches = as_options(options_.launches);
  for (const auto& [group, member] : checkers::kGroups)
    if (options_.checks.*member) profile.checks.emplace_back(group);
  for (const auto& observer : observers_) observer->contribute(profile);
  if (checkers_)
    for (results::Finding& finding : checkers_->report()) profile.findings.push_back(std::move(finding));
  if (checkers_ && options_.checks.api)
    for (results::Finding& finding : api_findings(api_errors_.not_asked_for_entries(), *checkers_))
      profile.findings.push_back(std::move(finding));
  std::vector<OrderOutcome> others;
  for (auto& [work, outcomes] : other_orders_) std::move(outcomes.begin(), outcomes.end(), std::back_inserter(others));
  join(profile.findings, others);
  if (checkers_ && options_.checks.api)
    if (auto sticky = after_fault_.finding(checkers_->gone_on())) profile.findings.push_back(std::move(*sticky));
  if (options_.detail || checkers_) results::read_sources(profile);
  advice::advise(profile);
  if (!options_.work_path.empty())
    if (Status s = write_whole(of_process(options_.work_path, number_), estimates_->rows()); !s) problem(s.error());
  OutputFiles files{of_process(options_.json_path, number_), of_process(options_.csv_path, number_), options_.quiet,
                    options_.each_launch};
  if (Status written = write_results(profile, files); !written) return problem(written.error());
  if (!host_clock_.empty() && !options_.quiet && !checkers_)
    say_once(
        fmt::format("the program reads the host's clock around launches ({}): it measured the simulation. The time "
                    "on the modelled GPU is in the table; cudaEventElapsedTime gives it to the program",
                    host_clock_));
  leave_note(options_.status_directory, {number_, ::getpid(), true, options_.command, files.json, files.csv});
}

}  // namespace warpgrind::session
