// What clang reads of a program that lies in memory: the source as a file, and a file system over the host's with the
// headers under the names they were given ("a/b.h", "../x.h", "/usr/include/x.h").
#pragma once

#include <string>

#include "base/result.h"
#include "nvrtc/compile.h"
#include "nvrtc/options.h"

namespace warpgrind::nvrtc {

struct Inputs {
  std::string source;         // path
  std::string overlay;        // path; empty: no headers
  std::string header_folder;  // where relative names lie, with a '/' at the end
};
// folder: an empty one, theirs alone.
Result<Inputs> write_inputs(const Source& source, const Options& options, const std::string& folder);

Status write_text(const std::string& path, const std::string& text);

}  // namespace warpgrind::nvrtc
