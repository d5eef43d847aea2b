// The work of the session for each launch, in the order of its steps: prepare, run, record.
#include "session/launches.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/assert.h"
#include "counters/cache_model.h"
#include "device/memory/address_space.h"
#include "gpu/occupancy.h"
#include "session/interrupts.h"

namespace warpgrind::session {

Launches::Launches(const Parts& parts) : parts_(parts), choice_(parts.options.launches) {}

// ---- Prepare
namespace {

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

double part_of_gpu(const counters::LaunchShape& shape) {
  const double resident = static_cast<double>(counters::occupancy_of(shape).blocks_per_sm) * shape.model->sm_count;
  return resident > 0 ? static_cast<double>(shape.grid.count()) / resident : 0;
}

std::string unfit_code(const GpuModel& model, bool refused) {
  if (refused)
    return fmt::format(
        "the program has code only for other GPUs: a real {} (sm_{}{}) would refuse it "
        "(cudaErrorNoKernelImageForDevice), but here it runs",
        model.name, model.cc_major, model.cc_minor);
  return fmt::format(
      "the program has machine code for the {} (sm_{}{}), which cannot run here, and PTX only for other GPUs: the PTX "
      "runs, and may behave differently from the machine code",
      model.name, model.cc_major, model.cc_minor);
}

}  // namespace

std::variant<double, Launches::Refusal> Launches::prepare(const LaunchRequest& request) {
  device::Device& gpu = parts_.devices[request.device];
  Result<device::LoadedModule*> module = request.program->loaded(gpu);
  if (!module) return Refusal{Refusal::Step::load, module.error()};
  if (request.kernel->beyond_model) return Refusal{Refusal::Step::architecture, *request.kernel->beyond_model};
  if (request.program->unfit_for_model() && !parts_.options.quiet)
    parts_.messages.say_once(unfit_code(parts_.model, request.program->refused_by_model()));
  parts_.run.note_compilation(request.kernel->name);
  auto kernel = gpu.compiled(*module, request.kernel->function, request.config.block, request.config.counted);
  parts_.run.note_compilation("");
  if (!kernel) return Refusal{Refusal::Step::compile, kernel.error()};
  if (auto fits = gpu.prepare(*module, request.kernel->function, request.config); !fits)
    return Refusal{Refusal::Step::shape, fits.error()};
  const counters::LaunchShape shape =
      shape_of(parts_.model, &request.kernel->resources, **kernel, request.config, request.carveout_percent);
  return part_of_gpu(shape);
}

// ---- Run
namespace {

// Allocations that the kernel's pointer parameters point into. Of managed memory, also notes how many bytes the host
// has written so far.
TouchedMemory touched_memory(const LaunchRequest& request, ManagedMemory& managed) {
  std::set<std::uint64_t> seen;
  TouchedMemory touched;
  for (const jit::ParameterLayout& p : request.kernel->parameters) {
    WG_ASSERT(p.offset + p.size <= request.parameters.bytes.size());
    for (std::uint64_t at = 0; at + 8 <= p.size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, request.parameters.bytes.data() + p.offset + at, 8);
      const auto range = device::AddressSpace::instance().find(word);
      if (!range || !seen.insert(range->low).second) continue;
      const std::uint64_t bytes = range->high - range->low;
      (range->host ? touched.footprint.host : touched.footprint.device) += bytes;
      if (!range->host) touched.device.push_back({range->low, range->high, static_cast<double>(bytes)});
      if (!range->managed) continue;
      managed.see(range->low, range->high);
      touched.managed.emplace_back(range->low, range->high);
    }
  }
  return touched;
}

// The log counts addresses of GPUs' memory from its beginning; L2 holds no memory of the host.
void place_spans(events::CacheCounts& caches) {
  device::AddressSpace& space = device::AddressSpace::instance();
  std::vector<events::TouchedSpan> out;
  for (events::TouchedSpan s : caches.spans.list) {
    auto range = space.find(s.begin);
    if (!range) {
      s.begin += space.reserved_base();
      s.end += space.reserved_base();
      range = space.find(s.begin);
    }
    if (!range || !range->host) out.push_back(s);
  }
  caches.spans.list = std::move(out);
}

// Models the GPU's caches on the logged accesses, and drops the log.
void model_caches(const counters::LaunchShape& shape, device::LaunchResult& result) {
  events::LaunchCounts& counts = result.counts;
  if (counts.log && result.kernel)
    counts.caches = counters::caches_of(*shape.model, counters::cache_sizes(*shape.model, *shape.occupancy),
                                        result.kernel->facts(), counts, *counts.log);
  if (counts.caches) place_spans(*counts.caches);
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

}  // namespace

LaunchOutcome Launches::run(const LaunchRequest& request) {
  LaunchOutcome outcome;
  device::Device& gpu = parts_.devices[request.device];
  Result<device::LoadedModule*> module = request.program->loaded(gpu);
  if (!module) {
    outcome.error = module.error();
    return outcome;
  }
  outcome.touched = touched_memory(request, parts_.managed_memory);
  const std::unique_ptr<Snapshot> snapshot = parts_.trials.snapshot_before(gpu, request, *module);
  const std::unique_ptr<LaunchStart> start = parts_.core_dump.keep_start(request);
  RunningKernel running;  // Ctrl-C stops the kernel, which then reports its position
  device::LaunchConfig config = request.config;
  config.range = request.ranges;
  if (request.stream != timing::Timeline::legacy_default(request.device)) config.stream = request.stream;
  Result<device::LaunchResult> result =
      gpu.launch(*module, request.kernel->function, config, request.parameters, request.work);
  if (!result) {
    outcome.error = result.error();
    return outcome;
  }
  if (result->fault && result->fault->kind == device::FaultKind::interrupted) {
    parts_.findings.add(*result->fault, results::Severity::error);
    parts_.run.finish();
    running.die_of_interrupt();
  }
  outcome.result = result.take();
  if (start) parts_.core_dump.write_after(*start, request, **module, *outcome.result);
  if (outcome.result->counts.log) outcome.touched.far = outcome.result->counts.log->far;
  look_at(parts_.model, request, outcome);
  if (snapshot) parts_.trials.try_others(*snapshot, request, *outcome.result);
  return outcome;
}

// ---- Record
namespace {

// Passes launches to the collector and adds up their times.
struct Recorder {
  const Launches::Parts& parts;
  const LaunchRequest& request;
  std::atomic<std::uint64_t>& next_id;
  std::map<std::string, double>& ns_a_block;
  std::map<const sass::Code*, sass::Spills>& known_spills;
  timing::KernelTime time{};
  double gpu_fraction = 0;  // the part of the GPU that the blocks of the grid fill

