// A program under the debugger, and the connection into it.
#include "debug/dap_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/json.h"

namespace warpgrind::debug {

namespace {

constexpr const char* kStreams[] = {"stdout", "stderr"};

Error no_descriptors() {
  return {ErrorKind::environment, fmt::format("cannot start the program: {}", std::strerror(errno)), ""};
}

}  // namespace

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

DapClient::~DapClient() {
  handlers_ = {};
  kill();
}

Status DapClient::start(const MakeCommand& make, bool output) {
  WG_ASSERT(!alive());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_descriptors();
  Descriptor ours(ends[0]), theirs(ends[1]);
  auto command = make(theirs.get());
  if (!command) return command.error();
  Pipe pipes[2];
  if (output) {
    for (Pipe& pipe : pipes)
      if (!pipe.open()) return no_descriptors();
    command->output = Stream::open_file(pipes[0].write.get());
    command->errors = Stream::open_file(pipes[1].write.get());
  }
  command->kept.push_back(theirs.get());
  command->death_signal = SIGKILL;
  const auto process = start_process(*command);
  if (!process) return process.error();
  process_ = *process;
  alive_.reset(static_cast<int>(syscall(SYS_pidfd_open, process->id(), 0)));
  for (unsigned i = 0; i < output_.size(); ++i) output_[i] = std::move(pipes[i].read);
  channel_ = Channel(std::move(ours));
  return Ok{};
}

void DapClient::request(const std::string& command, Json arguments, Answer answer) {
  const std::int64_t sequence = ++sequence_;
  Json message = {{"seq", sequence}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}};
  if (!channel_.open()) {
    answer(failure(message, alive() ? closed_ : "the program is not running"));
    return;
  }
  pending_[sequence] = {command, std::move(answer)};
  channel_.send(message);
}

Result<Json> DapClient::call(const std::string& command, Json arguments, const std::function<bool()>& interrupted) {
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
  if (!state->body.is_object()) state->body = Json::object();
  std::vector<pollfd> none;
  while (!state->done) {
    if (interrupted && interrupted()) return Error{ErrorKind::bad_input, "Quit", ""};
    wait(none);
  }
  if (!state->success) return Error{ErrorKind::bad_input, state->problem, ""};
  return state->body;
}

void DapClient::handle(const Json& message) {
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

void DapClient::disconnect(const std::string& reason) {
  channel_.close();
  closed_ = reason;
  while (!pending_.empty()) {
    const auto first = pending_.begin();
    const Json request = {{"seq", first->first}, {"command", first->second.command}};
    const Answer answer = std::move(first->second.answer);
    pending_.erase(first);
    answer(failure(request, reason));
  }
}

void DapClient::read_messages() {
  const auto read = channel_.read([this](const Json& message) { handle(message); });
  if (!channel_.open()) return;
  if (!read) {
    disconnect("the connection to the program broke: " + read.error().message);
    if (handlers_.on_broken) handlers_.on_broken(closed_);
  } else if (!*read) {
    disconnect("the program has closed the connection to the debugger: it has no CUDA code, or is ending");
  }
}

void DapClient::read_output(unsigned stream) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(output_[stream].get(), buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) output_[stream].reset();
  if (got > 0 && handlers_.on_output)
    handlers_.on_output(kStreams[stream], {buffer.data(), static_cast<std::size_t>(got)});
}

// What the program wrote before its end is read first. Processes that it left behind may hold the pipes open, so this
// stops when nothing more is there.
void DapClient::finish(const ProcessEnd& end) {
  process_.reset();
  alive_.reset();
  for (;;) {
    pollfd ready[] = {channel_.reading(), {output_[0].get(), POLLIN, 0}, {output_[1].get(), POLLIN, 0}};
    if (poll(ready, 3, 0) <= 0) break;
    if (ready[0].revents != 0) read_messages();
    for (unsigned i = 0; i < output_.size(); ++i)
      if (ready[1 + i].revents != 0) read_output(i);
  }
  for (Descriptor& stream : output_) stream.reset();
  disconnect(fmt::format("the program has ended ({})", end.text()));
  if (handlers_.on_end) handlers_.on_end(end);
}

void DapClient::wait(std::vector<pollfd>& others, int milliseconds) {
  constexpr int kWithoutPidfd = 20;
  if (alive() && alive_.get() < 0 && (milliseconds < 0 || milliseconds > kWithoutPidfd)) milliseconds = kWithoutPidfd;
  std::vector<pollfd> all = {{alive_.get(), POLLIN, 0},
                             channel_.reading(),
                             channel_.writing(),
                             {output_[0].get(), POLLIN, 0},
                             {output_[1].get(), POLLIN, 0}};
  const std::size_t own = all.size();
  all.insert(all.end(), others.begin(), others.end());
  for (pollfd& other : others) other.revents = 0;
  const int ready = poll(all.data(), all.size(), milliseconds);
  if (ready > 0) {
    for (std::size_t i = 0; i < others.size(); ++i) others[i].revents = all[own + i].revents;
    if (all[3].revents != 0) read_output(0);
    if (all[4].revents != 0) read_output(1);
    if (all[2].revents != 0) channel_.write();
    if (all[1].revents != 0 && channel_.open()) read_messages();
  }
  if (!alive()) return;
  if (const auto end = process_->ended()) finish(*end);
}

void DapClient::send_signal(int signal) {
  if (alive()) process_->send(signal);
}

void DapClient::kill() {
  std::vector<pollfd> none;
  while (alive()) {
    process_->send(SIGKILL);
    wait(none);
  }
}

}  // namespace warpgrind::debug
