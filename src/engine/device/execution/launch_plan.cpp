// Plan of a launch: its memory, its grid, and the workers that run it.
#include <algorithm>
#include <atomic>

#include "device/device_impl.h"
#include "device/execution/order.h"
#include "gpu/launch_limits.h"
#include "gpu/occupancy.h"

namespace warpgrind::device {

namespace {

std::atomic<std::uint64_t> g_launches{0};

void shape_warps(KeptBuffers& kept, const Dim3& block) {
  if (!kept.shapes.empty() && kept.shaped_block == block) return;
  const auto threads = static_cast<std::uint32_t>(block.count());
  kept.shapes.resize((threads + kWarpSize - 1) / kWarpSize);
  kept.warp_threads.resize(kept.shapes.size());
  kept.shaped_block = block;
  for (std::uint32_t w = 0; w < kept.shapes.size(); ++w) {
    jit::WarpShape& s = kept.shapes[w];
    auto& tid = kept.warp_threads[w].tid;
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

MemoryPlan plan_memory(const LaunchInputs& in, const Engine& engine, const GpuModel& model, std::uint64_t local_size) {
  const jit::CompiledKernel& code = *in.kernel->code;
  const std::uint64_t shared =
      std::max(code.static_shared_bytes, code.dynamic_shared_offset + in.config.dynamic_shared);
  const std::uint64_t unit = std::max<std::uint64_t>(1, model.shared_allocation_unit);
  const auto total_shared = static_cast<std::uint32_t>((shared + unit - 1) / unit * unit);
  std::array<std::uint32_t, 4> env{};
  if (in.config.cooperative) {
    // cooperative_groups/details/driver_abi.h: %envreg1:%envreg2 = address of {unsigned size, barrier}.
    auto* workspace = reinterpret_cast<std::uint32_t*>(engine.grid_workspace);
    workspace[0] = 64;
    workspace[1] = 0;
    env[1] = static_cast<std::uint32_t>(engine.grid_workspace >> 32);
    env[2] = static_cast<std::uint32_t>(engine.grid_workspace);
  }
  return {.ranges = AddressSpace::instance().snapshot(),
          .parameters = reinterpret_cast<std::uint8_t*>(engine.parameter_area),
          .shared_size = shared,
          .local_size = local_size,
          .stack_bytes = in.kernel->stack_bytes(local_size),
          .total_shared = total_shared,
          .all_shared = total_shared + static_cast<std::uint32_t>(model.shared_reserved_per_block),
          .env = env};
}

// Whole cycles from an arithmetic instruction to a dependent one. A measured latency (4.2 to 4.5 since Volta) has a
// fraction for the rest of the measured loop; machine code waits a whole number.
std::uint32_t issue_cycles(const GpuModel& model) {
  return std::max(1u, static_cast<std::uint32_t>(model.timing.integer_latency_cycles));
}

// Clusters that are resident at the start of a kernel that may cancel launches; 0 for other kernels. The estimate of
// registers replaces those of ptxas, which the device does not know.
std::uint64_t resident_clusters_of(const LaunchInputs& in, const GpuModel& model, std::uint64_t shared) {
  const std::vector<events::Site>& sites = in.kernel->code->facts().sites;
  const auto controls = [](const events::Site& s) { return s.kind == SiteKind::launch_control; };
  if (std::none_of(sites.begin(), sites.end(), controls)) return 0;
  BlockResources block;
  block.threads = static_cast<std::uint32_t>(in.config.block.count());
  block.registers_per_thread = launched_registers(model, in.kernel->code->register_estimate);
  block.static_shared = shared;
  const std::uint64_t blocks = std::uint64_t{occupancy(model, block).blocks_per_sm} * model.sm_count;
  return std::max<std::uint64_t>(1, blocks / std::max<std::uint64_t>(1, in.config.cluster.count()));
}

GridPlan plan_grid(const LaunchInputs& in, KeptBuffers& kept, const GpuModel& model, std::uint64_t shared) {
  shape_warps(kept, in.config.block);
  const std::uint64_t blocks = in.config.grid.count();
  const auto threads = static_cast<std::uint32_t>(in.config.block.count());
  const std::uint32_t sms = std::max(1u, model.sm_count);
  const std::uint64_t resident =
      std::max<std::uint64_t>(1, std::min(model.max_blocks_per_sm, model.max_threads_per_sm / threads)) * sms;
  return {.blocks = blocks,
          .cluster_size = static_cast<std::uint32_t>(in.config.cluster.count()),
          .warps_per_block = static_cast<std::uint32_t>(kept.shapes.size()),
          .threads_per_block = threads,
          .shapes = kept.shapes,
          .warp_threads = kept.warp_threads,
          .sm_count = sms,
          .sm_groups = {model.sm_parts, model.sms_sharing_requests},
          .issue_cycles = issue_cycles(model),
          .sm_clock_khz = std::max(1u, static_cast<std::uint32_t>(model.sm_clock_mhz * 1000)),
          .capability = static_cast<std::uint32_t>(model.cc_major * 10 + model.cc_minor),
          .keeps_time = in.kernel->code->keeps_time,
          .fits_gpu = in.config.cooperative || blocks <= resident,
          .resident = resident,
          .resident_clusters = resident_clusters_of(in, model, shared)};
}

WorkerPlan plan_workers(const LaunchInputs& in, const GridPlan& grid, Engine& engine, const Schedule& schedule,
                        bool alone) {
  auto workers = static_cast<unsigned>(std::min<std::uint64_t>(engine.workers.size(), grid.blocks));
  // Waking another thread takes longer than a small grid.
  constexpr double kWorthWaking = 20e-6;
  const double seconds = in.kernel->seconds_per_block;
  if (seconds > 0 && seconds * static_cast<double>(grid.blocks) < kWorthWaking) workers = 1;
  if (!schedule.forward() || alone || in.stops) workers = 1;  // a debugger runs launches again in the same order
  workers = engine.team.grow(workers);
  constexpr std::uint64_t kLargestChunk = 16, kChunksPerWorker = 32;
  const std::uint64_t chunk =
      grid.fits_gpu ? 1 : std::clamp<std::uint64_t>(grid.blocks / (workers * kChunksPerWorker), 1, kLargestChunk);
  return {.all_workers = &engine.workers,
          .workers = workers,
          .chunk = (chunk + grid.cluster_size - 1) / grid.cluster_size * grid.cluster_size,
          .schedule = schedule,
          .ordered = !schedule.forward(),
          .alone = alone};
}

}  // namespace

Launch Device::Impl::make_launch(Engine& engine, LoadedModule& module, const KernelRecord& kernel,
                                 const LaunchConfig& config, unsigned depth) {
  const LaunchInputs inputs{.device = &device,
                            .module = &module,
                            .kernel = &kernel,
                            .config = config,
                            .serial = g_launches++,
                            .depth = depth,
                            .rules = model.rules,
                            .counters = config.counted && (options.counters || wants.counts),
                            .bounds_stop = options.bounds_stop,
                            .shadow = kernel.how.definedness ? shadow : nullptr,
                            .stops = options.stops,
                            .fill = options.fill};
  const std::uint64_t local_size = local_size_of(*kernel.code, stack_size, wants.invalid_accesses);
  const MemoryPlan memory = plan_memory(inputs, engine, model, local_size);
  const GridPlan grid = plan_grid(inputs, engine.kept, model, memory.shared_size);
  return {inputs, memory, grid, plan_workers(inputs, grid, engine, schedule, alone)};
}

Launch::Launch(const LaunchInputs& inputs, const MemoryPlan& memory, const GridPlan& grid, const WorkerPlan& team)
    : LaunchInputs(inputs),
      MemoryPlan(memory),
      GridPlan(grid),
      WorkerPlan(team),
      entry(kernel->entry()),
      random(first_random(schedule)),
      to_run(blocks),
      running_workers(workers),
      cancellable(resident_clusters == 0
                      ? nullptr
                      : std::make_unique<CancellableGrid>(blocks / cluster_size, resident_clusters)) {}

}  // namespace warpgrind::device
