// Answers to the page's requests, as JSON. It has no HTTP, so each answer is a function of the request.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sandbox/sandbox.h"
#include "serve/job_queue.h"
#include "serve/live_runs.h"
#include "serve/store.h"

namespace warpgrind::serve {

struct Answer {
  int status = 200;
  nlohmann::json body;
};
Answer refusal(int status, const std::string& why);

class Api {
 public:
  Api(Store& store, JobQueue& queue, LiveRuns& live, const sandbox::Limits& limits);

  Answer start() const;  // GPU models, programs to start from, limits
  Answer starting_point(const std::string& name) const;
  Answer keep(const std::string& session, const std::string& body);
  Answer program(const std::string& id);
  Answer run(const std::string& session, const std::string& body);
  // The state that a viewer already has: `from` bytes of the output of an attempt, and a state.
  struct Known {
    std::size_t from = 0;
    int attempt = 0;
    std::string state;
    std::optional<std::size_t> ahead;  // the place in the queue; nullopt: of no interest
  };
  // nullopt: there is no news, and `must_answer` is false. "from" is 0 if the run was started again: the output known
  // so far is then void.
  std::optional<Answer> look(const std::string& session, const std::string& id, const Known& known, bool must_answer);
  Answer cancel(const std::string& session, const std::string& id);
  std::optional<std::string> report(const std::string& session, const std::string& id);  // JSON

 private:
  Store& store_;
  JobQueue& queue_;
  LiveRuns& live_;
  const sandbox::Limits limits_;
};

}  // namespace warpgrind::serve
