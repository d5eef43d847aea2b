// Advice rules about the instructions that warps execute.
#include <fmt/format.h>

#include <algorithm>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

// Divergent branches as on hardware: ptxas turns short branches into predicates, which split no warp. Older profiles
// have only the branches of PTX.
constexpr const char* kSplits = "smsp__sass_branch_targets_threads_divergent.sum";
constexpr const char* kSplitsOfPtx = "warpgrind__divergent_branches.sum";

const char* splits_of(const KernelView& k) {
  return k.has(kSplits) ? kSplits : kSplitsOfPtx;
}

}  // namespace

void thread_divergence(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 24;
  constexpr const char* kActive = "warpgrind__ptx_thread_inst_executed_per_inst_executed.ratio";
  constexpr const char* kOn = "warpgrind__ptx_thread_inst_executed_pred_on_per_inst_executed.ratio";
  const double active = k.value(kActive), on = k.value(kOn);
  const double lanes = std::min(active, on);
  if (lanes <= 0 || lanes >= kEnough) return;
  const char* const counted = splits_of(k);
  const double split = k.value(counted);
  // No branch splits a warp, but the blocks do not fill their last warp: block_size covers that.
  if (split <= 0 && static_cast<std::uint64_t>(k.value("launch__block_size")) % kWarpSize != 0) return;
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
  c.advice.evidence = k.evidence({kActive, kOn, counted, "warpgrind__branches.sum"});
  c.advice.places = k.places([&](const results::SiteProfile& s) { return KernelView::value(s, counted); });
  out.push_back(std::move(c));
}

void divergent_branches(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kEnough = 90;
  constexpr const char* kLanes = "warpgrind__ptx_thread_inst_executed_per_inst_executed.ratio";
  const char* const counted = splits_of(k);
  const double splits = k.value(counted), branches = k.value("warpgrind__branches.sum");
  const double efficiency = branches > 0 ? 100 * (1 - splits / branches) : 100;
  if (splits <= 0 || efficiency >= kEnough) return;
  const double used = k.value(kLanes) > 0 ? k.value(kLanes) / kWarpSize : 1;
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
  c.advice.evidence = k.evidence({counted, "warpgrind__branches.sum", kLanes});
  c.advice.places = k.places([&](const results::SiteProfile& s) { return KernelView::value(s, counted); });
  out.push_back(std::move(c));
}

void non_fused_arithmetic(const KernelView& k, std::vector<Candidate>& out) {
  constexpr double kShare = 0.1;
  for (const bool fp64 : {false, true}) {
    const char* add = fp64 ? "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"
                           : "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
    const char* mul = fp64 ? "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"
                           : "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
    const char* fma = fp64 ? "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"
                           : "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
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
