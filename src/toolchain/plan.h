// A request as commands: what is to be compiled by which call of clang, and linked.
#pragma once

#include <string>
#include <vector>

#include "toolchain/children.h"
#include "toolchain/request.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

// One source and what becomes of it. Host and device code are compiled at the same time: the host's object gets a
// placeholder where the fatbin of the device code comes in the end.
struct Unit {
  Input input;
  std::string output;                          // of this unit; "" or "-": standard output
  std::string target;                          // of dependency rules
  std::string dependency_file;                 // the user's; empty: none
  Words device, host;                          // empty: no such pass
  std::string ptx;                             // what the device pass writes
  std::string host_rules, device_rules;        // dependencies of each pass
  std::string host_messages, device_messages;  // what each says
  std::string unique;                          // tells this unit from all others of a program
};

struct Plan {
  std::vector<Unit> units;
  std::vector<std::string> linked;  // objects and archives in order, those of the units among them
  std::string placeholder;          // file that stands for a fatbin until there is one
  std::string stub_source, stub;    // of the device link step: its C source and its object
  Words stub_command, link, archive;
  std::string output;  // of the last step; empty: there is none, each unit has its own
  Words variables;     // of the compilers' environment
};

// What the caller found in its environment.
struct Surroundings {
  std::string path, cpath, c_include_path, cplus_include_path;
  bool colours = false;  // messages go to a terminal
  unsigned cores = 1;
};

// folder: for files between the steps.
Plan make_plan(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings,
               const std::string& folder);

// The section of an object where the fatbin is.
const char* fatbin_section(const Request& request);

}  // namespace warpgrind::toolchain
