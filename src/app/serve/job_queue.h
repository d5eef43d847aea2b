// Queue of runs that wait for a worker. It is fair: users take turns, and only one run of a user is worked on at a
// time. Users whose last run was short go first, but no user is passed over more than three times in a row. The
// interface allows several implementations. The embedded queue is in this process; waiting runs are also in the store.
// Workers on other machines get their runs through a Carrier (serve/carrier.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "serve/store.h"

namespace warpgrind::serve {

class JobQueue {
 public:
  virtual ~JobQueue() = default;
  virtual void push(RunRequest run) = 0;
  // Waits for the next run; nullopt: asked to stop. Its user gets no other run before finished().
  virtual std::optional<RunRequest> take(std::stop_token stop) = 0;
  virtual void finished(const RunRequest& run, double seconds) = 0;
  virtual bool remove(const std::string& id) = 0;  // false: it is not waiting (any more)
  virtual std::size_t waiting() const = 0;
  virtual std::size_t waiting_of(const std::string& user) const = 0;
  // How many runs will start before this one if users take turns and no run comes; nullopt: it is not waiting.
  virtual std::optional<std::size_t> ahead_of(const std::string& id) const = 0;
};

std::unique_ptr<JobQueue> make_embedded_queue();

}  // namespace warpgrind::serve
