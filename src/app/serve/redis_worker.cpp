// Worker side of the broker: a consumer of the stream of jobs. An entry stays pending until its run has ended. The
// worker shows regularly that it still works on it. Another worker takes over an entry without such a sign.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "serve/carrier.h"

namespace warpgrind::serve {

namespace {

constexpr int kMostAttempts = 3;  // a run that crashes its worker must not crash them all

std::string own_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("{}-{}-{}", host.data(), getpid(), unguessable_name().substr(0, 8));
}

class Worker {
 public:
  Worker(const WorkerOptions& options, const std::stop_token& stop) : options_(options), stop_(stop) {}

  // Works until the connection is lost or the worker ends.
  Status go() {
    auto made = Redis::connect(options_.broker);
    if (!made) return made.error();
    redis_ = made.take();
    // "BUSYGROUP": the group already exists.
    if (auto group = redis_->ask({"XGROUP", "CREATE", keys::kJobs, keys::kGroup, "0", "MKSTREAM"}); !group)
      return group.error();
    while (!stop_.stop_requested()) {
      auto entry = next();
      if (!entry) return entry.error();
      if (!entry->has_value()) continue;
      if (Status done = carry_out(**entry); !done) return done;
    }
    return Ok{};
  }

 private:
  Result<std::optional<Entry>> next() {
    const std::string idle = std::to_string(static_cast<long>(1000 * options_.lost_after));
    auto lost = redis_->ask({"XAUTOCLAIM", keys::kJobs, keys::kGroup, name_, idle, "0-0", "COUNT", "1"});
    if (!lost) return lost.error();
    // A broker that restarted without its data has no group; this worker makes it when it connects again.
    if (lost->kind == Reply::Kind::error) return Error{ErrorKind::environment, "the broker says: " + lost->text, ""};
    if (lost->items.size() >= 2)
      for (Entry& entry : entries_of(lost->items[1])) return std::optional(std::move(entry));
    auto fresh = redis_->ask(
        {"XREADGROUP", "GROUP", keys::kGroup, name_, "COUNT", "1", "BLOCK", "500", "STREAMS", keys::kJobs, ">"});
    if (!fresh) return fresh.error();
    if (!fresh->items.empty() && fresh->items[0].items.size() == 2)
      for (Entry& entry : entries_of(fresh->items[0].items[1])) return std::optional(std::move(entry));
    return std::optional<Entry>();
  }

  // Number of deliveries to workers, including this one.
  std::int64_t attempts(const std::string& entry) {
    auto pending = redis_->ask({"XPENDING", keys::kJobs, keys::kGroup, entry, entry, "1"});
    if (!pending || pending->items.empty() || pending->items[0].items.size() != 4) return 1;
    return pending->items[0].items[3].number;
  }

  Status carry_out(const Entry& entry) {
    const std::string *id = entry.find("id"), *source = entry.find("source"), *gpu = entry.find("gpu"),
                      *mode = entry.find("mode"), *arguments = entry.find("arguments"), *before = entry.find("before"),
                      *exercise = entry.find("exercise");
    if (!id || !source || !gpu || !mode || !arguments || !before || !exercise) return drop(entry.id);
    auto ended = redis_->ask({"EXISTS", keys::ended(*id)});
    if (!ended) return ended.error();
    if (ended->number != 0) return drop(entry.id);
    if (attempts(entry.id) > kMostAttempts)
      return finish(entry.id, *id,
                    {fmt::format("not run: {} workers were lost with it", kMostAttempts), false, "", "", ""});
    if (auto said = redis_->ask({"XADD", keys::said(*id), "*", "begin", name_}); !said) return said.error();
    const Task task{{*id, "", *source, *gpu, *mode, *arguments, "", *exercise}, *before};
    std::stop_source cancel;
    const std::stop_callback at_the_end(stop_, [&] { cancel.request_stop(); });
    std::jthread pulse([&](const std::stop_token& over) { show_life(entry.id, *id, cancel, over); });
    bool connected = true;
    const RunResult result = run_in_box(
        task, {options_.limits},
        [&](std::string_view more) {
          if (connected) connected = redis_->ask({"XADD", keys::said(*id), "*", "say", std::string(more)}).ok();
        },
        cancel.get_token());
    pulse.request_stop();
    pulse.join();
    if (stop_.stop_requested()) return Ok{};  // the entry stays pending: another worker runs it
    if (!connected) return Error{ErrorKind::environment, "the broker is gone", ""};
    return finish(entry.id, *id, result);
  }

  void show_life(const std::string& entry, const std::string& id, std::stop_source& cancel,
                 const std::stop_token& over) const {
    auto redis = Redis::connect(options_.broker);
    const auto interval = std::chrono::duration<double>(options_.lost_after / 4);
    auto shown = std::chrono::steady_clock::now();
    while (redis && !over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      auto cancelled = (*redis)->ask({"EXISTS", keys::cancelled(id)});
      if (cancelled && cancelled->number != 0) cancel.request_stop();
      if (std::chrono::steady_clock::now() - shown < interval) continue;
      shown = std::chrono::steady_clock::now();
      // Claims the entry for itself: that resets its idle time to 0 ms and does not count as a delivery.
      if (!(*redis)->ask({"XCLAIM", keys::kJobs, keys::kGroup, name_, "0", entry, "JUSTID"})) return;
    }
  }

  Status finish(const std::string& entry, const std::string& id, const RunResult& result) {
    auto said = redis_->ask({"XADD", keys::said(id), "*", "end", result.ending, "good", result.good ? "1" : "0",
                             "report", result.report, "profile", result.profile});
    if (!said) return said.error();
    if (auto set = redis_->ask({"SET", keys::ended(id), "1", "EX", keys::kKept}); !set) return set.error();
    if (auto expires = redis_->ask({"EXPIRE", keys::said(id), keys::kKept}); !expires) return expires.error();
    return drop(entry);
  }

  Status drop(const std::string& entry) {
    if (auto acknowledged = redis_->ask({"XACK", keys::kJobs, keys::kGroup, entry}); !acknowledged)
      return acknowledged.error();
    if (auto deleted = redis_->ask({"XDEL", keys::kJobs, entry}); !deleted) return deleted.error();
    return Ok{};
  }

  const WorkerOptions& options_;
  const std::stop_token& stop_;
  const std::string name_ = own_name();
  std::unique_ptr<Redis> redis_;
};

}  // namespace

Status work_for_broker(const WorkerOptions& options, const std::stop_token& stop) {
  if (auto first = Redis::connect(options.broker); !first) return first.error();
  fmt::print("warpgrind serve: a worker for {}:{}\n", options.broker.host, options.broker.port);
  std::fflush(stdout);
  while (!stop.stop_requested()) {
    Worker worker(options, stop);
    if (Status ended = worker.go(); !ended) {
      fmt::print(stderr, "warpgrind: {}: trying again\n", ended.error().message);
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
  return Ok{};
}

}  // namespace warpgrind::serve
