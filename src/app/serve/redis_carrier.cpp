// Server side of the broker. A run is an entry in the stream of jobs. Its worker reports in a stream of the run's own,
// which may start again if a worker was lost.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "serve/carrier.h"

namespace warpgrind::serve {

namespace {

using Clock = std::chrono::steady_clock;

std::string text_in(const Entry& entry, const char* field) {
  const std::string* found = entry.find(field);
  return found ? *found : "";
}

class RedisCarrier : public Carrier {
 public:
  explicit RedisCarrier(const Broker& broker) : broker_(broker) {}

  RunResult carry_out(const Task& task, LiveRun& live, const std::stop_token& server_ends) override {
    while (!server_ends.stop_requested()) {
      RunResult result;
      if (follow(task, live, server_ends, result)) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the broker is gone: try until it is back
    }
    return {};
  }

 private:
  // False: the connection to the broker was lost. The broker keeps a job that was sent; a job that has begun is not
  // sent again.
  bool follow(const Task& task, LiveRun& live, const std::stop_token& server_ends, RunResult& result) const {
    auto redis = Redis::connect(broker_);
    if (!redis || !send(**redis, task)) return false;
    const std::string stream = keys::said(task.run.id);
    std::string at = "0", output;
    bool cancel_sent = false;
    Clock::time_point cancelled;
    while (!server_ends.stop_requested()) {
      if (live.cancel.stop_requested() && !cancel_sent) {
        cancel_sent = true;
        cancelled = Clock::now();
        if (!(*redis)->ask({"SET", keys::cancelled(task.run.id), "1", "EX", keys::kKept})) return false;
      }
      if (cancel_sent &&
          Clock::now() - cancelled > std::chrono::seconds(10)) {  // its worker is gone, or it never had one
        result = {"stopped on request", false, output, "", ""};
        return true;
      }
      auto reply = (*redis)->ask({"XREAD", "COUNT", "100", "BLOCK", "200", "STREAMS", stream, at});
      if (!reply) return false;
      if (reply->items.empty() || reply->items[0].items.size() != 2) continue;
      for (const Entry& entry : entries_of(reply->items[0].items[1])) {
        at = entry.id;
        if (entry.find("begin")) {
          output.clear();
          live.begin();
        } else if (const std::string* more = entry.find("say")) {
          output += *more;
          live.say(*more);
        } else if (const std::string* ending = entry.find("end")) {
          result = {*ending, text_in(entry, "good") == "1", output, text_in(entry, "report"),
                    text_in(entry, "profile")};
          return true;
        }
      }
    }
    return true;
  }

  static bool send(Redis& redis, const Task& task) {
    const RunRequest& run = task.run;
    auto begun = redis.ask({"EXISTS", keys::said(run.id)});
    if (!begun) return false;
    if (begun->number != 0) return true;
    return redis
        .ask({"XADD", keys::kJobs, "*", "id", run.id, "source", run.source, "gpu", run.gpu, "mode", run.mode,
              "arguments", run.arguments, "before", task.before, "exercise", run.exercise})
        .ok();
  }

  const Broker broker_;
};

}  // namespace

std::unique_ptr<Carrier> make_redis_carrier(const Broker& broker) {
  return std::make_unique<RedisCarrier>(broker);
}

}  // namespace warpgrind::serve
