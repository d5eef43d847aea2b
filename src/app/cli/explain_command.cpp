// Subcommand `warpgrind explain`: the access pattern of one line, from a profile file or from a run of a program.
#include <cstdio>

#include "base/printable.h"
#include "cli/commands.h"
#include "report/terminal.h"
#include "results/json.h"

namespace warpgrind::cli {

namespace {

// True for a JSON object: every profile is one, and no program is.
bool is_profile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return false;
  int first = std::fgetc(file);
  while (first == ' ' || first == '\n' || first == '\r' || first == '\t') first = std::fgetc(file);
  std::fclose(file);
  return first == '{';
}

int show(const results::Profile& profile, const report::AccessQuery& query) {
  auto text = report::access_view(profile, query, {.colour = report::wants_colour(stdout)});
  if (!text) return complain(text.error()), kUsageError;
  print_text(stdout, *text);
  return 0;
}

}  // namespace

int explain(const ExplainCommand& command) {
  if (is_profile(command.target)) {
    auto profile = results::read_profile(command.target);
    if (!profile) return complain(profile.error()), kUsageError;
    return show(*profile, command.query);
  }
  RunCommand run = command.run;
  run.program = command.arguments;
  run.program.insert(run.program.begin(), command.target);
  run.options.quiet = true;
  run.options.detail = true;
  FinishedRun finished;
  const int code = run_program_aside(run, &finished);
  if (!finished.started) return code;
  if (code != 0) complain("the program ended with exit code " + std::to_string(code));
  if (finished.profiles.empty()) return code != 0 ? code : kUsageError;
  const int shown = show(finished.profiles[0], command.query);
  if (finished.profiles.size() > 1)
    complain("several processes used CUDA; this is the first one",
             "explain a profile file (--detail --json) for the others");
  return code != 0 ? code : shown;
}

}  // namespace warpgrind::cli
