// Subcommand `warpgrind check`: runs a program under all checkers and prints their findings.
#pragma once

#include <string>
#include <vector>

#include "checkers/selection.h"
#include "cli/commands.h"
#include "cli/sanitizer.h"

namespace warpgrind::cli {

struct CheckCommand {
  RunCommand run;                 // options.json_path: the findings as JSON
  std::vector<std::string> only;  // words of checkers::kGroups; one word may hold several, separated by commas
  SanitizerOptions sanitizer;
  bool as_sanitizer = false;  // called by the name compute-sanitizer: memcheck, unless another tool is given
  int error_exitcode = 1;     // 0: the program's own
  std::string suppressions, gen_suppressions;
  std::string log_path;
  std::string print_level = "warn";
  std::size_t print_limit = 100;
};
int check(const CheckCommand& command);
void select_all(checkers::Selection& selection);
// Adds groups of checks, by their words separated by commas. option: named in the error.
Status add_groups(const std::string& words, checkers::Selection& selection, const char* option = "--only");

}  // namespace warpgrind::cli
