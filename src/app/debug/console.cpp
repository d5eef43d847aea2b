// Commands in an editor's console, as requests of the debug adapter.
#include "debug/console.h"

#include <fmt/format.h>

#include "base/json.h"
#include "debug/commands.h"
#include "debug/stop_text.h"
#include "debug/warp_table.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

struct Line {
  std::string command, format;  // its whole name; the letters behind a slash
  std::string_view rest;
  Json frame;  // {"frameId": 1}, or {}
  std::int64_t thread = 0;
};

using Read = Result<ConsoleCommand> (*)(const Line& line);

Json with_frame(const Line& line, Json arguments) {
  arguments.update(line.frame);
  return arguments;
}

Result<ConsoleCommand> read_print(const Line& line) {
  if (line.rest.empty()) return command_error("Which value? Give an expression.");
  auto format = format_of(line.format);
  if (!format) return format.error();
  Json arguments = with_frame(line, {{"expression", std::string(line.rest)}, {"context", "repl"}});
  if (format->is_object()) arguments["format"] = format.take();
  return ConsoleCommand{"evaluate", std::move(arguments), {}, true, false};
}

Result<ConsoleCommand> read_warp_values(const Line& line) {
  if (line.rest.empty()) return command_error("Which value? Give an expression.");
  return ConsoleCommand{"warpgrind/warpValues", with_frame(line, {{"expression", std::string(line.rest)}}), warp_table,
                        false, false};
}

Result<ConsoleCommand> read_focus_line(const Line& line) {
  const bool is_number = !line.rest.empty() && line.rest.find_first_not_of("0123456789") == std::string_view::npos;
  if (line.command == "warp" && !line.rest.empty() && !is_number) return read_warp_values(line);
  auto arguments =
      read_focus(line.command == "cuda" ? std::string(line.rest) : fmt::format("{} {}", line.command, line.rest));
  if (!arguments) return arguments.error();
  const bool moves = !arguments->empty();
  return ConsoleCommand{"warpgrind/focus", arguments.take(),
                        [](const Json& body) { return fmt::format("[{}]", json::text(body, "description")); }, false,
                        moves};
}

Result<ConsoleCommand> read_tile_line(const Line& line) {
  auto arguments = read_tile_words(std::string(line.rest), [](const std::string& stride) -> Result<std::int64_t> {
    return command_error(fmt::format("\"by {}\": a number is needed in the editor's console.", stride));
  });
  if (!arguments) return arguments.error();
  auto format = format_of(line.format);
  if (!format) return format.error();
  if (format->is_object()) (*arguments)["format"] = format.take();
  constexpr int kWidth = 120;  // a console does not say how wide it is
  (*arguments)["width"] = kWidth;
  return ConsoleCommand{"warpgrind/tile", with_frame(line, arguments.take()),
                        [](const Json& body) { return json::text(body, "type") + "\n" + json::text(body, "text"); },
                        false, false};
}

Result<ConsoleCommand> read_last_write(const Line& line) {
  if (line.rest.empty()) return command_error("Which value? Give an expression.");
  return ConsoleCommand{"warpgrind/lastWrite", with_frame(line, {{"expression", std::string(line.rest)}}),
                        [](const Json&) { return std::string("Going back to the last write."); }, false, false};
}

Result<ConsoleCommand> read_type(const Line& line) {
  if (line.rest.empty()) return command_error("Which type? Give an expression or a type.");
  const char* const member = line.command == "whatis" ? "type" : "definition";
  return ConsoleCommand{
      "warpgrind/type", with_frame(line, {{"expression", std::string(line.rest)}, {"offsets", line.format == "o"}}),
      [member](const Json& body) { return fmt::format("type = {}", json::text(body, member)); }, false, false};
}

