// Server of the Model Context Protocol: the session, its requests, and the answers of tool calls.
#include "mcp/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>

#include "base/json.h"
#include "base/process.h"
#include "mcp/call_queue.h"
#include "mcp/instructions.h"
#include "mcp/line_channel.h"
#include "mcp/resources.h"
#include "mcp/run_store.h"
#include "mcp/schema.h"

namespace warpgrind::mcp {

namespace {

using Clock = std::chrono::steady_clock;

// The newest first. A client that asks for another version gets the newest, as the protocol wants it.
constexpr std::string_view kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
// From this version on, wrong arguments are a result of the tool, so that the model sees them.
constexpr std::string_view kArgumentsAreResults = "2025-11-25";
constexpr std::size_t kMostCalls = 64;     // waiting and running
constexpr std::size_t kMostInABatch = 64;  // requests
constexpr auto kProgressEvery = std::chrono::seconds(2);
constexpr int kTick = 500;  // ms

Json tool_json(const Tool& tool, bool boxed) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input},
          {"outputSchema", tool.output},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", boxed},
            {"destructiveHint", !boxed},
            {"idempotentHint", boxed},
            {"openWorldHint", false}}}};
}

Json result_json(const ToolResult& result) {
  return {{"content", Json::array({{{"type", "text"}, {"text", result.text}}})},
          {"structuredContent", result.structured},
          {"isError", result.is_error}};
}

class Server {
 public:
  Server(const Settings& settings, Descriptor in, Descriptor out)
      : settings_(settings), channel_(std::move(in), std::move(out), kLongestLine) {}

  void go() {
    if (!wake_.open()) return;
    CallQueue queue(settings_, runs_, [this] { wake(); });
    queue_ = &queue;
    while (!interrupted() && step()) continue;
    channel_.flush(kPatience);
  }

 private:
  static constexpr int kPatience = 1000;  // ms for a client that reads slowly at the end
  using BatchPointer = std::shared_ptr<Batch>;

  void wake() const {
    const char byte = 0;
    // The pipe is full only if it holds wake-ups that were not read yet.
    while (write(wake_.write.get(), &byte, 1) < 0 && errno == EINTR) continue;
  }

  bool step() {
    std::array<pollfd, 3> waiting{channel_.reading(), channel_.writing(), pollfd{wake_.read.get(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), kTick) < 0) return errno == EINTR;
    if (waiting[2].revents != 0) {
      std::array<char, 256> bytes;
      if (read(wake_.read.get(), bytes.data(), bytes.size()) < 0 && errno != EINTR) return false;
      for (const auto& [call, result] : queue_->take_done()) finish(call, result);
    }
    if (waiting[1].revents != 0 && !channel_.write()) return false;
    const bool full = waiting[0].events == 0;
    if (waiting[0].revents != 0 &&
        (full ||
         !channel_.read(
             [this](std::string_view line) { take_line(line); },
             [this] {
               send_error({RpcCode::parse, fmt::format("a line of more than {} MiB", kLongestLine >> 20)}, nullptr);
             })))
      return false;
    send_progress();
    return true;
  }

  // ---- Answers

  void send(const Json& message) { channel_.send(line_of(message)); }

  void send(Json message, const BatchPointer& batch) {
    if (!batch) return send(message);
    batch->replies.push_back(std::move(message));
    close(batch);
  }

  void close(const BatchPointer& batch) {
    if (batch && --batch->open == 0 && !batch->replies.empty()) send(batch->replies);
  }

  void send_error(const RpcError& error, const BatchPointer& batch) { send(error_reply(error), batch); }

  void finish(const CallPointer& call, const ToolResult& result) {
    calls_.erase(call->id.dump(-1, ' ', false, Json::error_handler_t::replace));
    // A cancelled request gets no answer.
    if (call->stop.stop_requested()) return close(call->batch);
    send(reply(call->id, result_json(result)), call->batch);
  }

  void send_progress() {
    if (Clock::now() - progressed_ < kProgressEvery) return;
    progressed_ = Clock::now();
    for (const auto& [id, call] : calls_) {
      if (call->progress_token.is_null() || call->stop.stop_requested()) continue;
      const double seconds = std::chrono::duration<double>(Clock::now() - call->begun).count();
      send(notification("notifications/progress", {{"progressToken", call->progress_token},
                                                   {"progress", static_cast<std::int64_t>(seconds * 10) / 10.0},
                                                   {"message", call->stage()}}));
    }
  }

  // ---- Requests

  void take_line(std::string_view line) {
    const auto parsed = parse_line(line);
    if (const auto* error = std::get_if<RpcError>(&parsed)) return send_error(*error, nullptr);
    const Json& value = std::get<Json>(parsed);
    if (!value.is_array()) return take_message(value, nullptr);
    if (value.empty() || value.size() > kMostInABatch)
      return send_error({RpcCode::invalid_request, fmt::format("a batch has 1 to {} messages", kMostInABatch)},
                        nullptr);
    const auto batch = std::make_shared<Batch>();
    batch->open = 1 + value.size();  // 1: until all messages are read
    for (const Json& one : value) take_message(one, batch);
    close(batch);
  }

