// The processes of a program that use CUDA, each with a debug adapter of its own.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "debug/session.h"

namespace warpgrind::debug {

namespace {

// The connection to a process besides the first. The program's client waits for all.
class OtherProcess final : public AdapterConnection {
 public:
  OtherProcess(Handlers handlers, DapClient& program) : AdapterConnection(std::move(handlers)), program_(program) {}
  void wait(std::vector<pollfd>& others, int milliseconds) override { program_.wait(others, milliseconds); }

 private:
  DapClient& program_;
};

std::string ended_text(const Inferior& one) {
  return fmt::format("[Inferior {} ({}) has ended]\n", one.number, one.name.text());
}

}  // namespace

void Session::add_process(Descriptor socket, pid_t process) {
  const ProcessName name = name_of_process(process);
  if (!follows_all) {
    notify(fmt::format("[{} uses CUDA, and runs without the debugger]\n", name.text()));
    return;
  }
  auto made = std::make_unique<Inferior>();
  Inferior& one = *made;
  one.number = static_cast<int>(inferiors_.size()) + 1;
  one.name = name;
  one.own = std::make_unique<OtherProcess>(
      AdapterConnection::Handlers{[this, &one](const Json& event) { read_event(one, event); },
                                  {},
                                  [this, &one](const std::string& why) {
                                    print(why + "\n");
                                    end_process(one);
                                  },
                                  [this, &one] { end_process(one); }},
      client);
  one.own->connect(std::move(socket));
  // As long as it was the only one, its end was not said.
  if (inferiors_.size() == 1 && inferiors_.front()->ended && inferiors_.front()->name.id != process)
    notify(ended_text(*inferiors_.front()));
  inferiors_.push_back(std::move(made));
  client.add(*one.own);
  const std::string program = name.program.empty() ? "" : ", " + name.program;  // it may have ended
  const bool again = std::any_of(inferiors_.begin(), inferiors_.end() - 1,
                                 [&](const auto& other) { return other->name.id == process; });
  notify(again ? fmt::format("[Process {} is executing a new program: inferior {}{}]\n", process, one.number, program)
               : fmt::format("[New inferior {}: {}{}]\n", one.number, name.text(), program));
  begin_process(*one.own, one.number);
}

void Session::end_process(Inferior& one) {
  if (one.own) client.remove(*one.own);
  one.ended = true;
  view_of(one).stopped.reset();
  if (inferiors_.size() > 1) notify(ended_text(one));
}

void Session::notify(const std::string& line) {
  if (!quiet_) notices_ += line;
}

void Session::print_notices() {
  if (!notices_.empty()) print(std::exchange(notices_, {}));
}

void Session::switch_to(Inferior& one) {
  Inferior& before = *inferiors_[selected_];
  if (&one == &before) return;
  before.view = std::move(static_cast<ProcessView&>(*this));
  selected_ = static_cast<std::size_t>(one.number) - 1;
  static_cast<ProcessView&>(*this) = std::move(one.view);
  print(fmt::format("[Switching to inferior {}: {}]\n", one.number, one.name.text()));
  last_focus.clear();  // so that the stop names its place
}

bool Session::any_connected() {
  return std::any_of(inferiors_.begin(), inferiors_.end(),
                     [&](const auto& one) { return !one->ended && connection_of(*one).connected(); });
}

// The selected process comes first, and then the one that has waited longest.
Inferior* Session::next_stop(bool others) {
  if (stopped && !reported) return inferiors_[selected_].get();
  Inferior* out = nullptr;
  for (const auto& one : inferiors_) {
    const ProcessView& view = view_of(*one);
    if (!others || !view.stopped || view.reported) continue;
    if (!out || view.order < view_of(*out).order) out = one.get();
  }
  return out;
}

void Session::resume_others() {
  for (const auto& one : inferiors_) {
    ProcessView& view = view_of(*one);
    if (one.get() == inferiors_[selected_].get() || !view.stopped || !view.reported) continue;
    view.stopped.reset();
    connection_of(*one).request("continue", {{"threadId", view.thread}}, [](const Json&) {});
  }
}

void Session::pause_others() {
  for (const auto& one : inferiors_)
    if (one.get() != inferiors_[selected_].get() && !one->ended && !view_of(*one).stopped)
      connection_of(*one).request("pause", {{"threadId", one->view.thread}, {"onlyIfBusy", true}}, [](const Json&) {});
}

Status Session::select(std::int64_t number) {
  if (number < 1 || number > static_cast<std::int64_t>(inferiors_.size()))
    return Error{ErrorKind::bad_input, fmt::format("No inferior number {}.", number), "`info inferiors` lists them"};
  if (!client.alive()) return Error{ErrorKind::bad_input, "The program is not being run.", ""};
  Inferior& one = *inferiors_[static_cast<std::size_t>(number) - 1];
  if (one.ended && !view_of(one).stopped)
    return Error{ErrorKind::bad_input, fmt::format("Inferior {} has ended.", number), ""};
  if (inferiors_.size() == 1 || &one == inferiors_[selected_].get())
    print(fmt::format("[Inferior {} is selected]\n", number));
  switch_to(one);
  if (!stopped) {
    print("It runs: `continue` waits for the next stop of any process.\n");
  } else if (!reported) {
    report_stop();
  } else {
    print(fmt::format("[{}]\n", focus));
    last_focus = focus;
    print_place(true);
  }
  return Ok{};
}

Status Session::send_breakpoints(BreakpointKind kind) {
  if (!client.alive()) return Ok{};
  std::vector<DebuggedProcess> processes;
  for (const auto& one : inferiors_) {
    AdapterConnection& connection = connection_of(*one);
    if (one->ended || !connection.connected()) continue;
    const bool here = one.get() == inferiors_[selected_].get();
    processes.insert(here ? processes.begin() : processes.end(), {one->number, &connection});
  }
  return breakpoints.send(processes, kind);
}

Result<Json> Session::call(const std::string& command, Json arguments) {
  return connection_of(*inferiors_[selected_]).call(command, std::move(arguments), interrupts_now);
}

bool Session::wait_for_input(int descriptor) {
  std::vector<pollfd> input = {{descriptor, POLLIN, 0}};
  constexpr int kPatience = 100;  // milliseconds until a signal is seen that came just before the wait
  for (;;) {
    if (interrupts_now()) return false;
    if (client.alive())
      client.wait(input, kPatience);
    else
      (void)poll(input.data(), input.size(), kPatience);
    if (input[0].revents != 0) return true;
  }
}

}  // namespace warpgrind::debug
