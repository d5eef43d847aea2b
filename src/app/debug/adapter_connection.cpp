// Requests and their answers.
#include "debug/adapter_connection.h"

#include <memory>

#include "base/json.h"

namespace warpgrind::debug {

Json failure(const Json& request, const std::string& message) {
  return {{"seq", 0},
          {"type", "response"},
          {"request_seq", json::get<std::int64_t>(request, "seq")},
          {"success", false},
          {"command", json::text(request, "command")},
          {"message", message},
          {"body", {{"error", {{"id", 1}, {"format", message}, {"showUser", true}}}}}};
}

std::string problem_of(const Json& response) {
  if (const auto body = response.find("body"); body != response.end() && body->is_object())
    if (const auto error = body->find("error"); error != body->end() && error->is_object())
      if (std::string format = json::text(*error, "format"); !format.empty()) {
        const auto variables = error->find("variables");
        if (variables == error->end() || !variables->is_object()) return format;
        for (const auto& [name, value] : variables->items()) {
          const std::string place = "{" + name + "}";
          for (std::size_t at = format.find(place); value.is_string() && at != std::string::npos;
               at = format.find(place, at))
            at = format.replace(at, place.size(), value.get<std::string>()).find(place, at);
        }
        return format;
      }
  const std::string message = json::text(response, "message");
  return message.empty() ? "the program refused the request without a reason" : message;
}

AdapterConnection::~AdapterConnection() = default;

void AdapterConnection::expect_process() {
  channel_.close();
  kept_.clear();
  expects_ = true;
}

void AdapterConnection::connect(Descriptor socket) {
  channel_ = Channel(std::move(socket));
  expects_ = false;
  for (const Json& message : kept_) channel_.send(message);
  kept_.clear();
}

void AdapterConnection::send(const Json& message) {
  if (expects_)
    kept_.push_back(message);
  else
    channel_.send(message);
}

void AdapterConnection::request(const std::string& command, Json arguments, Answer answer) {
  const std::int64_t sequence = ++sequence_;
  Json message = {{"seq", sequence}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}};
  if (!expects_ && !channel_.open()) {
    answer(failure(message, closed_));
    return;
  }
  pending_[sequence] = {command, std::move(answer)};
  send(message);
}

Result<Json> AdapterConnection::call(const std::string& command, Json arguments,
                                     const std::function<bool()>& interrupted) {
  struct State {
    bool done = false, success = false;
    std::string problem;
    Json body;
  };
  const auto state = std::make_shared<State>();  // an answer may come after an interrupted wait
  request(command, std::move(arguments), [state](const Json& response) {
    state->done = true;
    state->success = json::get<bool>(response, "success");
    if (!state->success) state->problem = problem_of(response);
    if (const auto body = response.find("body"); body != response.end() && body->is_object()) state->body = *body;
  });
  std::vector<pollfd> none;
  while (!state->done) {
    if (interrupted && interrupted()) return Error{ErrorKind::bad_input, "Quit", ""};
    wait(none);
  }
  if (!state->success) return Error{ErrorKind::bad_input, state->problem, ""};
  return state->body;
}

void AdapterConnection::handle(const Json& message) {
  const std::string type = json::text(message, "type");
  if (type == "event") {
    if (handlers_.on_event) handlers_.on_event(message);
  } else if (type == "request") {
    if (handlers_.on_request)
      handlers_.on_request(message);
    else
      send(failure(message, "this client has no answer to requests"));
  } else if (type == "response") {
    const auto found = pending_.find(json::get<std::int64_t>(message, "request_seq"));
    if (found == pending_.end()) return;
    const Pending asked = std::move(found->second);
    pending_.erase(found);
    asked.answer(message);
  }
}

void AdapterConnection::disconnect(const std::string& reason) {
  channel_.close();
  expects_ = false;
  kept_.clear();
  closed_ = reason;
  while (!pending_.empty()) {
    const auto first = pending_.begin();
    const Json request = {{"seq", first->first}, {"command", first->second.command}};
    const Answer answer = std::move(first->second.answer);
    pending_.erase(first);
    answer(failure(request, reason));
  }
}

void AdapterConnection::read() {
  if (!channel_.open()) return;
  const auto read = channel_.read([this](const Json& message) { handle(message); });
  if (!channel_.open()) return;
  if (!read) {
    disconnect("the connection to the program broke: " + read.error().message);
    if (handlers_.on_broken) handlers_.on_broken(closed_);
  } else if (!*read) {
    disconnect("the process has closed the connection to the debugger: it ends, or has become another program");
    if (handlers_.on_closed) handlers_.on_closed();
  }
}

}  // namespace warpgrind::debug
