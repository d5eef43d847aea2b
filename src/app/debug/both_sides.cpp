// One debug adapter made of two.
#include "debug/both_sides.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/json.h"

namespace warpgrind::debug {

namespace {

using hostdebug::kFirstHostId;

constexpr std::int64_t kFirstBreakpoint = 1'000'000;    // the adapter's own numbers are below
constexpr std::chrono::milliseconds kPauseAnswer{300};  // the adapter answers in a few; it may have no thread free
constexpr std::chrono::milliseconds kOtherSide{1000};   // a step may be longer than the other side's next stop
constexpr std::chrono::milliseconds kAfterContinue{200};
constexpr std::chrono::milliseconds kLaunchBegins{2000};
constexpr std::chrono::seconds kDeviceAnswer{10};

// Requests that let a stopped thread run.
bool resumes(const std::string& command) {
  for (const char* one : {"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto",
                          "warpgrind/lastWrite", "warpgrind/reverseStepIn", "warpgrind/reverseStepOut"})
    if (command == one) return true;
  return false;
}

// Places: both sides look for them. Other breakpoints are of kernels.
bool sets_places(const std::string& command) {
  return command == "setBreakpoints" || command == "setFunctionBreakpoints";
}

bool sets_breakpoints(const std::string& command) {
  return sets_places(command) || command == "setExceptionBreakpoints" || command == "setInstructionBreakpoints" ||
         command == "setDataBreakpoints";
}

bool begins_or_ends(const std::string& command) {
  for (const char* one : {"initialize", "attach", "launch", "configurationDone", "disconnect"})
    if (command == one) return true;
  return false;
}

// What a request for breakpoints names: one breakpoint of the response for each.
std::vector<Json> wanted_by(const std::string& command, const Json& arguments) {
  std::vector<Json> out;
  const bool filters = command == "setExceptionBreakpoints";
  for (const char* member : {filters ? "filters" : "breakpoints", filters ? "filterOptions" : ""})
    if (const auto list = arguments.find(member); list != arguments.end() && list->is_array())
      for (const Json& one : *list) out.push_back(one);
  return out;
}

std::string path_of(const Json& arguments) {
  const auto source = arguments.find("source");
  if (source == arguments.end() || !source->is_object()) return "";
  const std::string path = json::text(*source, "path");
  return path.empty() ? json::text(*source, "name") : path;
}

}  // namespace

BothSides::BothSides(Handlers handlers, bool one_stop_at_a_time)
    : DapClient({{[this](const Json& event) { on_device_event(event); }, handlers.adapter.on_request,
                  handlers.adapter.on_broken, handlers.adapter.on_closed},
                 handlers.on_output,
                 [this](const ProcessEnd& end) {
                   host_.leave();
                   if (front_.on_end) front_.on_end(end);
                 },
                 handlers.on_process}),
      front_(std::move(handlers)),
      host_({[this](Json stop) { on_stop(Side::host, std::move(stop)); },
             [this](int number, const Json& at) {
               for (auto& [path, list] : places_)
                 for (Place& place : list)
                   if (place.host == number) {
                     place.at_host.verified = true;
                     place.at_host.place = at;
                     change_breakpoint(place);
                   }
             },
             [this](const std::string& text) { explain(text); }, [this] { on_launch(); },
             [this] { side_ = Side::device; }}),
      one_stop_at_a_time_(one_stop_at_a_time) {}

void BothSides::explain(const std::string& text) {
  if (front_.adapter.on_event)
    front_.adapter.on_event(
        {{"type", "event"}, {"event", "output"}, {"body", {{"category", "console"}, {"output", text}}}});
}

// ---- The start

// The program stands still behind exec, until gdb has attached to it. It must be this thread that started it.
Status BothSides::start(const MakeCommand& make, bool output) {
  heard_ = begun_ = shown_ = device_stopped_ = false;
  side_ = Side::device;
  waiting_.clear();
  unseen_.clear();
  places_.clear();
  questions_.clear();
  interrupts_at_ = Clock::time_point::max();
  host_.leave();
  if (!wants_host_) return DapClient::start(make, output);
  const MakeCommand with_stop = [&](const std::string& path) -> Result<ProcessCommand> {
    auto command = make(path);
    if (!command) return command;
    const auto before = command->in_child;
    command->in_child = [before] {
      if (before) before();
      prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // gdb is no ancestor of this process
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    };
    return command;
  };
  if (Status started = DapClient::start(with_stop, output); !started) return started;
  if (const Status attached = attach(process_id()); !attached)
    explain(fmt::format("Host code is not debugged: {}\n", attached.error().message));
  return Ok{};
}

Status BothSides::attach(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return Error{ErrorKind::environment, "the system allows no tracing of programs", ""};
  if (!WIFSTOPPED(status)) return Error{ErrorKind::environment, "the program has ended", ""};
  ptrace(PTRACE_DETACH, process, nullptr, SIGSTOP);
  const Status attached = host_.attach(process);
  if (!attached) {
    ::kill(process, SIGCONT);
    if (attached.error().message.find("cannot start gdb") != std::string::npos)
      return Error{ErrorKind::environment, "gdb is not installed (Debian: apt install gdb)", ""};
    return Error{ErrorKind::environment, fmt::format("gdb cannot attach to the program ({})", attached.error().message),
                 ""};
  }
  return Ok{};
}

void BothSides::finish_start() {
  if (begun_ || !host_.attached()) return;
  begun_ = true;
  host_.begin();
}

bool BothSides::connected() const {
  return DapClient::connected() || host_.attached();
}

void BothSides::wait(std::vector<pollfd>& others, int milliseconds) {
  const auto now = Clock::now();
  const auto until = [&](Clock::time_point at) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(at - now).count() + 1;
    const int least = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 20));
    if (milliseconds < 0 || least < milliseconds) milliseconds = least;
  };
  if (interrupts_at_ != Clock::time_point::max()) until(interrupts_at_);
  if (!shown_ || !one_stop_at_a_time_)
    for (const Waiting& one : waiting_) until(one.from);
  if (host_.attached() && heard_ && host_.has_stopped())
    for (const auto& [number, question] : questions_) until(question.until);
  if (host_.attached() && host_.has_events()) milliseconds = 0;
  std::vector<pollfd> all = others;
  all.push_back(host_.reading());
  DapClient::wait(all, milliseconds);
  for (std::size_t i = 0; i < others.size(); ++i) others[i].revents = all[i].revents;
  if (all.back().revents != 0 && host_.attached()) host_.read();
  if (host_.attached() && host_.has_events()) host_.handle_events();
  if (Clock::now() >= interrupts_at_) interrupt_host();
  if (host_.attached()) refuse_late_answers();
  if (!shown_ || !one_stop_at_a_time_) report_next();
}

