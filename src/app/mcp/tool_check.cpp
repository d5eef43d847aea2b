// Tool `check`: the findings of a run with all checkers.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/words.h"
#include "mcp/boxed_command.h"
#include "mcp/caveats.h"
#include "mcp/result_parts.h"
#include "report/check_text.h"
#include "results/finding.h"

namespace warpgrind::mcp {

namespace {

using results::Finding;
using results::Severity;

std::string place_text(const std::string& file, std::uint32_t line) {
  return line == 0 ? "" : fmt::format("{}:{}", base_name(file), line);
}

Json finding_json(const Finding& f) {
  Json out = {{"kind", f.kind},
              {"severity", results::name(f.severity)},
              {"what", f.message},
              {"at", place_text(f.file, f.line)}};
  if (!f.kernel.empty()) out["kernel"] = f.kernel;
  if (f.count > 1) out["times"] = f.count;
  Json accesses = Json::array();
  for (const results::FindingAccess& a : f.accesses) {
    Json one = {{"access", a.role.empty() ? a.access : a.role + ": " + a.access}, {"at", place_text(a.file, a.line)}};
    if (a.of_thread) {
      one["block"] = {a.block.x, a.block.y, a.block.z};
      one["thread"] = {a.thread.x, a.thread.y, a.thread.z};
    }
    if (!a.object.empty()) one["object"] = a.object;
    accesses.push_back(std::move(one));
  }
  if (accesses.size() > 1 || (accesses.size() == 1 && f.kernel.empty())) out["accesses"] = std::move(accesses);
  if (f.origin)
    out["origin"] =
        fmt::format("{} {} {}", f.origin->kind, f.origin->object, place_text(f.origin->file, f.origin->line));
  if (f.cause) out["cause"] = fmt::format("{} {}", f.cause->text, place_text(f.cause->file, f.cause->line));
  if (!f.missing.empty()) out["missing"] = f.missing;
  if (!f.notes.empty()) out["why"] = f.notes;
  if (!f.advice.empty()) out["do"] = f.advice;
  return out;
}

std::vector<const Finding*> sorted(const results::Profile& profile) {
  std::vector<const Finding*> out;
  for (const Finding& f : profile.findings) out.push_back(&f);
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding* a, const Finding* b) { return a->severity > b->severity; });
  return out;
}

void add_findings(ResultBuilder& b, const results::Profile& profile, const Room& room) {
  report::CheckCounts counts;
  for (const Finding& f : profile.findings)
    ++(f.severity == Severity::error     ? counts.errors
       : f.severity == Severity::warning ? counts.warnings
                                         : counts.infos);
  Json findings = Json::array();
  std::string texts;
  for (const Finding* f : sorted(profile)) {
    if (findings.size() == room.findings) break;
    texts += report::check_finding_text(*f, profile, {}) + "\n";
    findings.push_back(finding_json(*f));
  }
  b.object()["errors"] = counts.errors;
  b.object()["warnings"] = counts.warnings;
  b.object()["infos"] = counts.infos;
  b.text(counts.errors + counts.warnings == 0 ? "NO ERRORS and no warnings were found.\n"
                                              : report::check_summary(counts));
  b.text(texts);
  if (profile.findings.size() > findings.size())
    b.line(fmt::format("{} more findings; mend these first{}.", profile.findings.size() - findings.size(),
                       room.findings < 10 ? ", or ask for \"detail\": \"full\"" : ""));
  b.object()["findings"] = std::move(findings);
}

}  // namespace

ToolResult call_check(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  auto program = read_program(arguments, arguments, context.settings);
  if (!program) return refused(program.error());
  // The findings are read from the profile; what `warpgrind check` prints would stand among the output.
  std::vector<std::string> options = {"--error-exitcode", "0", "--log-file", std::string(kWork) + "findings.txt"};
  if (const auto only = arguments.find("only"); only != arguments.end())
    for (const Json& group : *only) options.insert(options.end(), {"--only", group.get<std::string>()});
  auto run = run_program(*program, Manner::check, options, context);
  if (!run) return refused(run.error());
  if (!run->compiled) return did_not_start(*program, *run, room);
  ResultBuilder b(room);
  const std::vector<std::string> idle = kernels_never_run(*run);
  const bool none_ran = run->content && !run->content->kernels.empty() && idle.size() == run->content->kernels.size();
  const bool clean = run->profile && std::all_of(run->profile->findings.begin(), run->profile->findings.end(),
                                                 [](const Finding& f) { return f.severity == Severity::info; });
  const bool whole = run->profile && run->ended_well && !none_ran;
  b.object()["status"] = !run->profile ? "no_findings_file" : !clean ? "findings" : whole ? "clean" : "not_whole";
  b.line(fmt::format("CHECK of {} on a virtual {}: {}.", program->shown, program->gpu, run->end));
  const Verification verification = verify(*program, *run, json::text(arguments, "expect_output"));
  b.object()["verified"] = verification.verified;
  b.line(verification.text);
  if (!run->profile)
    b.line("The findings are LOST, because the program was killed before it ended. This is no clean check.");
  else
    add_findings(b, *run->profile, room);
  add_end(b, *program, *run, room);
  std::vector<std::string> open;
  if (!idle.empty() && none_ran)
    open.emplace_back("NO KERNEL RAN, so nothing in a kernel was checked.");
  else
    for (const std::string& kernel : idle) open.push_back("never ran, so not checked: " + kernel);
  if (!run->ended_well)
    open.push_back(
        fmt::format("The program did not end well ({}): what it would have done later is not checked.", run->end));
  if (arguments.contains("only")) open.emplace_back("Other groups of checks than those in `only` did not run.");
  open.emplace_back("Only these inputs and sizes were checked.");
  b.list("NOT PROVEN", "not_proven", open);
  return b.take();
}

}  // namespace warpgrind::mcp
