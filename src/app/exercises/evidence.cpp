#include "exercises/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "exercises/rules.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::exercises {

namespace {

constexpr double kFreeBytes = 64 << 10;  // small copies, of parameters for instance
constexpr double kMostCopied = 1.5, kLeastStored = 0.5;

const results::KernelProfile* kernel_of_library(const results::Profile& profile) {
  for (const results::KernelProfile& k : profile.kernels) {
    const std::string name = report::short_name(k.name);
    if (name.starts_with("cub::") || name.starts_with("thrust::") || name.starts_with("cutlass::")) return &k;
  }
  return nullptr;
}

// Whether a rule is about this kernel. Where rules are about all kernels, answers may divide the work as they like.
bool is_judged(const std::string& kernel, const std::vector<Rule>& rules) {
  results::KernelProfile named;
  named.name = kernel;
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return rule.kind == Rule::Kind::counter && rule.expectation.kernels != "*" &&
           report::matches(rule.expectation.kernels, named);
  });
}

// A judged kernel that stores much less than in the solution, although another kernel stores.
Judged find_idle_kernel(const results::Profile& profile, const SolutionRun& solution, const std::vector<Rule>& rules) {
  Judged out;
  std::string other;
  double most = 0;
  for (const results::KernelProfile& k : profile.kernels) {
    if (is_of_test(k.name) || solution.stored_bytes.contains(report::short_name(k.name))) continue;
    if (stored_bytes(k) > most) other = report::short_name(k.name);
    most = std::max(most, stored_bytes(k));
  }
  if (other.empty()) return out;
  for (const auto& [name, usual] : solution.stored_bytes) {
    if (!is_judged(name, rules)) continue;
    double stored = 0;
    for (const results::KernelProfile& k : profile.kernels)
      if (report::short_name(k.name) == name) stored += stored_bytes(k);
    if (stored >= kLeastStored * usual || most < kLeastStored * usual) continue;
    out.seen = fmt::format("{} stores {} B, in the solution {} B: {} does its work", name, report::fixed(stored, 0),
                           report::fixed(usual, 0), other);
    out.message = "The rules are about the kernel that the exercise names: it has to do the work.";
    return out;
  }
  return out;
}

}  // namespace

Judged find_work_elsewhere(const results::Profile& profile, const SolutionRun& solution,
                           const std::vector<Rule>& rules) {
  Judged out;
  if (!profile.library_calls.empty()) {
    out.seen = fmt::format("a library computed: {}", profile.library_calls[0].function);
    out.message = "The exercise asks for your own kernel.";
    return out;
  }
  if (const results::KernelProfile* kernel = kernel_of_library(profile)) {
    out.seen = fmt::format("a library's kernel ran: {}", report::short_name(kernel->name));
    out.message = "The exercise asks for your own kernel.";
    return out;
  }
  const double copied = copied_bytes(profile);
  // A rule of the exercise about copies has better help.
  const bool has_rule =
      std::any_of(rules.begin(), rules.end(), [](const Rule& r) { return r.kind == Rule::Kind::copies; });
  if (!has_rule && copied > kMostCopied * solution.copied_bytes + kFreeBytes) {
    out.seen = fmt::format("{} B were copied between host and device, with the solution {} B", report::fixed(copied, 0),
                           report::fixed(solution.copied_bytes, 0));
    out.message = "The work belongs on the GPU: do not copy data to the host and back.";
    return out;
  }
  return find_idle_kernel(profile, solution, rules);
}

}  // namespace warpgrind::exercises
