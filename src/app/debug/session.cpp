// The program of `warpgrind debug`: its start, its stops and its stack.
#include "debug/session.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "base/json.h"
#include "base/printable.h"
#include "base/words.h"

namespace warpgrind::debug {

namespace {

volatile std::sig_atomic_t interrupts = 0;

Error not_running() {
  return {ErrorKind::bad_input, "The program is not being run.", ""};
}

}  // namespace

bool Session::interrupted() {
  const bool pressed = interrupts != 0;
  interrupts = 0;
  return pressed;
}

bool Session::interrupts_now() {
  return interrupts != 0;
}

// Without SA_RESTART: a wait for input ends, too.
void Session::catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupts = 1; };
  sigaction(SIGINT, &action, nullptr);
}

Session::Session(LaunchOptions given, Launcher launcher)
    : client({{[this](const Json& event) { read_event(*inferiors_[0], event); },
               {},
               [this](const std::string& why) { print(why + "\n"); },
               [this] { end_process(*inferiors_[0]); }},
              {},
              [this](const ProcessEnd& end) { report_end(end); },
              [this](Descriptor socket, pid_t process) { add_process(std::move(socket), process); }},
             true),
      options(std::move(given)),
      launcher_(std::move(launcher)) {
  inferiors_.push_back(std::make_unique<Inferior>());
}

void Session::print(std::string_view text) {
  print_text(stdout, text);
  std::fflush(stdout);
}

void Session::look() {
  std::vector<pollfd> none;
  client.wait(none, 0);
  print_notices();
}

void Session::read_event(Inferior& from, const Json& event) {
  heard_ = client.heard();
  if (from.name.id == 0 && client.first_process() != 0) from.name = name_of_process(client.first_process());
  const std::string name = json::text(event, "event");
  const auto body = event.find("body");
  if (body == event.end() || !body->is_object()) return;
  ProcessView& view = view_of(from);
  if (name == "stopped") {
    view.stopped = *body;
    view.reported = false;
    view.order = ++stops_;
    json::read(*body, "threadId", view.thread);
    if (const auto given = body->find("focus"); given != body->end() && given->is_object()) read_focus(view, *given);
    forget_frames(view);
  } else if (name == "continued") {
    view.stopped.reset();
  } else if (name == "output") {
    if (json::text(*body, "category") != "telemetry") print(json::text(*body, "output"));
  } else if (name == "breakpoint") {
    if (const std::string text = breakpoints.read_event(from.number, *body); !text.empty()) print(text);
  }
}

void Session::read_focus(ProcessView& view, const Json& given) {
  view.focus = json::text(given, "description");
  view.launch = json::get<std::int64_t>(given, "launch");
  view.kernel = json::text(given, "kernel");
}

namespace {

bool has_place(const Breakpoint& one) {
  return one.kind == BreakpointKind::line || one.kind == BreakpointKind::function;
}

std::string why_never_set(const Breakpoint& one) {
  if (one.location.file.ends_with(".py"))
    return "no kernel has code at this line (Numba: @cuda.jit needs debug=True, opt=False or lineinfo=True)";
  return one.kind == BreakpointKind::line ? "no kernel that was launched has code at this line"
                                          : "no kernel that was launched has this function";
}

}  // namespace

std::string Session::hint_at_host(const Breakpoint& one) const {
  if (options.host.value_or(false) || !has_place(one) || one.location.file.ends_with(".py")) return "";
  return " (host code is not debugged: start with --host)";
}

void Session::report_end(const ProcessEnd& end) {
  print_notices();
  stopped.reset();
  end_ = end;
  for (const auto& one : inferiors_) {
    one->view.stopped.reset();
    if (!std::exchange(one->ended, true) && one->own) {
      client.remove(*one->own);
      one->own->close("the program has ended");
    }
  }
  if (quiet_) return;
  if (killed_)
    print("[The program was killed]\n");
  else if (end.signal() != 0)
    print(fmt::format("[The program was {}]\n", end.text()));
  else if (end.shell_code() == 0)
    print("[The program exited normally]\n");
  else
    print(fmt::format("[The program exited with code {}]\n", end.shell_code()));
  if (!heard_) print("It used no CUDA, so there was no kernel to stop in.\n");
  for (const Breakpoint& one : breakpoints.all())
    if (heard_ && one.enabled && !one.verified() && has_place(one))
      print(fmt::format("Breakpoint {} ({}) was never set: {}{}\n", one.number, one.what(),
                        one.message.empty() ? why_never_set(one) : one.message, hint_at_host(one)));
}

