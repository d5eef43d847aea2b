// Device::launch: from a kernel and its arguments to counts and faults.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/demangle.h"
#include "device/calls/site_counting.h"
#include "device/device_impl.h"
#include "device/fault.h"

namespace warpgrind::device {

namespace {

std::atomic<std::uint64_t> g_launches{0};

AccessType access_type(events::SiteKind kind) {
  switch (kind) {
    case events::SiteKind::store:
      return AccessType::store;
    case events::SiteKind::atomic:
      return AccessType::atomic;
    case events::SiteKind::reduction:
      return AccessType::reduction;
    default:
      return AccessType::load;
  }
}

std::vector<SiteFacts> pack_sites(const events::KernelFacts& facts) {
  std::vector<SiteFacts> out;
  out.reserve(facts.sites.size());
  for (const events::Site& s : facts.sites)
    out.push_back(
        {s.space, s.kind, s.element_bytes, s.vector, static_cast<std::uint8_t>(s.bytes()), access_type(s.kind)});
  return out;
}

std::vector<WarpShape> warp_shapes(const Dim3& block) {
  const auto threads = static_cast<std::uint32_t>(block.count());
  std::vector<WarpShape> shapes((threads + kWarpSize - 1) / kWarpSize);
  for (std::uint32_t w = 0; w < shapes.size(); ++w) {
    WarpShape& s = shapes[w];
    s.mask = 0;
    for (std::uint32_t l = 0; l < kWarpSize; ++l) {
      const std::uint32_t t = w * kWarpSize + l;
      s.tid[0][l] = t % block.x;
      s.tid[1][l] = t / block.x % block.y;
      s.tid[2][l] = t / block.x / block.y;
      if (t < threads) s.mask |= 1u << l;
    }
    for (unsigned k = 0; k < 3; ++k) s.tid_base[k] = s.tid[k][0];
  }
  return shapes;
}

}  // namespace

Result<KernelRecord*> Device::Impl::kernel(LoadedModule& module, std::uint32_t function, const Dim3& block) {
  const ptx::Module& text = module.module();
  if (function >= text.functions.size() || !text.functions[function].is_entry)
    return Error{ErrorKind::bad_input, "not a kernel of this module", ""};
  LoadedModule::Key key{function, jit::lane_shape_of(block), options.counters || wants.counts, wants.accesses,
                        wants.edges};
  std::unique_ptr<KernelRecord>& record = module.kernels[key];
  if (record) return record.get();
  jit::CompileOptions how;
  how.shape = key.shape;
  how.counters = key.counters;
  how.every_access = key.every_access;
  how.edges = key.edges;
  how.cpu = options.cpu;
  how.cache_directory = options.cache_directory;
  how.tier = options.tier;
  how.on_slow = options.on_slow_compilation;
  how.on_cache_refused = options.on_cache_refused;
  auto code = compiler->compile(text, function, how);
  if (!code) {
    module.kernels.erase(key);
    return code.error();
  }
  record = std::make_unique<KernelRecord>();
  record->code = code.take();
  record->sites = pack_sites(record->code->facts());
  record->demangled = demangle(text.functions[function].name);
  record->shape = key.shape;
  record->every_access = key.every_access;
  return record.get();
}

Status Device::Impl::check(const LaunchConfig& config, const KernelRecord& kernel) const {
  const Dim3 &g = config.grid, &b = config.block;
  const auto bad = [](std::string message) { return Error{ErrorKind::bad_input, std::move(message), ""}; };
  if (g.count() == 0 || b.count() == 0) return bad("a grid or block of size 0");
  if (b.count() > model.max_threads_per_block || b.x > model.max_block_dim[0] || b.y > model.max_block_dim[1] ||
      b.z > model.max_block_dim[2])
    return bad(fmt::format("a block of {} x {} x {} threads: the {} takes up to {}", b.x, b.y, b.z, model.name,
                           model.max_threads_per_block));
  if (g.x > model.max_grid_dim[0] || g.y > model.max_grid_dim[1] || g.z > model.max_grid_dim[2])
    return bad(fmt::format("a grid of {} x {} x {} blocks is too large for the {}", g.x, g.y, g.z, model.name));
  const std::uint64_t shared = kernel.code->dynamic_shared_offset + config.dynamic_shared;
  const std::uint64_t limit = std::max(model.shared_per_block, model.shared_per_block_optin);
  if (shared > limit)
    return bad(fmt::format("{} bytes of shared memory a block: the {} has {}", shared, model.name, limit));
  return Ok{};
}

Status Device::Impl::open_heaps(const LoadedModule& module) {
  constexpr std::uint64_t kLaunchMemory = std::uint64_t{64} << 20;
  const bool allocates = module.calls("malloc") || module.calls("__cudaCDP2Malloc") || module.calls("cudaMalloc");
  const bool launches = module.calls("__cudaCDP2GetParameterBufferV2") || module.calls("cudaGetParameterBufferV2") ||
                        module.calls("__cudaCDP2GetErrorString");
  if (allocates)
    if (Status opened = heap.open(heap_size, ordinal); !opened) return opened;
  if (launches)
    if (Status opened = launch_memory.open(kLaunchMemory, ordinal); !opened) return opened;
  Range attributes;
  attributes.device = ordinal;
  if (!grid_workspace) {
    auto at = AddressSpace::instance().allocate(64, 512, attributes);
    if (!at) return at.error();
    grid_workspace = *at;
  }
  if (!parameter_area) {
    attributes.constant = true;
    auto at = AddressSpace::instance().allocate(kParameterAreaBytes, 512, attributes);
    if (!at) return at.error();
    parameter_area = *at;
  }
  return Ok{};
}

void Device::Impl::set_up(Launch& launch, LoadedModule& module, const KernelRecord& kernel,
                          const LaunchConfig& config) {
  launch.device = &device;
  launch.module = &module;
  launch.kernel = &kernel;
  launch.entry = kernel.code->entry();
  launch.config = config;
  launch.serial = g_launches++;
  launch.info = {launch.serial, &kernel.code->facts(), &module.module(), config.grid,
                 config.block,  config.dynamic_shared, ordinal};
  launch.rules = model.rules;
  launch.counters = options.counters || wants.counts;
  launch.observe_accesses = wants.accesses;
  launch.observe_barriers = wants.barriers;
  launch.observers = &observers;
  launch.all_workers = &workers;
  launch.parameters = reinterpret_cast<std::uint8_t*>(parameter_area);
  launch.shared_size =
      std::max(kernel.code->static_shared_bytes, kernel.code->dynamic_shared_offset + config.dynamic_shared);
  // The kernel's own need, or what cudaDeviceSetLimit(cudaLimitStackSize) asks for where there is a stack at all.
  launch.local_size = kernel.code->local_bytes ? std::max(kernel.code->local_bytes, stack_size) : 0;
  launch.local_size = (launch.local_size + 15) / 16 * 16;
  launch.blocks = config.grid.count();
  launch.threads_per_block = static_cast<std::uint32_t>(config.block.count());
  if (launch.shapes.empty() || !(launch.shapes_block == config.block)) {
    launch.shapes = warp_shapes(config.block);
    launch.shapes_block = config.block;
  }
  launch.warps_per_block = static_cast<std::uint32_t>(launch.shapes.size());
  launch.ranges = AddressSpace::instance().snapshot();
  launch.sm_count = std::max(1u, model.sm_count);
  launch.workers = static_cast<unsigned>(std::min<std::uint64_t>(workers.size(), launch.blocks));
  // Waking another thread takes longer than a small grid.
  constexpr double kWorthWaking = 20e-6;
  if (kernel.seconds_per_block > 0 && kernel.seconds_per_block * static_cast<double>(launch.blocks) < kWorthWaking)
    launch.workers = 1;
  std::fill(std::begin(launch.env), std::end(launch.env), 0);
  if (config.cooperative) {
    // cooperative_groups/details/driver_abi.h: %envreg1:%envreg2 = address of {unsigned size, barrier}.
    auto* workspace = reinterpret_cast<std::uint32_t*>(grid_workspace);
    workspace[0] = 64;
    workspace[1] = 0;
    launch.env[1] = static_cast<std::uint32_t>(grid_workspace >> 32);
    launch.env[2] = static_cast<std::uint32_t>(grid_workspace);
  }
  const std::uint64_t resident =
      std::max<std::uint64_t>(1,
                              std::min(model.max_blocks_per_sm, model.max_threads_per_sm / launch.threads_per_block)) *
      launch.sm_count;
  launch.fits_gpu = config.cooperative || launch.blocks <= resident;
  launch.next_block = 0;
  constexpr std::uint64_t kLargestChunk = 16, kChunksPerWorker = 32;
  launch.chunk = launch.fits_gpu
                     ? 1
                     : std::clamp<std::uint64_t>(launch.blocks / (launch.workers * kChunksPerWorker), 1, kLargestChunk);
  launch.interrupt = 0;
  launch.stop = false;
  launch.stop_reason = 0;
  launch.fault.reset();
  launch.fault_order = ~0ull;
  launch.places.clear();
}

void Device::Impl::collect_results(Launch& launch, LaunchResult& result, std::vector<ChildLaunch>* children) {
  const events::KernelFacts& facts = launch.kernel->code->facts();
  result.counts.sites.resize(facts.sites.size());
  result.counts.blocks.resize(facts.blocks.size());
  result.counts.guard_lanes.resize(facts.guards.size());
  result.counts.branches.resize(facts.branches.size());
  result.counts.edges.resize(facts.edge_counters);
  std::vector<OutputRecord> text;
  for (unsigned i = 0; i < launch.workers; ++i) {
    Worker& w = *workers[i];
    collect(w, result.counts);
    std::move(w.output.begin(), w.output.end(), std::back_inserter(text));
    std::move(w.children.begin(), w.children.end(), std::back_inserter(*children));
    for (Fault& warning : w.warnings) {
      const auto same = [&](const Fault& f) { return f.ptx_line == warning.ptx_line && f.kind == warning.kind; };
      if (std::none_of(result.warnings.begin(), result.warnings.end(), same))
        result.warnings.push_back(std::move(warning));
    }
    w.output.clear();
    w.children.clear();
    w.warnings.clear();
    w.warned.clear();
  }
  const auto by_block = [](const auto& a, const auto& b) { return a.block < b.block; };
  std::stable_sort(text.begin(), text.end(), by_block);
  std::stable_sort(children->begin(), children->end(), by_block);
  for (OutputRecord& record : text) output.append(std::move(record));
  if (launch.fault) {
    result.fault = std::move(launch.fault);
    if (!launch.places.empty()) result.fault->warps = std::move(launch.places);
  }
}

Result<LaunchResult> Device::Impl::run_grid(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                                            const std::uint8_t* parameters, std::vector<ChildLaunch>* children) {
  const auto compile_begin = std::chrono::steady_clock::now();
  const unsigned interrupts_before = interrupts_requested();
  auto compiled = kernel(module, function, config.block);
  if (!compiled) return compiled.error();
  KernelRecord& record = **compiled;
  const auto begin = std::chrono::steady_clock::now();
  if (Status good = check(config, record); !good) return good.error();
  if (Status opened = open_heaps(module); !opened) return opened.error();
  if (record.code->parameter_bytes > kParameterAreaBytes)
    return Error{ErrorKind::bad_input, "kernel parameters of more than 32764 bytes", ""};
  std::memcpy(reinterpret_cast<void*>(parameter_area), parameters, record.code->parameter_bytes);
  Launch& launch = current;
  set_up(launch, module, record, config);
  for (unsigned i = 0; i < launch.workers; ++i) {
    workers[i]->launch = &launch;
    workers[i]->finished = false;
    workers[i]->spins_only = false;
    prepare_worker(*workers[i], record.sites.size(), record.code->scoreboard_slots());
  }
  for (events::Observer* o : observers) o->on_launch_begin(launch.info);
  enlist(&launch);
  interrupt_if_requested_since(launch, interrupts_before);  // while it was being compiled
  if (options.timeout_seconds > 0) watchdog.watch(&launch, options.timeout_seconds);
  const auto run_begin = std::chrono::steady_clock::now();
  team.run(launch.workers, [&](unsigned i) { run_worker(*workers[i]); });
  const std::chrono::duration<double> run_time = std::chrono::steady_clock::now() - run_begin;
  record.seconds_per_block = run_time.count() * launch.workers / static_cast<double>(launch.blocks);
  if (options.timeout_seconds > 0) watchdog.release();
  delist(&launch);
  LaunchResult result;
  result.kernel = record.code.get();
  collect_results(launch, result, children);
  for (events::Observer* o : observers) o->on_launch_end(launch.info, result.counts);
  launch.ranges.reset();
  result.compile_seconds = std::chrono::duration<double>(begin - compile_begin).count();
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

Status Device::Impl::run_children(LoadedModule& module, std::vector<ChildLaunch> children, LaunchResult& result) {
  std::stable_partition(children.begin(), children.end(), [](const ChildLaunch& c) { return !c.tail; });
  for (const ChildLaunch& child : children) {
    if (result.fault) return Ok{};
    if (child.kind == ChildLaunch::Kind::copy) {
      std::memmove(reinterpret_cast<void*>(child.to), reinterpret_cast<const void*>(child.from), child.bytes);
      continue;
    }
    if (child.kind == ChildLaunch::Kind::fill) {
      std::memset(reinterpret_cast<void*>(child.to), static_cast<int>(child.from), child.bytes);
      continue;
    }
    auto run = launch(module, child.function, child.config, child.parameters.data());
    if (!run) return run.error();
    LaunchResult done = run.take();
    std::vector<LaunchResult> below = std::move(done.children);
    done.children.clear();
    result.fault = done.fault;
    result.children.push_back(std::move(done));
    std::move(below.begin(), below.end(), std::back_inserter(result.children));
  }
  return Ok{};
}

Result<LaunchResult> Device::Impl::launch(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                                          const std::uint8_t* parameters) {
  std::vector<ChildLaunch> children;
  auto result = run_grid(module, function, config, parameters, &children);
  if (!result || children.empty() || result->fault) return result;
  if (Status ran = run_children(module, std::move(children), *result); !ran) return ran.error();
  return result;
}

Result<LaunchResult> Device::launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                                    void** parameters) {
  const std::lock_guard lock(impl_->mutex);
  flush_output();
  const ptx::Module& text = module->module();
  if (function >= text.functions.size() || !text.functions[function].is_entry)
    return Error{ErrorKind::bad_input, "not a kernel of this module", ""};
  const auto layout = jit::parameter_layout(text.functions[function]);
  std::vector<std::uint8_t> packed(layout.empty() ? 1 : layout.back().offset + layout.back().size);
  for (std::size_t p = 0; p < layout.size(); ++p) {
    if (!parameters || !parameters[p])
      return Error{ErrorKind::bad_input,
                   fmt::format("kernel {}: parameter {} is missing", text.functions[function].name, p), ""};
    std::memcpy(packed.data() + layout[p].offset, parameters[p], layout[p].size);
  }
  return impl_->launch(*module, function, config, packed.data());
}

Result<const jit::CompiledKernel*> Device::compiled(LoadedModule* module, std::uint32_t function, const Dim3& block) {
  const std::lock_guard lock(impl_->mutex);
  auto record = impl_->kernel(*module, function, block);
  if (!record) return record.error();
  return static_cast<const jit::CompiledKernel*>((*record)->code.get());
}

}  // namespace warpgrind::device
