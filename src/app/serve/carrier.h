// Carrier of a run: this machine, or a worker on another one.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include "sandbox/sandbox.h"
#include "serve/live_runs.h"
#include "serve/redis.h"
#include "serve/store.h"

namespace warpgrind::serve {

struct Task {
  RunRequest run;
  std::string before;  // the profile to compare with; may be empty
};

// How runs are carried out on this machine: in a box, or without one.
struct Manner {
  sandbox::Limits limits;
  bool boxed = true;  // false: as the current user, after a warning
};
RunResult run_in_box(const Task& task, const Manner& manner, std::function<void(std::string_view)> on_output,
                     const std::stop_token& stop);

class Carrier {
 public:
  virtual ~Carrier() = default;
  // Returns early, with any result, when the server ends. Stops the run when its user cancels it (live.cancel).
  virtual RunResult carry_out(const Task& task, LiveRun& live, const std::stop_token& server_ends) = 0;
};
std::unique_ptr<Carrier> make_local_carrier(const Manner& manner);
std::unique_ptr<Carrier> make_redis_carrier(const Broker& broker);

// `warpgrind serve --worker`: takes runs from the broker until SIGINT or SIGTERM. A run of another worker that has not
// reported for `lost_after` seconds is taken over.
struct WorkerOptions {
  Broker broker;
  sandbox::Limits limits;
  double lost_after = 10;
};
Status work_for_broker(const WorkerOptions& options, const std::stop_token& stop);

}  // namespace warpgrind::serve
