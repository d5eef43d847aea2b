// Subcommand `warpgrind exercise`: the exercises of the course, and their judge.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::cli {

struct ExerciseCommand {
  enum class Action { list, start, text, check, hint, solution, test } action = Action::list;
  std::string name;    // of an exercise
  std::string target;  // folder of start, file or folder of check
  std::string folder;  // folder of the exercises; empty: ours
  std::string gpu, json_path, junit_path, cache;
  std::string csv_path, page_path;                    // of a class
  std::string gradescope_folder, classroom50_folder;  // of a class: a file for each student
  std::string student;                                // of all hand-ins; empty: folders name students
  std::vector<std::string> assigned;                  // exercises that each student should hand in
  int step = 0;                                       // of the hints; 0: the next one
  bool all = false, no_sandbox = false, no_cache = false;
};
int exercise(const ExerciseCommand& command);  // 1: not solved

}  // namespace warpgrind::cli
