// Commands about code: source lines, the PTX under them, and functions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/words.h"
#include "debug/commands.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

// A function of the stopped kernel's module.
struct Function {
  std::string name, path, reference;
  int line = 0;
  std::int64_t instructions = 0;
  bool is_kernel = false, is_inlined = false;
};

Result<std::vector<Function>> functions(Session& session, const char* by, const std::string& text) {
  const auto body = session.ask("warpgrind/functions", {{by, text}});
  if (!body) return body.error();
  std::vector<Function> out;
  json::each(*body, "functions", [&](const Json& one) {
    Function f{json::text(one, "name"), "", json::text(one, "instructionPointerReference")};
    if (const auto source = one.find("source"); source != one.end()) f.path = json::text(*source, "path");
    json::read(one, "line", f.line);
    json::read(one, "instructions", f.instructions);
    json::read(one, "kernel", f.is_kernel);
    json::read(one, "inlined", f.is_inlined);
    out.push_back(std::move(f));
  });
  return out;
}

// The first function that the name means.
Result<Function> find_function(Session& session, const std::string& name) {
  auto found = functions(session, "name", name);
  if (!found) return found.error();
  if (found->empty()) return command_error(fmt::format("Function \"{}\" is not in the stopped kernel's module.", name));
  return found->front();
}

// The path of a file that is named by the end of its path, as breakpoints name it: that of the current source file, or
// of a frame of the stack.
std::string path_of(Session& session, const std::string& file) {
  const auto is_meant = [&](const std::string& path) {
    return path.ends_with(file) && path.size() > file.size() && path[path.size() - file.size() - 1] == '/';
  };
  if (is_meant(session.source.path())) return session.source.path();
  if (is_meant(session.default_file)) return session.default_file;
  if (session.needs_stop())
    if (const auto frames = session.stack(); frames)
      for (const Frame& frame : **frames)
        if (is_meant(frame.path)) return frame.path;
  return file;
}

// A place with a line: of a function its first one.
Result<Location> line_of(Session& session, const std::string& text) {
  auto place = read_place(session, text);
  if (!place) return place;
  if (place->function.empty()) {
    place->file = path_of(session, place->file);
    return place;
  }
  const auto function = find_function(session, place->function);
  if (!function) return function.error();
  if (function->path.empty() || function->line == 0)
    return command_error(fmt::format("The line of \"{}\" is not known.", text));
  place->file = function->path;
  place->line = function->line;
  return place;
}

// ---- disassemble

struct Instruction {
  std::string address, place, text, path;
  int line = 0;
};

std::vector<Instruction> read_instructions(const Json& body) {
  std::vector<Instruction> out;
  json::each(body, "instructions", [&](const Json& one) {
    Instruction i{json::text(one, "address"), place_of_instruction(one), json::text(one, "instruction"), ""};
    if (const auto source = one.find("location"); source != one.end()) i.path = json::text(*source, "path");
    json::read(one, "line", i.line);
    if (json::text(one, "presentationHint") != "invalid") out.push_back(std::move(i));
  });
  return out;
}

// Source lines with the instructions below them, in the order of the instructions. Lines between two pieces of code
// that have none of their own come along if they were not printed yet.
std::string source_and_ptx(Session& session, const std::vector<Instruction>& all, const std::string& current) {
  constexpr int kMostSkipped = 5;      // lines without code that are still shown
  std::map<std::string, int> printed;  // by file: the last line
  std::string out, path;
  int line = 0;
  for (const Instruction& one : all) {
    if (one.line != 0 && (one.line != line || one.path != path)) {
      if (one.path != path) out += fmt::format("{}:\n", base_name(one.path));
      const auto last = printed.find(one.path);
      const int skipped = last == printed.end() ? 0 : one.line - last->second - 1;
      const int first = skipped > 0 && skipped <= kMostSkipped ? one.line - skipped : one.line;
      const auto text = session.source.lines(one.path, first, one.line);
      out += text ? *text : fmt::format("{}\tin {}\n", one.line, one.path);
      int& known = printed[one.path];
      known = std::max(known, one.line);
      path = one.path;
      line = one.line;
    }
    out += fmt::format("{} {}:\t{}\n", one.address == current ? "=>" : "  ", one.place, one.text);
  }
  return out;
}

}  // namespace

// disassemble [/s] [FUNCTION]
Status do_disassemble(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  std::string letters = arguments.format;
  if (rest.starts_with("/")) letters = cut_word(rest).substr(1);
  if (!letters.empty() && letters != "s" && letters != "m")
    return command_error(fmt::format("\"/{}\": disassemble has /s, which shows source lines, too.", letters));
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const std::string current = (*frame)->instruction;
  if (letters.empty() && rest.empty()) {
    if (current.empty()) return command_error("there is no instruction");
    constexpr std::int64_t kBefore = 5;
    return print_ptx(session, current, -kBefore, 2 * kBefore + 1);
  }
  std::string reference = current;
  if (!rest.empty()) {
    const auto function = find_function(session, std::string(rest));
    if (!function) return function.error();
    reference = function->reference;
  }
  if (reference.empty()) return command_error("there is no instruction");
  const auto body = session.ask("disassemble", {{"memoryReference", reference}, {"wholeFunction", true}});
  if (!body) return body.error();
  const std::vector<Instruction> all = read_instructions(*body);
  std::string out = fmt::format("PTX of {}:\n", json::text(*body, "function"));
  if (letters.empty())
    for (const Instruction& one : all)
      out += fmt::format("{} {}:\t{}\n", one.address == current ? "=>" : "  ", one.place, one.text);
  else
    out += source_and_ptx(session, all, current);
  session.print(out);
  return Ok{};
}

