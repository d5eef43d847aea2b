// Advice rules about the shape of the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice/rules.h"
#include "base/words.h"

namespace warpgrind::advice {
namespace {

constexpr double kMostThreads = 1024;  // of a block

// Gain if the same work of the SMs is spread over more of them.
double spread(const KernelView& k, double factor) {
  return k.gain({{limit::kL1, factor},
                 {limit::kShared, factor},
                 {limit::kFp32, factor},
                 {limit::kFp64, factor},
                 {limit::kInteger, factor},
                 {limit::kSpecial, factor},
                 {limit::kIssue, factor}});
}

}  // namespace

void small_launch(const KernelView& k, std::vector<Candidate>& out) {
  const double launches = k.value(MetricId::launches);
  const double threads = launches > 0 ? k.value(MetricId::thread_count) / launches : 0;
  if (threads <= 0 || threads > kWarpSize) return;
  Candidate c;
  c.advice.title = fmt::format("A launch of {:.0f} thread{} is too small to judge its performance", std::ceil(threads),
                               plural(threads));
  c.advice.evidence = k.evidence({MetricId::thread_count});
  out.push_back(std::move(c));
}

void block_size(const KernelView& k, std::vector<Candidate>& out) {
  const double counted = k.value(MetricId::block_size);
  if (!(counted > 0 && counted <= kMostThreads)) return;  // profiles of other programs may have any number
  const auto threads = static_cast<std::uint64_t>(counted);
  if (threads % kWarpSize == 0) return;
  const std::uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const double used = static_cast<double>(threads) / static_cast<double>(warps * kWarpSize);
  Candidate c;
  c.severity = 1 - used;
  c.advice.title = fmt::format("A block of {} threads leaves {} lanes idle", threads, warps * kWarpSize - threads);
  c.advice.text = fmt::format(
      "A block runs as warps of 32 threads, and the last of its {} warps is not full. Choose a block size that is a "
      "multiple of 32 (128 or 256 is a good start), and let threads without data return.",
      warps);
  c.advice.estimated_gain = k.gain({{limit::kIssue, used},
                                    {limit::kFp32, used},
                                    {limit::kFp64, used},
                                    {limit::kInteger, used},
                                    {limit::kSpecial, used}});
  c.advice.evidence = k.evidence({MetricId::block_size, MetricId::lanes_per_inst});
  out.push_back(std::move(c));
}

void small_grid(const KernelView& k, std::vector<Candidate>& out) {
  if (k.model() == nullptr) return;
  const double blocks = k.value(MetricId::grid_size), sms = k.model()->sm_count;
  if (blocks <= 0) return;
  const bool barriers = k.value(MetricId::inst_barrier) > 0;
  if (blocks >= (barriers ? 2 : 1) * sms) return;
  Candidate c;
  c.advice.evidence = k.evidence({MetricId::grid_size});
  if (blocks < sms) {
    const double busy = blocks / sms;
    c.severity = 1 - busy;
    c.advice.title = fmt::format("Small grid: {:.0f} block{} for {:.0f} SMs", blocks, plural(blocks), sms);
    c.advice.text = fmt::format(
        "At least {:.0f} SMs of this GPU are idle. Use more and smaller blocks, give each thread less work, solve a "
        "larger problem, or run several kernels at the same time in streams.",
        sms - blocks);
    c.advice.estimated_gain = spread(k, busy);
  } else {
    c.severity = 0.1;
    c.advice.title = fmt::format("Small grid: {:.0f} blocks with barriers for {:.0f} SMs", blocks, sms);
    c.advice.text =
        "While a block waits at __syncthreads(), its SM needs a second block to run. Launch at least two blocks per "
        "SM.";
  }
  out.push_back(std::move(c));
}

void tail_effect(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kShare = 0.2;
  const double waves = k.value(MetricId::waves), full = std::floor(waves);
  if (full < 1 || waves == full || 1 / (full + 1) < kShare) return;
  const double idle = 1 - waves / (full + 1);
  Candidate c;
  c.severity = idle;
  c.advice.title =
      fmt::format("Tail effect: the last of {:.0f} waves is {:.0f} % full", full + 1, 100 * (waves - full));
  c.advice.text = fmt::format(
      "The GPU runs a wave of {:.0f} blocks at a time. The grid has {:.0f} blocks, so its last wave leaves SMs idle. "
      "Launch a multiple of the wave (with a grid-stride loop in the kernel), or use smaller blocks.",
      k.value(MetricId::grid_size) / waves, k.value(MetricId::grid_size));
  c.advice.estimated_gain = std::max(spread(k, waves / (full + 1)), k.gain({{limit::kLatency, waves / (full + 1)}}));
  c.advice.evidence = k.evidence({MetricId::waves, MetricId::grid_size, MetricId::occupancy});
  out.push_back(std::move(c));
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
  Candidate c;
  c.severity = 0.3 * (1 - percent / 100);  // more warps help only kernels that wait
  c.advice.title =
      fmt::format("Occupancy is {:.0f} %, limited by {}", percent, limiter.empty() ? "the launch" : limiter);
  c.advice.text = "An SM hides latency by switching between warps, and here it has few. " + way;
  c.advice.estimated_gain = k.gain({{limit::kLatency, percent / 100}});
  c.advice.evidence = k.evidence(evidence);
  out.push_back(std::move(c));
}

}  // namespace warpgrind::advice
