// Advice rules about the instructions that warps execute.
#include <fmt/format.h>

#include <algorithm>

#include "advice/rules.h"
#include "advice/work_changes.h"

namespace warpgrind::advice {
namespace {

using results::WorkProfile;
using timing::LaunchWork;

// Divergent branches as on hardware: ptxas turns short branches into predicates, which split no warp. Older profiles
// have only the branches of PTX.
MetricId splits_of(const KernelView& k) {
  return k.has(MetricId::machine_divergent) ? MetricId::machine_divergent : MetricId::divergent_branches;
}

// The same work of lanes in full warps. used: part of the lanes that work, 0 to 1. If branches split warps, a warp
// also walks both paths one after the other.
Repair fill_warps(double used, bool split) {
  return {[used, split](WorkProfile& launch) {
    scale_instructions(launch.work, used);
    if (split) scale_path(launch.work, used);
  }};
}

}  // namespace

void thread_divergence(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 24;
  const double active = k.value(MetricId::lanes_per_inst), on = k.value(MetricId::lanes_on_per_inst);
  const double lanes = std::min(active, on);
  if (lanes <= 0 || lanes >= kEnough) return;
  const MetricId counted = splits_of(k);
  const double split = k.value(counted);
  // No branch splits a warp, but the blocks do not fill their last warp: block_size covers that.
  if (split <= 0 && static_cast<std::uint64_t>(k.value(MetricId::block_size)) % kWarpSize != 0) return;
  results::Advice a;
  a.title = fmt::format("Thread divergence: {:.1f} of 32 lanes work on average", lanes);
  if (split > 0)
    a.text =
        "Lanes of one warp take different paths at a branch, and the paths run one after the other. Make the condition "
        "the same for a whole warp: give the working threads consecutive indices (not every second thread), sort the "
        "data by its path, or replace a short branch by a selection (a ? b : c).";
  else
    a.text =
        "Some lanes exit early, or predicates switch them off, while other lanes of their warp continue. Give all "
        "lanes of a warp the same amount of work.";
  a.evidence = k.evidence({MetricId::lanes_per_inst, MetricId::lanes_on_per_inst, counted, MetricId::branches});
  a.places = k.places([&](const results::SiteProfile& s) { return s.metrics.value(counted); });
  out.push_back({std::move(a), fill_warps(lanes / kWarpSize, split > 0)});
}

void divergent_branches(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 90;
  const MetricId counted = splits_of(k);
  const double splits = k.value(counted), branches = k.value(MetricId::branches);
  const double efficiency = branches > 0 ? 100 * (1 - splits / branches) : 100;
  if (splits <= 0 || efficiency >= kEnough) return;
  const double used = k.value(MetricId::lanes_per_inst) > 0 ? k.value(MetricId::lanes_per_inst) / kWarpSize : 1;
  results::Advice a;
  a.title = fmt::format("{:.0f} % of the branches split a warp", 100 - efficiency);
  a.text =
      "If a branch splits a warp, both paths run one after the other, each with some of the lanes. Make the condition "
      "the same for a whole warp: give the working threads consecutive indices (threads 0 to n - 1, not every second "
      "one), or let the condition depend only on the block or the warp.";
  a.evidence = k.evidence({counted, MetricId::branches, MetricId::lanes_per_inst});
  a.places = k.places([&](const results::SiteProfile& s) { return s.metrics.value(counted); });
  out.push_back({std::move(a), fill_warps(used, true)});
}

void non_fused_arithmetic(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kShare = 0.1;
  for (const bool fp64 : {false, true}) {
    const MetricId add = fp64 ? MetricId::machine_dadd : MetricId::machine_fadd;
    const MetricId mul = fp64 ? MetricId::machine_dmul : MetricId::machine_fmul;
    const MetricId fma = fp64 ? MetricId::machine_dfma : MetricId::machine_ffma;
    const double pairs = std::min(k.value(add), k.value(mul));
    const double all = k.value(add) + k.value(mul) + k.value(fma);
    if (all <= 0 || pairs / all <= kShare) continue;
    results::Advice a;
    a.title = fmt::format("Up to {:.0f} % of the {} instructions could be fused away", 100 * pairs / all,
                          fp64 ? "fp64" : "fp32");
    a.text =
        "A fused multiply-add does a multiplication and an addition in one instruction. Compile without -fmad=false, "
        "write a * b + c as one expression or as fma(a, b, c), and factor out common factors.";
    a.evidence = k.evidence({add, mul, fma});
    const double latency = fp64 ? k.model().timing.fp64_latency_cycles : k.model().timing.fp32_latency_cycles;
    out.push_back({std::move(a), [part = pairs / all, fp64, latency](WorkProfile& launch) {
                     LaunchWork& w = launch.work;
                     double& pipe = fp64 ? w.fp64 : w.fma;
                     const double fused = pipe * part;
                     pipe -= fused;
                     w.instructions = std::max(0.0, w.instructions - fused);
                     const double shorter = std::min(fused * latency, part * w.path_0);
                     for (double LaunchWork::*m : {&LaunchWork::path_0, &LaunchWork::path_40, &LaunchWork::path_290,
                                                   &LaunchWork::path_700, &LaunchWork::path_1000})
                       w.*m = std::max(0.0, w.*m - shorter);
                   }});
  }
}

}  // namespace warpgrind::advice
