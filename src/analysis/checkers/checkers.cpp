// Creation of the selected checkers, and the merged, sorted list of their findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/words.h"
#include "checkers/checker.h"

namespace warpgrind::checkers {

namespace {

using results::Finding;
using results::FindingAccess;

// Key of a finding at source level: everything except the instruction, the thread and the offset.
std::string seen_as(const Finding& f) {
  std::string text = fmt::format("{}|{}|{}|{}|{}", f.group, f.kind, static_cast<int>(f.severity), f.kernel, f.error);
  for (const FindingAccess& a : f.accesses) {
    text += fmt::format("|{}|{}|{}|{}|{}|{}", a.role, a.access, a.file, a.line, a.function, a.bytes);
    if (a.memory) text += fmt::format("|{}|{}", a.memory->space, a.memory->object);
    for (const results::InlinedAt& i : a.inlined_at) text += fmt::format("|{}:{}", i.file, i.line);
  }
  if (f.origin) text += fmt::format("|{}|{}|{}", f.origin->file, f.origin->line, f.origin->object);
  return text;
}

// Merges findings at several instructions of one source line (an unrolled loop) into one. Keeps the order.
void merge_lines(std::vector<Finding>& findings) {
  struct Place {
    std::size_t index = 0;
    std::uint64_t more = 0;
  };
  std::map<std::string, Place> places;
  std::vector<Finding> kept;
  for (Finding& f : findings) {
    const bool of_kernel = !f.accesses.empty() && !f.accesses[0].kernel.empty() && f.accesses[0].line != 0;
    if (of_kernel) {
      const auto [known, first] = places.try_emplace(seen_as(f), Place{kept.size(), 0});
      if (!first) {
        kept[known->second.index].count += f.count;
        ++known->second.more;
        continue;
      }
    }
    kept.push_back(std::move(f));
  }
  for (const auto& [text, place] : places)
    if (place.more != 0)
      kept[place.index].notes.push_back(
          fmt::format("same finding at {} that the compiler made from this line (an unrolled loop)",
                      counted(place.more, "more instruction")));
  findings = std::move(kept);
}

// Removes races that follow from another finding: reads of a copy whose bytes expect_tx did not announce.
void drop_consequences(std::vector<Finding>& findings) {
  std::set<std::tuple<std::string, std::string, std::uint32_t>> copies;
  const auto place = [](const Finding& f) {
    const FindingAccess& a = f.accesses[0];
    return std::make_tuple(a.kernel, a.ptx, a.ptx_line);
  };
  for (const Finding& f : findings)
    if (f.kind == "mbarrier-bytes") copies.insert(place(f));
  std::erase_if(findings, [&](const Finding& f) {
    return f.kind == "race-async-copy" && !f.accesses.empty() && copies.contains(place(f));
  });
}

}  // namespace

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

void Checkers::announce_to(const Checker::OnFinding& on_finding) {
  for (const auto& [group, checker] : checkers_) checker->announce_to(on_finding);
}

std::vector<results::Finding> Checkers::report() {
  return collect(&Checker::report);
}

std::vector<results::Finding> Checkers::report_section() {
  return collect(&Checker::report_section);
}

std::vector<results::Finding> Checkers::collect(void (Checker::*report)(std::vector<results::Finding>&)) {
  std::vector<results::Finding> findings;
  for (const auto& [group, checker] : checkers_) {
    const std::size_t before = findings.size();
    (*checker.*report)(findings);
    for (std::size_t i = before; i < findings.size(); ++i) findings[i].group = group;
  }
  drop_consequences(findings);
  const auto launch_of = [](const results::Finding& f) { return f.accesses.empty() ? 0 : f.accesses[0].launch; };
  std::stable_sort(findings.begin(), findings.end(), [&](const results::Finding& a, const results::Finding& b) {
    return std::make_tuple(b.severity, launch_of(a), a.file, a.line, a.ptx_line, a.kind, a.message) <
           std::make_tuple(a.severity, launch_of(b), b.file, b.line, b.ptx_line, b.kind, b.message);
  });
  merge_lines(findings);
  return findings;
}

}  // namespace warpgrind::checkers
