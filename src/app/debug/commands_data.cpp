// Commands about values and memory.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/json.h"
#include "debug/commands.h"
#include "debug/memory_text.h"
#include "debug/warp_table.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

// Members of a value whose adapter sends no text for the whole, as gdb prints them: {x = 1, y = 2}.
Result<std::string> members_text(Session& session, std::int64_t reference, int depth) {
  constexpr int kDeepest = 4;
  constexpr std::size_t kMost = 200;
  if (depth == kDeepest) return std::string("{...}");
  const auto body = session.ask("variables", {{"variablesReference", reference}});
  if (!body) return body.error();
  std::string out = "{";
  std::size_t count = 0;
  std::optional<Error> problem;
  json::each(*body, "variables", [&](const Json& member) {
    if (problem || ++count > kMost) return;
    std::string value = json::text(member, "value");
    const auto inner = json::get<std::int64_t>(member, "variablesReference");
    if (value.empty() && inner != 0) {
      auto text = members_text(session, inner, depth + 1);
      if (!text)
        problem = text.error();
      else
        value = *text;
    }
    out += fmt::format("{}{} = {}", count == 1 ? "" : ", ", json::text(member, "name"), value);
  });
  if (problem) return *problem;
  return out + (count > kMost ? ", ...}" : "}");
}

}  // namespace

Result<Json> format_of(const std::string& letters) {
  if (letters.empty()) return Json();
  if (letters == "x") return Json{{"hex", true}};
  if (letters.size() == 1 && std::string_view("duotcfa").find(letters[0]) != std::string_view::npos)
    return Json{{"letter", letters}};
  return command_error(fmt::format("\"/{}\" is no format of a value: one of x d u o t c f a", letters));
}

namespace {

Result<std::string> value_text(Session& session, const std::string& format, const std::string& expression,
                               const std::string& context, std::size_t remember) {
  auto json_format = format_of(format);
  if (!json_format) return json_format.error();
  const auto body = session.evaluate(expression, context, json_format.take(), remember);
  if (!body) return body.error();
  std::string value = json::text(*body, "result");
  const auto reference = json::get<std::int64_t>(*body, "variablesReference");
  if (value.empty() && reference != 0) return members_text(session, reference, 0);
  return value;
}

Result<std::uint64_t> read_address(const std::string& text) {
  std::string_view digits = text;
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t out = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out, hexadecimal ? 16 : 10);
  if (problem != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return command_error(fmt::format("\"{}\" is no address", text));
  return out;
}

Result<Json> ask_for_type(Session& session, const std::string& expression, bool offsets) {
  const auto frame = session.frame();
  if (!frame) return frame.error();
  return session.ask("warpgrind/type", {{"expression", expression}, {"frameId", (*frame)->id}, {"offsets", offsets}});
}

// Characters in a line of the terminal; of a file or a pipe as many as a page has.
std::size_t terminal_width() {
  constexpr std::size_t kPage = 120;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kPage;
}

// The state of x between two commands: an empty line goes on behind the memory that was printed.
struct Examined {
  MemoryFormat format;
  std::uint64_t next = 0;
};
Examined examined;

Status print_instructions(Session& session, const std::string& expression, std::uint64_t count) {
  std::string reference;
  if (expression.empty() || expression == "$pc") {
    const auto frame = session.frame();
    if (!frame) return frame.error();
    reference = (*frame)->instruction;
  } else {
    const auto body = session.evaluate(expression, "repl");
    if (!body) return body.error();
    reference = json::text(*body, "memoryReference");
  }
  if (reference.empty()) return command_error("there is no instruction");
  return print_ptx(session, reference, 0, count);
}

}  // namespace

std::string place_of_instruction(const Json& instruction) {
  const std::string place = json::text(instruction, "instructionBytes");
  return place.starts_with("f") && place.find(":i") != std::string::npos ? place : json::text(instruction, "address");
}

Status print_ptx(Session& session, const std::string& reference, std::int64_t offset, std::uint64_t count) {
  const auto body = session.ask("disassemble", {{"memoryReference", reference},
                                                {"instructionOffset", offset},
                                                {"instructionCount", count},
                                                {"resolveSymbols", true}});
  if (!body) return body.error();
  std::int64_t at = offset;
  json::each(*body, "instructions", [&](const Json& one) {
    std::string text = json::text(one, "instruction");
    if (const std::string symbol = json::text(one, "symbol"); !symbol.empty()) session.print(symbol + ":\n");
    session.print(fmt::format("{} {}:\t{}\n", at++ == 0 ? "=>" : "  ", place_of_instruction(one), text));
  });
  return Ok{};
}

