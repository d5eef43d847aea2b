// The relay between an editor and the adapter in the program's process.
#include "debug/relay.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/json.h"
#include "base/words.h"
#include "debug/console.h"

namespace warpgrind::debug {

namespace {

Json filter(const char* name, const char* label, const char* description, bool on) {
  return {
      {"filter", name}, {"label", label}, {"description", description}, {"default", on}, {"supportsCondition", false}};
}

Json capabilities() {
  Json out = Json::object();
  for (const char* what : {"supportsConfigurationDoneRequest",
                           "supportsFunctionBreakpoints",
                           "supportsConditionalBreakpoints",
                           "supportsHitConditionalBreakpoints",
                           "supportsLogPoints",
                           "supportsEvaluateForHovers",
                           "supportsStepBack",
                           "supportsSetVariable",
                           "supportsSetExpression",
                           "supportsExceptionInfoRequest",
                           "supportsDataBreakpoints",
                           "supportsReadMemoryRequest",
                           "supportsInstructionBreakpoints",
                           "supportsDisassembleRequest",
                           "supportsSteppingGranularity",
                           "supportsTerminateRequest",
                           "supportsValueFormattingOptions",
                           "supportsExceptionFilterOptions",
                           "supportsLoadedSourcesRequest",
                           "supportsCompletionsRequest"})
    out[what] = true;
  Json launch = filter("launch", "Launches", "Stops at the first instruction of each kernel", false);
  launch["supportsCondition"] = true;
  launch["conditionDescription"] = "Name of the kernel";
  const auto with_condition = [](Json one) {
    one["supportsCondition"] = true;
    one["conditionDescription"] = "Expression, for each lane";
    return one;
  };
  out["exceptionBreakpointFilters"] = {
      filter("fault", "Faults", "Accesses outside of allocations, misaligned accesses, traps", true),
      filter("assert", "Assertions", "A call of assert() that fails", true),
      filter("finding", "Findings of the checks", "Races, uninitialised values and more; needs \"check\" in the launch",
             false),
      filter("api", "Errors of CUDA calls", "A call of the runtime or the driver that returns an error", false),
      with_condition(filter("barrier", "Barriers", "A warp arrives at a barrier of its block", false)),
      with_condition(filter("divergence", "Divergence", "The lanes of a warp split at a branch", false)),
      launch};
  return out;
}

// Collects what is printed on standard error, by compilers too, while it lives.
class ErrorsAside {
 public:
  ErrorsAside() : kept_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)), file_(memfd_create("errors", MFD_CLOEXEC)) {
    std::fflush(stderr);
    if (kept_.get() >= 0 && file_.get() >= 0) dup2(file_.get(), STDERR_FILENO);
  }
  ~ErrorsAside() { restore(); }
  ErrorsAside(const ErrorsAside&) = delete;
  ErrorsAside& operator=(const ErrorsAside&) = delete;
  std::string restore() {
    std::fflush(stderr);
    std::string out;
    if (kept_.get() < 0 || file_.get() < 0) return out;
    dup2(kept_.get(), STDERR_FILENO);
    kept_.reset();
    char buffer[4096];
    lseek(file_.get(), 0, SEEK_SET);
    for (ssize_t got; (got = read(file_.get(), buffer, sizeof buffer)) > 0;)
      out.append(buffer, static_cast<std::size_t>(got));
    return out;
  }

 private:
  Descriptor kept_, file_;
};

// Number of bytes at the end of the text that begin a character of UTF-8 without ending it.
std::size_t cut_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

// Editors show a breakpoint that is not found yet in grey, with this text.
void explain_pending(Json& response, const std::string& command) {
  const bool by_line = command == "setBreakpoints";
  if (!by_line && command != "setFunctionBreakpoints") return;
  const auto body = response.find("body");
  if (body == response.end() || !body->is_object()) return;
  const auto list = body->find("breakpoints");
  if (list == body->end() || !list->is_array()) return;
  for (Json& one : *list)
    if (one.is_object() && json::text(one, "reason") == "pending" && !one.contains("message"))
      one["message"] =
          by_line ? "waits for a kernel that has code at this line" : "waits for a kernel that has this function";
}

Json arguments_of(const Json& request) {
  const auto found = request.find("arguments");
  return found == request.end() || !found->is_object() ? Json::object() : *found;
}

constexpr const char* kNotRunning = "the program is not running";

}  // namespace

Relay::Relay(Channel editor, Launcher launcher)
    : editor_(std::move(editor)),
      launcher_(std::move(launcher)),
      program_({{[this](const Json& event) { pass_event(event); },
                 [this](const Json& request) { pass_reverse_request(request); },
                 [this](const std::string& why) { say(why); },
                 {}},
                [this](const char* stream, std::string_view text) { pass_output(stream, text); },
                [this](const ProcessEnd& end) { report_end(end); },
                [this](Descriptor socket, pid_t process) { offer(std::move(socket), process); }},
               false),
      offers_([this](const std::string& text) { say(text); }) {}

