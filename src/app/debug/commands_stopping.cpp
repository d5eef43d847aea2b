// Commands about breakpoints, watchpoints and catchpoints.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "debug/commands.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

// Sends the list with a new breakpoint, and prints what became of it. Refused: the breakpoint is removed again.
Status set_breakpoint(Session& session, Breakpoint one, const char* title) {
  const int number = session.breakpoints.add(std::move(one)).number;
  const BreakpointKind kind = session.breakpoints.find(number)->kind;
  if (Status sent = session.send_breakpoints(kind); !sent && session.alive()) {
    session.breakpoints.remove(number);
    return sent;
  }
  const Breakpoint& set = *session.breakpoints.find(number);
  std::string text = fmt::format("{} {} at {}", title, number, set.what());
  if (kind == BreakpointKind::data || kind == BreakpointKind::exception)
    text = fmt::format("{} {}: {}", title, number, set.what());
  else if (!session.alive())
    text += " (found when the program runs)";
  else if (!set.verified())
    text += " is pending" + (set.message.empty() ? std::string() : ": " + set.message);
  else if (!set.place.empty() && set.place != set.what())
    text += fmt::format(" ({})", set.place);
  if (set.location.function == "main" && !set.verified()) text += session.hint_at_host(set);
  session.print(text + "\n");
  return Ok{};
}

// "f0:i12": function 0 of the module, its instruction 12.
bool is_instruction(std::string_view text) {
  const std::size_t colon = text.find(":i");
  return text.starts_with("f") && colon != std::string_view::npos && read_number(text.substr(1, colon - 1)) &&
         read_number(text.substr(colon + 2));
}

Status set_at_place(Session& session, std::string text, bool temporary) {
  Breakpoint one;
  one.temporary = temporary;
  auto condition = read_condition(text);
  if (!condition) return condition.error();
  one.condition = condition.take();
  if (text.starts_with("*")) {
    one.expression = trim(std::string_view(text).substr(1));
    if (!is_instruction(one.expression))
      return Error{ErrorKind::bad_input, fmt::format("\"{}\" is no place in the PTX.", one.expression),
                   "`disassemble` prints the places, for example f0:i12"};
    one.kind = BreakpointKind::instruction;
    return set_breakpoint(session, std::move(one), temporary ? "Temporary breakpoint" : "Breakpoint");
  }
  const auto place = read_place(session, text);
  if (!place) return place.error();
  one.location = *place;
  one.kind = place->function.empty() ? BreakpointKind::line : BreakpointKind::function;
  return set_breakpoint(session, std::move(one), temporary ? "Temporary breakpoint" : "Breakpoint");
}

Status set_watch(Session& session, std::string text, const char* access, const char* title) {
  if (Status stopped = session.needs_stop(); !stopped) return stopped;
  Breakpoint one;
  one.kind = BreakpointKind::data;
  one.process = session.selected().number;
  one.access_type = access;
  auto condition = read_condition(text);
  if (!condition) return condition.error();
  one.condition = condition.take();
  // gdb's watch -location: the memory stays the same when the expression's value changes. It always does here.
  if (std::string_view rest = text; text.starts_with("-l ") || text.starts_with("-location ")) {
    (void)cut_word(rest);
    text = std::string(trim(rest));
  }
  one.expression = text;
  if (text.empty()) return command_error("Which value? Give an expression.");
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const auto info = session.ask("dataBreakpointInfo", {{"name", text}, {"frameId", (*frame)->id}});
  if (!info) return info.error();
  one.data_id = json::text(*info, "dataId");
  if (one.data_id.empty()) {
    const std::string why = json::text(*info, "description");
    return command_error(why.empty() ? fmt::format("{} cannot be watched", text) : why);
  }
  return set_breakpoint(session, std::move(one), title);
}

// The breakpoints that numbers name; without any, all of them.
Result<std::vector<int>> read_numbers(Session& session, const std::string& text) {
  std::vector<int> out;
  std::string_view rest = text;
  while (!trim(rest).empty()) {
    const std::string word = cut_word(rest);
    const auto number = read_number(word);
    if (!number || !session.breakpoints.find(*number))
      return command_error(fmt::format("No breakpoint number {}.", word));
    // A number may be given twice.
    if (std::find(out.begin(), out.end(), *number) == out.end()) out.push_back(static_cast<int>(*number));
  }
  if (text.empty())
    for (const Breakpoint& one : session.breakpoints.all()) out.push_back(one.number);
  return out;
}

Status send_kinds(Session& session, const std::vector<BreakpointKind>& kinds) {
  for (const auto kind : {BreakpointKind::line, BreakpointKind::function, BreakpointKind::instruction,
                          BreakpointKind::data, BreakpointKind::exception})
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
      if (Status sent = session.send_breakpoints(kind); !sent) return sent;
  return Ok{};
}

Status set_enabled(Session& session, const std::string& text, bool enabled) {
  const auto numbers = read_numbers(session, text);
  if (!numbers) return numbers.error();
  std::vector<BreakpointKind> kinds;
  for (const int number : *numbers) {
    Breakpoint& one = *session.breakpoints.find(number);
    if (one.enabled == enabled) continue;
    one.enabled = enabled;
    kinds.push_back(one.kind);
  }
  return send_kinds(session, kinds);
}

Status remove_all(Session& session, const std::vector<int>& numbers) {
  std::vector<BreakpointKind> kinds;
  for (const int number : numbers) {
    kinds.push_back(session.breakpoints.find(number)->kind);
    session.breakpoints.remove(number);
  }
  return send_kinds(session, kinds);
}

