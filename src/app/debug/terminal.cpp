// The loop of `warpgrind debug`.
#include "debug/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/file.h"
#include "debug/commands.h"
#include "debug/line_editor.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

constexpr const char* kPrompt = "(warpgrind) ";

void print_problem(Session& session, const Error& error) {
  if (!error.message.empty()) session.print(error.message + "\n");
  if (!error.detail.empty()) session.print("  " + error.detail + "\n");
}

// Lines that do not come from a terminal are shown behind the prompt, so that the output reads as a session.
std::optional<std::string> next_line(Session& session, LineEditor& input, bool terminal) {
  for (;;) {
    std::string line;
    std::fflush(stdout);
    switch (input.read(line)) {
      case LineEnd::interrupted:
        Session::interrupted();
        session.print("Quit\n");
        continue;
      case LineEnd::end_of_input:
        session.print("\n");
        return std::nullopt;
      case LineEnd::line:
        if (!terminal) session.print(line + "\n");
        return line;
    }
  }
}

bool run_one(Session& session, std::string_view line, std::string& last) {
  const Status done = run_line(session, line, last);
  if (!done) print_problem(session, done.error());
  return done.ok();
}

// As gdb does, the first command that fails ends its file.
bool run_file(Session& session, const std::string& path, std::string_view text) {
  std::string last;
  int number = 0;
  while (!text.empty() && !session.left) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    session.print(fmt::format("{}{}\n", kPrompt, line));
    if (run_one(session, line, last)) continue;
    session.print(fmt::format("{}:{}: the command failed, and those behind it are left out\n", path, number));
    return false;
  }
  return true;
}

void prepare_session(Session& session) {
  Session::catch_interrupts();
  session.show_display = [&session](const Display& one) -> Status {
    const bool memory = one.format.find_first_of("is") != std::string::npos || one.format.size() > 1;
    if (!memory)
      return print_value(session, one.format, one.expression, fmt::format("{}: {}", one.number, one.expression));
    session.print(fmt::format("{}: x/{} {}\n", one.number, one.format, one.expression));
    return examine(session, one.format, one.expression, false);
  };
}

void read_commands(Session& session) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  LineEditor input(
      kPrompt, [&session](std::string_view text) { return complete_line(session, text); },
      [&session] { return session.wait_for_input(STDIN_FILENO); }, terminal);
  std::string last;
  while (!session.left) {
    const auto line = next_line(session, input, terminal);
    if (!line) break;
    run_one(session, *line, last);
  }
}

}  // namespace

Status do_source(Session& session, const Arguments& arguments) {
  constexpr int kDeepest = 20;  // files in files
  static int depth = 0;
  if (arguments.text.empty()) return command_error("source needs a FILE.");
  const auto text = read_whole(arguments.text);
  if (!text) return command_error(fmt::format("{}: {}", arguments.text, std::strerror(errno)));
  if (depth == kDeepest) return command_error(fmt::format("{}: files run each other without end", arguments.text));
  ++depth;
  const bool good = run_file(session, arguments.text, *text);
  --depth;
  return good ? Status(Ok{}) : command_error("");
}

Result<int> run_terminal(const TerminalSettings& settings, LaunchOptions options, Launcher launcher) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  std::vector<std::string> texts;
  for (const std::string& file : settings.files) {
    auto text = read_whole(file == "-" ? "/dev/stdin" : file);
    if (!text) return Error{ErrorKind::bad_input, fmt::format("{}: {}", file, std::strerror(errno)), ""};
    texts.push_back(std::move(*text));
  }
  Session session(std::move(options), std::move(launcher));
  prepare_session(session);
  session.default_file = settings.source;
  // The program reads standard input only where no command comes from it.
  session.program_reads_input = terminal || settings.batch;
  session.checks = session.breakpoints.stops_at_findings = settings.checks;
  bool good = true;
  if (!settings.core.empty()) {
    session.print(settings.core);
    if (Status opened = session.run(false); !opened) return opened.error();
    if (!session.alive() && settings.batch) return 1;
  }
  for (std::size_t i = 0; i < texts.size() && !session.left; ++i)
    good &= run_file(session, settings.files[i], texts[i]);
  std::string last;
  for (const std::string& command : settings.commands) {
    if (session.left) break;
    session.print(fmt::format("{}{}\n", kPrompt, command));
    good &= run_one(session, command, last);
  }
  if (!settings.batch && !session.left) read_commands(session);
  session.kill_quietly();
  return settings.batch && !good ? 1 : 0;
}

Result<ProcessEnd> run_until_fault(LaunchOptions options, Launcher launcher, bool checks) {
  Session session(std::move(options), std::move(launcher));
  prepare_session(session);
  session.program_reads_input = isatty(STDIN_FILENO) != 0;
  session.checks = session.breakpoints.stops_at_findings = checks;
  if (Status started = session.run_quietly(); !started) return started.error();
  if (session.alive()) read_commands(session);
  const bool left = session.alive();
  session.kill_quietly();
  constexpr int kLeft = 1 << 8;  // as waitpid() has exit code 1
  return left ? ProcessEnd{.status = kLeft} : session.end();
}

}  // namespace warpgrind::debug
