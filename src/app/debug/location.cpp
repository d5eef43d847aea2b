// Reading of places in the source.
#include "debug/location.h"

#include <fmt/format.h>

#include "base/words.h"
#include "dap/condition_text.h"
#include "debug/words.h"

namespace warpgrind::debug {

std::string Location::text() const {
  return function.empty() ? fmt::format("{}:{}", file, line) : function;
}

std::string Location::name() const {
  return function.empty() ? fmt::format("{}:{}", base_name(file), line) : function;
}

Result<Location> read_location(std::string_view text, const std::string& file, int line) {
  Location out;
  text = trim(text);
  const std::size_t colon = text.rfind(':');
  const bool names_file = colon != std::string_view::npos && colon > 0 && text[colon - 1] != ':';
  const auto number = read_number(names_file ? trim(text.substr(colon + 1)) : text);
  if (text.starts_with("*"))
    return Error{ErrorKind::unsupported, "breakpoints at addresses are not supported: use FILE:LINE or a function", ""};
  if (!text.empty() && !number) {
    if (names_file)
      return Error{ErrorKind::bad_input, fmt::format("\"{}\" is no line number", text.substr(colon + 1)), ""};
    out.function = text;
    return out;
  }
  out.file = names_file ? std::string(trim(text.substr(0, colon))) : file;
  out.line = number ? static_cast<int>(*number) : line;
  if (out.file.empty())
    return Error{ErrorKind::bad_input, "there is no current source file: use FILE:LINE or a function", ""};
  if (out.line < 1) return Error{ErrorKind::bad_input, "line numbers begin at 1", ""};
  return out;
}

std::string cut_condition(std::string& text) {
  for (std::size_t at = text.find("if"); at != std::string::npos; at = text.find("if", at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    const bool ends = at + 2 < text.size() && (text[at + 2] == ' ' || text[at + 2] == '(');
    if (!begins || !ends) continue;
    std::string condition(trim(std::string_view(text).substr(at + 2)));
    text = trim(std::string_view(text).substr(0, at));
    return condition;
  }
  return "";
}

Status check_condition(std::string_view condition) {
  const std::string problem = dap::problem_of_condition(condition);
  if (problem.empty()) return Ok{};
  return Error{ErrorKind::bad_input, fmt::format("condition '{}': {}", condition, problem), ""};
}

Result<std::string> read_condition(std::string& text) {
  std::string condition = cut_condition(text);
  const std::string_view rest = trim(text);
  if (rest == "if" || rest.ends_with(" if"))
    return Error{ErrorKind::bad_input, "a condition is expected behind 'if'", ""};
  if (Status good = check_condition(condition); !good) return good.error();
  return condition;
}

}  // namespace warpgrind::debug