// ---- Stops

void BothSides::on_device_event(const Json& event) {
  heard_ = true;
  const std::string name = json::text(event, "event");
  const auto body = event.find("body");
  if (!host_.attached() || body == event.end() || !body->is_object()) {
    if (front_.adapter.on_event) front_.adapter.on_event(event);
    return;
  }
  if (name == "stopped") {
    interrupts_at_ = Clock::time_point::max();
    Json stop = *body;
    Json hit = Json::array();
    if (const auto ids = body->find("hitBreakpointIds"); ids != body->end() && ids->is_array())
      for (const Json& id : *ids) {
        std::int64_t number = -1;
        json::read_value(id, number);
        std::int64_t ours = number;
        for (const auto& [path, list] : places_)
          for (const Place& place : list)
            if (place.device == number) ours = place.id;
        hit.push_back(ours);
      }
    if (!hit.empty()) stop["hitBreakpointIds"] = hit;
    return on_stop(Side::device, std::move(stop));
  }
  if (name == "breakpoint") {
    const auto changed = body->find("breakpoint");
    if (changed == body->end() || !changed->is_object()) return;
    const auto id = json::get<std::int64_t>(*changed, "id");
    if (json::text(*body, "reason") == "removed" && front_.adapter.on_event) front_.adapter.on_event(event);
    for (auto& [path, list] : places_)
      for (Place& place : list)
        if (place.device == id) {
          place.at_device.update(*changed);
          json::read(*changed, "verified", place.device_verified);
          change_breakpoint(place);
        }
    return;
  }
  if (front_.adapter.on_event) front_.adapter.on_event(event);
}

