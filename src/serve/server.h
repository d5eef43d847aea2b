// `warpgrind serve`: the playground, a page with an editor whose programs run here, each in a box.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"
#include "serve/request_check.h"

namespace warpgrind::serve {

struct ServeOptions {
  Address listen;
  bool is_public = false;          // may listen beyond this machine
  std::vector<std::string> names;  // what users call this server
  std::string data;                // database file
  unsigned jobs = 1;               // at a time
  sandbox::Limits limits;
};

// Until SIGINT or SIGTERM.
Status serve(const ServeOptions& options);

}  // namespace warpgrind::serve