  void record(const device::LaunchResult& result, const TouchedMemory& touched, const counters::LaunchShape& shape) {
    if (!result.kernel) return;
    results::LaunchRecord r;
    r.mangled_name = result.kernel->facts().name;
    r.name = shown_name(r.mangled_name);
    parts.activity.kernel_ran(r.mangled_name, r.name);
    r.id = next_id++;
    r.device = request.device;
    r.range = request.ranges;
    r.shape = shape;
    r.shape.code = result.machine;
    r.shape.spills = spills_of(r.mangled_name, result.machine);
    r.facts = &result.kernel->facts();
    r.counts = &result.counts;
    r.footprint = touched.footprint;
    r.wall_seconds = result.wall_seconds;
    r.compile_seconds = result.compile_seconds;
    const Occupancy occupancy = counters::occupancy_of(shape);
    LaunchTime launch = estimate(result, occupancy, touched, r.shape.spills);
    r.estimate = std::move(launch.estimate);
    r.work = launch.work;
    r.l2 = launch.l2;
    const double blocks = std::max(1.0, static_cast<double>(result.config.grid.count()));
    double& known = ns_a_block[r.mangled_name];
    if (result.config.counted)
      known = r.estimate.ns / blocks;
    else
      r.estimate.add(std::max(0.0, known * blocks - r.estimate.ns));
    add_time(r.estimate);
    gpu_fraction = std::max(gpu_fraction, part_of_gpu(shape));
    if (!parts.options.counters) return;
    if (result.config.counted)
      parts.collector.add(r);
    else
      parts.collector.leave_out_launch();
  }

