// Results of --require-kernels, in the form of expectations.
#include "report/required_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/activity_text.h"
#include "report/kernel_names.h"

namespace warpgrind::report {
namespace {

using Outcome = ExpectationResult::Outcome;

// All kernels that ran, with the sum of their launches. Files of earlier versions know only those that were counted.
std::vector<results::KernelProfile> kernels_of(const std::vector<results::Profile>& profiles) {
  std::map<std::string, results::KernelProfile> all;
  const auto add = [&](const std::string& name, const std::string& mangled, std::uint64_t launches) {
    results::KernelProfile& k = all[mangled];
    k.name = name;
    k.mangled_name = mangled;
    k.launches += launches;
  };
  for (const results::Profile& p : profiles)
    if (p.activity)
      for (const results::LaunchedKernel& k : p.activity->launched) add(k.name, k.mangled_name, k.launches);
    else
      for (const results::KernelProfile& k : p.kernels) add(k.name, k.mangled_name, k.launches);
  std::vector<results::KernelProfile> out;
  for (auto& [name, kernel] : all) out.push_back(std::move(kernel));
  return out;
}

std::string why_missing(const std::string& pattern, const std::vector<results::KernelProfile>& kernels,
                        const std::vector<results::Profile>& profiles, std::size_t lost) {
  std::string out;
  if (!kernels.empty()) {
    std::vector<const results::KernelProfile*> all;
    for (const results::KernelProfile& k : kernels) all.push_back(&k);
    out = fmt::format("no kernel called \"{}\" ran; there ran {}", pattern, kernel_list(all));
  } else if (profiles.empty()) {
    out = "no kernel ran: no process of the run used CUDA";
  } else {
    std::vector<std::string> reasons;
    for (const results::Profile& p : profiles)
      for (const std::string& line : left_undone(p))
        if (std::find(reasons.begin(), reasons.end(), line) == reasons.end()) reasons.push_back(line);
    out = reasons.empty() ? "no kernel ran" : fmt::format("{}", fmt::join(reasons, "; "));
  }
  if (lost == 0) return out;
  const std::string left = fmt::format("{} left no profile, because {} killed or became another program",
                                       lost == 1 ? std::string("a process") : fmt::format("{} processes", lost),
                                       lost == 1 ? "it was" : "they were");
  out = profiles.empty() ? "no kernel is known to have run: " + left : out + "; " + left;
  return out;
}

}  // namespace

std::vector<ExpectationResult> check_required_kernels(const std::vector<std::string>& patterns,
                                                      const std::vector<results::Profile>& profiles, std::size_t lost,
                                                      std::size_t expectations) {
  const std::vector<results::KernelProfile> kernels = kernels_of(profiles);
  std::vector<ExpectationResult> out;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    bool ran = false;
    for (const results::KernelProfile& k : kernels) {
      if (!matches(patterns[i], k)) continue;
      ran = true;
      ExpectationResult& r = out.emplace_back();
      r.expectation = expectations + i;
      r.text = "kernels " + patterns[i] + " ran";
      r.kernel = k.name;
      r.outcome = Outcome::passed;
      r.figures = fmt::format("{} launch{}", k.launches, k.launches == 1 ? "" : "es");
    }
    if (ran) continue;
    ExpectationResult& r = out.emplace_back();
    r.expectation = expectations + i;
    r.text = "kernels " + patterns[i] + " ran";
    r.outcome = Outcome::nothing_checked;
    r.figures = why_missing(patterns[i], kernels, profiles, lost);
  }
  return out;
}

}  // namespace warpgrind::report
