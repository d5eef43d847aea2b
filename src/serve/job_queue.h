// Runs that wait for a worker. Fair: users take turns, and of each one run is worked on at a time. The queue is a seam:
// the embedded one lives in this process (what waits is in the store, too); one that workers on other machines take
// from would be another implementation.
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
  // Waits for the next one; none: asked to stop. Its user gets no other before finished().
  virtual std::optional<RunRequest> take(std::stop_token stop) = 0;
  virtual void finished(const RunRequest& run) = 0;
  virtual bool remove(const std::string& id) = 0;  // false: it does not wait (any more)
  virtual std::size_t waiting() const = 0;
  virtual std::size_t waiting_of(const std::string& user) const = 0;
  // How many runs are begun before this one, as things stand; nullopt: it does not wait.
  virtual std::optional<std::size_t> ahead_of(const std::string& id) const = 0;
};

std::unique_ptr<JobQueue> make_embedded_queue();

}  // namespace warpgrind::serve