Status Session::run(bool stop_on_entry) {
  if (!start_) {
    auto prepared = launcher_(options);
    if (!prepared) return prepared.error();
    start_ = prepared.take();
  }
  kill();
  heard_ = false;
  for (const auto& one : inferiors_)
    if (one->own) client.remove(*one->own);
  inferiors_.clear();
  inferiors_.push_back(std::make_unique<Inferior>());
  selected_ = 0;
  static_cast<ProcessView&>(*this) = {};
  breakpoints.forget_processes();
  stop_on_entry_ = stop_on_entry;
  client.debug_host(options.host.value_or(false));
  const Status started = client.start(
      [&](const std::string& path) -> Result<ProcessCommand> {
        ProcessCommand command = (*start_)(path);
        command.words.resize(1);
        command.words.insert(command.words.end(), options.program.begin() + 1, options.program.end());
        // A Ctrl-C of the terminal is for the debugger, which stops the kernel.
        command.own_session = true;
        if (!program_reads_input) command.input = Stream::nothing();
        return command;
      },
      false);
  if (!started) return started.error();
  begin_process(client, 1);
  return wait_for_stop(false, true);
}

// Requests with which the debugging of a process begins. They are answered at its first use of CUDA.
void Session::begin_process(AdapterConnection& connection, int number) {
  const auto check = [this, &connection](const Json& response) {
    if (json::get<bool>(response, "success"))
      heard_ = client.heard();
    else if (connection.connected())
      print(problem_of(response) + "\n");
  };
  Json attach = options.all;
  attach["stopOnEntry"] = stop_on_entry_;
  connection.request("initialize",
                     {{"clientID", "warpgrind-debug"},
                      {"adapterID", "warpgrind"},
                      {"linesStartAt1", true},
                      {"columnsStartAt1", true},
                      {"pathFormat", "path"},
                      {"supportsMemoryReferences", true}},
                     check);
  connection.request("attach", std::move(attach), check);
  breakpoints.send_all({number, &connection});
  connection.request("configurationDone", Json::object(), check);
}

Status Session::run_quietly() {
  quiet_ = true;
  Status started = run(false);
  quiet_ = false;
  return started;
}

void Session::kill() {
  killed_ = true;
  client.kill();
  killed_ = false;
}

void Session::kill_quietly() {
  quiet_ = true;
  client.kill();
}

Status Session::needs_stop() const {
  if (!client.alive()) return not_running();
  if (stopped) return Ok{};  // with --host perhaps in host code, after the end of the process that used CUDA
  if (selected().ended)
    return Error{ErrorKind::bad_input, fmt::format("Inferior {} has ended.", selected().number),
                 "`info inferiors` lists the processes, and `continue` goes on with the others"};
  return Error{ErrorKind::bad_input,
               inferiors_.size() == 1 ? "The program runs." : fmt::format("Inferior {} runs.", selected().number), ""};
}

bool Session::stopped_by_step() const {
  return stopped && json::text(*stopped, "reason") == "step" && !stopped->contains("hitBreakpointIds");
}

std::string Session::text_of_stop() const {
  return stopped ? json::text(*stopped, "text") : "";
}

Breakpoint* Session::breakpoint_of_stop() {
  if (!stopped) return nullptr;
  const auto ids = stopped->find("hitBreakpointIds");
  if (ids == stopped->end() || !ids->is_array() || ids->empty()) return nullptr;
  std::int64_t number = -1;
  json::read_value((*ids)[0], number);
  return breakpoints.with_id(selected().number, number);
}

void Session::report_quiet_stop() {
  if (!reported) report_stop();
}

Status Session::resume(const std::string& command, Json arguments, bool quiet) {
  const bool all = command == "continue";
  if (Status standing = needs_stop(); !standing) {
    // Of several processes, those that stand still are resumed, and then the first stop is waited for.
    if (!all || !client.alive() || inferiors_.size() == 1) return standing;
  } else {
    const Json before = *stopped;
    stopped.reset();
    AdapterConnection& connection = connection_of(*inferiors_[selected_]);
    const auto body = connection.call(command, std::move(arguments), interrupts_now);
    if (!body && client.alive() && connection.connected() && interrupts == 0) {
      stopped = before;
      return body.error();
    }
  }
  if (all) resume_others();
  return wait_for_stop(quiet, all);
}

