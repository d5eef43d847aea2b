#include <algorithm>
#include <tuple>

#include "checkers/checker.h"

namespace warpgrind::checkers {

#define WG_CHECKER(name, group, what) std::unique_ptr<Checker> make_##name(const Known& known);
#include "checkers/checkers.inc"
#undef WG_CHECKER

Checkers::Checkers([[maybe_unused]] const Selection& selection, const GpuModel& model, AskUnwritten unwritten)
    : known_{objects_, works_, model, &handles_, &faulted_, &gone_on_, std::move(unwritten)} {
#define WG_CHECKER(name, group, what) \
  if (selection.group) checkers_.emplace_back(#group, make_##name(known_));
#include "checkers/checkers.inc"
#undef WG_CHECKER
}

std::vector<events::Observer*> Checkers::observers() {
  std::vector<events::Observer*> all = {&objects_, &works_};
  for (const auto& [group, checker] : checkers_) all.push_back(checker.get());
  return all;
}

std::vector<results::Finding> Checkers::report() {
  std::vector<results::Finding> findings;
  for (const auto& [group, checker] : checkers_) {
    const std::size_t before = findings.size();
    checker->report(findings);
    for (std::size_t i = before; i < findings.size(); ++i) findings[i].group = group;
  }
  const auto launch_of = [](const results::Finding& f) { return f.accesses.empty() ? 0 : f.accesses[0].launch; };
  std::stable_sort(findings.begin(), findings.end(), [&](const results::Finding& a, const results::Finding& b) {
    return std::make_tuple(b.severity, launch_of(a), a.file, a.line, a.ptx_line, a.kind, a.message) <
           std::make_tuple(a.severity, launch_of(b), b.file, b.line, b.ptx_line, b.kind, b.message);
  });
  return findings;
}

}  // namespace warpgrind::checkers
