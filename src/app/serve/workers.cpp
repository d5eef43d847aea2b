#include "serve/workers.h"

#include <chrono>

#include "base/assert.h"

namespace warpgrind::serve {

Workers::Workers(Store& store, JobQueue& queue, LiveRuns& live, Carrier& carrier, unsigned count)
    : store_(store), queue_(queue), live_(live), carrier_(carrier) {
  for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Workers::work(const std::stop_token& stop) {
  while (auto run = queue_.take(stop)) {
    WG_ASSERT(!run->id.empty());
    const auto begun = std::chrono::steady_clock::now();
    live_.announce_places();
    if (const std::shared_ptr<LiveRun> live = live_.find(run->id)) {
      const RunResult result = carrier_.carry_out(task_of(*run), *live, stop);
      if (stop.stop_requested() && !live->cancelled_by_user) return;  // it runs again when the server restarts
      store_.finish(*run, result);
      live->end();
      live_.remove(run->id);
    }
    queue_.finished(*run, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
}

Task Workers::task_of(const RunRequest& run) {
  Task task{run, ""};
  if (run.before.empty()) return task;
  const auto before = store_.run(run.before);
  if (before && before->session == run.session) task.before = before->result.profile;
  return task;
}

}  // namespace warpgrind::serve