void BothSides::on_stop(Side side, Json stop) {
  Waiting one{side, std::move(stop), Clock::now()};
  if (side == Side::host) {
    interrupts_at_ = Clock::time_point::max();
    unseen_.insert(json::get<std::int64_t>(one.stop, "threadId"));
    Json hit = Json::array();
    if (const auto ids = one.stop.find("hitBreakpointIds"); ids != one.stop.end() && ids->is_array())
      for (const Json& id : *ids)
        for (const auto& [path, list] : places_)
          for (const Place& place : list)
            if (Json(place.host) == id) hit.push_back(place.id);
    if (!hit.empty()) one.stop["hitBreakpointIds"] = hit;
    // The kernel of this launch may stop a moment later, and its stop is what the step was for.
    if (one.stop.contains("launched")) one.from += kLaunchBegins;
  }
  // The stop that a command waits for comes before one of the other side that has waited.
  if (side == side_)
    waiting_.push_front(std::move(one));
  else
    waiting_.push_back(std::move(one));
  if (!shown_ || !one_stop_at_a_time_) report_next();
}

void BothSides::report_next() {
  const auto now = Clock::now();
  const bool any_device =
      std::any_of(waiting_.begin(), waiting_.end(), [](const Waiting& w) { return w.side == Side::device; });
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const bool launched = at->side == Side::host && at->stop.contains("launched");
    const bool ready = now >= at->from && !(launched && any_device);
    if (!ready) {
      ++at;
      continue;
    }
    const Waiting stop = std::move(*at);
    at = waiting_.erase(at);
    report(stop);
    if (one_stop_at_a_time_) return;
  }
}

void BothSides::report(const Waiting& stop) {
  shown_ = true;
  side_ = stop.side;
  Json body = stop.stop;
  if (stop.side == Side::device) {
    device_stopped_ = launch_stopped_ = true;
    for (Waiting& one : waiting_) one.from = std::min(one.from, Clock::now());
  } else {
    unseen_.erase(json::get<std::int64_t>(body, "threadId"));
    if (body.contains("launched")) {
      body.erase("launched");
      if (!device_stopped_ && !launch_stopped_)
        body["text"] = "The launch has returned, and the kernel has not begun: it will stop at its first line";
    }
  }
  if (front_.adapter.on_event)
    front_.adapter.on_event({{"type", "event"}, {"event", "stopped"}, {"body", std::move(body)}});
}

// gdb's step has come to a launch. The adapter must know it before the kernel begins.
void BothSides::on_launch() {
  bool answered = false;
  launch_stopped_ = false;
  DapClient::request("warpgrind/stopAtLaunch", Json::object(), [&answered](const Json&) { answered = true; });
  const auto limit = Clock::now() + kOtherSide;
  std::vector<pollfd> none;
  constexpr int kTurn = 10;  // milliseconds
  while (heard_ && !answered && DapClient::connected() && Clock::now() < limit) DapClient::wait(none, kTurn);
}

// ---- Requests

bool BothSides::names_host(const Json& arguments) {
  for (const char* name : {"threadId", "frameId", "variablesReference"})
    if (json::get<std::int64_t>(arguments, name) >= kFirstHostId) return true;
  return false;
}

BothSides::Side BothSides::side_of(const Json& arguments) const {
  for (const char* name : {"threadId", "frameId", "variablesReference"}) {
    std::int64_t id = 0;
    json::read(arguments, name, id);
    if (id != 0) return id >= kFirstHostId ? Side::host : Side::device;
  }
  return side_;
}

