// compute-sanitizer's options, filters and report.
#include "cli/sanitizer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/printable.h"
#include "base/regular_expression.h"
#include "cli/commands.h"
#include "report/kernel_names.h"
#include "report/sanitizer_xml.h"

namespace warpgrind::cli {

namespace {

using results::Finding;

struct Tool {
  const char* name;
  std::vector<bool checkers::Selection::*> groups;
};
const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> all = {
      {"memcheck", {&checkers::Selection::memory, &checkers::Selection::api}},
      {"racecheck", {&checkers::Selection::races}},
      {"initcheck", {&checkers::Selection::init}},
      {"synccheck", {&checkers::Selection::barriers}},
  };
  return all;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A filter such as "kns=reduce"; the key before "=" selects the kind of match.
struct KernelFilter {
  enum class By : std::uint8_t { part, name, expression } by = By::name;
  std::string text;
};
Result<KernelFilter> filter_of(const std::string& word, KernelFilter::By otherwise) {
  using By = KernelFilter::By;
  static const std::pair<const char*, By> kKeys[] = {{"kns", By::part},         {"kernel_substring", By::part},
                                                     {"kne", By::name},         {"kernel_name", By::name},
                                                     {"regex", By::expression}, {"kernel_regex", By::expression}};
  KernelFilter out{otherwise, word};
  if (const std::size_t at = word.find('='); at != std::string::npos)
    for (const auto& [key, by] : kKeys)
      if (word.compare(0, at, key) == 0) out = {by, word.substr(at + 1)};
  if (out.by == By::expression && !RegularExpression(out.text).good())
    return Error{ErrorKind::bad_input, fmt::format("\"{}\" is not a regular expression", out.text),
                 "choose kernels with kns=PART, kne=NAME or regex=EXPRESSION"};
  return out;
}

bool matches(const KernelFilter& f, const std::string& kernel) {
  switch (f.by) {
    case KernelFilter::By::part:
      return kernel.find(f.text) != std::string::npos;
    case KernelFilter::By::name:
      return kernel == f.text || report::short_name(kernel) == f.text ||
             kernel.substr(0, kernel.find_first_of("<(")) == f.text;
    case KernelFilter::By::expression:
      break;
  }
  return RegularExpression(f.text).matches(kernel);
}

bool any_matches(const std::vector<std::string>& words, KernelFilter::By otherwise, const std::string& kernel) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto filter = filter_of(word, otherwise);
    return filter && matches(*filter, kernel);
  });
}

report::SanitizerForm form_of(const SanitizerOptions& o) {
  report::SanitizerForm form;
  form.prefix = o.prefix;
  form.hazards = o.race_report != "analysis";
  form.analysis = o.race_report != "hazard";
  form.device_frames = o.backtrace == "yes" || o.backtrace == "device";
  form.host_frames = o.backtrace == "yes" || o.backtrace == "host";
  form.whole_paths = !o.strip_paths;
  return form;
}

// The printed findings, and counts that include those beyond the limit.
struct Shown {
  std::vector<const Finding*> findings;
  report::SanitizerCounts counts;
};
// all_leaks: also memory that only the end of the context has freed, whatever the level. compute-sanitizer reports it.
Shown shown_of(const FinishedRun& run, const std::string& print_level, std::size_t limit, bool all_leaks) {
  Shown out;
  for (const results::Profile& p : run.profiles)
    for (const Finding& f : p.findings) {
      if (!is_printed(f.severity, print_level) && !(all_leaks && report::is_leak_of_memory(f))) continue;
      out.counts.add(f);
      if (limit == 0 || out.findings.size() < limit)
        out.findings.push_back(&f);
      else
        ++out.counts.not_printed;
    }
  return out;
}

std::string text_of(const Shown& shown, const FinishedRun& run, const SanitizerOptions& o) {
  const report::SanitizerForm form = form_of(o);
  std::string text = form.prefix + " COMPUTE-SANITIZER\n";
  for (const Finding* f : shown.findings) text += report::sanitizer_text(*f, form);
  if (run.exit_code != 0) text += form.prefix + " Target application returned an error\n";
  report::SanitizerSummaries which;
  which.races = has(o.tools, "racecheck");
  which.errors = o.tools.empty() || o.tools.size() > which.races;
  which.leaks = o.leak_check == "full";
  return text + report::sanitizer_summary(shown.counts, which, form);
}

}  // namespace

