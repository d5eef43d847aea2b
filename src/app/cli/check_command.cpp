// Subcommand `warpgrind check`: suppressions, report and exit code.
#include "cli/check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/printable.h"
#include "checkers/selection.h"
#include "cli/core_options.h"
#include "cli/debug_on_fault.h"
#include "cli/mpi_rank.h"
#include "report/activity_text.h"
#include "report/check_text.h"
#include "report/suppressions.h"
#include "report/terminal.h"
#include "results/json.h"
#include "session/processes.h"

namespace warpgrind::cli {

void select_all(checkers::Selection& selection) {
  for (const auto& [group, member] : checkers::kGroups) selection.*member = true;
}

Status add_groups(const std::string& words, checkers::Selection& selection, const char* option) {
  std::size_t at = 0;
  while (at <= words.size()) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    bool known = false;
    for (const auto& [group, member] : checkers::kGroups)
      if (group == word) known = selection.*member = true;
    if (known) continue;
    std::string all;
    for (const auto& [group, member] : checkers::kGroups) all += (all.empty() ? "" : " ") + std::string(group);
    return Error{ErrorKind::bad_input, fmt::format("{} {}: unknown group of checks", option, word),
                 "known groups: " + all};
  }
  return Ok{};
}

namespace {

using results::Finding;
using results::Severity;

Result<checkers::Selection> selection_of(const CheckCommand& command) {
  checkers::Selection s;
  for (const std::string& words : command.only)
    if (Status added = add_groups(words, s); !added) return added.error();
  select_groups(command.sanitizer, s);
  if (!s.any()) select_all(s);
  if (command.sanitizer.leak_check == "full") s.leaks = true;
  if (command.sanitizer.leak_check == "no") s.leaks = false;
  return s;
}

Result<std::vector<report::Suppression>> suppressions_of(const std::string& path) {
  if (path.empty()) return std::vector<report::Suppression>{};
  const auto text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", path), "--suppress needs a file"};
  return report::read_suppressions(*text, path);
}

// Removes unwanted and suppressed findings of all processes, and counts the rest.
report::CheckCounts remove_suppressed(FinishedRun& run, const SanitizerOptions& sanitizer,
                                      const std::vector<report::Suppression>& suppressions) {
  report::CheckCounts counts;
  for (results::Profile& p : run.profiles) {
    std::erase_if(p.findings, [&](const Finding& f) { return !wants(sanitizer, f); });
    const std::size_t before = p.findings.size();
    std::erase_if(p.findings, [&](const Finding& f) {
      return std::any_of(suppressions.begin(), suppressions.end(),
                         [&](const report::Suppression& s) { return report::suppresses(s, f); });
    });
    counts.suppressed += before - p.findings.size();
    for (const Finding& f : p.findings)
      ++(f.severity == Severity::error     ? counts.errors
         : f.severity == Severity::warning ? counts.warnings
                                           : counts.infos);
  }
  return counts;
}

void print(const FinishedRun& run, const CheckCommand& command, const report::CheckCounts& counts, std::FILE* out) {
  const report::TextOptions options{.colour = report::wants_colour(out)};
  std::size_t shown = 0, left_out = 0;
  for (const results::Profile& p : run.profiles)
    for (const Finding& f : p.findings) {
      if (!is_printed(f.severity, command.print_level)) continue;
      if (shown == command.print_limit) {
        ++left_out;
        continue;
      }
      print_text(out, report::check_finding_text(f, p, options) + "\n");
      ++shown;
    }
  if (left_out != 0)
    print_text(out, fmt::format("{} more are not shown (--print-limit {})\n", left_out, command.print_limit));
  print_text(out, report::left_undone_text(run.profiles));
  print_text(out, report::check_summary(counts));
}

Status write_json(const std::string& path, const FinishedRun& run) {
  for (std::size_t i = 0; i < run.profiles.size(); ++i) {
    const std::string name = session::of_process(path, static_cast<unsigned>(i + 1));
    if (Status s = write_whole(name, results::to_json(run.profiles[i])); !s) return s;
  }
  return Ok{};
}

// compute-sanitizer prints to stdout, warpgrind to stderr.
Status print_report(const FinishedRun& run, const CheckCommand& command, const report::CheckCounts& counts) {
  const bool as_sanitizer = !command.sanitizer.tools.empty();
  std::FILE* const usual = as_sanitizer ? stdout : stderr;
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const log = command.log_path.empty() ? usual : open_memstream(&text, &size);
  const Error failed{ErrorKind::environment, "cannot write the report", ""};
  if (!log) return failed;
  Status status = Ok{};
  if (as_sanitizer || command.sanitizer.xml || !command.sanitizer.save.empty())
    status = print_as_sanitizer(run, command.sanitizer, command.print_level, command.print_limit, log);
  else
    print(run, command, counts, log);
  const bool written = std::fflush(log) == 0 && std::ferror(log) == 0;
  if (log != usual) {
    const bool closed = std::fclose(log) == 0;
    const std::string whole(text, closed ? size : 0);
    std::free(text);
    if (!closed || !status) return status ? Status(failed) : status;
    return write_whole(command.log_path, whole);
  }
  return written || !status ? status : Status(failed);
}

int show(const CheckCommand& command, const std::string& json_path, FinishedRun& run,
         const std::vector<report::Suppression>& suppressions) {
  const report::CheckCounts counts = remove_suppressed(run, command.sanitizer, suppressions);
  if (Status s = print_report(run, command, counts); !s) return complain(s.error()), kUsageError;
  if (!json_path.empty())
    if (Status s = write_json(json_path, run); !s) return complain(s.error()), kUsageError;
  if (!command.gen_suppressions.empty()) {
    std::vector<Finding> all;
    for (const results::Profile& p : run.profiles) all.insert(all.end(), p.findings.begin(), p.findings.end());
    if (Status s = write_whole(command.gen_suppressions, report::suppressions_json(all)); !s)
      return complain(s.error()), kUsageError;
  }
  run.texts.clear();  // they still have the suppressed findings
  FinishedRun clean = run;
  clean.exit_code = 0;
  if (const int code = write_reports(command.run.reports, {}, clean, stderr); code != 0) return code;
  const bool fails = counts.errors + counts.warnings != 0 && command.error_exitcode != 0;
  return fails ? command.error_exitcode : run.exit_code;
}

}  // namespace