// The breakpoint whose number begins the text.
Result<Breakpoint*> cut_breakpoint(Session& session, std::string_view& text) {
  const std::string word = cut_word(text);
  const auto number = read_number(word);
  Breakpoint* const one = number ? session.breakpoints.find(*number) : nullptr;
  if (!one) return command_error(fmt::format("No breakpoint number {}.", word));
  return one;
}

// The text in quotation marks, with \n, \t, \" and \\ replaced.
Result<std::string> read_quoted(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return command_error("dprintf needs LOCATION,\"TEXT {EXPRESSION}\".");
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return out;
}

}  // namespace

Status do_break(Session& session, const Arguments& arguments) {
  return set_at_place(session, arguments.text, false);
}

Status do_tbreak(Session& session, const Arguments& arguments) {
  return set_at_place(session, arguments.text, true);
}

Status do_dprintf(Session& session, const Arguments& arguments) {
  const std::size_t comma = arguments.text.find(',');
  const auto text =
      read_quoted(comma == std::string::npos ? std::string_view{} : std::string_view(arguments.text).substr(comma + 1));
  if (!text) return text.error();
  const auto place = read_place(session, std::string(trim(arguments.text.substr(0, comma))));
  if (!place) return place.error();
  Breakpoint one;
  one.log_message = *text;
  one.location = *place;
  one.kind = place->function.empty() ? BreakpointKind::line : BreakpointKind::function;
  return set_breakpoint(session, std::move(one), "Dprintf");
}

Status do_watch(Session& session, const Arguments& arguments) {
  return set_watch(session, arguments.text, "write", "Watchpoint");
}

Status do_rwatch(Session& session, const Arguments& arguments) {
  return set_watch(session, arguments.text, "read", "Read watchpoint");
}

Status do_awatch(Session& session, const Arguments& arguments) {
  return set_watch(session, arguments.text, "readWrite", "Access watchpoint");
}

Status do_catch(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  Breakpoint one;
  one.kind = BreakpointKind::exception;
  one.expression = cut_word(rest);
  one.condition = trim(rest);
  if (one.expression == "fault" || one.expression == "assert") {
    session.print(fmt::format("A kernel's {} always stops the program.\n", one.expression));
    return Ok{};
  }
  constexpr std::string_view kEvents[] = {"launch", "finding", "api", "barrier", "divergence"};
  if (std::find(std::begin(kEvents), std::end(kEvents), one.expression) == std::end(kEvents))
    return command_error("catch needs one of: fault, assert, launch [KERNEL], finding, api, barrier, divergence.");
  if (one.expression == "finding" && !session.checks)
    return command_error("Nothing is checked: start the debugger with --check.");
  if (one.expression == "barrier" || one.expression == "divergence") {
    std::string left = one.condition;
    auto condition = read_condition(left);
    if (!condition) return condition.error();
    one.condition = condition.take();
    if (!left.empty()) return command_error(fmt::format("catch {} takes only \"if CONDITION\".", one.expression));
  } else if (one.expression != "launch" && !one.condition.empty()) {
    return command_error(fmt::format("catch {} has no arguments.", one.expression));
  }
  return set_breakpoint(session, std::move(one), "Catchpoint");
}

Status do_condition(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  const auto one = cut_breakpoint(session, rest);
  if (!one) return one.error();
  if (Status good = check_condition(trim(rest)); !good) return good;
  (*one)->condition = trim(rest);
  if (rest.empty()) session.print(fmt::format("Breakpoint {} now unconditional.\n", (*one)->number));
  return session.send_breakpoints((*one)->kind);
}

Status do_ignore(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  const auto one = cut_breakpoint(session, rest);
  if (!one) return one.error();
  const auto count = read_number(trim(rest));
  if (!count) return command_error("ignore needs the number of a breakpoint and a count.");
  (*one)->hit_condition = *count == 0 ? "" : fmt::format(">{}", *count);
  session.print(*count == 0 ? fmt::format("Will stop next time breakpoint {} is reached.\n", (*one)->number)
                            : fmt::format("Will ignore next {} crossings of breakpoint {}.\n", *count, (*one)->number));
  return session.send_breakpoints((*one)->kind);
}

Status do_enable(Session& session, const Arguments& arguments) {
  return set_enabled(session, arguments.text, true);
}

Status do_disable(Session& session, const Arguments& arguments) {
  return set_enabled(session, arguments.text, false);
}

Status do_delete(Session& session, const Arguments& arguments) {
  const auto numbers = read_numbers(session, arguments.text);
  if (!numbers) return numbers.error();
  return remove_all(session, *numbers);
}

Status do_clear(Session& session, const Arguments& arguments) {
  const auto place = read_place(session, arguments.text);
  if (!place) return place.error();
  std::vector<int> numbers;
  for (const Breakpoint& one : session.breakpoints.all())
    if (one.location.name() == place->name() &&
        (one.kind == BreakpointKind::line || one.kind == BreakpointKind::function))
      numbers.push_back(one.number);
  if (numbers.empty()) return command_error(fmt::format("No breakpoint at {}.", place->name()));
  session.print(fmt::format("Deleted breakpoint{} {}\n", numbers.size() == 1 ? "" : "s", fmt::join(numbers, " ")));
  return remove_all(session, numbers);
}

}  // namespace warpgrind::debug
