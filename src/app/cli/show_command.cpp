// Subcommand `warpgrind show`: prints a profile file as `warpgrind run` would, and checks it against expectations. The
// advice is current if the file has the work of its launches.
#include <cstdio>
#include <string>

#include "advice/advise.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "report/terminal.h"
#include "results/json.h"

namespace warpgrind::cli {

int show(const ShowCommand& command) {
  auto expectations = prepare(command.reports);
  if (!expectations) return complain(expectations.error()), kUsageError;
  auto profile = results::read_profile(command.profile);
  if (!profile) return complain(profile.error()), kUsageError;
  FinishedRun run;
  run.started = true;
  run.program = profile->program;
  run.command = profile->command;
  run.profiles.push_back(profile.take());
  // The HTML page shows everything in the file, including parts that a Profile does not keep.
  if (!command.reports.html_path.empty()) run.texts.push_back(read_whole(command.profile).value_or(""));
  advice::advise(run.profiles[0]);
  const bool file_on_stdout = command.reports.junit_path == "-" || command.reports.sarif_path == "-";
  std::FILE* out = file_on_stdout ? stderr : stdout;
  const report::TextOptions text{.colour = report::wants_colour(out), .each_launch = command.each_launch};
  if (!command.quiet) print_text(out, report::profile_text(run.profiles[0], text));
  return write_reports(command.reports, *expectations, run, out);
}

}  // namespace warpgrind::cli
