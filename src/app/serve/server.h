// Playground server (`warpgrind serve`): a page with an editor, whose programs run on this machine, each in a box.
#pragma once

#include <cstdint>
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
  bool is_public = false;              // may listen on addresses that other machines reach
  std::vector<std::string> names;      // names by which users call this server
  std::string data;                    // database file
  std::uint64_t data_bytes = 1 << 30;  // quota of the database
  unsigned jobs = 1;                   // at the same time
  std::optional<Broker> broker;        // set: workers on other machines carry out the runs
  sandbox::Limits limits;
  std::optional<unsigned> connections;  // of one address, loopback included; 0: no limit. Absent: HttpLimits
  bool boxed = true;                    // false: programs run as the current user; only on loopback
};

// Both run until SIGINT or SIGTERM.
Status serve(const ServeOptions& options);
Status serve_as_worker(const WorkerOptions& options);

}  // namespace warpgrind::serve
