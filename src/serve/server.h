// `warpgrind serve`: the playground, a page with an editor whose programs run here, each in a box.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"
#include "serve/carrier.h"
#include "serve/request_check.h"

namespace warpgrind::serve {

struct ServeOptions {
  Address listen;
  bool is_public = false;          // may listen beyond this machine
  std::vector<std::string> names;  // what users call this server
  std::string data;                // database file
  unsigned jobs = 1;               // at a time
  std::optional<Broker> broker;    // workers elsewhere take the runs
  sandbox::Limits limits;
  bool boxed = true;  // not: programs run as this user; only on loopback
};

// Both until SIGINT or SIGTERM.
Status serve(const ServeOptions& options);
Status serve_as_worker(const WorkerOptions& options);

}  // namespace warpgrind::serve
