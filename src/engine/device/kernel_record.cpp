// Compiled kernels of a module: compilation at the first launch, and the conditions of a launch.
#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.h"
#include "base/element.h"
#include "device/block_work.h"
#include "device/device_impl.h"
#include "device/stop_handler.h"
#include "events/barriers.h"
#include "flow/data_dependence.h"
#include "flow/spin_loops.h"
#include "gpu/launch_limits.h"
#include "jit/stop_registers.h"
#include "ptx/inlining.h"
#include "sass/code.h"

namespace warpgrind::device {

namespace {

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

}  // namespace

// One frame for each call that fits into the thread's stack.
std::uint64_t KernelRecord::stack_bytes(std::uint64_t local_size) const {
  const std::uint64_t least = code->least_recursive_frame;
  return newest().frame_bytes * (1 + (least ? local_size / least : 0));
}

Result<KernelRecord*> Device::Impl::kernel(LoadedModule& module, std::uint32_t function, const Dim3& block,
                                           bool counted, bool clusters) {
  const ptx::Module& text = module.module();
  if (function >= text.functions.size() || !text.functions[function].is_entry)
    return Error{ErrorKind::bad_input, "not a kernel of this module", ""};
  const events::Wants asked = counted ? wants : events::Wants();
  // A debugger shows undefined bits of variables. Where there are none, tracking would only cost time.
  const bool only_shown = options.stops && !wants.undefined_uses;
  LoadedModule::Key key{function,
                        jit::lane_shape_of(block),
                        counted && (options.counters || asked.counts),
                        asked.accesses && !asked.only_written,
                        asked.accesses && asked.only_written,
                        asked.edges,
                        asked.fences || asked.async_groups || asked.warp_syncs || asked.absent_lanes || asked.exits,
                        shadow != nullptr && (!only_shown || jit::has_variables(text)),
                        clusters,
                        options.stops ? options.stops->stops_at() : jit::StopAt::nowhere};
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
  how.clusters = key.clusters;
  how.stops = key.stops;
  how.cpu = options.cpu;
  how.cache_directory = options.cache_directory;
  how.prepared_directory = options.prepared_directory;
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
    if (flow::rounds_of_loops(text, function) == flow::Rounds::differ)
      record->weights = work_weights(record->code->facts());
    if (!record->weights.empty() && events::has_barriers(record->code->facts()))
      record->loop_entries = loop_entries(record->code->facts());
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

namespace {

// "line 7", or the line of the PTX if the source is not known.
std::string line_of(const ptx::Module& module, std::uint32_t function, std::uint32_t instruction) {
  const ptx::Function& f = module.functions[function];
  const ptx::SourcePlace place = ptx::source_place(module, f, f.body[instruction]);
  return place.line != 0 ? fmt::format("line {}", place.line)
                         : fmt::format("PTX line {}", f.body[instruction].range.line);
}

}  // namespace

const std::string& KernelRecord::data_dependence() const {
  std::call_once(dependence_found_, [&] {
    const std::optional<flow::DataDependence> found = flow::find_data_dependence(*module, function);
    if (!found) return;
    const auto what = [&] {
      switch (found->kind) {
        case flow::DataDependence::Kind::branch:
          return "a branch";
        case flow::DataDependence::Kind::guard:
          return "whether a thread executes an instruction";
        case flow::DataDependence::Kind::address:
          return "an address";
        case flow::DataDependence::Kind::operand:
          return "the size of an operation";
        case flow::DataDependence::Kind::callee:
          return "the function that is called";
      }
      return "";
    };
    dependence_ = fmt::format("it depends on data: {} in {}, by what {} reads", what(),
                              line_of(*module, found->function, found->instruction),
                              line_of(*module, found->source_function, found->source));
  });
  return dependence_;
}

bool KernelRecord::may_wait_for_blocks() const {
  std::call_once(waits_found_, [&] { may_wait_for_blocks_ = flow::may_wait_for_blocks(*module, function); });
  return may_wait_for_blocks_;
}

const std::vector<std::uint8_t>& KernelRecord::deciding_bytes() const {
  std::call_once(deciding_found_, [&] {
    const std::vector<bool> deciding = flow::deciding_parameters(*module, function);
    const std::vector<jit::ParameterLayout> layout = jit::parameter_layout(*text);
    WG_ASSERT(layout.size() == deciding.size());
    deciding_bytes_.assign(code->parameter_bytes, 0xff);
    for (std::size_t p = 0; p < layout.size(); ++p)
      if (!deciding[p])
        for (std::uint64_t b = 0; b < layout[p].size; ++b) element(deciding_bytes_, layout[p].offset + b) = 0;
  });
  return deciding_bytes_;
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

Result<KernelRecord*> Device::Impl::checked_kernel(LoadedModule& module, std::uint32_t function,
                                                   const LaunchConfig& config) {
  auto compiled = kernel(module, function, config.block, config.counted, config.cluster.count() > 1);
  if (!compiled) return compiled.error();
  if (Status good = check(config, **compiled); !good) return good.error();
  if (Status opened = open_heaps(module); !opened) return opened.error();
  if ((*compiled)->code->parameter_bytes > kParameterAreaBytes)
    return Error{ErrorKind::bad_input, "kernel parameters of more than 32764 bytes", ""};
  return *compiled;
}

}  // namespace warpgrind::device