  void take_message(const Json& value, const BatchPointer& batch) {
    const auto read = read_message(value);
    if (const auto* error = std::get_if<RpcError>(&read)) return send_error(*error, batch);
    const Message& message = std::get<Message>(read);
    if (message.kind == Message::Kind::request) return take_request(message, batch);
    if (message.method == "notifications/cancelled") cancel(message.params);
    close(batch);  // other notifications, and answers to requests that this server never sends
  }

  void take_request(const Message& request, const BatchPointer& batch) {
    const std::string& method = request.method;
    const auto answer = [&](Json result) { send(reply(request.id, std::move(result)), batch); };
    const auto refuse = [&](RpcCode code, const std::string& why) { send_error({code, why, request.id}, batch); };
    if (method == "ping") return answer(Json::object());
    if (method == "initialize") return answer(initialize(request.params));
    if (version_.empty()) return refuse(RpcCode::invalid_request, "the first request must be \"initialize\"");
    if (method == "tools/list") return answer(list_tools());
    if (method == "tools/call") return take_call(request, batch);
    if (method == "resources/list") return answer(resource_list());
    if (method == "resources/templates/list") return answer(resource_templates());
    if (method == "resources/read") {
      const std::string uri = json::text(request.params, "uri");
      if (uri.empty()) return refuse(RpcCode::invalid_params, "resources/read needs \"uri\"");
      const auto read = read_resource(uri);
      if (!read) return refuse(RpcCode::no_such_resource, read.error().message);
      return answer(*read);
    }
    refuse(RpcCode::unknown_method, fmt::format("there is no method \"{}\"", method.substr(0, 100)));
  }

  Json initialize(const Json& params) {
    const std::string wanted = json::text(params, "protocolVersion");
    const bool known = std::find(std::begin(kVersions), std::end(kVersions), wanted) != std::end(kVersions);
    version_ = known ? wanted : std::string(kVersions[0]);
    return {{"protocolVersion", version_},
            {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
            {"serverInfo", {{"name", "warpgrind"}, {"title", "warpgrind"}, {"version", settings_.version}}},
            {"instructions", instructions(settings_)}};
  }

  Json list_tools() const {
    Json list = Json::array();
    for (const Tool& tool : tools()) list.push_back(tool_json(tool, settings_.boxed));
    return {{"tools", std::move(list)}};
  }

  void take_call(const Message& request, const BatchPointer& batch) {
    const auto refuse = [&](RpcCode code, const std::string& why) { send_error({code, why, request.id}, batch); };
    const std::string name = json::text(request.params, "name");
    const Tool* const tool = find_tool(name);
    if (!tool) return refuse(RpcCode::invalid_params, fmt::format("there is no tool \"{}\"", name.substr(0, 100)));
    auto call = std::make_shared<Call>();
    call->id = request.id;
    call->tool = tool;
    call->batch = batch;
    if (const auto given = request.params.find("arguments"); given != request.params.end() && !given->is_null())
      call->arguments = *given;
    if (const std::string why = find_mismatch(call->arguments, tool->input, "arguments"); !why.empty()) {
      if (version_ < kArgumentsAreResults) return refuse(RpcCode::invalid_params, name + ": " + why);
      return send(reply(request.id, result_json(refused({ErrorKind::bad_input, name + ": " + why, ""}))), batch);
    }
    if (const auto meta = request.params.find("_meta"); meta != request.params.end() && meta->is_object())
      if (const auto token = meta->find("progressToken");
          token != meta->end() && (token->is_string() || token->is_number()))
        call->progress_token = *token;
    if (calls_.size() >= kMostCalls)
      return refuse(RpcCode::busy, fmt::format("{} calls are waiting or running", kMostCalls));
    if (!calls_.try_emplace(request.id.dump(-1, ' ', false, Json::error_handler_t::replace), call).second)
      return refuse(RpcCode::invalid_request, "a call with this id is still running");
    queue_->add(call);
  }

  void cancel(const Json& params) {
    const auto id = params.find("requestId");
    if (id == params.end() || !(id->is_string() || id->is_number())) return;
    const auto found = calls_.find(id->dump(-1, ' ', false, Json::error_handler_t::replace));
    if (found != calls_.end()) found->second->stop.request_stop();
  }

  const Settings& settings_;
  LineChannel channel_;
  Pipe wake_;
  RunStore runs_;
  CallQueue* queue_ = nullptr;
  std::string version_;                       // empty: not initialized
  std::map<std::string, CallPointer> calls_;  // by the id as JSON
  Clock::time_point progressed_ = Clock::now();
};

}  // namespace

void serve(const Settings& settings, Descriptor in, Descriptor out) {
  Server(settings, std::move(in), std::move(out)).go();
}

}  // namespace warpgrind::mcp