 private:
  // Null: nothing is spilled.
  const sass::Spills* spills_of(const std::string& kernel, const sass::Code* code) {
    if (code == nullptr) return nullptr;
    const auto [at, fresh] = known_spills.try_emplace(code);
    if (fresh) at->second = request.program->spills(kernel, *code);
    return at->second.any() ? &at->second : nullptr;
  }

  // Grids that a kernel launches run one after the other.
  void add_time(const timing::KernelEstimate& e) {
    const TimingConstants& c = parts.model.timing;
    const bool first = time.queued == 0;
    const double alone = e.event_ns - c.event_pair_ns;
    time.alone += first ? alone : e.queued_ns;
    time.graph_first += first ? alone + c.graph_launch_ns - c.launch_event_ns : e.queued_ns;
    time.graph_next += first ? e.chained_ns(parts.model) : e.queued_ns;
    time.queued += e.queued_ns;
  }

  // Bytes that migrate to the GPU, in pages of 64 KiB. Accesses are assumed to be spread evenly over the allocations.
  double migrated(const device::LaunchResult& result, const TouchedMemory& touched) const {
    constexpr double kPage = 64 * 1024;
    const double all = static_cast<double>(touched.footprint.total());
    const bool moves_all = parts.model.timing.migration_gbps <= 0;  // GPUs without page faults move all at a launch
    double part = 1, bytes = 0;
    if (!moves_all && result.counts.caches && all > 0)
      part = std::min(1.0, result.counts.caches->footprint_bytes / all);
    for (const auto& [low, high] : touched.managed)
      bytes += parts.managed_memory.to_device(low, std::max(kPage, part * static_cast<double>(high - low)));
    return bytes;
  }

  LaunchTime estimate(const device::LaunchResult& result, const Occupancy& occupancy, const TouchedMemory& touched,
                      const sass::Spills* spills) {
    timing::LaunchSeen seen;
    seen.code = result.machine;
    seen.spills = spills;
    seen.facts = &result.kernel->facts();
    seen.counts = &result.counts;
    if (result.counts.caches) seen.caches = &*result.counts.caches;
    seen.occupancy = occupancy;
    seen.blocks = result.config.grid.count();
    seen.threads_per_block = result.config.block.count();
    seen.footprint = touched.footprint;
    if (!touched.far.empty()) seen.far = &touched.far;
    seen.migrated_bytes = migrated(result, touched);
    return parts.estimates.launch(request.device, seen, touched, request.ranges, !parts.options.work_path.empty());
  }
};

}  // namespace

timing::Span Launches::record(const LaunchRequest& request, const LaunchOutcome& outcome, timing::HostClock& host) {
  if (outcome.error) parts_.messages.problem(*outcome.error);
  if (!outcome.result) return parts_.timeline.work(request.stream, host, 0);
  const device::LaunchResult& result = *outcome.result;
  parts_.findings.add_all_of(result);
  if (gone_.again()) spills_.clear();
  Recorder recorder{parts_, request, next_launch_, ns_a_block_, spills_};
  WG_ASSERT(outcome.shapes.size() == 1 + result.children.size());
  recorder.record(result, outcome.touched, outcome.shapes.front());
  for (std::size_t i = 0; i < result.children.size(); ++i)
    recorder.record(result.children[i], {}, outcome.shapes[i + 1]);
  // An H200 leaves 0.6 us between such kernels, as between the nodes of a graph; else 1.4 us.
  if (request.early) recorder.time.queued = std::min(recorder.time.queued, recorder.time.graph_next);
  const timing::Span span =
      parts_.timeline.kernel(request.stream, host, recorder.time, std::min(1.0, recorder.gpu_fraction));
  parts_.collector.add_to_timeline({request.device, request.stream, "kernel", shown_name(request.kernel->name),
                                    span.begin, span.end, 0, request.work});
  return span;
}

}  // namespace warpgrind::session
