// `warpgrind check`: runs a program under all checkers and prints what they found.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace warpgrind::cli {

struct CheckCommand {
  RunCommand run;                  // options.json_path: what was found, as JSON
  std::vector<std::string> only;   // words of checkers::kGroups, also several in one, separated by commas
  std::vector<std::string> tools;  // compute-sanitizer's names of groups
  std::string leak_check;
  int error_exitcode = 1;
  std::string suppressions, gen_suppressions;
  std::string log_path;
  std::string print_level = "warn";
  std::size_t print_limit = 100;
};
int check(const CheckCommand& command);

}  // namespace warpgrind::cli