void BothSides::respond(const Answer& answer, const std::string& command, Result<Json> body) {
  if (!body) return answer(failure({{"seq", 0}, {"command", command}}, body.error().message));
  answer({{"seq", 0},
          {"type", "response"},
          {"request_seq", 0},
          {"success", true},
          {"command", command},
          {"body", body.take()}});
}

// While a host thread stands still it may hold what the adapter needs, so its answer has a limit then.
void BothSides::ask_device(const std::string& command, Json arguments, Answer answer) {
  const std::int64_t number = ++last_question_;
  questions_[number] = {command, std::move(answer), Clock::now() + kDeviceAnswer};
  DapClient::request(command, std::move(arguments), [this, number](const Json& response) {
    heard_ |= json::get<bool>(response, "success");
    const auto found = questions_.find(number);
    if (found == questions_.end()) return;
    const Answer then = std::move(found->second.answer);
    questions_.erase(found);
    then(response);
  });
}

void BothSides::refuse_late_answers() {
  const auto now = Clock::now();
  for (auto at = questions_.begin(); at != questions_.end();) {
    if (!heard_ || !host_.has_stopped()) at->second.until = now + kDeviceAnswer;
    if (now < at->second.until) {
      ++at;
      continue;
    }
    const Question late = std::move(at->second);
    questions_.erase(at);
    respond(late.answer, late.command,
            Error{ErrorKind::environment,
                  "no answer from the kernels' side: a host thread stands still in a call that it needs. Continue it, "
                  "or step out of the call",
                  ""});
    at = questions_.begin();  // the answer may have asked more
  }
}

void BothSides::request(const std::string& command, Json arguments, Answer answer) {
  if (!host_.attached()) {
    if (command == "warpgrind/host")
      return respond(answer, command, Error{ErrorKind::bad_input, "host code is not debugged: start with --host", ""});
    return ask_device(command, std::move(arguments), std::move(answer));
  }
  if (sets_breakpoints(command)) return set_breakpoints(command, arguments, answer);
  if (begins_or_ends(command)) return begin_or_end(command, std::move(arguments), answer);
  if (command == "pause") return pause(arguments, answer);
  if (command == "threads") return threads(arguments, answer);
  if (command == "warpgrind/focus") return focus(arguments, answer);
  if (command == "warpgrind/host")
    return respond(answer, command, [&]() -> Result<Json> {
      auto chosen = host_.select(json::get<std::int64_t>(arguments, "thread"));
      if (chosen) side_ = Side::host;
      if (chosen) unseen_.erase(json::get<std::int64_t>(*chosen, "threadId"));
      return chosen;
    }());
  const Side side = side_of(arguments);
  if (resumes(command)) return resume(side, command, arguments, answer);
  const bool of_program = command == "source" || command == "loadedSources";
  const bool of_kernels = command.starts_with("warpgrind/") && device_stopped_ && !names_host(arguments);
  if (side == Side::device || of_program || of_kernels) return ask_kernels(command, std::move(arguments), answer);
  respond(answer, command, host_.answer(command, arguments));
}

// A question to the adapter. The program may not have used CUDA yet, or may stand still before it does: nothing waits
// for that.
void BothSides::ask_kernels(const std::string& command, Json arguments, const Answer& answer) {
  if (heard_) return ask_device(command, std::move(arguments), answer);
  if (command == "loadedSources") return respond(answer, command, Json{{"sources", Json::array()}});
  respond(answer, command, Error{ErrorKind::bad_input, "the program has not used CUDA yet: no kernel is stopped", ""});
}

void BothSides::begin_or_end(const std::string& command, Json arguments, const Answer& answer) {
  const bool waits = heard_ || command == "initialize" || command == "attach" || command == "launch";
  const Answer ignored = [](const Json&) {};
  ask_device(command, std::move(arguments), waits ? answer : ignored);
  if (!waits) respond(answer, command, Json::object());
  if (command == "configurationDone") finish_start();
}

