// The connection, breakpoints and run control.
#include "adapter/requests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <bit>

#include "base/json.h"

namespace warpgrind::adapter {

using debugger::Breakpoint;
using debugger::Step;
using debugger::StopReason;

namespace {

Json list_of(const Json& object, const char* member) {
  const auto at = object.find(member);
  return at != object.end() && at->is_array() ? *at : Json::array();
}

const char* name_of(const debugger::Stop& stop) {
  switch (stop.reason) {
    case StopReason::breakpoint:
      return "breakpoint";
    case StopReason::entry:
      return "entry";
    case StopReason::pause:
      return "pause";
    case StopReason::exception:
      return "exception";
    case StopReason::data:
      return "data breakpoint";
    case StopReason::step:
    case StopReason::history_start:
      return "step";
  }
  return "step";
}

void read_conditions(const Json& from, Breakpoint& to) {
  to.condition = json::text(from, "condition");
  to.hit_condition = json::text(from, "hitCondition");
  to.log_message = json::text(from, "logMessage");
}

}  // namespace

Requests::Requests(int socket) : channel_(Descriptor(socket)) {
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  debugger_.evaluate_with([this](debugger::LaneView& lane, const std::string& text) { return holds(lane, text); },
                          [this](debugger::LaneView& lane, const std::string& text) { return expand(lane, text); });
}

std::span<const Requests::Command> Requests::commands() {
  static constexpr Command kAll[] = {
      {"initialize", &Requests::initialize, false},
      {"attach", &Requests::attach, false},
      {"launch", &Requests::attach, false},
      {"setBreakpoints", &Requests::set_breakpoints, false},
      {"setFunctionBreakpoints", &Requests::set_function_breakpoints, false},
      {"setExceptionBreakpoints", &Requests::set_exception_breakpoints, false},
      {"configurationDone", &Requests::configuration_done, false},
      {"threads", &Requests::threads, false},
      {"pause", &Requests::pause, false},
      {"disconnect", &Requests::disconnect, false},
      {"stackTrace", &Requests::stack_trace, true},
      {"scopes", &Requests::scopes, true},
      {"variables", &Requests::variables, true},
      {"evaluate", &Requests::evaluate, true},
      {"continue", &Requests::go_on, true},
      {"next", &Requests::next, true},
      {"stepIn", &Requests::step_in, true},
      {"stepOut", &Requests::step_out, true},
      {"stepBack", &Requests::step_back, true},
      {"reverseContinue", &Requests::reverse_go_on, true},
      {"exceptionInfo", &Requests::exception_info, true},
      {"disassemble", &Requests::disassemble, true},
      {"warpgrind/reverseStepIn", &Requests::reverse_step_in, true},
      {"warpgrind/reverseStepOut", &Requests::reverse_step_out, true},
      {"warpgrind/focus", &Requests::focus, true},
      {"setVariable", &Requests::set_variable, true},
      {"setExpression", &Requests::set_expression, true},
      {"dataBreakpointInfo", &Requests::data_breakpoint_info, true},
      {"setDataBreakpoints", &Requests::set_data_breakpoints, false},
      {"source", &Requests::source, false},
      {"loadedSources", &Requests::loaded_sources, false},
      {"warpgrind/launches", &Requests::launches, true},
      {"readMemory", &Requests::read_memory, true},
      {"warpgrind/warpValues", &Requests::warp_values, true},
      {"warpgrind/lastWrite", &Requests::last_write, true},
      {"warpgrind/warps", &Requests::warps, true},
  };
  return kAll;
}

void Requests::serve() {
  bool open = true;
  while (open && channel_.open()) {
    pollfd at = channel_.reading();
    if (poll(&at, 1, -1) < 0) continue;
    const Result<bool> more = channel_.read([&](const Json& message) { handle(message); });
    open = more && *more;
  }
  debugger_.disconnect();
}

void Requests::handle(const Json& request) {
  if (json::text(request, "type") != "request") return;
  const std::string name = json::text(request, "command");
  const auto arguments = request.find("arguments");
  const Json given = arguments != request.end() && arguments->is_object() ? *arguments : Json::object();
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return name == c.name; });
  const auto held = debugger_.hold();  // until the response is sent: an event that follows from it comes later
  const Body body = [&]() -> Body {
    if (found == commands().end())
      return Error{ErrorKind::unsupported, fmt::format("the request '{}' is not supported", name), ""};
    if (found->needs_stop && !debugger_.has_stopped())
      return Error{ErrorKind::bad_input, "the program runs: no kernel is stopped", ""};
    return (this->*found->handler)(given);
  }();
  Json response = {{"type", "response"}, {"request_seq", json::get<std::int64_t>(request, "seq")}, {"command", name}};
  response["success"] = static_cast<bool>(body);
  if (body) {
    response["body"] = *body;
  } else {
    const Error& e = body.error();
    response["message"] = e.message;
    response["body"] = {{"error", {{"id", 1}, {"format", e.message}, {"showUser", true}}}};
  }
  send(std::move(response));
}

