// The table of commands, and the reading of a line.
#include "debug/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "debug/words.h"

namespace warpgrind::debug {

#define DEBUGGER_COMMAND(chapter, function, ...) Status function(Session& session, const Arguments& arguments);
#include "debug/commands.inc"
#undef DEBUGGER_COMMAND

const std::vector<Command>& all_commands() {
  static const auto& all = *new std::vector<Command>{
#define DEBUGGER_COMMAND(chapter, function, ...) {chapter, function, __VA_ARGS__},
#include "debug/commands.inc"
#undef DEBUGGER_COMMAND
  };
  return all;
}

namespace {

bool has_alias(const Command& command, std::string_view word) {
  std::string_view rest = command.aliases;
  while (!rest.empty())
    if (cut_word(rest) == word) return true;
  return false;
}

// The word of a command ends at a blank, or at the slash of a format.
std::string cut_command(std::string_view& line, std::string& format) {
  const std::size_t end = line.find_first_of(" \t/(");
  std::string word(line.substr(0, end));
  line = end == std::string_view::npos ? std::string_view{} : line.substr(end);
  if (line.starts_with("/")) {
    line.remove_prefix(1);
    format = cut_word(line);
  }
  line = trim(line);
  return word;
}

// Words of gdb that mean nothing here, and why.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"attach", "warpgrind cannot attach to a program that runs already: use run."},
    {"detach", "The program needs the virtual GPU to its end: delete the breakpoints and use continue."},
    {"target", "The GPU is virtual, and part of warpgrind: use run."},
    {"file", "The program is named when the debugger starts: warpgrind debug PROGRAM."},
    {"layout", "There is no text interface: use list, disassemble and display, or an editor (warpgrind dap)."},
    {"tui", "There is no text interface: use list, disassemble and display, or an editor (warpgrind dap)."},
    {"commands", "Breakpoints run no commands: use dprintf to print, and display for each stop."},
    {"hbreak", "Breakpoints have no limit in number: use break."},
    {"record", "Going back needs no recording: use reverse-step, reverse-next, reverse-continue or last-write."},
    {"jump", "The place of a warp cannot be set: use run or reverse-continue."},
    {"call", "Functions of the program cannot be called: use print for an expression."},
    {"return", "A function cannot be left early: use finish."},
};

}  // namespace

Result<const Command*> find_command(std::string_view word) {
  std::vector<const Command*> found;
  for (const Command& command : all_commands()) {
    if (command.name == word || has_alias(command, word)) return &command;
    if (command.name.starts_with(word)) found.push_back(&command);
  }
  if (found.size() == 1) return found[0];
  for (const auto& [other, why] : kOtherWords)
    if (word == other) return command_error(std::string(why));
  if (found.empty())
    return Error{ErrorKind::bad_input, fmt::format("Undefined command: \"{}\". Try \"help\".", word), ""};
  std::string names;
  for (const Command* command : found) names += fmt::format("{}{}", names.empty() ? "" : ", ", command->name);
  return Error{ErrorKind::bad_input, fmt::format("Ambiguous command \"{}\": {}.", word, names), ""};
}

namespace {

// The words before the last one begin a command of which it is an expression, or a part of one.
bool takes_expression(std::string_view before) {
  std::string format;
  std::string_view rest = before;
  const auto command = find_command(cut_command(rest, format));
  if (!command) return false;
  constexpr std::string_view kWhole[] = {"print", "x",    "watch",       "rwatch", "awatch", "display",
                                         "warp",  "tile", "warp-values", "whatis", "ptype",  "last-write"};
  const std::string_view name = (*command)->name;
  if (std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole)) return true;
  if (name == "set" || name == "condition") return !trim(rest).empty();
  return (name == "break" || name == "tbreak" || name == "catch") &&
         (" " + std::string(before) + " ").find(" if ") != std::string::npos;
}

}  // namespace