void BothSides::resume(Side side, const std::string& command, const Json& arguments, const Answer& answer) {
  const bool all = command == "continue" && !json::get<bool>(arguments, "singleThread");
  const auto resumed = [this](std::chrono::milliseconds grace) {
    shown_ = false;
    for (Waiting& one : waiting_) one.from = Clock::now() + grace;
  };
  if (side == Side::device && all && !device_stopped_ && host_.has_stopped()) {
    resumed(kAfterContinue);
    host_.resume_all(unseen_);
    return respond(answer, command, Json{{"allThreadsContinued", true}});
  }
  if (side == Side::device && !heard_) return ask_kernels(command, arguments, answer);
  if (side == Side::device) {
    const Answer done = [this, all, answer](const Json& response) {
      if (json::get<bool>(response, "success") && all) host_.resume_all(unseen_);
      answer(response);
    };
    device_stopped_ = false;
    resumed(all ? kAfterContinue : kOtherSide);
    return ask_device(command, arguments, [this, command, done](const Json& response) {
      const bool good = json::get<bool>(response, "success");
      // Out of a kernel is to its end. The host thread that has launched it stops, or has stopped, if it was stepped.
      if (!good && command == "stepOut" && problem_of(response).find("outermost frame") != std::string::npos)
        return ask_device("continue", Json::object(), done);
      if (!good) device_stopped_ = shown_ = true;
      done(response);
    });
  }
  auto body = host_.answer(command, arguments);
  if (body) {
    resumed(all ? kAfterContinue : kOtherSide);
    if (all) {
      host_.resume_all(unseen_);
      if (std::exchange(device_stopped_, false)) ask_device("continue", Json::object(), [](const Json&) {});
      body = Json{{"allThreadsContinued", true}};
    }
  }
  respond(answer, command, std::move(body));
}

void BothSides::focus(const Json& arguments, const Answer& answer) {
  const auto thread = arguments.find("thread");
  const bool of_warps = arguments.contains("block") || arguments.contains("warp") || arguments.contains("lane");
  if (side_ == Side::device || (of_warps && device_stopped_)) {
    return ask_device("warpgrind/focus", arguments, [this, answer](const Json& response) {
      if (json::get<bool>(response, "success")) side_ = Side::device;
      answer(response);
    });
  }
  if (of_warps) return respond(answer, "warpgrind/focus", host_.answer("warpgrind/focus", arguments));
  std::int64_t number = 0;
  if (thread != arguments.end() && thread->is_array() && !thread->empty()) json::read_value((*thread)[0], number);
  respond(answer, "warpgrind/focus", host_.select(number));
}

void BothSides::threads(const Json& arguments, const Answer& answer) {
  const auto with_host = [this](Json list) {
    if (!list.is_array()) list = Json::array();
    for (Json& one : host_.threads()) list.push_back(std::move(one));
    return Json{{"threads", std::move(list)}};
  };
  if (!heard_ || !DapClient::connected()) return respond(answer, "threads", with_host(Json::array()));
  ask_device("threads", arguments, [with_host, answer](const Json& response) {
    Json out = response;
    const auto body = response.find("body");
    Json list =
        body != response.end() && body->is_object() && body->contains("threads") ? (*body)["threads"] : Json::array();
    out["success"] = true;
    out["body"] = with_host(std::move(list));
    answer(out);
  });
}

// A kernel that runs is stopped; otherwise host code is.
void BothSides::pause(const Json& arguments, const Answer& answer) {
  respond(answer, "pause", Json::object());
  const auto thread = json::get<std::int64_t>(arguments, "threadId");
  const bool of_host = thread >= kFirstHostId && !one_stop_at_a_time_;  // the terminal means the whole program
  if (of_host || !heard_ || !DapClient::connected()) return interrupt_host();
  interrupts_at_ = Clock::now() + kPauseAnswer;
  ask_device("pause", {{"threadId", thread}, {"onlyIfBusy", true}}, [this](const Json& response) {
    const auto body = response.find("body");
    const bool busy = body != response.end() && body->is_object() && body->value("busy", Json(true)) == Json(true);
    if (interrupts_at_ == Clock::time_point::max()) return;
    if (json::get<bool>(response, "success") && busy)
      interrupts_at_ = Clock::time_point::max();
    else
      interrupts_at_ = Clock::now();
  });
}

