// Files that clang reads for a program in memory: the source, and an overlay of the host's file system with the headers
// under their given names ("a/b.h", "../x.h", "/usr/include/x.h").
#pragma once

#include <string>

#include "base/result.h"
#include "nvrtc/compile.h"
#include "nvrtc/options.h"

namespace warpgrind::nvrtc {

struct Inputs {
  std::string source;         // path
  std::string overlay;        // path; empty: no headers
  std::string header_folder;  // relative header names start here; ends in '/'
};
// `folder`: an empty folder for these files only.
Result<Inputs> write_inputs(const Source& source, const Options& options, const std::string& folder);

}  // namespace warpgrind::nvrtc
