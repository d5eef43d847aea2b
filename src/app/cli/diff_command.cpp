// Subcommand `warpgrind diff`: changes from one profile to another.
#include <cstdio>

#include "base/printable.h"
#include "cli/commands.h"
#include "report/diff.h"
#include "report/terminal.h"
#include "results/json.h"

namespace warpgrind::cli {

namespace {

constexpr int kWorse = 1;

Result<std::pair<std::string, std::string>> split_pair(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Error{ErrorKind::bad_input, "--pair needs two kernels as BEFORE=AFTER: \"" + text + "\"", ""};
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

int diff(const DiffCommand& command) {
  report::DiffOptions options;
  for (const std::string& text : command.pairs) {
    auto pair = split_pair(text);
    if (!pair) return complain(pair.error()), kUsageError;
    options.pairs.push_back(pair.take());
  }
  for (const std::string& text : command.rules) {
    auto rule = report::parse_change_rule(text);
    if (!rule) return complain(rule.error()), kUsageError;
    options.rules.push_back(rule.take());
  }
  auto before = results::read_profile(command.before);
  if (!before) return complain(before.error()), kUsageError;
  auto after = results::read_profile(command.after);
  if (!after) return complain(after.error()), kUsageError;
  auto difference = report::compare(*before, *after, options);
  if (!difference) return complain(difference.error()), kUsageError;
  const report::TextOptions text{.colour = report::wants_colour(stdout)};
  print_text(stdout, report::diff_text(*difference, text));
  if (difference->nothing_in_common()) {
    complain("the profiles have no kernel in common", "compare kernels of different names with --pair BEFORE=AFTER");
    return kUsageError;
  }
  return difference->broken.empty() ? 0 : kWorse;
}

}  // namespace warpgrind::cli