void Requests::send(Json message) {
  const std::lock_guard lock(sending_);
  message["seq"] = ++sequence_;
  channel_.send(message);
  channel_.flush();
}

void Requests::event(const char* name, Json body) {
  send({{"type", "event"}, {"event", name}, {"body", std::move(body)}});
}

// ---- Events

void Requests::on_stop(const debugger::Stop& stop) {
  Json body;
  {
    const auto held = debugger_.hold();
    forget();
    focus_warp_ = stop.warp;
    focus_lane_ = stop.lane;
    const bool entry = std::find(stop.hit.begin(), stop.hit.end(), entry_) != stop.hit.end() && entry_ != 0;
    if (entry) {
      debugger_.remove(entry_);
      entry_ = 0;
    }
    body = {{"reason", entry && stop.hit.size() == 1 ? "entry" : name_of(stop)},
            {"threadId", thread_id(*stop.warp)},
            {"allThreadsStopped", true},
            {"focus", describe_focus()}};
    if (!stop.text.empty()) body["text"] = stop.text;
    if (!stop.hit.empty()) body["hitBreakpointIds"] = stop.hit;
  }
  event("stopped", std::move(body));
}

void Requests::on_output(const std::string& text) {
  event("output", {{"category", "console"}, {"output", text}});
}

