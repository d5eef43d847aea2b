// The processes of one run, told apart: their numbers, the names of their files, and what they leave for the CLI.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::session {

// "out.rank1.json" for "out.json" and "rank1". Nothing, and "-", stay as they are.
std::string labelled(const std::string& path, const std::string& label);

// The files of the first process bear the names that were asked for, those of the others "process2", "process3", ...
std::string of_process(const std::string& path, unsigned number);

// One file in the status directory for each process that used CUDA: made when it begins to, filled when its profile is
// written. One that stays empty is a process that was killed, or became another program.
struct ProcessNote {
  unsigned number = 0;
  long pid = 0;
  bool ended = false;
  std::string command, json, csv;
};
// 1 for the first, and always where no directory is named; the process id once the directory is gone.
unsigned claim_process_number(const std::string& status_directory);
bool any_process(const std::string& status_directory);
void leave_note(const std::string& status_directory, const ProcessNote& note);
std::vector<ProcessNote> process_notes(const std::string& status_directory);  // by number

}  // namespace warpgrind::session
