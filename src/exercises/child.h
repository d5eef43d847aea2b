// The one place where a judgement starts a program: compiler and hand-in alike, in the sandbox or without.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::exercises {

struct ChildJob {
  std::vector<std::string> command;
  std::string work;                   // its folder
  std::vector<std::string> readable;  // other folders that it may read, where it is boxed
  double seconds = 30;
  bool boxed = false;
};

struct ChildEnd {
  int exit_code = -1;
  std::string output;   // what it printed, standard error too
  std::string stopped;  // why it did not end by itself; empty: it did
};

Result<ChildEnd> run_child(const ChildJob& job);

// Where it finds its folder.
std::string folder_inside(const ChildJob& job);

}  // namespace warpgrind::exercises
