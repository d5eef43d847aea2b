// Plan of a request: the calls of clang, the linker and ar that compile and link its inputs.
#pragma once

#include <string>
#include <vector>

#include "toolchain/children.h"
#include "toolchain/request.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

// One source and the files made from it. Host and device code are compiled at the same time: the host's object gets a
// placeholder, which the fatbin of the device code replaces in the end.
struct Unit {
  Input input;
  std::string output;                          // of this unit; "" or "-": standard output
  std::string target;                          // of dependency rules
  std::string dependency_file;                 // the user's; empty: none
  Words device, host;                          // empty: no such pass
  Words device_flags, host_flags;              // their first words, for precompiled headers; empty: none are used
  std::string ptx;                             // output of the device pass
  std::string host_rules, device_rules;        // make rules with the dependencies of each pass
  std::string host_messages, device_messages;  // files with the messages of each pass
  std::string unique;                          // different for every unit of a program
};

struct Plan {
  std::vector<Unit> units;
  std::vector<std::string> linked;  // objects and archives in order, including those of the units
  std::string placeholder;          // file in place of a fatbin until there is one
  std::string stub_source, stub;    // of the device link step: its C source and its object
  Words stub_command, link, archive;
  std::string output;  // of the last step; empty: each unit has its own output
  Words variables;     // environment variables of the compilers
  Words large_pages;   // more of them, which decide nothing but how fast clang is
};

// The caller's environment.
struct Surroundings {
  std::string path, cpath, c_include_path, cplus_include_path;
  std::string nvcc_ccbin;      // NVIDIA's nvcc: its host compiler
  std::string glibc_tunables;  // the user's settings of glibc
  bool colours = false;        // messages go to a terminal
  unsigned cores = 1;
  std::string precompiled_headers;  // folder for them; empty: only those of the installation are used
  bool uses_precompiled_headers = true;
};

// `folder`: for intermediate files.
Plan make_plan(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings,
               const std::string& folder);

// The section of an object that holds the fatbin.
const char* fatbin_section(const Request& request);

}  // namespace warpgrind::toolchain