void BothSides::interrupt_host() {
  interrupts_at_ = Clock::time_point::max();
  if (!host_.attached()) return;
  finish_start();
  host_.interrupt();
}

// ---- Breakpoints

Json BothSides::describe(const Place& place) const {
  Json out = place.host == 0 && place.at_device.is_object() ? place.at_device : Json::object();
  out["id"] = place.id;
  out["verified"] = place.device_verified || place.at_host.verified;
  // The place in host code is exact; the device's may be found later.
  for (const char* member : {"line", "source"}) {
    if (place.at_host.verified && place.at_host.place.is_object() && place.at_host.place.contains(member))
      out[member] = place.at_host.place[member];
    if (place.at_device.contains(member) && (place.device_verified || !out.contains(member)))
      out[member] = place.at_device[member];
  }
  if (out["verified"] == Json(true)) return out;
  std::string message = json::text(place.at_device, "message");
  if (message.empty()) message = place.at_host.message;
  if (!message.empty()) out["message"] = message;
  if (place.at_device.empty() && message.empty()) out["message"] = "it is looked for when the program uses CUDA";
  if (place.device >= 0 || place.at_device.empty()) out["reason"] = "pending";
  return out;
}

void BothSides::change_breakpoint(const Place& place) {
  if (front_.adapter.on_event)
    front_.adapter.on_event({{"type", "event"},
                             {"event", "breakpoint"},
                             {"body", {{"reason", "changed"}, {"breakpoint", describe(place)}}}});
}

void BothSides::set_breakpoints(const std::string& command, const Json& arguments, const Answer& answer) {
  const bool places = sets_places(command);
  const std::string path = command == "setBreakpoints" ? path_of(arguments) : "";
  const std::string key = command + " " + path;
  std::vector<Place> before = std::move(places_[key]);
  std::vector<Place>& list = places_[key];
  list.clear();
  for (const Json& wanted : wanted_by(command, arguments)) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Place& p) { return p.wanted == wanted; });
    Place place;
    if (same != before.end()) {
      place = std::move(*same);
      before.erase(same);
    } else {
      place.id = kFirstBreakpoint + ++last_id_;
      place.wanted = wanted;
      if (places && wanted.is_object()) place.at_host = host_.set_breakpoint(path, wanted);
      place.host = place.at_host.number;
    }
    list.push_back(std::move(place));
  }
  for (const Place& place : before)
    if (place.host != 0) host_.remove_breakpoint(place.host);
  const bool early = !heard_;
  const auto all = [this, key] {
    Json out = Json::array();
    for (const Place& place : places_[key]) out.push_back(describe(place));
    return Json{{"breakpoints", std::move(out)}};
  };
  std::vector<std::int64_t> ids;
  for (const Place& place : list) ids.push_back(place.id);
  ask_device(command, arguments, [this, key, ids, all, early, answer, command](const Json& response) {
    std::vector<Place>& now = places_[key];
    const auto body = response.find("body");
    const bool good = json::get<bool>(response, "success") && body != response.end() && body->is_object();
    std::size_t index = 0;
    if (good)
      json::each(*body, "breakpoints", [&](const Json& one) {
        if (index >= ids.size()) return;
        const std::int64_t id = ids[index++];
        const auto found = std::find_if(now.begin(), now.end(), [&](const Place& p) { return p.id == id; });
        if (found == now.end()) return;
        found->at_device = one;
        found->device = -1;
        json::read(one, "id", found->device);
        found->device_verified = json::get<bool>(one, "verified");
        if (early && (found->device_verified || one.contains("message"))) change_breakpoint(*found);
      });
    if (early) return;
    const bool any = std::any_of(now.begin(), now.end(), [](const Place& p) { return p.host != 0; });
    if (good || any) return respond(answer, command, all());
    answer(response);
  });
  if (early) respond(answer, command, all());
}

}  // namespace warpgrind::debug
