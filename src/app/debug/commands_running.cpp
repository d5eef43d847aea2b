// Commands that let the program run, forwards and backwards.
#include <fmt/format.h>

#include "debug/commands.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

Status run_with(Session& session, const Arguments& arguments, bool stop_on_entry) {
  if (!arguments.text.empty()) {
    session.options.program.resize(1);
    for (std::string& word : split_arguments(arguments.text)) session.options.program.push_back(std::move(word));
  }
  return session.run(stop_on_entry);
}

// Repeats a request of one step. It ends early if the program stops for another reason.
Status step(Session& session, const Arguments& arguments, const char* command, const char* granularity) {
  const auto count = read_count(arguments.text);
  if (!count) return count.error();
  for (std::int64_t i = 0; i < *count; ++i) {
    Json request = {{"threadId", session.thread}};
    if (granularity) request["granularity"] = granularity;
    if (Status done = session.resume(command, std::move(request)); !done) return done;
    if (!session.alive() || !session.stopped_by_step()) break;
    if (Session::interrupted()) return command_error("Quit");
  }
  return Ok{};
}

constexpr const char* kStatement = "statement";
constexpr const char* kInstruction = "instruction";

Status run_to(Session& session, const std::string& text) {
  if (Status stopped = session.needs_stop(); !stopped) return stopped;
  const auto place = read_place(session, text);
  if (!place) return place.error();
  Breakpoint once;
  once.kind = place->function.empty() ? BreakpointKind::line : BreakpointKind::function;
  once.location = *place;
  once.temporary = true;
  const int number = session.breakpoints.add(once).number;
  Status done = session.send_breakpoints(once.kind);
  if (done) done = session.resume("continue", {{"threadId", session.thread}});
  // Another stop came first.
  if (session.breakpoints.remove(number) && session.alive()) (void)session.send_breakpoints(once.kind);
  return done;
}

}  // namespace

Status do_run(Session& session, const Arguments& arguments) {
  return run_with(session, arguments, false);
}

Status do_start(Session& session, const Arguments& arguments) {
  return run_with(session, arguments, true);
}

Status do_step(Session& session, const Arguments& arguments) {
  return step(session, arguments, "stepIn", kStatement);
}

Status do_next(Session& session, const Arguments& arguments) {
  return step(session, arguments, "next", kStatement);
}

Status do_stepi(Session& session, const Arguments& arguments) {
  return step(session, arguments, "stepIn", kInstruction);
}

Status do_nexti(Session& session, const Arguments& arguments) {
  return step(session, arguments, "next", kInstruction);
}

Status do_finish(Session& session, const Arguments&) {
  if (Status stopped = session.needs_stop(); !stopped) return stopped;
  if (session.frame_index() == 0) return step(session, {}, "stepOut", nullptr);
  const auto frame = session.frame();
  if (!frame) return frame.error();
  return session.resume("stepOut", {{"threadId", session.thread}, {"frameId", (*frame)->id}});
}

Status do_reverse_step(Session& session, const Arguments& arguments) {
  return step(session, arguments, "warpgrind/reverseStepIn", kStatement);
}

Status do_reverse_next(Session& session, const Arguments& arguments) {
  return step(session, arguments, "stepBack", kStatement);
}

Status do_reverse_stepi(Session& session, const Arguments& arguments) {
  return step(session, arguments, "warpgrind/reverseStepIn", kInstruction);
}

Status do_reverse_nexti(Session& session, const Arguments& arguments) {
  return step(session, arguments, "stepBack", kInstruction);
}

Status do_reverse_continue(Session& session, const Arguments&) {
  return session.resume("reverseContinue", {{"threadId", session.thread}});
}

Status do_reverse_finish(Session& session, const Arguments&) {
  return session.resume("warpgrind/reverseStepOut", {{"threadId", session.thread}});
}

// continue N: the breakpoint of this stop is passed N - 1 times.
Status do_continue(Session& session, const Arguments& arguments) {
  const auto count = read_count(arguments.text);
  if (!count) return count.error();
  if (*count > 1) {
    Breakpoint* const here = session.breakpoint_of_stop();
    if (!here) return Error{ErrorKind::bad_input, "The program does not stand at a breakpoint.", ""};
    here->hit_condition = fmt::format(">{}", *count - 1);
    session.print(fmt::format("Will pass breakpoint {} {} times.\n", here->number, *count - 1));
    if (Status sent = session.send_breakpoints(here->kind); !sent) return sent;
  }
  return session.resume("continue", {{"threadId", session.thread}});
}

// A loop's jump back is no later line, so its turns are passed.
Status do_until(Session& session, const Arguments& arguments) {
  if (!arguments.text.empty()) return run_to(session, arguments.text);
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const Frame from = **frame;
  for (;;) {
    Json request = {{"threadId", session.thread}, {"granularity", kStatement}};
    if (Status done = session.resume("next", std::move(request), true); !done) return done;
    if (!session.alive()) return Ok{};
    if (Session::interrupted()) {
      session.report_quiet_stop();
      return command_error("Quit");
    }
    const auto now = session.frame();
    const bool passed = !session.stopped_by_step() || !now || (*now)->function != from.function ||
                        (*now)->path != from.path || (*now)->line > from.line;
    if (!passed) continue;
    session.report_quiet_stop();
    return Ok{};
  }
}

Status do_advance(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return Error{ErrorKind::bad_input, "advance needs a LOCATION.", ""};
  return run_to(session, arguments.text);
}

Status do_kill(Session& session, const Arguments&) {
  if (!session.alive()) return Error{ErrorKind::bad_input, "The program is not being run.", ""};
  session.kill();
  return Ok{};
}

}  // namespace warpgrind::debug
