// A program that is ready to run on the virtual GPU: `warpgrind run` and the debugger start the same one.
#pragma once

#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/commands.h"

namespace warpgrind::cli {

struct PreparedRun {
  TemporaryFolder folder;          // the compiled program and the notes of the run's processes
  session::RunOptions options;     // those of the command, with paths from any folder
  std::string wanted_json;         // the profile's path that the user gave
  std::vector<std::string> words;  // the program, compiled if it is a .cu file, and its arguments
  bool is_core = false;            // it is warpgrind itself, which runs the launch of a core file
};

// Path of a program as a shell finds it, or of a .cu file. Error: there is none, or it cannot be run.
Result<std::string> find_program(const std::string& name);

// Checks the options, compiles a .cu file, and sets the environment of this process so that a program that it starts
// runs on the virtual GPU. Call it once in a process. `own_profile`: the profile goes to `folder`.
Status prepare_run(const RunCommand& command, bool own_profile, PreparedRun& out);

}  // namespace warpgrind::cli