void Requests::on_resolved(unsigned breakpoint, const debuginfo::SourcePlace& at) {
  Json known = {{"id", breakpoint}, {"verified", true}, {"source", sources_.describe(at.file)}};
  if (at.line) known["line"] = at.line;
  event("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(known)}});
}

void Requests::forget() {
  frames_.clear();
  lists_.clear();
  looks_.clear();
}

// ---- The beginning

Requests::Body Requests::initialize(const Json&) {
  return Json{{"supportsConfigurationDoneRequest", true},
              {"supportsFunctionBreakpoints", true},
              {"supportsConditionalBreakpoints", true},
              {"supportsHitConditionalBreakpoints", true},
              {"supportsLogPoints", true},
              {"supportsEvaluateForHovers", true},
              {"supportsStepBack", true},
              {"supportsSetVariable", true},
              {"supportsSetExpression", true},
              {"supportsDataBreakpoints", true},
              {"supportsReadMemoryRequest", true},
              {"supportsExceptionInfoRequest", true},
              {"supportsDisassembleRequest", true},
              {"supportsSteppingGranularity", true},
              {"supportsLoadedSourcesRequest", true}};
}

Requests::Body Requests::attach(const Json& arguments) {
  if (json::get<bool>(arguments, "stopOnEntry")) {
    Breakpoint entry;
    entry.at = Breakpoint::At::kernel_entry;
    entry_ = *debugger_.add(entry);
  }
  event("initialized", Json::object());
  return Json::object();
}

Requests::Body Requests::replace(std::set<unsigned>& old, const std::vector<Breakpoint>& wanted) {
  for (const unsigned number : old) debugger_.remove(number);
  old.clear();
  Json list = Json::array();
  for (const Breakpoint& b : wanted) {
    const Result<unsigned> number = debugger_.add(b);
    if (!number) {
      list.push_back({{"verified", false}, {"message", number.error().message}});
      continue;
    }
    old.insert(*number);
    Json known = {{"id", *number}, {"verified", debugger_.is_resolved(*number)}};
    if (b.line) known["line"] = b.line;
    if (!debugger_.is_resolved(*number)) known["reason"] = "pending";  // until a kernel with this place is loaded
    list.push_back(std::move(known));
  }
  return Json{{"breakpoints", std::move(list)}};
}

Requests::Body Requests::set_breakpoints(const Json& arguments) {
  const auto source = arguments.find("source");
  const std::string path = source == arguments.end() ? "" : sources_.path_of(*source);
  std::vector<Breakpoint> wanted;
  for (const Json& one : list_of(arguments, "breakpoints")) {
    if (!one.is_object()) continue;
    Breakpoint b;
    b.file = path;
    json::read(one, "line", b.line);
    read_conditions(one, b);
    wanted.push_back(std::move(b));
  }
  return replace(of_source_[path], wanted);
}

Requests::Body Requests::set_function_breakpoints(const Json& arguments) {
  std::vector<Breakpoint> wanted;
  for (const Json& one : list_of(arguments, "breakpoints")) {
    if (!one.is_object()) continue;
    Breakpoint b;
    b.at = Breakpoint::At::function;
    b.function = json::text(one, "name");
    read_conditions(one, b);
    wanted.push_back(std::move(b));
  }
  return replace(of_functions_, wanted);
}

Requests::Body Requests::set_exception_breakpoints(const Json& arguments) {
  std::vector<Breakpoint> launches;
  bool faults = false, unsupported = false;
  const auto take = [&](const std::string& filter, const std::string& condition) {
    if (filter == "fault" || filter == "assert") faults = true;
    if (filter == "finding") unsupported = true;
    if (filter != "launch") return;
    Breakpoint b;
    b.at = Breakpoint::At::kernel_entry;
    b.function = condition;
    launches.push_back(b);
  };
  for (const Json& filter : list_of(arguments, "filters"))
    if (filter.is_string()) take(filter.get<std::string>(), "");
  for (const Json& option : list_of(arguments, "filterOptions"))
    if (option.is_object()) take(json::text(option, "filterId"), json::text(option, "condition"));
  if (unsupported)
    return Error{ErrorKind::unsupported, "a stop at findings of the checks is not built yet: use `warpgrind check`",
                 ""};
  debugger_.stop_at_faults(faults);
  return replace(of_launches_, launches);
}

Requests::Body Requests::configuration_done(const Json&) {
  debugger_.configured();
  return Json::object();
}

Requests::Body Requests::disconnect(const Json&) {
  debugger_.disconnect();
  return Json::object();
}

// ---- Going on

Requests::Body Requests::pause(const Json&) {
  if (!debugger_.has_stopped()) debugger_.pause();
  return Json::object();
}

Requests::Body Requests::go_on(const Json&) {
  forget();
  debugger_.go_on();
  return Json{{"allThreadsContinued", true}};
}

Requests::Body Requests::step(Step kind, const Json& arguments, bool back) {
  const Result<device::WarpFiber*> warp = warp_of(arguments);
  if (!warp) return warp.error();
  if (kind == Step::out && debugger_.look_at(**warp).frames().size() <= 1)
    return Error{ErrorKind::bad_input, "the outermost frame is the kernel: there is no caller to return to", ""};
  if (json::text(arguments, "granularity") == "instruction") kind = Step::instruction;
  const unsigned lane = lane_for(**warp);
  if (back) {
    if (Status begun = debugger_.step_back(kind, **warp, lane); !begun) return begun.error();
  } else {
    debugger_.step(kind, **warp, lane);
  }
  forget();
  return Json::object();
}

Requests::Body Requests::next(const Json& arguments) {
  return step(Step::over, arguments, false);
}
Requests::Body Requests::step_in(const Json& arguments) {
  return step(Step::in, arguments, false);
}
Requests::Body Requests::step_out(const Json& arguments) {
  return step(Step::out, arguments, false);
}
Requests::Body Requests::step_back(const Json& arguments) {
  return step(Step::over, arguments, true);
}
Requests::Body Requests::reverse_step_in(const Json& arguments) {
  return step(Step::in, arguments, true);
}
Requests::Body Requests::reverse_step_out(const Json& arguments) {
  return step(Step::out, arguments, true);
}

Requests::Body Requests::reverse_go_on(const Json&) {
  if (Status begun = debugger_.go_back(); !begun) return begun.error();
  forget();
  return Json::object();
}

}  // namespace warpgrind::adapter
