// Tool calls that wait or run, each in a thread of its own while it runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mcp/tool.h"

namespace warpgrind::mcp {

// Replies to the requests of one line that held a list (a batch of JSON-RPC). They are sent together.
struct Batch {
  Json replies = Json::array();
  std::size_t open = 0;
};

struct Call {
  Json id;
  const Tool* tool = nullptr;
  Json arguments = Json::object();
  Json progress_token = nullptr;  // null: the client wants no progress
  std::shared_ptr<Batch> batch;   // null: a request alone
  std::stop_source stop;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  void set_stage(const std::string& text);
  std::string stage();

 private:
  std::mutex mutex_;
  std::string stage_ = "waiting";
};
using CallPointer = std::shared_ptr<Call>;

class CallQueue {
 public:
  // `on_done` is called in the thread of the call.
  CallQueue(const Settings& settings, RunStore& runs, std::function<void()> on_done);
  ~CallQueue();  // stops all calls and waits for their ends
  void add(CallPointer call);
  // Calls that have ended since the last time, with their results.
  std::vector<std::pair<CallPointer, ToolResult>> take_done();

 private:
  void work();
  std::optional<CallPointer> next();

  const Settings& settings_;
  RunStore& runs_;
  std::function<void()> on_done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CallPointer> waiting_;
  std::vector<CallPointer> running_;
  std::vector<std::pair<CallPointer, ToolResult>> done_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace warpgrind::mcp
