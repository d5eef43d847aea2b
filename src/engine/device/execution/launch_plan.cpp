// Plan of a launch: its memory, its grid, and the workers that run it.
#include <algorithm>
#include <atomic>

#include "device/device_impl.h"
#include "device/execution/order.h"
#include "gpu/issue.h"
#include "gpu/launch_limits.h"

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

void plan_memory(LaunchPlan& plan, const Engine& engine, const GpuModel& model, std::uint64_t local_size) {
  const jit::CompiledKernel& code = *plan.kernel->code;
  plan.parameters = reinterpret_cast<std::uint8_t*>(engine.parameter_area);
  plan.ranges = AddressSpace::instance().snapshot();
  plan.shared_size = std::max(code.static_shared_bytes, code.dynamic_shared_offset + plan.config.dynamic_shared);
  plan.local_size = local_size;
  plan.stack_bytes = plan.kernel->stack_bytes(local_size);
  const std::uint64_t unit = std::max<std::uint64_t>(1, model.shared_allocation_unit);
  plan.total_shared = static_cast<std::uint32_t>((plan.shared_size + unit - 1) / unit * unit);
  plan.all_shared = plan.total_shared + static_cast<std::uint32_t>(model.shared_reserved_per_block);
  if (!plan.config.cooperative) return;
  // cooperative_groups/details/driver_abi.h: %envreg1:%envreg2 = address of {unsigned size, barrier}.
  auto* workspace = reinterpret_cast<std::uint32_t*>(engine.grid_workspace);
  workspace[0] = 64;
  workspace[1] = 0;
  plan.env[1] = static_cast<std::uint32_t>(engine.grid_workspace >> 32);
  plan.env[2] = static_cast<std::uint32_t>(engine.grid_workspace);
}

void plan_grid(LaunchPlan& plan, KeptBuffers& kept, const GpuModel& model) {
  plan.cluster_size = static_cast<std::uint32_t>(plan.config.cluster.count());
  plan.blocks = plan.config.grid.count();
  plan.threads_per_block = static_cast<std::uint32_t>(plan.config.block.count());
  shape_warps(kept, plan.config.block);
  plan.shapes = kept.shapes;
  plan.warp_threads = kept.warp_threads;
  plan.warps_per_block = static_cast<std::uint32_t>(plan.shapes.size());
  plan.sm_count = std::max(1u, model.sm_count);
  plan.sm_groups = {model.sm_parts, model.sms_sharing_requests};
  plan.keeps_time = plan.kernel->code->keeps_time;
  plan.issue_cycles = dependent_issue_cycles(model);
  plan.sm_clock_khz = std::max(1u, static_cast<std::uint32_t>(model.sm_clock_mhz * 1000));
  const std::uint64_t resident =
      std::max<std::uint64_t>(1, std::min(model.max_blocks_per_sm, model.max_threads_per_sm / plan.threads_per_block)) *
      plan.sm_count;
  plan.fits_gpu = plan.config.cooperative || plan.blocks <= resident;
}

void plan_workers(LaunchPlan& plan, Engine& engine, const Schedule& schedule, bool alone) {
  plan.schedule = schedule;
  plan.ordered = !schedule.forward();
  plan.alone = alone;
  plan.all_workers = &engine.workers;
  plan.workers = static_cast<unsigned>(std::min<std::uint64_t>(engine.workers.size(), plan.blocks));
  // Waking another thread takes longer than a small grid.
  constexpr double kWorthWaking = 20e-6;
  const double seconds = plan.kernel->seconds_per_block;
  if (seconds > 0 && seconds * static_cast<double>(plan.blocks) < kWorthWaking) plan.workers = 1;
  if (plan.ordered || alone) plan.workers = 1;
  plan.workers = engine.team.grow(plan.workers);
  constexpr std::uint64_t kLargestChunk = 16, kChunksPerWorker = 32;
  plan.chunk =
      plan.fits_gpu ? 1 : std::clamp<std::uint64_t>(plan.blocks / (plan.workers * kChunksPerWorker), 1, kLargestChunk);
  plan.chunk = (plan.chunk + plan.cluster_size - 1) / plan.cluster_size * plan.cluster_size;
}

}  // namespace

LaunchPlan Device::Impl::plan_launch(Engine& engine, LoadedModule& module, const KernelRecord& kernel,
                                     const LaunchConfig& config, unsigned depth) {
  LaunchPlan plan;
  plan.device = &device;
  plan.module = &module;
  plan.kernel = &kernel;
  plan.config = config;
  plan.serial = g_launches++;
  plan.depth = depth;
  plan.rules = model.rules;
  plan.counters = config.counted && (options.counters || wants.counts);
  plan.bounds_stop = options.bounds_stop;
  plan.shadow = shadow;
  plan.fill = options.fill;
  plan_memory(plan, engine, model, local_size_of(*kernel.code, stack_size, wants.invalid_accesses));
  plan_grid(plan, engine.kept, model);
  plan_workers(plan, engine, schedule, alone);
  return plan;
}

Launch::Launch(LaunchPlan made)
    : LaunchPlan(std::move(made)),
      entry(kernel->entry()),
      random(first_random(schedule)),
      to_run(blocks),
      running_workers(workers) {}

}  // namespace warpgrind::device
