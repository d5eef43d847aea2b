// Advice rules about the shape of the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice/rules.h"
#include "advice/work_changes.h"
#include "base/words.h"

namespace warpgrind::advice {
namespace {

using results::WorkProfile;
using timing::LaunchWork;

constexpr double kMostThreads = 1024;  // of a block

// Divides the work of each block among `by` blocks.
void divide_blocks(LaunchWork& w, double by) {
  w.blocks *= by;
  w.warps_per_block = std::max(1.0, w.warps_per_block / by);
  w.threads_per_block = std::max(1.0, w.threads_per_block / by);
  w.resident_blocks *= by;
}

// Gives the work of each warp to `by` warps of other blocks.
void divide_warps(LaunchWork& w, double by) {
  w.blocks *= by;
  scale_instructions(w, 1 / by);
  scale_path(w, 1 / by);
  w.barriers /= by;
}

// Spreads the launch over all SMs. Smaller blocks come first; then more blocks divide the rounds of loops, until each
// scheduler has some warps.
void spread(LaunchWork& w, double sms) {
  constexpr double kLoops = 1.5;       // executed instructions of a warp, as a multiple of the code's, if it has loops
  constexpr double kWarpsOfAnSm = 16;  // four for each scheduler
  if (w.blocks < sms) divide_blocks(w, std::min(sms / w.blocks, w.warps_per_block));
  const double rounds = w.instructions / std::max(1.0, w.static_instructions);
  const double wanted = sms * kWarpsOfAnSm / (w.blocks * w.warps_per_block);
  if (wanted > 1 && rounds > kLoops) divide_warps(w, std::min(wanted, rounds));
}

// Makes blocks larger, with as many threads in all.
void join_blocks(LaunchWork& w) {
  constexpr double kWarps = 8;  // 256 threads
  const double by = std::max(1.0, kWarps / w.warps_per_block);
  w.blocks = std::max(1.0, w.blocks / by);
  w.warps_per_block *= by;
  w.threads_per_block *= by;
  w.resident_blocks = std::max(1.0, w.resident_blocks / by);
}

}  // namespace

void block_size(const KernelView& k, std::vector<Candidate>& out) {
  const double counted = k.value(MetricId::block_size);
  if (!(counted > 0 && counted <= kMostThreads)) return;  // profiles of other programs may have any number
  const auto threads = static_cast<std::uint64_t>(counted);
  if (threads % kWarpSize == 0) return;
  const std::uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const double used = static_cast<double>(threads) / static_cast<double>(warps * kWarpSize);
  results::Advice a;
  a.title = fmt::format("A block of {} threads leaves {} lanes idle", threads, warps * kWarpSize - threads);
  a.text = fmt::format(
      "A block runs as warps of 32 threads, and the last of its {} warps is not full. Choose a block size that is a "
      "multiple of 32 (128 or 256 is a good start), and let threads without data return.",
      warps);
  a.evidence = k.evidence({MetricId::block_size, MetricId::lanes_per_inst});
  out.push_back({std::move(a), [warps, used](WorkProfile& launch) {
                   LaunchWork& w = launch.work;
                   w.blocks = std::max(1.0, w.blocks * used);
                   w.threads_per_block = static_cast<double>(warps * kWarpSize);
                 }});
}

void small_grid(const KernelView& k, std::vector<Candidate>& out) {
  const double blocks = k.value(MetricId::grid_size), sms = k.model().sm_count;
  if (blocks <= 0) return;
  const bool barriers = k.value(MetricId::inst_barrier) > 0;
  if (blocks >= (barriers ? 2 : 1) * sms) return;
  results::Advice a;
  a.evidence = k.evidence({MetricId::grid_size});
  if (blocks < sms) {
    a.title = fmt::format("Small grid: {:.0f} block{} for {:.0f} SMs", blocks, plural(blocks), sms);
    a.text = fmt::format(
        "At least {:.0f} SMs of this GPU are idle. Use more and smaller blocks, give each thread less work, solve a "
        "larger problem, or run several kernels at the same time in streams.",
        sms - blocks);
  } else {
    a.title = fmt::format("Small grid: {:.0f} blocks with barriers for {:.0f} SMs", blocks, sms);
    a.text =
        "While a block waits at __syncthreads(), its SM needs a second block to run. Launch at least two blocks per "
        "SM.";
  }
  out.push_back(
      {std::move(a), [goal = blocks < sms ? sms : 2 * sms](WorkProfile& launch) { spread(launch.work, goal); }});
}

void tail_effect(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kShare = 0.2, kFull = 0.5;  // a last wave that is more than half full leaves few SMs idle
  const double waves = k.value(MetricId::waves), full = std::floor(waves);
  if (full < 1 || waves == full || 1 / (full + 1) < kShare || waves - full > kFull) return;
  results::Advice a;
  a.title = fmt::format("Tail effect: the last of {:.0f} waves is {:.0f} % full", full + 1, 100 * (waves - full));
  a.text = fmt::format(
      "The GPU runs a wave of {:.0f} blocks at a time. The grid has {:.0f} blocks, so its last wave leaves SMs idle. "
      "Launch a multiple of the wave (with a grid-stride loop in the kernel), or use smaller blocks.",
      k.value(MetricId::grid_size) / waves, k.value(MetricId::grid_size));
  a.evidence = k.evidence({MetricId::waves, MetricId::grid_size, MetricId::occupancy});
  out.push_back({std::move(a), [wave = k.value(MetricId::grid_size) / waves](WorkProfile& launch) {
                   // Fewer blocks, each with more work: a whole number of waves.
                   LaunchWork& w = launch.work;
                   const double whole = std::floor(w.blocks / wave) * wave;
                   if (whole >= 1) divide_warps(w, whole / w.blocks);
                 }});
}

void theoretical_occupancy(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 80;
  const double percent = k.value(MetricId::occupancy);
  if (percent <= 0 || percent >= kEnough) return;
  // All blocks are resident at once, so that the grid is the limit.
  if (const double waves = k.value(MetricId::waves); waves > 0 && waves < 1) return;
  const std::string limiter = k.text(MetricId::occupancy_limiter);
  std::string way;
  std::vector<MetricId> evidence = {MetricId::occupancy, MetricId::block_size};
  if (limiter == "registers") {
    way = fmt::format(
        "Each thread has {:.0f} registers. Limit them with __launch_bounds__ or -maxrregcount, and check that the "
        "compiler does not spill.",
        k.value(MetricId::registers));
    evidence = {MetricId::occupancy, MetricId::registers, MetricId::limit_registers};
  } else if (limiter == "shared memory") {
    way = fmt::format(
        "Each block uses {:.0f} bytes of shared memory. Use a smaller tile or type, or more threads for the same tile.",
        k.value(MetricId::shared_allocated));
    evidence = {MetricId::occupancy, MetricId::shared_allocated, MetricId::limit_shared};
  } else if (limiter == "blocks") {
    way = fmt::format("A block has only {:.0f} thread{}, and an SM holds {:.0f} blocks: use larger blocks.",
                      k.value(MetricId::block_size), plural(k.value(MetricId::block_size)),
                      k.value(MetricId::limit_blocks));
    evidence = {MetricId::occupancy, MetricId::block_size, MetricId::limit_blocks};
  } else if (limiter == "barriers") {
    way = "The blocks use too many named barriers.";
    evidence = {MetricId::occupancy, MetricId::limit_barriers};
  } else {
    way = fmt::format(
        "Blocks of {:.0f} threads do not fill an SM evenly. Choose a block size that divides the maximum number of "
        "threads of an SM.",
        k.value(MetricId::block_size));
    evidence = {MetricId::occupancy, MetricId::block_size, MetricId::limit_warps};
  }
  results::Advice a;
  a.title = fmt::format("Occupancy is {:.0f} %, limited by {}", percent, limiter.empty() ? "the launch" : limiter);
  a.text = "An SM hides latency by switching between warps, and here it has few. " + way;
  a.evidence = k.evidence(evidence);
  out.push_back({std::move(a), [warps = k.model().max_warps_per_sm, small = limiter == "blocks"](WorkProfile& launch) {
                   LaunchWork& w = launch.work;
                   if (small) join_blocks(w);
                   w.resident_blocks = std::max(w.resident_blocks, std::floor(warps / w.warps_per_block));
                 }});
}

}  // namespace warpgrind::advice
