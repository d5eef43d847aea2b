// Commands about the place of the program: the stack, and the block, warp and lane in focus.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>

#include "base/json.h"
#include "debug/commands.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

// "(5,0,0)", "5,0" or "5"; missing numbers are 0.
Result<Json> read_triple(std::string_view text, const std::string& word) {
  const std::string_view given = text;
  if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
  std::array<std::int64_t, 3> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t comma = text.find(',');
    const auto number = read_number(trim(text.substr(0, comma)));
    if (!number) break;
    out[i] = *number;
    if (comma == std::string_view::npos) return Json(out);
    text.remove_prefix(comma + 1);
  }
  return command_error(fmt::format("{} needs a number or (X,Y,Z): \"{}\"", word, given));
}

// Cuts the value of a focus word: up to the next word that begins with a letter.
std::string cut_value(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && !std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
  const std::string value(trim(text.substr(0, end)));
  text.remove_prefix(end);
  return value;
}

}  // namespace

Result<Json> read_focus(std::string_view text) {
  Json out = Json::object();
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const std::size_t end = text.find_first_of(" \t(0123456789");
    const std::string word(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    const std::string value = cut_value(text);
    const bool triple = word == "block" || word == "thread";
    if (!triple && word != "warp" && word != "lane")
      return command_error(fmt::format("\"{}\": one of block, thread, warp, lane", word));
    if (value.empty()) continue;  // a question about the focus
    if (triple) {
      auto numbers = read_triple(value, word);
      if (!numbers) return numbers.error();
      out[word] = numbers.take();
    } else {
      const auto number = read_number(value);
      if (!number) return command_error(fmt::format("{} needs a number: \"{}\"", word, value));
      out[word] = *number;
    }
  }
  return out;
}

namespace {

Status move_to(Session& session, const char* command, Json request, bool moves) {
  const auto body = session.ask(command, std::move(request));
  if (!body) return body.error();
  json::read(*body, "threadId", session.thread);
  session.focus = json::text(*body, "description");
  session.print(fmt::format("[{}]\n", session.focus));
  if (!moves) return Ok{};
  session.forget_frames();
  session.print_place(true);
  return Ok{};
}

Status set_focus(Session& session, const std::string& text) {
  auto request = read_focus(text);
  if (!request) return request.error();
  const bool moves = !request->empty();
  return move_to(session, "warpgrind/focus", request.take(), moves);
}

bool is_number(std::string_view text) {
  text = trim(text);
  return text.empty() || std::isdigit(static_cast<unsigned char>(text[0]));
}

Status move_frame(Session& session, const Arguments& arguments, int direction) {
  const auto count = read_count(arguments.text);
  if (!count) return count.error();
  const auto frames = session.stack();
  if (!frames) return frames.error();
  const auto last = static_cast<std::int64_t>((*frames)->size()) - 1;
  const auto now = static_cast<std::int64_t>(session.frame_index());
  if (direction > 0 && now == last) return command_error("Initial frame selected; you can't go up.");
  if (direction < 0 && now == 0) return command_error("Bottom (innermost) frame selected; you can't go down.");
  const std::int64_t to = std::min(std::max(now + direction * *count, std::int64_t{0}), last);
  if (Status selected = session.select_frame(static_cast<std::size_t>(to)); !selected) return selected;
  session.print_place(true);
  return Ok{};
}

}  // namespace

Status do_backtrace(Session& session, const Arguments& arguments) {
  const auto most = arguments.text.empty() ? std::optional<std::int64_t>(INT64_MAX) : read_number(arguments.text);
  if (!most) return command_error(fmt::format("\"{}\" is no number.", arguments.text));
  const auto frames = session.stack();
  if (!frames) return frames.error();
  for (std::size_t i = 0; i < (*frames)->size() && static_cast<std::int64_t>(i) < *most; ++i)
    session.print(session.frame_line(i) + "\n");
  if (static_cast<std::int64_t>((*frames)->size()) > *most) session.print("(More stack frames follow...)\n");
  return Ok{};
}

Status do_frame(Session& session, const Arguments& arguments) {
  if (!arguments.text.empty()) {
    const auto number = read_number(arguments.text);
    if (!number) return command_error(fmt::format("\"{}\" is no number of a frame.", arguments.text));
    if (Status selected = session.select_frame(static_cast<std::size_t>(*number)); !selected) return selected;
  } else if (const auto frame = session.frame(); !frame) {
    return frame.error();
  }
  session.print_place(true);
  return Ok{};
}

Status do_up(Session& session, const Arguments& arguments) {
  return move_frame(session, arguments, 1);
}

Status do_down(Session& session, const Arguments& arguments) {
  return move_frame(session, arguments, -1);
}

// `warp EXPRESSION` prints a value of all lanes; a number is a warp.
Status do_focus(Session& session, const Arguments& arguments) {
  if (arguments.command == "warp" && !is_number(arguments.text)) return do_warp_values(session, arguments);
  return set_focus(session, arguments.command + " " + arguments.text);
}

Status do_host(Session& session, const Arguments& arguments) {
  const auto number = arguments.text.empty() ? std::optional<std::int64_t>(0) : read_number(arguments.text);
  if (!number) return command_error(fmt::format("host needs the number of a host thread: \"{}\"", arguments.text));
  return move_to(session, "warpgrind/host", {{"thread", *number}}, true);
}

Status do_inferior(Session& session, const Arguments& arguments) {
  const auto number =
      arguments.text.empty() ? std::optional<std::int64_t>(session.selected().number) : read_number(arguments.text);
  if (!number) return command_error(fmt::format("inferior needs the number of a process: \"{}\"", arguments.text));
  return session.select(*number);
}

Status do_cuda(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return command_error("cuda needs block, thread, warp or lane.");
  return set_focus(session, arguments.text);
}

}  // namespace warpgrind::debug