Status print_value(Session& session, const std::string& format, const std::string& expression,
                   const std::string& name) {
  const auto value = value_text(session, format, expression, name.empty() ? "repl" : "watch",
                                name.empty() ? session.history.size() + 1 : 0);
  if (!value) return value.error();
  if (name.empty()) session.history.push_back(*value);
  session.print(fmt::format("{} = {}\n", name.empty() ? fmt::format("${}", session.history.size()) : name, *value));
  return Ok{};
}

Status do_print(Session& session, const Arguments& arguments) {
  if (!arguments.text.empty()) return print_value(session, arguments.format, arguments.text, "");
  if (session.history.empty()) return command_error("The history of values is empty.");
  session.print(fmt::format("${} = {}\n", session.history.size(), session.history.back()));
  return Ok{};
}

Status examine(Session& session, const std::string& format, const std::string& expression, bool again) {
  auto read = again ? Result<MemoryFormat>(examined.format) : read_memory_format(format, examined.format);
  if (!read) return command_error(read.error().message);
  const MemoryFormat& form = *read;
  examined.format = form;
  if (form.letter == 'i') return print_instructions(session, expression, form.count);
  std::uint64_t address = examined.next;
  if (!expression.empty() && !again) {
    const auto body = session.evaluate(expression, "repl");
    if (!body) return body.error();
    std::string reference = json::text(*body, "memoryReference");
    if (reference.empty()) reference = json::text(*body, "result");
    const auto number = read_address(reference);
    if (!number) return command_error(fmt::format("{} has no address: {}", expression, number.error().message));
    address = *number;
  }
  constexpr std::uint64_t kText = 200;
  const std::uint64_t size = form.letter == 's' ? kText : form.bytes();
  const auto memory =
      session.ask("readMemory", {{"memoryReference", fmt::format("{:#x}", address)}, {"offset", 0}, {"count", size}});
  if (!memory) return memory.error();
  const auto bytes = decode_base64(json::text(*memory, "data"));
  if (!bytes) return command_error("the memory that came is no base64");
  session.print(memory_lines(address, *bytes, form));
  examined.next = address + (form.letter == 's' ? std::min<std::uint64_t>(bytes->size(), kText) : size);
  return Ok{};
}

Status do_examine(Session& session, const Arguments& arguments) {
  return examine(session, arguments.format, arguments.text, arguments.repeated);
}

Status do_warp_values(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return command_error("Which value? Give an expression.");
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const auto body = session.ask("warpgrind/warpValues", {{"expression", arguments.text}, {"frameId", (*frame)->id}});
  if (!body) return body.error();
  session.print(warp_table(*body));
  return Ok{};
}

namespace {

// "tile 8x8 by 32 of half" without the part behind this word, which is returned.
std::string cut_behind(std::string& text, std::string_view word) {
  const std::string wanted = fmt::format(" {} ", word);
  const std::size_t at = text.rfind(wanted);
  if (at == std::string::npos) return {};
  std::string out(trim(std::string_view(text).substr(at + wanted.size())));
  text.erase(at);
  return out;
}

}  // namespace

Result<Json> read_tile_words(std::string text,
                             const std::function<Result<std::int64_t>(const std::string&)>& number_of) {
  if (trim(text).empty()) return command_error("Which memory? Give an array or a pointer.");
  Json request = Json::object();
  if (const std::string type = cut_behind(text, "of"); !type.empty()) request["type"] = type;
  if (const std::string stride = cut_behind(text, "by"); !stride.empty()) {
    auto number = read_number(stride);
    if (!number) {
      const auto value = number_of(stride);
      if (!value) return value.error();
      number = *value;
    }
    request["stride"] = *number;
  }
  const std::string_view all = trim(text);
  const std::size_t blank = all.find_last_of(' ');
  const std::string_view last = blank == std::string_view::npos ? std::string_view() : all.substr(blank + 1);
  const std::size_t cross = last.find('x');
  const auto rows = cross == std::string_view::npos ? std::nullopt : read_number(last.substr(0, cross));
  const auto columns = rows ? read_number(last.substr(cross + 1)) : std::nullopt;
  if (columns) {
    request["rows"] = *rows;
    request["columns"] = *columns;
  }
  request["expression"] = std::string(trim(columns ? all.substr(0, blank) : all));
  return request;
}

Status do_tile(Session& session, const Arguments& arguments) {
  auto request = read_tile_words(arguments.text, [&session](const std::string& stride) -> Result<std::int64_t> {
    const auto value = session.evaluate(stride, "watch", Json());
    if (!value) return value.error();
    const auto number = read_number(json::text(*value, "result"));
    if (!number) return command_error(fmt::format("\"by {}\": a number of numbers is needed.", stride));
    return *number;
  });
  if (!request) return request.error();
  const auto frame = session.frame();
  if (!frame) return frame.error();
  (*request)["frameId"] = (*frame)->id;
  (*request)["width"] = terminal_width();
  auto format = format_of(arguments.format);
  if (!format) return format.error();
  if (!format->is_null()) (*request)["format"] = format.take();
  const auto body = session.ask("warpgrind/tile", request.take());
  if (!body) return body.error();
  session.print(fmt::format("{}\n{}", json::text(*body, "type"), json::text(*body, "text")));
  return Ok{};
}

