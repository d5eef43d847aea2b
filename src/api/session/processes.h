// Numbers of the processes of one run, the names of their output files, and the notes that they leave for the CLI.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::session {

// "out.rank1.json" for "out.json" and "rank1". An empty path and "-" stay unchanged.
std::string labelled(const std::string& path, const std::string& label);

// Files of the first process have the requested names; those of the others are labelled "process2", "process3", ...
std::string of_process(const std::string& path, unsigned number);

// One file in the status directory for each process that used CUDA. It is created at the first use of CUDA and
// completed (`ended`) when the profile is written. If it stays incomplete, the process was killed or became another
// program.
struct ProcessNote {
  unsigned number = 0;
  long pid = 0;
  bool ended = false;
  std::string command, json, csv;
  std::string no_kernel;  // why no kernel ran (report::no_kernel_line()); empty if one ran
};
// 1 for the first process, and always if no directory is given; the process id if the directory no longer exists.
unsigned claim_process_number(const std::string& status_directory);
bool any_process(const std::string& status_directory);
void leave_note(const std::string& status_directory, const ProcessNote& note);
std::vector<ProcessNote> process_notes(const std::string& status_directory);  // by number

}  // namespace warpgrind::session
