// A run, step by step: the program registers its code, launches kernels, and ends. Everything else is in the folders
// below; this file is their table of contents.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "advice/advise.h"
#include "base/demangle.h"
#include "device/memory/address_space.h"
#include "gpu/occupancy.h"
#include "results/sources.h"
#include "session/interrupts.h"
#include "session/messages.h"
#include "session/ranges.h"
#include "session/session.h"
#include "session/write_results.h"

namespace warpgrind::session {

// ---- 1. The program registers its code (before main, or when a library is loaded).
Result<Program*> Session::add_program(const void* wrapper) {
  Result<std::vector<fatbin::FatbinEntry>> entries = fatbin::read_wrapper(wrapper);
  if (!entries) return entries.error();
  return add_program(entries.take(), options_.program.empty() ? "program" : options_.program);
}

Result<Program*> Session::add_program(std::vector<fatbin::FatbinEntry> entries, std::string name) {
  announce();
  auto cc = static_cast<std::uint32_t>(model_->cc_major * 10 + model_->cc_minor);
  std::lock_guard lock(mutex_);
  programs_.push_back(std::make_unique<Program>(std::move(entries), cc, std::move(name)));
  return programs_.back().get();
}

// ---- 2. A kernel is launched: compile, execute, estimate, count.
namespace {

// Distinct bytes the kernel may touch: the allocations that its pointer parameters point into.
timing::Footprint footprint(const ptx::Function& entry, void** parameters) {
  std::set<std::uint64_t> seen;
  timing::Footprint total;
  std::vector<jit::ParameterLayout> layout = jit::parameter_layout(entry);
  for (std::size_t i = 0; i < layout.size(); i++) {
    for (std::uint64_t at = 0; at + 8 <= layout[i].size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const std::uint8_t*>(parameters[i]) + at, 8);
      auto range = device::AddressSpace::instance().find(word);
      if (range && seen.insert(range->low).second)
        (range->host ? total.host : total.device) += range->high - range->low;
    }
  }
  return total;
}

// Hands launches to the collector and adds up what they take.
struct Recorder {
  Session& session;
  results::Collector& collector;
  const LaunchRequest& request;
  std::atomic<std::uint64_t>& next_id;
  double estimated_ns = 0;
  double gpu_fraction = 0;  // the part of the GPU that the blocks of the grid fill

  void record(const device::LaunchResult& result, const std::string& kernel, const device::LaunchConfig& config,
              const timing::Footprint& footprint) {
    const GpuModel& model = session.model();
    auto exact = request.program->registers(kernel);
    results::LaunchRecord r;
    r.mangled_name = kernel;
    r.name = demangle(kernel);
    r.id = next_id++;
    r.device = request.device;
    r.range = open_ranges();
    r.shape = {&model,
               config.grid,
               config.block,
               result.kernel->static_shared_bytes,
               config.dynamic_shared,
               result.kernel->local_bytes,
               exact.value_or(result.kernel->register_estimate),
               exact.has_value()};
    r.facts = &result.kernel->facts();
    r.counts = &result.counts;
    r.footprint = footprint;
    r.wall_seconds = result.wall_seconds;
    r.compile_seconds = result.compile_seconds;
    Occupancy occupancy = counters::occupancy_of(r.shape);
    estimated_ns +=
        timing::estimate_kernel(model, *r.facts, result.counts, occupancy, config.grid.count(), footprint).ns;
    double resident = static_cast<double>(occupancy.blocks_per_sm) * model.sm_count;
    if (resident > 0) gpu_fraction = std::max(gpu_fraction, static_cast<double>(config.grid.count()) / resident);
    if (session.options().counters) collector.add(r);
  }
};

}  // namespace

LaunchOutcome Session::launch(const LaunchRequest& request) {
  LaunchOutcome outcome;
  device::Device& gpu = device(request.device);
  Result<device::LoadedModule*> module = request.program->loaded(gpu);
  if (!module) {
    problem(module.error());
    outcome.error = module.error();
    return outcome;
  }
  RunningKernel running;  // Ctrl-C asks the kernel to stop and to say where it is
  Result<device::LaunchResult> result = gpu.launch(*module, request.function, request.config, request.parameters);
  if (!result) {
    problem(result.error());
    outcome.error = result.error();
    return outcome;
  }
  for (const device::Fault& warning : result->warnings) finding(warning, "warning");
  if (result->fault) {
    finding(*result->fault, "error");
    if (result->fault->kind == device::FaultKind::unsupported)
      leave_status("problem", "a kernel needs something that is not supported yet");
    outcome.fault = result->fault;
    if (result->fault->kind == device::FaultKind::interrupted) {
      finish();
      running.die_of_interrupt();
    }
  }
  Recorder recorder{*this, *collector_, request, next_launch_};
  const ptx::Module& text = **request.program->module();
  if (result->kernel)
    recorder.record(*result, request.kernel, request.config,
                    footprint(text.functions[request.function], request.parameters));
  for (const device::LaunchResult& child : result->children)
    if (child.kernel) recorder.record(child, child.kernel->facts().name, child.config, {});
  outcome.span = timeline_->kernel(request.stream, recorder.estimated_ns, std::min(1.0, recorder.gpu_fraction));
  collector_->add_to_timeline(
      {request.device, request.stream, "kernel", demangle(request.kernel), outcome.span.begin, outcome.span.end, 0});
  return outcome;
}

// ---- 3. The program ends: one profile, on stderr and in the files asked for.
void Session::finish() {
  {
    std::lock_guard lock(mutex_);
    if (finished_ || forked_ || !announced_) return;
    finished_ = true;
  }
  for (auto& gpu : devices_)
    if (gpu) gpu->flush_output();
  std::fflush(stdout);
  for (results::Finding& finding : api_errors_.not_asked_for()) say(std::move(finding));
  results::Profile profile = collector_->profile();
  profile.program = options_.program;
  profile.command = options_.command;
  profile.gpu = model_->name;
  profile.detail = options_.detail;
  for (const auto& observer : observers_) observer->contribute(profile);
  if (options_.detail) results::read_sources(profile);
  advice::advise(profile);
  OutputFiles files{output_path(options_.json_path), output_path(options_.csv_path), options_.quiet,
                    options_.each_launch};
  if (Status written = write_results(profile, files); !written) problem(written.error());
}

}  // namespace warpgrind::session