void Relay::send_to_editor(Json message) {
  message["seq"] = ++sequence_;
  editor_.send(message);
}

void Relay::send_event(const char* name, Json body) {
  send_to_editor({{"type", "event"}, {"event", name}, {"body", std::move(body)}});
}

void Relay::respond(const Json& request, const Json& body) {
  send_to_editor({{"type", "response"},
                  {"request_seq", json::get<std::int64_t>(request, "seq")},
                  {"success", true},
                  {"command", json::text(request, "command")},
                  {"body", body}});
}

void Relay::refuse(const Json& request, const std::string& message) {
  send_to_editor(failure(request, message));
}

void Relay::pass_output(const std::string& category, std::string_view text) {
  std::string& cut = cut_[category];
  std::string whole = cut + std::string(text);
  const std::size_t rest = cut_bytes(whole);
  cut = whole.substr(whole.size() - rest);
  whole.resize(whole.size() - rest);
  if (!whole.empty()) send_event("output", {{"category", category}, {"output", whole}});
}

void Relay::say(const std::string& text) {
  pass_output("console", "warpgrind: " + text + "\n");
}

// A session of its own for another process: the client starts it, and its `attach` gets the connection.
void Relay::offer(Descriptor socket, pid_t process) {
  const ProcessName name = name_of_process(process);
  if (!json::get<bool>(initialize_, "supportsStartDebuggingRequest"))
    return say(
        fmt::format("{} uses CUDA, too, and is not debugged: this client starts no second session "
                    "(startDebugging); {} stays in the debugger",
                    name.text(), name_of_process(program_.first_process()).text()));
  const auto path = offers_.add(program_.folder(), std::move(socket), name);
  if (!path) return say(fmt::format("{} is not debugged: {}", name.text(), path.error().message));
  Json configuration = {{"name", fmt::format("{}: {}", name.text(), base_name(name.program))},
                        {"processSocket", *path},
                        {"processId", process},
                        {"stopOnEntry", json::get<bool>(launch_, "stopOnEntry")}};
  for (const char* copied : {"type", "check"})
    if (launch_.contains(copied)) configuration[copied] = launch_[copied];
  send_to_editor({{"type", "request"},
                  {"command", "startDebugging"},
                  {"arguments", {{"request", "attach"}, {"configuration", std::move(configuration)}}}});
  offered_[sequence_] = process;
}

void Relay::report_end(const ProcessEnd& end) {
  state_ = State::ended;
  for (const auto& [category, cut] : cut_)
    if (!cut.empty()) send_event("output", {{"category", category}, {"output", cut}});
  cut_.clear();
  offers_.close();
  if (!heard_) say("the program used no CUDA, so there was no kernel to stop in");
  if (end.signal() != 0) say(fmt::format("the program was {}", end.text()));
  if (!end.lost) send_event("exited", {{"exitCode", end.shell_code()}});
  send_event("terminated", Json::object());
}

void Relay::pass_event(const Json& event) {
  heard_ = program_.heard();
  const std::string name = json::text(event, "event");
  if (const auto body = event.find("body"); name == "stopped" && body != event.end())
    json::read(*body, "threadId", thread_);
  // These are the relay's own: it knows the end of the process, and `initialized` has been sent at the launch.
  if (name != "initialized" && name != "exited" && name != "terminated") send_to_editor(event);
}

void Relay::pass_reverse_request(const Json& request) {
  send_to_editor(request);
  reversed_[sequence_] = json::get<std::int64_t>(request, "seq");
}

void Relay::pass_on(const Json& request) {
  program_.request(json::text(request, "command"), arguments_of(request),
                   [this, number = json::get<std::int64_t>(request, "seq"),
                    command = json::text(request, "command")](const Json& response) {
                     Json answer = response;
                     explain_pending(answer, command);
                     answer["request_seq"] = number;
                     send_to_editor(std::move(answer));
                   });
}

void Relay::evaluate_typed(const Json& request) {
  program_.request("evaluate", arguments_of(request), [this, request](const Json& response) {
    if (!json::get<bool>(response, "success")) return run_in_console(request, response);
    Json answer = response;
    answer["request_seq"] = json::get<std::int64_t>(request, "seq");
    send_to_editor(std::move(answer));
  });
}

void Relay::run_in_console(const Json& request, const Json& refused) {
  const Json arguments = arguments_of(request);
  auto command = read_console(json::text(arguments, "expression"), arguments, thread_);
  if (!command) return refuse(request, problem_of(refused));
  if (!*command) return refuse(request, command->error().message);
  const ConsoleCommand run = command->take();
  const auto show = [this](const Json& asked, std::string text) {
    if (text.ends_with('\n')) text.pop_back();  // the console begins a new line itself
    respond(asked, {{"result", std::move(text)}, {"variablesReference", 0}});
  };
  if (run.request.empty()) return show(request, run.text(Json::object()));
  program_.request(run.request, run.arguments, [this, request, run, show](const Json& response) {
    if (!json::get<bool>(response, "success")) return refuse(request, problem_of(response));
    const auto found = response.find("body");
    const Json body = found != response.end() && found->is_object() ? *found : Json::object();
    if (run.is_value) return respond(request, body);
    show(request, run.text(body));
    if (!run.moves) return;
    json::read(body, "threadId", thread_);
    send_event("stopped", {{"reason", "goto"},
                           {"description", json::text(body, "description")},
                           {"threadId", thread_},
                           {"allThreadsStopped", true},
                           {"focus", body}});
  });
}