bool is_printed(results::Severity severity, const std::string& level) {
  static_assert(static_cast<int>(results::Severity::error) == 2);  // the index of "error"
  return std::find(kPrintLevels.begin(), kPrintLevels.end(), level) - kPrintLevels.begin() <=
         static_cast<std::ptrdiff_t>(severity);
}

const std::vector<SanitizerOption>& options_without_meaning() {
  constexpr bool flag = false, value = true, nothing = false, refused = true;
  static const std::vector<SanitizerOption> all = {
#define WG_SANITIZER_OPTION(names, takes, fate, why) {names, takes, fate, why},
#include "cli/sanitizer_options.inc"
#undef WG_SANITIZER_OPTION
  };
  return all;
}

std::string first_name(const SanitizerOption& option) {
  const std::string names = option.names;
  return names.substr(0, names.find(','));
}

Status check_options(const SanitizerOptions& o) {
  for (const SanitizerOption& option : options_without_meaning())
    if (option.refused && has(o.given, first_name(option)))
      return Error{ErrorKind::unsupported, first_name(option) + " is not supported", option.why};
  for (const auto* words : {&o.kernels, &o.other_kernels})
    for (const std::string& word : *words)
      if (auto f = filter_of(word, KernelFilter::By::name); !f) return f.error();
  for (const auto* words : {&o.kernel_expressions, &o.other_kernel_expressions})
    for (const std::string& word : *words)
      if (auto f = filter_of(word, KernelFilter::By::expression); !f) return f.error();
  if (!o.save.empty() || o.xml)
    if (Status writable = check_writable(expanded_path(o.save)); !writable) return writable.error();
  std::vector<std::string> said;
  for (const SanitizerOption& option : options_without_meaning()) {
    const std::string name = first_name(option);
    if (!has(o.given, name)) continue;
    complain(fmt::format("{} has no effect here: {}", name, option.why));
  }
  return Ok{};
}

void select_groups(const SanitizerOptions& o, checkers::Selection& selection) {
  for (const Tool& tool : all_tools())
    if (has(o.tools, tool.name))
      for (bool checkers::Selection::*group : tool.groups) selection.*group = true;
  if (o.report_api_errors == "no" && !o.tools.empty()) selection.api = false;
  if (!o.stream_ordered_races.empty() && o.stream_ordered_races != "no") selection.races = true;
}

bool wants(const SanitizerOptions& o, const Finding& f) {
  if (f.group == "races" && !o.tools.empty() && !has(o.tools, "racecheck") && f.kind != "use-before-alloc-stream" &&
      f.kind != "use-after-free-stream")
    return false;  // the group is on only for --track-stream-ordered-races
  if (f.kind == "use-before-alloc-stream" && o.stream_ordered_races == "use-after-free") return false;
  if (f.kind == "use-after-free-stream" && o.stream_ordered_races == "use-before-alloc") return false;
  if (f.kernel.empty()) return true;
  using By = KernelFilter::By;
  if (any_matches(o.other_kernels, By::name, f.kernel)) return false;
  if (any_matches(o.other_kernel_expressions, By::expression, f.kernel)) return false;
  if (o.kernels.empty() && o.kernel_expressions.empty()) return true;
  return any_matches(o.kernels, By::name, f.kernel) || any_matches(o.kernel_expressions, By::expression, f.kernel);
}

std::string expanded_path(const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    const std::size_t end = next == 'q' && i + 2 < path.size() && path[i + 2] == '{' ? path.find('}', i) : path.npos;
    if (next == 'p') {
      out += std::to_string(getpid());
      ++i;
    } else if (end != path.npos) {
      const char* const value = std::getenv(path.substr(i + 3, end - i - 3).c_str());
      out += value ? value : "";
      i = end;
    } else if (next == '%') {
      out += '%';
      ++i;
    } else {
      out += path[i];
    }
  }
  return out;
}

Status print_as_sanitizer(const FinishedRun& run, const SanitizerOptions& o, const std::string& print_level,
                          std::size_t limit, std::FILE* out) {
  const Shown shown = shown_of(run, print_level, limit, o.leak_check == "full");
  const std::string text = text_of(shown, run, o);
  const std::string kept = o.xml ? report::sanitizer_xml(shown.findings, form_of(o)) : text;
  // XML without a file of its own replaces the report.
  print_text(out, o.xml && o.save.empty() ? kept : text);
  std::fflush(out);
  if (o.save.empty()) return Ok{};
  return write_whole(expanded_path(o.save), kept);
}

}  // namespace warpgrind::cli
