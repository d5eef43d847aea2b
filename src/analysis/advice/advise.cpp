#include "advice/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "advice/rules.h"

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

// The model of the profile: by its name, as cudaGetDeviceProperties reports it.
const GpuModel* model_of(const results::Profile& profile) {
  const Result<const GpuModel*> found = find_gpu_model(profile.gpu);
  return found ? *found : nullptr;
}

// One cause is said once: by the rule that knows it best. threads: of a launch.
void drop_said_twice(std::vector<Candidate>& found, double threads) {
  const auto is = [](const char* id) { return [id](const Candidate& c) { return c.advice.rule == id; }; };
  // What a single warp does to memory is worth a word; its launch, lanes that it lacks and what other warps would share
  // are as somebody wanted them. Of a single thread nothing is.
  const bool small = std::any_of(found.begin(), found.end(), is("small_launch"));
  if (small && threads <= 1) std::erase_if(found, [&](const Candidate& c) { return !is("small_launch")(c); });
  if (small)
    for (const char* shape : {"block_size", "small_grid", "tail_effect", "theoretical_occupancy", "thread_divergence",
                              "memory_access_pattern", "redundant_global_loads"})
      std::erase_if(found, is(shape));
  if (std::any_of(found.begin(), found.end(), is("transpose_through_shared_memory")))
    std::erase_if(found, is("uncoalesced_global_access"));
  // Fewer registers would spill more.
  if (std::any_of(found.begin(), found.end(), is("spilled_registers")))
    std::erase_if(found, is("theoretical_occupancy"));
  if (std::any_of(found.begin(), found.end(), is("thread_divergence"))) std::erase_if(found, is("divergent_branches"));
}

// A gain of the estimate counts fully, badness that it does not see a tenth.
double usefulness(const Candidate& c) {
  return c.advice.estimated_gain + 0.1 * c.severity;
}

}  // namespace

std::span<const RuleRow> rules() {
  return kRules;
}

void advise(results::Profile& profile) {
  const GpuModel* model = model_of(profile);
  for (results::KernelProfile& kernel : profile.kernels) {
    std::vector<Candidate> found;
    const KernelView view(kernel, model);
    for (const RuleRow& rule : kRules) {
      const std::size_t before = found.size();
      rule.apply(view, found);
      for (std::size_t i = before; i < found.size(); ++i) found[i].advice.rule = rule.id;
    }
    const double launches = view.value(MetricId::launches);
    drop_said_twice(found, launches > 0 ? view.value(MetricId::thread_count) / launches : 0);
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return usefulness(a) > usefulness(b); });
    kernel.advice.clear();
    for (Candidate& c : found) kernel.advice.push_back(std::move(c.advice));
  }
}

std::string rules_as_markdown() {
  std::string out =
      "# Rules\n\nMade from `src/analysis/advice/rules.inc` by `warpgrind-advice-docs`; do not edit.\n\nThese rules "
      "produce the `advice` of a profile and the section \"what to do\" in the terminal. If the table names a rule of "
      "Nsight Compute, its threshold is used. `estimated_gain` is the fraction of the kernel's estimated time that "
      "would be saved without the cause of the rule. It is 0 if another limit dominates. Such advice is sorted by the "
      "distance of the counters from their ideal.\n\n| rule | what | fires when | Nsight Compute "
      "|\n|---|---|---|---|\n";
  for (const RuleRow& r : kRules)
    out += fmt::format("| `{}` | {} | {} | {} |\n", r.id, r.name, r.fires, *r.nsight ? r.nsight : "-");
  return out;
}

}  // namespace warpgrind::advice