Status do_last_write(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return command_error("Which value? Give an expression.");
  const auto frame = session.frame();
  if (!frame) return frame.error();
  Status done =
      session.resume("warpgrind/lastWrite", {{"expression", arguments.text}, {"frameId", (*frame)->id}}, true);
  if (!done || !session.alive()) return done;
  if (session.text_of_stop().empty()) session.print(fmt::format("Back before the last write of {}:\n", arguments.text));
  session.report_quiet_stop();
  return Ok{};
}

Status do_whatis(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return command_error("Which value? Give an expression.");
  const auto body = session.evaluate(arguments.text, "watch", Json());
  if (body) {
    session.print(fmt::format("type = {}\n", json::text(*body, "type")));
    return Ok{};
  }
  // It may be a type.
  const auto definition = ask_for_type(session, arguments.text, false);
  if (!definition) return body.error();
  session.print(fmt::format("type = {}\n", json::text(*definition, "type")));
  return Ok{};
}

Status do_ptype(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) return command_error("Which type? Give an expression or a type.");
  if (!arguments.format.empty() && arguments.format != "o")
    return command_error(fmt::format("\"/{}\": ptype has /o, which shows offsets.", arguments.format));
  const auto body = ask_for_type(session, arguments.text, arguments.format == "o");
  if (!body) return body.error();
  session.print(fmt::format("type = {}\n", json::text(*body, "definition")));
  return Ok{};
}

Status do_display(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) {
    session.show_displays();
    return Ok{};
  }
  Display one = {session.last_display + 1, arguments.format, arguments.text};
  if (session.needs_stop()) {
    if (Status shown = session.show_display(one); !shown) return shown;
    one.shown = true;
  }
  session.last_display = one.number;
  session.displays.push_back(std::move(one));
  return Ok{};
}

Status do_undisplay(Session& session, const Arguments& arguments) {
  if (arguments.text.empty()) session.displays.clear();
  std::string_view rest = arguments.text;
  while (!trim(rest).empty()) {
    const std::string word = cut_word(rest);
    const auto number = read_number(word);
    if (!number || std::erase_if(session.displays, [&](const Display& d) { return d.number == *number; }) == 0)
      return command_error(fmt::format("No display number {}.", word));
  }
  return Ok{};
}

Status do_set(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  const std::string what = cut_word(rest);
  if (what == "args") {
    session.options.program.resize(1);
    for (std::string& word : split_arguments(rest)) session.options.program.push_back(std::move(word));
    return Ok{};
  }
  if (what == "detach-on-fork") {
    const std::string word = cut_word(rest);
    if (word != "on" && word != "off") return command_error("set detach-on-fork needs on or off.");
    session.follows_all = word == "off";
    return Ok{};
  }
  if (what == "follow-fork-mode" || what == "schedule-multiple")
    return Error{ErrorKind::unsupported, fmt::format("There is no {}: each process that uses CUDA is debugged.", what),
                 "`inferior N` selects one; `set detach-on-fork on` lets all but the first run freely"};
  // Scripts for gdb begin with these. Nothing here depends on them.
  constexpr std::string_view kOfGdb[] = {"confirm", "pagination", "width", "height", "print", "verbose", "cuda"};
  if (std::find(std::begin(kOfGdb), std::end(kOfGdb), what) != std::end(kOfGdb) && rest.find('=') == std::string::npos)
    return Ok{};
  if (what.starts_with("$")) {
    const auto body = session.evaluate(arguments.text, "repl");
    return body ? Status(Ok{}) : body.error();
  }
  if (what != "var" && what != "variable") {
    rest = arguments.text;  // set i = 3
    if (rest.find('=') == std::string_view::npos)
      return command_error(
          "set needs: var VARIABLE = VALUE, $NAME = VALUE, args [ARGUMENTS], or detach-on-fork on|off.");
  }
  // The first = that is no comparison.
  std::size_t at = rest.find('=');
  while (at != std::string_view::npos && (at + 1 < rest.size() && rest[at + 1] == '=')) at = rest.find('=', at + 2);
  if (at == std::string_view::npos || trim(rest.substr(0, at)).empty() || trim(rest.substr(at + 1)).empty())
    return command_error("set var needs: VARIABLE = VALUE.");
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const auto body = session.ask("setExpression", {{"expression", std::string(trim(rest.substr(0, at)))},
                                                  {"value", std::string(trim(rest.substr(at + 1)))},
                                                  {"frameId", (*frame)->id}});
  if (!body) return body.error();
  return Ok{};
}

}  // namespace warpgrind::debug