// The first Ctrl-C stops the kernels. The second ends a program that does not answer.
Status Session::wait_for_stop(bool quiet, bool all) {
  using Clock = std::chrono::steady_clock;
  constexpr int kPatience = 1000;                   // milliseconds that a kernel gets to stop
  constexpr std::chrono::milliseconds kStep{1000};  // a step that takes longer may wait for another process
  std::fflush(stdout);
  const auto start = Clock::now();
  bool asked = false, explained = false;
  std::vector<pollfd> none;
  while (client.alive()) {
    const auto waited_for = Clock::now() - start;
    const bool others = all || asked || !any_connected() || selected().ended || waited_for >= kStep;
    if (Inferior* const one = next_stop(others)) {
      switch_to(*one);
      break;
    }
    if (interrupted()) {
      if (asked || !any_connected()) {
        client.kill();
        break;
      }
      asked = true;
      connection_of(*inferiors_[selected_]).request("pause", {{"threadId", thread}}, [](const Json&) {});
    }
    const auto begin = Clock::now();
    int longest = asked && !explained ? kPatience : -1;
    if (!others && next_stop(true))
      longest = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(kStep - waited_for).count()) + 1;
    client.wait(none, longest);
    print_notices();
    const bool waited = Clock::now() - begin >= std::chrono::milliseconds(kPatience);
    if (!asked || explained || !waited || next_stop(true) || !client.alive()) continue;
    explained = true;
    pause_others();
    print(heard_ ? "No kernel runs: the next one will stop. Ctrl-C again ends the program.\n"
                 : "The program has not used CUDA yet: its first kernel will stop. Ctrl-C again ends the program.\n");
  }
  if (stopped && !(quiet && stopped_by_step())) report_stop();
  return Ok{};
}

Result<Json> Session::ask(const std::string& command, Json arguments) {
  if (Status standing = needs_stop(); !standing) return standing.error();
  return call(command, std::move(arguments));
}

Result<Json> Session::evaluate(const std::string& expression, const std::string& context, Json format,
                               std::size_t remember) {
  const auto selected = frame();
  if (!selected) return selected.error();
  Json arguments = {{"expression", expression}, {"frameId", (*selected)->id}};
  if (!context.empty()) arguments["context"] = context;
  if (format.is_object()) arguments["format"] = std::move(format);
  if (remember != 0) arguments["remember"] = remember;
  return ask("evaluate", std::move(arguments));
}

std::vector<std::string> Session::complete(std::string_view line) {
  std::vector<std::string> out;
  const auto selected = frame();
  if (!selected) return out;
  const auto body = ask("completions", {{"text", line}, {"column", line.size() + 1}, {"frameId", (*selected)->id}});
  if (!body) return out;
  const std::size_t word = line.find_last_of(" \t") + 1;  // 0 without a blank
  json::each(*body, "targets", [&](const Json& one) {
    const auto start = json::get<std::size_t>(one, "start");
    if (start > word && start <= line.size() + 1)
      out.push_back(std::string(line.substr(word, start - 1 - word)) + json::text(one, "label"));
  });
  return out;
}

void Session::forget_frames(ProcessView& view) {
  view.frames.clear();
  view.all_frames = false;
  view.frame_number = 0;
}

Result<const std::vector<Frame>*> Session::read_frames(bool all) {
  if (Status standing = needs_stop(); !standing) return standing.error();
  if (all ? all_frames : !frames.empty()) return &frames;
  Json arguments = {{"threadId", thread}, {"startFrame", 0}, {"format", {{"parameters", true}}}};
  if (!all) arguments["levels"] = 1;
  const auto body = ask("stackTrace", std::move(arguments));
  if (!body) return body.error();
  frames.clear();
  json::each(*body, "stackFrames", [&](const Json& one) {
    Frame frame;
    json::read(one, "id", frame.id);
    json::read(one, "line", frame.line);
    frame.function = json::text(one, "name");
    frame.instruction = json::text(one, "instructionPointerReference");
    frame.place = json::text(one, "place");
    if (frame.place.empty()) frame.place = frame.instruction;
    if (const auto file = one.find("source"); file != one.end() && file->is_object()) {
      frame.path = json::text(*file, "path");
      frame.name = json::text(*file, "name");
      if (frame.name.empty()) frame.name = base_name(frame.path);
    }
    frames.push_back(std::move(frame));
  });
  all_frames = all;
  if (frames.empty()) return Error{ErrorKind::bad_input, "No stack.", ""};
  return &frames;
}

Result<const Frame*> Session::frame() {
  const auto list = read_frames(false);
  if (!list) return list.error();
  return &frames[frame_number];
}

Result<const std::vector<Frame>*> Session::stack() {
  return read_frames(true);
}

Status Session::select_frame(std::size_t index) {
  const auto list = stack();
  if (!list) return list.error();
  if (index >= (*list)->size()) return Error{ErrorKind::bad_input, fmt::format("No frame at level {}.", index), ""};
  frame_number = index;
  return Ok{};
}