Result<ConsoleCommand> read_info(const Line& line) {
  std::string_view rest = line.rest;
  const std::string topic = cut_word(rest);
  const auto is = [&](std::string_view name) { return topic.size() > 1 && name.starts_with(topic); };
  if (is("warps")) return ConsoleCommand{"warpgrind/warps", Json::object(), warps_text, false, false};
  if (is("blocks")) return ConsoleCommand{"warpgrind/warps", Json::object(), blocks_text, false, false};
  if (is("lanes")) return ConsoleCommand{"warpgrind/warps", Json::object(), lanes_text, false, false};
  if (is("launches") || is("kernels"))
    return ConsoleCommand{"warpgrind/launches", Json::object(), launches_text, false, false};
  if (is("threads"))
    return ConsoleCommand{"threads", Json::object(),
                          [thread = line.thread](const Json& body) { return threads_text(body, thread); }, false,
                          false};
  return command_error("info in an editor has warps, lanes, blocks, launches and threads. The editor shows the rest.");
}

Result<ConsoleCommand> read_back(const Line& line) {
  const bool out = line.command == "reverse-finish";
  return ConsoleCommand{out ? "warpgrind/reverseStepOut" : "warpgrind/reverseStepIn",
                        {{"threadId", line.thread}},
                        [](const Json&) { return std::string(); },
                        false,
                        false};
}

constexpr const char* kHelp =
    "An expression prints its value, and v = 5 changes one. Commands of warpgrind debug:\n"
    "  warp EXPRESSION              a value of all 32 lanes\n"
    "  tile ARRAY [ROWSxCOLUMNS]    memory in rows and columns\n"
    "  print/x EXPRESSION           in another format: x d u o t c f a\n"
    "  last-write EXPRESSION        go back to the last write of a value\n"
    "  reverse-step, reverse-finish go back into a call, or to it\n"
    "  thread (X,Y,Z), block N, warp N, lane N   look at another thread\n"
    "  info warps|lanes|blocks|launches|threads  where each is, and what it waits for\n"
    "  ptype EXPRESSION, whatis EXPRESSION       the type\n";

Result<ConsoleCommand> read_help(const Line&) {
  return ConsoleCommand{"", Json(), [](const Json&) { return std::string(kHelp); }, false, false};
}

constexpr std::pair<std::string_view, Read> kCommands[] = {
    {"print", read_print},         {"warp", read_focus_line},   {"warp-values", read_warp_values},
    {"thread", read_focus_line},   {"block", read_focus_line},  {"lane", read_focus_line},
    {"cuda", read_focus_line},     {"tile", read_tile_line},    {"last-write", read_last_write},
    {"whatis", read_type},         {"ptype", read_type},        {"info", read_info},
    {"reverse-finish", read_back}, {"reverse-step", read_back}, {"help", read_help}};

}  // namespace

std::optional<Result<ConsoleCommand>> read_console(std::string_view text, const Json& asked, std::int64_t thread) {
  text = trim(text);
  const std::size_t end = text.find_first_of(" \t/(");
  const auto command = find_command(text.substr(0, end));
  if (!command) return std::nullopt;
  Line line;
  line.command = (*command)->name;
  line.rest = end == std::string_view::npos ? std::string_view{} : text.substr(end);
  if (line.rest.starts_with("/")) {
    line.rest.remove_prefix(1);
    line.format = cut_word(line.rest);
  }
  line.rest = trim(line.rest);
  line.thread = thread;
  line.frame = Json::object();
  if (const auto frame = asked.find("frameId"); frame != asked.end()) line.frame["frameId"] = *frame;
  for (const auto& [name, read] : kCommands)
    if (name == line.command) return read(line);
  // A beginning such as `x` is a variable rather than a command that is not here.
  if (text.substr(0, end) != line.command || line.command.size() == 1) return std::nullopt;
  return Result<ConsoleCommand>(
      command_error(fmt::format("{} is a command of the terminal: in an editor use its own buttons and views. `help` "
                                "lists the commands of this console.",
                                line.command)));
}

}  // namespace warpgrind::debug
