// Advice rules about the instructions that warps execute.
#include <fmt/format.h>

#include <algorithm>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

// Divergent branches as on hardware: ptxas turns short branches into predicates, which split no warp. Older profiles
// have only the branches of PTX.

MetricId splits_of(const KernelView& k) {
  return k.has(MetricId::machine_divergent) ? MetricId::machine_divergent : MetricId::divergent_branches;
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
  const double used = lanes / kWarpSize;
  Candidate c;
  c.severity = 1 - used;
  c.advice.title = fmt::format("Thread divergence: {:.1f} of 32 lanes work on average", lanes);
  if (split > 0)
    c.advice.text =
        "Lanes of one warp take different paths at a branch, and the paths run one after the other. Make the condition "
        "the same for a whole warp: give the working threads consecutive indices (not every second thread), sort the "
        "data by its path, or replace a short branch by a selection (a ? b : c).";
  else
    c.advice.text =
        "Some lanes exit early, or predicates switch them off, while other lanes of their warp continue. Give all "
        "lanes of a warp the same amount of work.";
  c.advice.estimated_gain = k.gain({{limit::kIssue, used},
                                    {limit::kFp32, used},
                                    {limit::kFp64, used},
                                    {limit::kInteger, used},
                                    {limit::kSpecial, used}});
  c.advice.evidence = k.evidence({MetricId::lanes_per_inst, MetricId::lanes_on_per_inst, counted, MetricId::branches});
  c.advice.places = k.places([&](const results::SiteProfile& s) { return s.metrics.value(counted); });
  out.push_back(std::move(c));
}

void divergent_branches(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 90;
  const MetricId counted = splits_of(k);
  const double splits = k.value(counted), branches = k.value(MetricId::branches);
  const double efficiency = branches > 0 ? 100 * (1 - splits / branches) : 100;
  if (splits <= 0 || efficiency >= kEnough) return;
  const double used = k.value(MetricId::lanes_per_inst) > 0 ? k.value(MetricId::lanes_per_inst) / kWarpSize : 1;
  Candidate c;
  c.severity = 0.5 * (1 - efficiency / 100);
  c.advice.title = fmt::format("{:.0f} % of the branches split a warp", 100 - efficiency);
  c.advice.text =
      "If a branch splits a warp, both paths run one after the other, each with some of the lanes. Make the condition "
      "the same for a whole warp: give the working threads consecutive indices (threads 0 to n - 1, not every second "
      "one), or let the condition depend only on the block or the warp.";
  c.advice.estimated_gain = k.gain({{limit::kIssue, used},
                                    {limit::kFp32, used},
                                    {limit::kFp64, used},
                                    {limit::kInteger, used},
                                    {limit::kSpecial, used},
                                    {limit::kLatency, used}});
  c.advice.evidence = k.evidence({counted, MetricId::branches, MetricId::lanes_per_inst});
  c.advice.places = k.places([&](const results::SiteProfile& s) { return s.metrics.value(counted); });
  out.push_back(std::move(c));
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
    Candidate c;
    c.severity = 0.3 * pairs / all;
    c.advice.title = fmt::format("Up to {:.0f} % of the {} instructions could be fused away", 100 * pairs / all,
                                 fp64 ? "fp64" : "fp32");
    c.advice.text =
        "A fused multiply-add does a multiplication and an addition in one instruction. Compile without -fmad=false, "
        "write a * b + c as one expression or as fma(a, b, c), and factor out common factors.";
    c.advice.estimated_gain = k.gain({{fp64 ? limit::kFp64 : limit::kFp32, 1 - pairs / all}});
    c.advice.evidence = k.evidence({add, mul, fma});
    out.push_back(std::move(c));
  }
}

}  // namespace warpgrind::advice