std::string Session::frame_line(std::size_t index) const {
  const Frame& frame = frames[index];
  std::string out = fmt::format("#{:<2} {}", index, frame.function);
  if (!frame.name.empty()) out += fmt::format(" at {}:{}", frame.name, frame.line);
  return out;
}

void Session::print_place(bool whole) {
  const auto selected = frame();
  if (!selected) return print(selected.error().message + "\n");
  const Frame& at = **selected;
  if (whole) print(frame_line(frame_number) + "\n");
  if (at.path.empty()) {
    if (launch != 0 && !std::exchange(said_no_lines_, true))
      print(
          "This kernel has no line numbers: build it with nvcc -G for lines and variables, or with -lineinfo for "
          "lines.\n"
          "`stepi` and `disassemble` work; steps by lines go on to the next stop.\n");
    return;
  }
  const auto line = source.line(at.path, at.line);
  if (line)
    print(fmt::format("{}\t{}\n", at.line, *line));
  else
    print(fmt::format("{}\t{}\n", at.line, line.error().message));
  source.set_place(at.path, at.line);
}

void Session::show_displays() {
  for (Display& one : displays) {
    const Status shown = show_display(one);
    // As in gdb, a variable that is out of scope for now is left out.
    if (!shown && !one.shown) print(fmt::format("{}: {}\n", one.number, shown.error().message));
    one.shown |= shown.ok();
  }
}

void Session::count_hits() {
  const auto ids = stopped->find("hitBreakpointIds");
  if (ids == stopped->end() || !ids->is_array()) return;
  for (const Json& id : *ids) {
    std::int64_t number = -1;
    json::read_value(id, number);
    if (Breakpoint* const hit = breakpoints.with_id(selected().number, number)) ++hit->hits;
  }
}

// The first line of a stop; empty after a step.
std::string Session::reason_of_stop() {
  const std::string reason = json::text(*stopped, "reason");
  std::string text = json::text(*stopped, "text");
  std::string numbers;
  std::vector<int> temporary;
  if (const auto ids = stopped->find("hitBreakpointIds"); ids != stopped->end() && ids->is_array())
    for (const Json& id : *ids) {
      std::int64_t number = -1;
      json::read_value(id, number);
      const Breakpoint* const hit = breakpoints.with_id(selected().number, number);
      if (!hit) continue;
      numbers += fmt::format("{}{} {}", numbers.empty() ? "" : ", ",
                             hit->temporary                           ? "Temporary breakpoint"
                             : hit->kind == BreakpointKind::data      ? "Watchpoint"
                             : hit->kind == BreakpointKind::exception ? "Catchpoint"
                                                                      : "Breakpoint",
                             hit->number);
      if (hit->kind == BreakpointKind::data) numbers += ": " + hit->expression;
      if (hit->temporary) temporary.push_back(hit->number);
    }
  for (const int number : temporary) {
    const BreakpointKind kind = breakpoints.find(number)->kind;
    breakpoints.remove(number);
    (void)send_breakpoints(kind);
  }
  if (reason == "exception") {
    const auto info = ask("exceptionInfo", {{"threadId", thread}});
    const std::string name = info ? json::text(*info, "exceptionId") : "exception";
    const std::string what = info ? json::text(*info, "description") : text;
    const std::string kind = name == "api" ? "an error of a CUDA call" : name;
    std::string out = fmt::format("Stopped by {}: {}", kind, what.empty() ? text : what);
    if (!info) return out;
    if (const auto details = info->find("details"); details != info->end() && details->is_object())
      if (const std::string advice = json::text(*details, "stackTrace"); !advice.empty()) out += "\n  do  " + advice;
    return out;
  }
  if (!numbers.empty()) return text.empty() ? numbers : numbers + "\n" + text;
  if (reason == "step") return text;
  if (!text.empty()) return text;
  if (reason == "pause") return "Interrupted";
  if (reason == "entry") return "First instruction of the launch";
  return "Stopped: " + reason;
}

void Session::report_stop() {
  reported = true;
  count_hits();
  const std::string reason = reason_of_stop();
  if (!reason.empty()) print("\n" + reason + "\n");
  if (launch != 0 && last_launch != 0 && launch != last_launch) print(fmt::format("[launch {}: {}]\n", launch, kernel));
  if (launch != 0) last_launch = launch;
  if (focus != last_focus) print(fmt::format("[{}]\n", focus));
  const auto at = frame();
  const bool moved = !at || !reason.empty() || (*at)->function != last_function || focus != last_focus;
  print_place(moved);
  last_function = at ? (*at)->function : "";
  last_focus = focus;
  breakpoints.remove_gone();
  show_displays();
}

}  // namespace warpgrind::debug
