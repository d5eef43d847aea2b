#include "session/write_results.h"

#include <cstdio>

#include "base/file.h"
#include "base/printable.h"
#include "report/terminal.h"
#include "results/csv.h"
#include "results/json.h"

namespace warpgrind::session {

Status write_results(const results::Profile& profile, const OutputFiles& files) {
  if (!files.json.empty())
    if (Status s = write_whole(files.json, results::to_json(profile)); !s) return s;
  if (!files.csv.empty())
    if (Status s = write_whole(files.csv, results::to_csv(profile)); !s) return s;
  if (!files.quiet) {
    report::TextOptions options;
    options.colour = report::wants_colour(stderr);
    options.each_launch = files.each_launch;
    options.others_ran = files.in_a_run;
    std::fflush(stderr);
    print_text(stderr, report::profile_text(profile, options));
    std::fflush(stderr);
  }
  return Ok{};
}

}  // namespace warpgrind::session
