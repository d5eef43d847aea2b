// Child process of a judgement: the compiler or the hand-in, with or without the sandbox. No other place starts a
// program.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::exercises {

struct ChildJob {
  std::vector<std::string> command;
  std::string work;                   // its folder
  std::vector<std::string> readable;  // other folders that it may read, if it is boxed
  double seconds = 30;
  bool boxed = false;
};

struct ChildEnd {
  int exit_code = -1;
  std::string output;   // standard output and standard error
  std::string stopped;  // why it was stopped; empty: it ended by itself
};

Result<ChildEnd> run_child(const ChildJob& job);

// The path of the job's folder as the child sees it.
std::string folder_inside(const ChildJob& job);

}  // namespace warpgrind::exercises