void Relay::handle_launch(const Json& request) {
  if (state_ != State::waits_for_launch) return refuse(request, "launch: this session has had its program");
  auto options = read_launch(arguments_of(request));
  Result<StartCommand> command = Error{};
  Status started = Ok{};
  if (options) {
    for (const std::string& name : options->unknown) say(fmt::format("launch has no option \"{}\"", name));
    program_.debug_host(options->host.value_or(host_));
    ErrorsAside messages;
    command = launcher_(*options);
    pass_output("console", messages.restore());
    if (command)
      started =
          program_.start([&](const std::string& path) -> Result<ProcessCommand> { return (*command)(path); }, true);
  }
  const Error* const problem = !options   ? &options.error()
                               : !command ? &command.error()
                               : !started ? &started.error()
                                          : nullptr;
  if (problem) {
    refuse(request, problem->detail.empty() ? problem->message : problem->message + "\n" + problem->detail);
    for (const Json& kept : kept_) refuse(kept, kNotRunning);
    kept_.clear();
    return send_event("terminated", Json::object());
  }
  begin_session(request, options->all);
}

// `attach`: to a process of a program that another session has launched. Its configuration comes from there.
void Relay::handle_attach(const Json& request) {
  if (state_ != State::waits_for_launch) return refuse(request, "attach: this session has had its program");
  const Json arguments = arguments_of(request);
  const std::string path = json::text(arguments, "processSocket");
  const auto process = json::get<pid_t>(arguments, "processId");
  if (path.empty() || process <= 0)
    return refuse(
        request,
        "attach: warpgrind cannot attach to a program that runs already; use launch. (A session that launched "
        "a program attaches others to its further processes by itself)");
  auto socket = receive_offer(path, process);
  if (!socket) return refuse(request, fmt::format("attach: process {}: {}", process, socket.error().message));
  program_.debug_host(false);
  program_.adopt(socket.take(), process);
  attached_ = true;
  begin_session(request, arguments);
}

void Relay::begin_session(const Json& request, const Json& options) {
  launch_ = options;
  state_ = State::runs;
  const auto hear = [this](const Json& response) {
    heard_ |= json::get<bool>(response, "success") && program_.heard();
  };
  program_.request("initialize", initialize_, hear);
  program_.request("attach", options, hear);
  respond(request);
  send_event("initialized", Json::object());
  for (const Json& kept : kept_) pass_on(kept);
  kept_.clear();
}

void Relay::handle(const Json& message) {
  const std::string command = json::text(message, "command");
  if (json::text(message, "type") == "response") {
    const auto found = reversed_.find(json::get<std::int64_t>(message, "request_seq"));
    if (const auto offer = offered_.find(json::get<std::int64_t>(message, "request_seq")); offer != offered_.end()) {
      if (!json::get<bool>(message, "success")) offers_.refuse(offer->second, problem_of(message));
      offered_.erase(offer);
      return;
    }
    if (found == reversed_.end()) return;
    Json answer = message;
    answer["request_seq"] = found->second;
    reversed_.erase(found);
    return program_.send(answer);
  }
  if (command == "initialize") {
    initialize_ = arguments_of(message);
    respond(message, capabilities());
  } else if (command == "launch") {
    handle_launch(message);
  } else if (command == "attach") {
    handle_attach(message);
  } else if (command == "disconnect") {
    // By the protocol, the end of a session that is attached does not end the process.
    const Json arguments = arguments_of(message);
    if (!attached_ || json::get<bool>(arguments, "terminateDebuggee")) program_.kill();
    respond(message);
    state_ = State::leaves;
  } else if (command == "terminate") {
    program_.send_signal(SIGTERM);
    respond(message);
  } else if (state_ == State::waits_for_launch) {
    kept_.push_back(message);
  } else if (command == "evaluate" && json::text(arguments_of(message), "context") == "repl") {
    evaluate_typed(message);
  } else {
    pass_on(message);
  }
}

Status Relay::run() {
  Status result = Ok{};
  while (state_ != State::leaves && !interrupted()) {
    std::vector<pollfd> editor = {editor_.reading(), editor_.writing(), offers_.reading()};
    program_.wait(editor, offers_.patience());
    offers_.handle();
    if (editor[1].revents != 0) editor_.write();
    if (editor[0].revents == 0) continue;
    const auto read = editor_.read([this](const Json& message) { handle(message); });
    if (!read) result = read.error();
    if (!read || !*read) break;
  }
  if (!attached_) program_.kill();
  if (state_ == State::leaves) editor_.flush();
  return result;
}

}  // namespace warpgrind::debug
