// Queue of tool calls, and the threads that carry them out.
#include "mcp/call_queue.h"

#include <algorithm>

#include "base/signal_mask.h"

namespace warpgrind::mcp {

void Call::set_stage(const std::string& text) {
  const std::lock_guard lock(mutex_);
  stage_ = text;
}

std::string Call::stage() {
  const std::lock_guard lock(mutex_);
  return stage_;
}

CallQueue::CallQueue(const Settings& settings, RunStore& runs, std::function<void()> on_done)
    : settings_(settings), runs_(runs), on_done_(std::move(on_done)) {
  // Signals go to the thread that polls.
  const SignalMask mask = SignalMask::block(all_signals());
  for (unsigned i = 0; i < settings.calls; ++i) threads_.emplace_back([this] { work(); });
}

CallQueue::~CallQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
    for (const CallPointer& call : running_) call->stop.request_stop();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CallQueue::add(CallPointer call) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(call));
  }
  changed_.notify_one();
}

std::vector<std::pair<CallPointer, ToolResult>> CallQueue::take_done() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::optional<CallPointer> CallQueue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
  if (ending_) return std::nullopt;
  CallPointer call = waiting_.front();
  waiting_.pop_front();
  running_.push_back(call);
  return call;
}

void CallQueue::work() {
  while (const std::optional<CallPointer> call = next()) {
    ToolResult result;
    if (!(*call)->stop.stop_requested()) {
      const CallContext context{settings_, runs_, (*call)->stop.get_token(),
                                [&](const std::string& text) { (*call)->set_stage(text); }};
      result = (*call)->tool->call((*call)->arguments, context);
    }
    {
      const std::lock_guard lock(mutex_);
      std::erase(running_, *call);
      done_.emplace_back(*call, std::move(result));
    }
    on_done_();
  }
}

}  // namespace warpgrind::mcp