Status do_list(Session& session, const Arguments& arguments) {
  constexpr int kAround = 5;
  if (session.source.path().empty() && !session.default_file.empty()) session.source.set_place(session.default_file, 1);
  const std::string& text = arguments.text;
  Result<std::string> lines = std::string();
  if (text.empty() || arguments.repeated) {
    lines = text == "-" ? session.source.list_back() : session.source.list_on();
  } else if (text == "-") {
    lines = session.source.list_back();
  } else if (const std::size_t comma = text.find(','); comma != std::string::npos) {
    const auto first = read_place(session, text.substr(0, comma));
    if (!first) return first.error();
    const auto last = read_number(trim(std::string_view(text).substr(comma + 1)));
    if (!last || !first->function.empty()) return command_error("list needs FIRST,LAST: two line numbers.");
    lines = session.source.list(path_of(session, first->file), first->line, static_cast<int>(*last));
  } else {
    const auto place = line_of(session, text);
    if (!place) return place.error();
    lines = session.source.list(place->file, place->line - kAround, place->line + kAround - 1);
  }
  if (!lines) return lines.error();
  session.print(*lines);
  return Ok{};
}

// info line [LINE | FILE:LINE | FUNCTION]: the instructions of a line.
Status info_line(Session& session, std::string_view text) {
  const auto frame = session.frame();
  if (!frame) return frame.error();
  if (text.empty() && (*frame)->path.empty()) return command_error("The frame has no source line.");
  std::string path = (*frame)->path;
  int line = (*frame)->line;
  if (!text.empty()) {
    const auto place = line_of(session, std::string(text));
    if (!place) return place.error();
    path = place->file;
    line = place->line;
  }
  const auto body = session.ask("warpgrind/codeOfLine", {{"source", {{"path", path}}}, {"line", line}});
  if (!body) return body.error();
  const int found = json::get<int>(*body, "line");
  std::string out = fmt::format("Line {} of \"{}\"", line, base_name(path));
  if (found != line && found != 0) out += fmt::format(" has no code; the next with code is line {}, which", found);
  std::string runs;
  json::each(*body, "runs", [&](const Json& run) {
    const auto count = json::get<std::uint64_t>(run, "count");
    const std::string first = json::text(run, "first"), last = json::text(run, "last");
    runs += fmt::format("  {}: {} ({})\n", json::text(run, "function"), first == last ? first : first + " to " + last,
                        counted(count, "instruction"));
  });
  out += runs.empty() ? " has no code in the stopped kernel's module.\n" : " has this PTX:\n" + runs;
  session.print(out);
  return Ok{};
}

Status info_source(Session& session, std::string_view) {
  std::string path = session.source.path();
  if (session.needs_stop())
    if (const auto frame = session.frame(); frame && !(*frame)->path.empty()) path = (*frame)->path;
  if (path.empty()) return command_error("No current source file.");
  std::string out = fmt::format("Current source file is {}\n", path);
  if (const auto lines = session.source.line_count(path); lines)
    out += fmt::format("Contains {}.\n", counted(*lines, "line"));
  else
    out += fmt::format("It cannot be read: {}\n", lines.error().message);
  session.print(out);
  return Ok{};
}

// info functions [PATTERN]: by file, and by line in it.
Status info_functions(Session& session, std::string_view pattern) {
  auto found = functions(session, "pattern", std::string(pattern));
  if (!found) return found.error();
  std::string out = pattern.empty() ? "All functions of the stopped kernel's module:\n"
                                    : fmt::format("All functions that match \"{}\":\n", pattern);
  std::stable_sort(found->begin(), found->end(), [](const Function& a, const Function& b) {
    return std::pair(a.path, a.line) < std::pair(b.path, b.line);
  });
  std::optional<std::string> file;
  for (const Function& f : *found) {
    if (file != f.path) out += f.path.empty() ? "\nWithout a source file:\n" : fmt::format("\nFile {}:\n", f.path);
    file = f.path;
    const std::string kind =
        f.is_inlined  ? "inlined"
        : f.is_kernel ? fmt::format("kernel, {}", counted(static_cast<std::uint64_t>(f.instructions), "instruction"))
                      : counted(static_cast<std::uint64_t>(f.instructions), "instruction");
    out += fmt::format("{}\t{}  ({})\n", f.line == 0 ? "" : fmt::format("{}:", f.line), f.name, kind);
  }
  session.print(out);
  return Ok{};
}

}  // namespace warpgrind::debug
