// Threads, stops and breakpoints of host code.
#include "hostdebug/host_side.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string_view>

#include "base/json.h"
#include "base/words.h"

namespace warpgrind::hostdebug {

namespace {

Error bad(const std::string& message) {
  return {ErrorKind::bad_input, message, ""};
}

// The member "line" and "source" of DAP for a place of gdb.
Json place_of(const Json& at) {
  Json out = Json::object();
  const std::int64_t line = number_of(at, "line");
  std::string path = json::text(at, "fullname");
  if (path.empty()) path = json::text(at, "file");
  if (line > 0) out["line"] = line;
  if (!path.empty()) out["source"] = {{"name", base_name(path)}, {"path", path}};
  return out;
}

constexpr const char* kFaults[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"};
constexpr int kFaultNumbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

}  // namespace

// ---- The beginning and the end

// Signals are passed to the program without a stop. Fatal ones stop; is_fatal() passes those faults on that the program
// or our runtime handles. SIGSTOP is the one that the process waits in.
Status HostSide::attach(pid_t process) {
  if (Status started = gdb_.start(); !started) return started;
  for (const char* command :
       {"-gdb-set mi-async on", "-gdb-set non-stop on", "-gdb-set debuginfod enabled off", "-gdb-set auto-load off",
        "-gdb-set confirm off", "-gdb-set width 0", "-gdb-set height 0", "-gdb-set print elements 200",
        "-gdb-set detach-on-fork on", "-gdb-set breakpoint pending on", "-gdb-set print thread-events off",
        "-gdb-set style enabled off", "-gdb-set step-mode off"})
    (void)gdb_.call(command);
  for (const char* command :
       {"handle all nostop noprint pass", "handle SIGABRT SIGSEGV SIGBUS SIGFPE SIGILL SIGSYS stop print pass",
        "handle SIGINT nostop noprint pass", "handle SIGSTOP nostop noprint nopass",
        // A step into the line of a launch must not end in the headers of CUDA.
        "skip -gfi */vector_types.h", "skip -gfi */cuda_runtime.h", "skip -gfi */crt/host_runtime.h",
        "skip -gfi */vector_functions.hpp", "skip -gfi */__clang_cuda_*"})
    (void)gdb_.console(command);
  const auto attached = gdb_.call(fmt::format("-target-attach {}", process));
  if (!attached) {
    gdb_.stop();
    return attached.error();
  }
  process_ = process;
  return Ok{};
}

void HostSide::begin() {
  while (const auto event = gdb_.next_event())
    if (event->name == "thread-created") threads_[number_of(event->values, "id")];
  (void)gdb_.call("-exec-continue --all");
  for (auto& [number, thread] : threads_) thread.going = Going::freely;
}

void HostSide::leave() {
  gdb_.stop();
  process_ = 0;
  threads_.clear();
  breakpoints_.clear();
  stubs_.clear();
  selected_ = 0;
  forget();
}

void HostSide::read() {
  gdb_.read();
  handle_events();
}

void HostSide::handle_events() {
  while (const auto event = gdb_.next_event()) {
    handle(*event);
    if (process_ == 0) return;
  }
  if (gdb_.alive() || process_ == 0) return;
  leave();
  handlers_.on_lost();
}

void HostSide::forget() {
  frames_.clear();
  lists_.clear();
}

// ---- Events of gdb

void HostSide::handle(const MiRecord& event) {
  if (event.name == "thread-created") {
    threads_[number_of(event.values, "id")];
  } else if (event.name == "thread-exited") {
    threads_.erase(number_of(event.values, "id"));
    if (!threads_.contains(selected_)) selected_ = 0;
  } else if (event.name == "stopped") {
    handle_stop(event.values);
  } else if (event.name == "breakpoint-modified") {
    if (const auto one = event.values.find("bkpt"); one != event.values.end() && one->is_object())
      handle_breakpoint_change(*one);
  }
}

// The program has a handler for the signal now.
bool HostSide::is_caught(int signal) const {
  std::ifstream status(fmt::format("/proc/{}/status", process_));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    const std::size_t begin = line.find_first_of("0123456789abcdef", sizeof "SigCgt:" - 1);
    std::uint64_t caught = 0;
    if (begin != std::string::npos) std::from_chars(line.data() + begin, line.data() + line.size(), caught, 16);
    return (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

// A fault that no handler takes ends the program. A handler that does not want it resets the signal and returns: the
// fault comes again, and then has no handler.
bool HostSide::is_fatal(const std::string& signal) const {
  for (std::size_t i = 0; i < std::size(kFaults); ++i)
    if (signal == kFaults[i]) return !is_caught(kFaultNumbers[i]);
  return true;
}

// The function of a kernel that runs on the host launches it. Its name is the kernel's, so that a breakpoint or a step
// "into the kernel" comes here. nvcc makes a second one beside it, __device_stub_ and the kernel's symbol; clang gives
// the function itself a symbol with __device_stub__.
bool HostSide::is_stub(const std::string& function, const std::string& address) {
  if (function.find("__device_stub_") != std::string::npos) return true;
  if (const auto known = stubs_.find(address); known != stubs_.end()) return known->second;
  (void)gdb_.call("-gdb-set print demangle off");
  const auto symbol = gdb_.console("info symbol " + address);
  (void)gdb_.call("-gdb-set print demangle on");
  bool stub = false;
  if (symbol) {
    const std::string name = symbol->substr(0, symbol->find(' '));
    stub = name.find("__device_stub_") != std::string::npos ||
           (name.starts_with("_Z") && gdb_.console("info address __device_stub_" + name).ok());
  }
  return stubs_[address] = stub;
}

// True: the program goes on after this hit.
bool HostSide::passes_breakpoint(int number, std::int64_t thread) {
  const auto found = breakpoints_.find(number);
  if (found == breakpoints_.end()) return true;
  Known& one = found->second;
  ++one.hits;
  if (!one.rule.accepts(one.hits)) return true;
  if (one.log_message.empty()) return false;
  const std::string text = expand(one.log_message, {thread, 0});
  handlers_.on_output(text.ends_with('\n') ? text : text + "\n");
  return true;
}

void HostSide::handle_stop(const Json& stop) {
  const std::string reason = json::text(stop, "reason");
  if (reason.starts_with("exited")) {
    leave();
    return handlers_.on_lost();
  }
  const std::int64_t id = number_of(stop, "thread-id");
  if (id == 0) return;
  Thread& thread = threads_[id];
  const Json from = std::move(thread.stop);
  const Going before = std::exchange(thread.going, Going::no);
  thread.stop = stop;
  forget();
  const auto frame = stop.find("frame");
  const Json at = frame != stop.end() && frame->is_object() ? *frame : Json::object();
  const auto go_on = [&](const char* command, Going how) {
    thread.going = how;
    (void)gdb_.call(fmt::format("{} --thread {}", command, id));
  };
  if (reason == "breakpoint-hit") {
    const auto number = static_cast<int>(number_of(stop, "bkptno"));
    const bool in_stub = is_stub(json::text(at, "func"), json::text(at, "addr"));
    if (!in_stub && !passes_breakpoint(number, id))
      return report(id, {{"reason", "breakpoint"}, {"hitBreakpointIds", {number}}});
    if (before == Going::freely || !in_stub) return go_on("-exec-continue", Going::freely);
  } else if (reason == "signal-received") {
    const std::string signal = json::text(stop, "signal-name");
    if (signal == "0" || signal == "SIGINT" || signal == "SIGSTOP") {
      if (std::exchange(thread.quiet, false)) return;
      return report(id, {{"reason", "pause"}});
    }
    // gdb uses SIGTRAP itself and keeps it from the program, which single-steps through watched pages by it.
    if (signal == "SIGTRAP" && is_caught(SIGTRAP)) {
      thread.going = before;
      (void)gdb_.console("signal SIGTRAP &", fmt::format("--thread {}", id));
      return;
    }
    if (!is_fatal(signal)) return go_on("-exec-continue", before);
    return report(id, {{"reason", "exception"}, {"text", signal + ": " + json::text(stop, "signal-meaning")}});
  } else if (reason.empty()) {  // the stop of the attachment, which begin() has ended
    thread.going = before;
    return;
  }
  switch (before) {
    case Going::steps_in:
      if (!is_stub(json::text(at, "func"), json::text(at, "addr"))) break;
      if (const auto launched = from.find("frame"); launched != from.end() && launched->is_object())
        thread.launch = place_of(*launched);
      handlers_.on_launch();
      return go_on("-exec-finish", Going::leaves_stub);
    case Going::leaves_stub:
      // The call may be the last of its line.
      if (place_of(at) != thread.launch) return report(id, {{"reason", "step"}, {"launched", true}});
      return go_on("-exec-next", Going::after_launch);
    case Going::after_launch:
      return report(id, {{"reason", "step"}, {"launched", true}});
    default:
      break;
  }
  report(id, {{"reason", "step"}});
}

void HostSide::report(std::int64_t thread, Json body) {
  selected_ = thread;
  update_names();
  body["threadId"] = kFirstHostId + thread;
  body["allThreadsStopped"] = false;
  body["focus"] = {{"description", description(thread)}, {"threadId", kFirstHostId + thread}};
  handlers_.on_stop(std::move(body));
}

// ---- Breakpoints

void HostSide::handle_breakpoint_change(const Json& breakpoint) {
  const auto number = static_cast<int>(number_of(breakpoint, "number"));
  const auto found = breakpoints_.find(number);
  if (found == breakpoints_.end() || found->second.verified) return;
  Json place;
  const auto look_at = [&](const Json& at) {
    const std::string address = json::text(at, "addr");
    if (place.is_object() || !address.starts_with("0x") || is_stub(json::text(at, "func"), address)) return;
    place = place_of(at);
  };
  look_at(breakpoint);
  json::each(breakpoint, "locations", look_at);
  if (!place.is_object()) return;
  found->second.verified = true;
  handlers_.on_resolved(number, place);
}

HostSide::BreakpointAnswer HostSide::set_breakpoint(const std::string& path, const Json& wanted) {
  BreakpointAnswer out;
  const Result<dap::HitRule> rule = dap::read_hit_rule(json::text(wanted, "hitCondition"));
  if (!rule) {
    out.message = rule.error().message;
    return out;
  }
  std::string command = "-break-insert -f";
  if (const std::string condition = json::text(wanted, "condition"); !condition.empty())
    command += " -c " + mi_quoted(condition);
  if (path.empty())
    command += " --function " + mi_quoted(json::text(wanted, "name"));
  else
    command += fmt::format(" --source {} --line {}", mi_quoted(path), json::get<std::int64_t>(wanted, "line"));
  const auto body = gdb_.call(command);
  if (!body) {
    // A condition about a kernel's variables is no mistake where there is no host code.
    Json plain = wanted;
    if (plain.erase("condition") == 0) {
      out.message = body.error().message;
      return out;
    }
    const BreakpointAnswer without = set_breakpoint(path, plain);
    if (without.verified) out.message = "host code: " + body.error().message;
    if (without.number != 0) remove_breakpoint(without.number);
    return out;
  }
  const auto set = body->find("bkpt");
  if (set == body->end() || !set->is_object()) return out;
  const auto number = static_cast<int>(number_of(*set, "number"));
  std::size_t real = 0, stubs = 0;
  const auto look_at = [&](const Json& at) {
    const std::string address = json::text(at, "addr");
    if (!address.starts_with("0x")) return;
    if (is_stub(json::text(at, "func"), address)) {
      ++stubs;
      (void)gdb_.call("-break-disable " + json::text(at, "number"));
      return;
    }
    if (++real == 1) out.place = place_of(at);
  };
  const auto locations = set->find("locations");
  if (locations != set->end() && locations->is_array() && !locations->empty())
    json::each(*set, "locations", look_at);
  else
    look_at(*set);
  if (real == 0 && stubs != 0) {  // a kernel
    (void)gdb_.call(fmt::format("-break-delete {}", number));
    return out;
  }
  out.number = number;
  out.verified = real != 0;
  breakpoints_[number] = {*rule, json::text(wanted, "logMessage"), 0, out.verified};
  return out;
}

void HostSide::remove_breakpoint(int number) {
  if (breakpoints_.erase(number) != 0 && attached()) (void)gdb_.call(fmt::format("-break-delete {}", number));
}

// ---- Threads

void HostSide::update_names() {
  const auto body = gdb_.call("-thread-info");
  if (!body) return;
  json::each(*body, "threads", [&](const Json& one) {
    Thread& thread = threads_[number_of(one, "id")];
    thread.name = json::text(one, "name");
  });
}

std::string HostSide::description(std::int64_t thread) const {
  const auto found = threads_.find(thread);
  const bool named = found != threads_.end() && !found->second.name.empty();
  return fmt::format("host thread {}{}", thread, named ? " (" + found->second.name + ")" : "");
}

Json HostSide::threads() {
  update_names();
  Json out = Json::array();
  for (const auto& [number, thread] : threads_)
    out.push_back({{"id", kFirstHostId + number},
                   {"name", description(number) + (thread.going == Going::no ? "" : " (running)")}});
  return out;
}

bool HostSide::is_stopped(std::int64_t thread) const {
  const auto found = threads_.find(thread - kFirstHostId);
  return found != threads_.end() && found->second.going == Going::no;
}

bool HostSide::has_stopped() const {
  for (const auto& [number, thread] : threads_)
    if (thread.going == Going::no) return true;
  return false;
}

Status HostSide::needs_stop(std::int64_t thread) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return bad(fmt::format("There is no host thread {}.", thread));
  if (found->second.going != Going::no) return bad(fmt::format("host thread {} runs: pause it first", thread));
  return Ok{};
}

Result<std::int64_t> HostSide::thread_of(const Json& arguments) const {
  std::int64_t thread = json::get<std::int64_t>(arguments, "threadId") - kFirstHostId;
  if (thread < 0) thread = selected_;
  if (Status stopped = needs_stop(thread); !stopped) return stopped.error();
  return thread;
}

Result<Json> HostSide::select(std::int64_t wanted) {
  const std::int64_t number = wanted != 0        ? wanted
                              : selected_ != 0   ? selected_
                              : threads_.empty() ? 0
                                                 : threads_.begin()->first;
  const auto found = threads_.find(number);
  if (found == threads_.end()) return bad(fmt::format("There is no host thread {}.", number));
  if (found->second.going != Going::no) {
    found->second.quiet = true;
    const auto asked = gdb_.call(fmt::format("-exec-interrupt --thread {}", number));
    if (!asked) return asked.error();
    constexpr std::chrono::seconds kMost{10};
    constexpr int kTurn = 20;  // milliseconds
    const auto end = std::chrono::steady_clock::now() + kMost;
    handle_events();  // those that came with the answer
    // gdb may write character by character: a turn ends with the next one.
    while (attached() && threads_.contains(number) && !is_stopped(kFirstHostId + number) &&
           std::chrono::steady_clock::now() < end) {
      pollfd ready = reading();
      if (poll(&ready, 1, kTurn) > 0) read();
      if (attached()) handle_events();
    }
    const auto asked_thread = threads_.find(number);
    if (asked_thread != threads_.end()) asked_thread->second.quiet = false;
    if (!is_stopped(kFirstHostId + number)) return bad(fmt::format("host thread {} does not stop", number));
  }
  selected_ = number;
  update_names();
  return Json{{"threadId", kFirstHostId + number}, {"description", description(number)}};
}

void HostSide::interrupt() {
  const std::int64_t number = selected_ != 0 || threads_.empty() ? selected_ : threads_.begin()->first;
  (void)gdb_.call(fmt::format("-exec-interrupt --thread {}", number));
}

void HostSide::resume_all(const std::set<std::int64_t>& keep) {
  for (auto& [number, thread] : threads_)
    if (thread.going == Going::no && !keep.contains(kFirstHostId + number))
      (void)run(number, Going::freely, "-exec-continue");
}

Status HostSide::run(std::int64_t thread, Going how, const char* command) {
  if (Status stopped = needs_stop(thread); !stopped) return stopped;
  forget();
  threads_[thread].going = how;
  const auto done = gdb_.call(fmt::format("{} --thread {}", command, thread));
  if (done) return Ok{};
  threads_[thread].going = Going::no;
  return done.error();
}

Result<Json> HostSide::step(const Json& arguments, Going how, const char* command) {
  const auto thread = thread_of(arguments);
  if (!thread) return thread.error();
  std::string words = command;
  if (json::text(arguments, "granularity") == "instruction" && how != Going::freely) {
    words += "-instruction";
    how = Going::steps_over;
  }
  if (Status begun = run(*thread, how, words.c_str()); !begun) return begun.error();
  return Json::object();
}

// ---- Requests

Result<Json> HostSide::answer(const std::string& command, const Json& arguments) {
  if (!attached()) return bad("host code is not debugged");
  if (command == "stackTrace") return stack_trace(arguments);
  if (command == "scopes") return scopes(arguments);
  if (command == "variables") return variables(arguments);
  if (command == "evaluate") return evaluate(arguments);
  if (command == "setExpression") return set_expression(arguments);
  if (command == "setVariable") return set_variable(arguments);
  if (command == "readMemory") return read_memory(arguments);
  if (command == "disassemble") return disassemble(arguments);
  if (command == "exceptionInfo") return exception_info(arguments);
  if (command == "continue") return step(arguments, Going::freely, "-exec-continue");
  if (command == "next") return step(arguments, Going::steps_over, "-exec-next");
  if (command == "stepIn") return step(arguments, Going::steps_in, "-exec-step");
  if (command == "stepOut") {
    Json whole = arguments;
    whole.erase("granularity");
    return step(whole, Going::steps_over, "-exec-finish");
  }
  if (command == "dataBreakpointInfo") return bad("values of host code cannot be watched: watch works in kernels");
  if (command.find("everse") != std::string::npos || command == "stepBack" || command == "warpgrind/lastWrite")
    return bad("host code cannot go back: that is for kernels");
  return bad("the stop is in host code, and this command is about a kernel: break in one first");
}

}  // namespace warpgrind::hostdebug