int check(const CheckCommand& given) {
  CheckCommand command = given;
  if (command.as_sanitizer && command.sanitizer.tools.empty()) command.sanitizer.tools = {"memcheck"};
  if (Status understood = check_options(command.sanitizer); !understood)
    return complain(understood.error()), kUsageError;
  auto selection = selection_of(command);
  if (!selection) return complain(selection.error()), kUsageError;
  auto suppressions = suppressions_of(command.suppressions);
  if (!suppressions) return complain(suppressions.error()), kUsageError;
  command.log_path = expanded_path(command.log_path);
  for (std::string* path : {&command.run.options.json_path, &command.gen_suppressions, &command.log_path,
                            &command.run.reports.junit_path, &command.run.reports.sarif_path}) {
    *path = of_this_rank(*path);
    if (Status writable = check_writable(*path); !writable) return complain(writable.error()), kUsageError;
  }
  if (auto prepared = prepare(command.run.reports); !prepared) return complain(prepared.error()), kUsageError;
  const std::string json_path = std::move(command.run.options.json_path);
  command.run.options.json_path.clear();
  command.run.options.checks = *selection;
  command.run.options.quiet = true;
  command.run.options.detail |= command.run.reports.needs_detail();
  command.run.host_lines = true;
  if (command.run.debug_on_fault) set_debuggable(command.run);
  if (Status ready = prepare_core(command.run); !ready) return complain(ready.error()), kUsageError;
  FinishedRun finished;
  const int code = run_program(command.run, &finished);
  if (!finished.started) return code;
  // --require-kernels reports it, too.
  const bool no_cuda =
      finished.no_cuda && (!command.sanitizer.require_cuda || !command.run.reports.required_kernels.empty());
  if (no_cuda) finished.exit_code = 0;
  if (finished.profiles.empty() && code != 0 && !no_cuda) {
    complain(fmt::format("the findings are lost: the program ended with exit code {} before they were reported", code));
    return code;
  }
  return show(command, json_path, finished, *suppressions);
}

}  // namespace warpgrind::cli
