#include "advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advice/rules.h"
#include "base/words.h"
#include "timing/estimate.h"

namespace warpgrind::advice {

// Implemented in the *_rules.cpp of their kind; the names are those of rules.inc.
#define WG_RULE(ID, ...) void ID(const KernelView& kernel, std::vector<Candidate>& out);
#include "advice/rules.inc"
#undef WG_RULE

namespace {

constexpr RuleRow make_row(const char* id, void (*apply)(const KernelView&, std::vector<Candidate>&), RuleRow row) {
  row.id = id;
  row.apply = apply;
  return row;
}

constexpr RuleRow kRules[] = {
#define WG_RULE(ID, ...) make_row(#ID, ID, RuleRow{.id = "", __VA_ARGS__}),
#include "advice/rules.inc"
#undef WG_RULE
};

// A launch of one warp at most gets no rule `of_many_threads`, and a single thread gets none.
constexpr double kFewThreads = kWarpSize;

// Threads of a launch, on average.
double threads_of(const KernelView& k) {
  const double launches = k.value(MetricId::launches);
  return launches > 0 ? k.value(MetricId::thread_count) / launches : 0;
}

bool is_small(const KernelView& k) {
  const double threads = threads_of(k);
  return threads > 0 && threads <= kFewThreads;
}

results::Advice remark_on_small_launch(const KernelView& k) {
  results::Advice a;
  a.rule = kSmallLaunch;
  const double threads = threads_of(k);
  a.title = fmt::format("A launch of {:.0f} thread{} is too small to judge its performance", std::ceil(threads),
                        plural(threads));
  a.evidence = k.evidence({MetricId::thread_count});
  return a;
}

// One cause is said once: by the rule that knows it best.
void drop_said_twice(std::vector<Candidate>& found) {
  const auto is = [](const char* id) { return [id](const Candidate& c) { return c.advice.rule == id; }; };
  if (std::any_of(found.begin(), found.end(), is("transpose_through_shared_memory")))
    std::erase_if(found, is("uncoalesced_global_access"));
  // Fewer registers would spill more.
  if (std::any_of(found.begin(), found.end(), is("spilled_registers")))
    std::erase_if(found, is("theoretical_occupancy"));
  if (std::any_of(found.begin(), found.end(), is("thread_divergence"))) std::erase_if(found, is("divergent_branches"));
}

// A profile may come from another program. The time model needs sound figures.
bool is_sound(const results::WorkProfile& launch) {
  constexpr double kMost = 1e18;
  const auto sound = [](double x, double least, double most) { return x >= least && x <= most; };
  for (const timing::WorkMember& m : timing::kWorkMembers)
    if (!sound(launch.work.*m.value, 0, kMost)) return false;
  const timing::LaunchWork& w = launch.work;
  return sound(launch.launches, 1, kMost) && w.blocks >= 1 && w.warps_per_block >= 1 && w.threads_per_block >= 1 &&
         w.resident_blocks >= 1 && sound(launch.l2.dirty_bytes, 0, kMost) && sound(launch.l2.resident, 0, 1) &&
         sound(launch.l2.code, 0, 1) && sound(launch.block_read_sectors, 0, kMost);
}

// Mean time of the launches.
double mean_ns(const GpuModel& model, const std::vector<results::WorkProfile>& launches) {
  double ns = 0, count = 0;
  for (const results::WorkProfile& l : launches) {
    ns += l.launches * timing::estimate_kernel(model, l.work, l.l2).ns;
    count += l.launches;
  }
  return count > 0 ? ns / count : 0;
}

// Estimates the kernel with and without the cause.
void add_gain(const KernelView& kernel, double now, Candidate& c) {
  std::vector<results::WorkProfile> repaired = kernel.profile().work;
  for (results::WorkProfile& launch : repaired) c.repair.apply(launch);
  if (!std::all_of(repaired.begin(), repaired.end(), is_sound)) return;
  c.advice.time_ns = now;
  c.advice.without_cause_ns = mean_ns(kernel.model(), repaired);
  c.advice.estimated_gain = now > 0 ? std::clamp(1 - c.advice.without_cause_ns / now, 0.0, 1.0) : 0;
}

std::vector<results::Advice> advice_for(const KernelView& view) {
  std::vector<results::Advice> advice;
  const bool small = is_small(view);
  if (small) advice.push_back(remark_on_small_launch(view));
  if (small && threads_of(view) <= 1) return advice;
  std::vector<Candidate> found;
  for (const RuleRow& rule : kRules) {
    if (small && rule.of_many_threads) continue;
    const std::size_t before = found.size();
    rule.apply(view, found);
    for (std::size_t i = before; i < found.size(); ++i) found[i].advice.rule = rule.id;
  }
  const double now = mean_ns(view.model(), view.profile().work);
  for (Candidate& c : found) add_gain(view, now, c);
  std::erase_if(found, [](const Candidate& c) { return c.advice.estimated_gain < kLeastGain; });
  drop_said_twice(found);
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.advice.estimated_gain > b.advice.estimated_gain;
  });
  for (Candidate& c : found) advice.push_back(std::move(c.advice));
  return advice;
}

}  // namespace

std::span<const RuleRow> rules() {
  return kRules;
}

void advise(results::Profile& profile, const GpuModel* model) {
  if (!model)
    if (const Result<const GpuModel*> found = find_gpu_model(profile.gpu)) model = *found;
  if (!model) return;
  for (results::KernelProfile& kernel : profile.kernels)
    if (!kernel.work.empty() && std::all_of(kernel.work.begin(), kernel.work.end(), is_sound))
      kernel.advice = advice_for(KernelView(kernel, *model));
}

std::string rules_as_markdown() {
  std::string out =
      "# Rules\n\nMade from `src/analysis/advice/rules.inc` by `warpgrind-advice-docs`; do not edit.\n\nThese rules "
      "produce the `advice` of a profile and the section \"what to do\" in the terminal. If the table names a rule of "
      "Nsight Compute, its threshold is used. Each rule says how the work of a launch changes if its cause is removed. "
      "The time model estimates the launch before and after the change, and `estimated_gain` is the saved fraction of "
      "the time. Advice that saves less than 2.5 % is not given; the largest gain comes first.\n\nA launch of at most "
      "32 "
      "threads gets a remark (`small_launch`): it is too small to judge. It gets no advice about its shape, idle lanes "
      "and redundant loads, and a single thread gets no advice at all.\n\n| rule | what | fires when | change of the "
      "work | Nsight Compute |\n|---|---|---|---|---|\n";
  for (const RuleRow& r : kRules)
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", r.id, r.name, r.fires, r.removes, *r.nsight ? r.nsight : "-");
  return out;
}

}  // namespace warpgrind::advice