LineWords complete_line(Session& session, std::string_view line) {
  LineWords out;
  while (line.starts_with(" ")) line.remove_prefix(1);
  const std::size_t blank = line.find_last_of(" \t");
  const std::string_view word = blank == std::string_view::npos ? line : line.substr(blank + 1);
  const std::string_view before = blank == std::string_view::npos ? std::string_view{} : trim(line.substr(0, blank));
  const auto offer = [&](std::string_view name) {
    if (name.starts_with(word)) out.words.emplace_back(name);
  };
  if (before.empty() || before == "help" || before == "h")
    for (const Command& command : all_commands()) offer(command.name);
  else if (before == "info" || before == "i")
    for (const std::string_view topic : info_topics()) offer(topic);
  else if (before == "catch")
    for (const char* event : {"assert", "fault", "launch"}) offer(event);
  else if (before == "set")
    for (const char* what : {"args", "detach-on-fork", "var"}) offer(what);
  else if (takes_expression(before))
    return {session.complete(line), false};
  return out;
}

Status run_line(Session& session, std::string_view line, std::string& last) {
  line = trim(line);
  if (line.starts_with("#")) return Ok{};
  Arguments arguments;
  arguments.repeated = line.empty();
  const std::string text = line.empty() ? last : std::string(line);
  if (text.empty()) return Ok{};
  std::string_view rest = text;
  const std::string word = cut_command(rest, arguments.format);
  const auto command = find_command(word);
  last.clear();
  if (!command) return command.error();
  arguments.command = (*command)->name;
  arguments.text = rest;
  Session::interrupted();  // a Ctrl-C before this command is not for it
  session.look();
  session.breakpoints.remove_gone();
  const Status done = (*command)->run(session, arguments);
  if ((*command)->repeats) last = text;
  return done;
}

Result<std::int64_t> read_count(const std::string& text) {
  if (text.empty()) return 1;
  const auto count = read_number(text);
  if (!count) return Error{ErrorKind::bad_input, fmt::format("\"{}\" is no number.", text), ""};
  return *count;
}

Result<Location> read_place(Session& session, const std::string& text) {
  std::string file = session.source.path().empty() ? session.default_file : session.source.path();
  int line = 0;
  if (session.needs_stop())
    if (const auto frame = session.frame(); frame && !(*frame)->path.empty()) {
      file = (*frame)->path;
      line = (*frame)->line;
    }
  return read_location(text, file, line);
}

std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      out.back() += text[++i];
    else
      out.back() += c;
  }
  return out;
}

namespace {

constexpr std::pair<Chapter, const char*> kChapters[] = {{Chapter::running, "Running, forwards and backwards"},
                                                         {Chapter::stopping, "Where to stop"},
                                                         {Chapter::where, "Where the program is"},
                                                         {Chapter::data, "Values"},
                                                         {Chapter::other, "Other"}};

}  // namespace

Status do_help(Session& session, const Arguments& arguments) {
  if (!arguments.text.empty()) {
    const auto command = find_command(arguments.text);
    if (!command) return command.error();
    session.print(fmt::format("{}\n  {}.\n", (*command)->usage, (*command)->text));
    if (!(*command)->aliases.empty()) session.print(fmt::format("  Short: {}\n", (*command)->aliases));
    return Ok{};
  }
  std::string out;
  for (const auto& [chapter, title] : kChapters) {
    out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", title);
    for (const Command& command : all_commands())
      if (command.chapter == chapter) out += fmt::format("  {:<18} {}\n", command.name, command.text);
  }
  session.print(out +
                "\nA unique beginning of a name is enough; an empty line repeats a step. \"help COMMAND\" has "
                "its arguments.\n");
  return Ok{};
}

Status do_echo(Session& session, const Arguments& arguments) {
  std::string out;
  for (std::size_t i = 0; i < arguments.text.size(); ++i) {
    const bool new_line = arguments.text.compare(i, 2, "\\n") == 0;
    out += new_line ? '\n' : arguments.text[i];
    i += new_line;
  }
  session.print(out);
  return Ok{};
}

Status do_quit(Session& session, const Arguments&) {
  session.left = true;
  return Ok{};
}

}  // namespace warpgrind::debug
