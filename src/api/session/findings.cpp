// Findings from faults, warnings and unchecked errors.
#include "session/findings.h"

#include <fmt/core.h>

#include "checkers/kernel_place.h"
#include "session/api_findings.h"
#include "session/check_kinds.h"

namespace warpgrind::session {

Findings::Findings(const RunOptions& options, checkers::Checkers* checkers, AfterFault& after_fault, Messages& messages,
                   results::Collector& collector)
    : options_(options), checkers_(checkers), after_fault_(after_fault), messages_(messages), collector_(collector) {}

namespace {

// Accesses that `warpgrind check` skips, so that the kernel goes on.
bool is_invalid_access(device::FaultKind kind) {
  using K = device::FaultKind;
  return kind == K::illegal_address || kind == K::misaligned_address || kind == K::shared_out_of_bounds ||
         kind == K::local_out_of_bounds || kind == K::write_to_constant;
}

}  // namespace

std::optional<results::Finding> Findings::check_finding(const device::Fault& fault, results::Severity severity) const {
  results::Finding finding = to_finding(fault);
  const CheckKind kind = check_kind(fault.kind, severity == results::Severity::error);
  if (kind.covered_by && options_.checks.*kind.covered_by) return std::nullopt;
  finding.kind = kind.kind;
  finding.group = group_of(kind.kind);
  finding.severity = kind.severity;
  for (results::FindingAccess& at : finding.accesses) {
    if (!at.access.empty()) continue;
    at.access = fault.kind == device::FaultKind::block_order ? "waits here"
                : at.bytes != 0                              ? "stops at an access"  // "... of 4 bytes"
                                                             : "stops here";
  }
  if (!finding.accesses.empty()) checkers::take_place(finding, finding.accesses[0]);
  if (!fault.waiting.empty()) finding.notes.clear();  // the accesses show which warp waits where
  return finding;
}

void Findings::add(const device::Fault& fault, results::Severity severity) {
  results::Finding finding;
  if (checkers_) {
    if (severity == results::Severity::error) checkers_->note_fault();
    std::optional<results::Finding> found = check_finding(fault, severity);
    if (!found) return;
    finding = std::move(*found);
  } else {
    finding = to_finding(fault);
    finding.severity = severity;
  }
  constexpr std::size_t kWarpsShown = 64;
  if (finding.notes.size() > kWarpsShown) {
    std::size_t more = finding.notes.size() - kWarpsShown;
    finding.notes.resize(kWarpsShown);
    finding.notes.push_back(fmt::format("and {} more warps", more));
  }
  if (options_.quiet && severity == results::Severity::warning)
    collector_.add_finding(std::move(finding));
  else
    add(std::move(finding));
  if (severity == results::Severity::error && !checkers_ && !fault.kernel.empty() && is_invalid_access(fault.kind))
    print_line("the kernel was stopped here; `warpgrind check` finds all errors in one run");
}

// Prints the finding at its first occurrence, in the middle of the program's output. Later ones are counted until the
// end.
void Findings::went_on(const device::Fault& fault) {
  results::Finding first;
  {
    const std::lock_guard lock(mutex_);
    WentOn& known = went_on_[fault.kernel + "\n" + fault.function + "\n" + std::to_string(fault.ptx_line)];
    known.accesses += fault.went_on;
    if (++known.launches > 1) return;
    known.finding = to_finding(fault);
    known.finding.notes.push_back("the kernel continues, as on a GPU (--no-bounds-stop)");
    first = known.finding;
  }
  messages_.print_once(first);
}

void Findings::sum_up_what_went_on() {
  const std::lock_guard lock(mutex_);
  std::uint64_t accesses = 0;
  for (auto& [place, known] : went_on_) {
    accesses += known.accesses;
    known.finding.notes.push_back(
        fmt::format("{} accesses of threads, in {} launches", known.accesses, known.launches));
    collector_.add_finding(std::move(known.finding));
  }
  if (!went_on_.empty())
    print_line(
        fmt::format("{} out-of-bounds accesses by threads at {} places did not stop their kernels (--no-bounds-stop)",
                    accesses, went_on_.size()));
}

// With --sample-blocks: reports the first launch that ran in part, and each kernel that had to run whole.
void Findings::note_blocks(const device::LaunchResult& result) {
  if (options_.blocks == 0 || !result.kernel) return;
  const char* const option = options_.despite_data ? "--blocks" : "--sample-blocks";
  results::Finding finding;
  finding.severity = results::Severity::warning;
  finding.kind = "some-blocks";
  const std::string kernel = shown_name(result.kernel->facts().name);
  {
    const std::lock_guard lock(mutex_);
    const bool sampled = !sampled_.empty();
    if (!result.why_all_blocks.empty()) {
      finding.kernel = kernel;
      finding.message = fmt::format("all blocks ran despite {} {}: {}", option, options_.blocks, result.why_all_blocks);
      if (sampled) finding.notes.push_back("kernels before it ran in part, so its data may be wrong");
    } else if (result.counts.blocks_run != 0) {
      ++sampled_[kernel];
      finding.message = fmt::format(
          "about {} blocks of each launch run ({}), more if they are short or differ: counts and times are scaled to "
          "all blocks, and results are not computed",
          options_.blocks, option);
    } else {
      return;
    }
    if (!blocks_noted_.insert(finding.kernel).second) return;
  }
  add(std::move(finding));
}

void Findings::sum_up_sampled() {
  results::Finding finding;
  finding.severity = results::Severity::warning;
  finding.kind = "not-computed";
  {
    const std::lock_guard lock(mutex_);
    if (sampled_.empty()) return;
    std::uint64_t launches = 0;
    for (const auto& [kernel, count] : sampled_) {
      launches += count;
      finding.notes.push_back(fmt::format("{}: {} launch{}", kernel, count, count == 1 ? "" : "es"));
    }
    finding.message = fmt::format(
        "results of {} kernel{} were not computed ({} launch{}): what the program printed, or decided by them, is not "
        "valid",
        sampled_.size(), sampled_.size() == 1 ? "" : "s", launches, launches == 1 ? "" : "es");
    constexpr std::size_t kShown = 8;
    if (finding.notes.size() > kShown) {
      const std::size_t more = finding.notes.size() - kShown;
      finding.notes.resize(kShown);
      finding.notes.push_back(fmt::format("and {} more kernels", more));
    }
  }
  add(std::move(finding));
}

void Findings::add_warnings(const device::LaunchResult& launch) {
  for (const device::Fault& warning : launch.warnings)
    if (warning.went_on)
      went_on(warning);
    else
      add(warning, results::Severity::warning);
}

void Findings::add_all_of(const device::LaunchResult& launch) {
  if (launch.fault) after_fault_.failed(*launch.fault);
  add_warnings(launch);
  for (const device::LaunchResult& child : launch.children) add_warnings(child);
  if (launch.fault && !launch.survived) {  // else a checker reports it
    add(*launch.fault, results::Severity::error);
    if (launch.fault->kind == device::FaultKind::unsupported)
      messages_.leave_status("problem", "a kernel needs a feature that is not supported yet");
  }
  note_blocks(launch);
}

void Findings::add(results::Finding finding) {
  if (!checkers_) messages_.print_once(finding);
  collector_.add_finding(std::move(finding));
}

void Findings::add_unchecked_errors() {
  if (checkers_) return;
  for (results::Finding& finding : ApiErrors::findings_of(api_errors_.unchecked_entries())) add(std::move(finding));
}

std::vector<results::Finding> Findings::take_section() {
  if (!checkers_) return ApiErrors::findings_of(api_errors_.take_unchecked());
  std::vector<results::Finding> out = checkers_->report_section();
  if (options_.checks.api)
    for (results::Finding& finding : api_findings(api_errors_.take_unchecked(), *checkers_))
      out.push_back(std::move(finding));
  const std::lock_guard lock(mutex_);
  found_in_sections_.insert(found_in_sections_.end(), out.begin(), out.end());
  return out;
}

void Findings::contribute(results::Profile& profile, const std::vector<OrderOutcome>& others) {
  const bool calls = checkers_ && options_.checks.api;
  {
    const std::lock_guard lock(mutex_);
    for (results::Finding& finding : found_in_sections_) profile.findings.push_back(std::move(finding));
    found_in_sections_.clear();
  }
  if (checkers_)
    for (results::Finding& finding : checkers_->report()) profile.findings.push_back(std::move(finding));
  if (calls)
    for (results::Finding& finding : api_findings(api_errors_.take_unchecked(), *checkers_))
      profile.findings.push_back(std::move(finding));
  join(profile.findings, others);
  if (calls)
    if (auto sticky = after_fault_.finding()) profile.findings.push_back(std::move(*sticky));
}

}  // namespace warpgrind::session
