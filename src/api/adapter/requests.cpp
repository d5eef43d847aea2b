// The connection, breakpoints and run control.
#include "adapter/requests.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/json.h"
#include "dap/condition_text.h"

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

Requests::Requests(Descriptor socket) : channel_(std::move(socket)) {
  debugger_.evaluate_with([this](debugger::LaneView& lane, const std::string& text) { return holds(lane, text); },
                          [this](debugger::LaneView& lane, const std::string& text) { return expand(lane, text); });
}

void Requests::explain_with(std::function<std::string(std::uint64_t address)> origin) {
  const auto held = debugger_.hold();
  debugger_.explain_with(std::move(origin));
}

std::span<const Requests::Command> Requests::commands() {
  using Needs = Command::Needs;
  static constexpr Command kAll[] = {
      {"initialize", &Requests::initialize, Needs::nothing},
      {"attach", &Requests::attach, Needs::nothing},
      {"launch", &Requests::attach, Needs::nothing},
      {"setBreakpoints", &Requests::set_breakpoints, Needs::nothing},
      {"setFunctionBreakpoints", &Requests::set_function_breakpoints, Needs::nothing},
      {"setExceptionBreakpoints", &Requests::set_exception_breakpoints, Needs::nothing},
      {"setInstructionBreakpoints", &Requests::set_instruction_breakpoints, Needs::nothing},
      {"configurationDone", &Requests::configuration_done, Needs::nothing},
      {"threads", &Requests::threads, Needs::nothing},
      {"pause", &Requests::pause, Needs::nothing},
      {"disconnect", &Requests::disconnect, Needs::nothing},
      {"stackTrace", &Requests::stack_trace, Needs::stop},
      {"scopes", &Requests::scopes, Needs::kernel},
      {"variables", &Requests::variables, Needs::kernel},
      {"evaluate", &Requests::evaluate, Needs::kernel},
      {"continue", &Requests::go_on, Needs::stop},
      {"next", &Requests::next, Needs::kernel},
      {"stepIn", &Requests::step_in, Needs::kernel},
      {"stepOut", &Requests::step_out, Needs::kernel},
      {"stepBack", &Requests::step_back, Needs::kernel},
      {"reverseContinue", &Requests::reverse_go_on, Needs::kernel},
      {"exceptionInfo", &Requests::exception_info, Needs::stop},
      {"disassemble", &Requests::disassemble, Needs::kernel},
      {"warpgrind/reverseStepIn", &Requests::reverse_step_in, Needs::kernel},
      {"warpgrind/reverseStepOut", &Requests::reverse_step_out, Needs::kernel},
      {"warpgrind/focus", &Requests::focus, Needs::kernel},
      {"setVariable", &Requests::set_variable, Needs::kernel},
      {"setExpression", &Requests::set_expression, Needs::kernel},
      {"dataBreakpointInfo", &Requests::data_breakpoint_info, Needs::kernel},
      {"setDataBreakpoints", &Requests::set_data_breakpoints, Needs::nothing},
      {"warpgrind/launches", &Requests::launches, Needs::kernel},
      {"readMemory", &Requests::read_memory, Needs::kernel},
      {"warpgrind/warpValues", &Requests::warp_values, Needs::kernel},
      {"warpgrind/tile", &Requests::tile, Needs::kernel},
      {"warpgrind/lastWrite", &Requests::last_write, Needs::kernel},
      {"warpgrind/warps", &Requests::warps, Needs::kernel},
      {"warpgrind/functions", &Requests::functions, Needs::kernel},
      {"warpgrind/codeOfLine", &Requests::code_of_line, Needs::kernel},
      {"warpgrind/type", &Requests::type_definition, Needs::kernel},
      {"completions", &Requests::completions, Needs::kernel},
      {"warpgrind/stopAtLaunch", &Requests::stop_at_launch, Needs::nothing},
      {"source", &Requests::source, Needs::nothing},
      {"loadedSources", &Requests::loaded_sources, Needs::nothing},
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

void Requests::abandon() {
  channel_.abandon();
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
    using Needs = Command::Needs;
    if (found->needs != Needs::nothing && !debugger_.has_stopped())
      return Error{ErrorKind::bad_input, "the program runs: no kernel is stopped", ""};
    if (found->needs == Needs::kernel && !debugger_.in_kernel())
      return Error{ErrorKind::bad_input, "the program has stopped in host code: no kernel is stopped",
                   "`continue` goes on"};
    return (this->*found->handler)(given);
  }();
  Json response = {{"type", "response"}, {"request_seq", json::get<std::int64_t>(request, "seq")}, {"command", name}};
  response["success"] = static_cast<bool>(body);
  if (body) {
    response["body"] = *body;
  } else {
    const Error& e = body.error();
    const std::string text = e.detail.empty() ? e.message : e.message + "\n  " + e.detail;
    response["message"] = text;
    response["body"] = {{"error", {{"id", 1}, {"format", text}, {"showUser", true}}}};
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
    if (const auto before = std::exchange(focus_before_, std::nullopt);
        before && stop.reason == debugger::StopReason::history_start)
      for (device::WarpFiber* warp : debugger_.warps())
        if (warp->block_linear == before->block && warp->context.warp == before->warp) {
          focus_warp_ = warp;
          focus_lane_ = before->lane;
        }
    const bool entry = std::find(stop.hit.begin(), stop.hit.end(), entry_) != stop.hit.end() && entry_ != 0;
    if (entry) {
      debugger_.remove(entry_);
      entry_ = 0;
    }
    body = {{"reason", entry && stop.hit.size() == 1 ? "entry" : name_of(stop)},
            {"allThreadsStopped", true},
            {"focus", describe_focus()}};
    body["threadId"] = body["focus"]["threadId"];
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

void Requests::on_removed(unsigned breakpoint, const std::string& why) {
  Json known = {{"id", breakpoint}, {"verified", false}};
  if (!why.empty()) known["message"] = why;
  event("breakpoint", {{"reason", "removed"}, {"breakpoint", std::move(known)}});
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
              {"supportsInstructionBreakpoints", true},
              {"supportsEvaluateForHovers", true},
              {"supportsStepBack", true},
              {"supportsSetVariable", true},
              {"supportsSetExpression", true},
              {"supportsDataBreakpoints", true},
              {"supportsReadMemoryRequest", true},
              {"supportsValueFormattingOptions", true},
              {"supportsExceptionInfoRequest", true},
              {"supportsDisassembleRequest", true},
              {"supportsSteppingGranularity", true},
              {"supportsLoadedSourcesRequest", true},
              {"supportsCompletionsRequest", true}};
}

Requests::Body Requests::attach(const Json& arguments) {
  if (json::get<bool>(arguments, "stopOnEntry")) (void)stop_at_launch(arguments);
  event("initialized", Json::object());
  return Json::object();
}

Requests::Body Requests::stop_at_launch(const Json&) {
  if (entry_ != 0) return Json::object();
  Breakpoint entry;
  entry.at = Breakpoint::At::kernel_entry;
  entry_ = *debugger_.add(entry);
  return Json::object();
}

Requests::Body Requests::replace(std::set<unsigned>& old, const std::vector<Breakpoint>& wanted) {
  for (const unsigned number : old) debugger_.remove(number);
  old.clear();
  Json list = Json::array();
  for (const Breakpoint& b : wanted) {
    if (const std::string problem = b.at == Breakpoint::At::kernel_entry ? "" : dap::problem_of_condition(b.condition);
        !problem.empty()) {
      list.push_back({{"verified", false}, {"message", fmt::format("condition '{}': {}", b.condition, problem)}});
      continue;
    }
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

// References as `disassemble` gives them. They are of the module in focus; before the first stop, of any.
Requests::Body Requests::set_instruction_breakpoints(const Json& arguments) {
  std::vector<Breakpoint> wanted;
  for (const Json& one : list_of(arguments, "breakpoints")) {
    if (!one.is_object()) continue;
    const std::string reference = json::text(one, "instructionReference");
    Breakpoint b;
    b.at = Breakpoint::At::instruction;
    const auto at = read_ptx_place(reference);
    const std::int64_t instruction = at ? at->instruction + json::get<std::int32_t>(one, "offset") : -1;
    if (instruction < 0 || instruction > 0xffff'ffff)
      return Error{ErrorKind::bad_input, fmt::format("'{}' is no place in the PTX", reference),
                   "`disassemble` prints the places, for example f0:i12"};
    b.code = {at->function, static_cast<std::uint32_t>(instruction)};
    if (debugger_.in_kernel()) b.module = &debugger_.look_at(*focus_warp_).info().module();
    read_conditions(one, b);
    wanted.push_back(std::move(b));
  }
  if (!wanted.empty()) debugger_.stop_at_instructions();
  Body set = replace(of_instructions_, wanted);
  if (!set) return set;
  for (Json& one : (*set)["breakpoints"])
    if (one.contains("reason") && debugger_.in_kernel())
      one["message"] = "this launch stops at lines only: the breakpoint holds from the next launch on";
  return set;
}

// Filters that are breakpoints of the debugger. Others are switches of it.
namespace {

struct FilterBreakpoint {
  const char* filter;
  Breakpoint::At at;
};
constexpr FilterBreakpoint kFilterBreakpoints[] = {{"launch", Breakpoint::At::kernel_entry},
                                                   {"barrier", Breakpoint::At::barrier},
                                                   {"divergence", Breakpoint::At::divergence}};
constexpr const char* kFilterSwitches[] = {"fault", "assert", "finding", "api"};

}  // namespace

// One breakpoint in the response for each filter, and then for each of filterOptions.
Requests::Body Requests::set_exception_breakpoints(const Json& arguments) {
  std::vector<std::pair<std::string, std::string>> filters;  // and conditions
  for (const Json& filter : list_of(arguments, "filters"))
    filters.emplace_back(filter.is_string() ? filter.get<std::string>() : std::string(), "");
  for (const Json& option : list_of(arguments, "filterOptions"))
    filters.emplace_back(option.is_object() ? json::text(option, "filterId") : "",
                         option.is_object() ? json::text(option, "condition") : "");
  const auto has = [&](const char* name) {
    return std::any_of(filters.begin(), filters.end(), [&](const auto& f) { return f.first == name; });
  };
  using Report = device::StopHandler::Report;
  debugger_.stop_at_faults(has("fault") || has("assert"));
  debugger_.stop_at_reports(Report::Kind::finding, has("finding"));
  debugger_.stop_at_reports(Report::Kind::api, has("api"));
  std::vector<Breakpoint> wanted;
  Json list = Json::array();
  for (const auto& [filter, condition] : filters) {
    const auto* const found = std::find_if(std::begin(kFilterBreakpoints), std::end(kFilterBreakpoints),
                                           [&, &name = filter](const auto& f) { return name == f.filter; });
    if (found != std::end(kFilterBreakpoints)) {
      Breakpoint b;
      b.at = found->at;
      (b.at == Breakpoint::At::kernel_entry ? b.function : b.condition) = condition;
      wanted.push_back(b);
      list.push_back(nullptr);  // filled in below
      continue;
    }
    const bool known =
        std::find_if(std::begin(kFilterSwitches), std::end(kFilterSwitches),
                     [&, &name = filter](const char* f) { return name == f; }) != std::end(kFilterSwitches);
    list.push_back({{"verified", known}});
    if (!known) list.back()["message"] = fmt::format("there is no exception filter '{}'", filter);
    if (known && !condition.empty()) list.back()["message"] = fmt::format("'{}' takes no condition", filter);
  }
  Body set = replace(of_filters_, wanted);
  if (!set) return set;
  std::size_t next = 0;
  for (Json& one : list)
    if (one.is_null()) one = (*set)["breakpoints"][next++];
  return Json{{"breakpoints", std::move(list)}};
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

Requests::Body Requests::pause(const Json& arguments) {
  const bool busy = debugger_.is_busy();
  if (!debugger_.has_stopped() && (busy || !json::get<bool>(arguments, "onlyIfBusy"))) debugger_.pause();
  return Json{{"busy", busy}};
}

Requests::Body Requests::go_on(const Json&) {
  forget();
  debugger_.go_on();
  return Json{{"allThreadsContinued", true}};
}

Requests::Body Requests::step(Step kind, const Json& arguments, bool back) {
  const Result<device::WarpFiber*> warp = warp_of(arguments);
  if (!warp) return warp.error();
  std::uint32_t frame = 0;
  if (kind == Step::out && !back && arguments.contains("frameId")) {
    const Result<Frame> chosen = frame_of(arguments);
    if (!chosen) return chosen.error();
    if (chosen->warp == *warp) frame = chosen->index;
  }
  if (kind == Step::out && debugger_.look_at(**warp).frames().size() <= 1 + std::size_t{frame})
    return Error{ErrorKind::bad_input, "the outermost frame is the kernel: there is no caller to return to", ""};
  if (json::text(arguments, "granularity") == "instruction") kind = Step::instruction;
  const unsigned lane = lane_for(**warp);
  if (back) {
    if (Status begun = debugger_.step_back(kind, **warp, lane); !begun) return begun.error();
  } else {
    debugger_.step(kind, **warp, lane, frame);
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
