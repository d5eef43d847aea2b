// Respelling of attributes and asm texts at the places of clang's complaints.
#include "toolchain/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "base/assert.h"
#include "toolchain/messages.h"

namespace warpgrind::toolchain {

namespace {

struct Complaint {
  std::string_view text;
  Place::Of what;
};
constexpr Complaint kComplaints[] = {
    {"error: an attribute list cannot appear here", Place::Of::attribute},
    {"error: invalid % escape in inline assembly string", Place::Of::percent},
    {"error: initialization is not supported for __shared__ variables", Place::Of::shared_variable},
};
constexpr std::string_view kInMacro = "note: expanded from macro";

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Removes the part behind the last colon, and returns it.
std::string_view take_last(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view last = text.substr(colon + 1);
  text = text.substr(0, colon);
  return last;
}

// The GNU spelling of a standard attribute. Empty for the others: they are hints, which a program can do without.
std::string_view gnu_spelling(std::string_view attribute) {
  for (const auto& [name, gnu] :
       {std::pair("nodiscard", "__attribute__((warn_unused_result))"),
        std::pair("noreturn", "__attribute__((noreturn))"), std::pair("maybe_unused", "__attribute__((unused))"),
        std::pair("deprecated", "__attribute__((deprecated))")})
    if (attribute.find(name) != std::string_view::npos) return gnu;
  return "";
}

void respell_attribute(std::string& source, std::size_t at) {
  WG_ASSERT(at < source.size());
  const std::string_view here = std::string_view(source).substr(at);
  if (here.starts_with("alignas")) {
    source.replace(at, 7, "_Alignas");
  } else if (here.starts_with("[[")) {
    const std::size_t end = here.find("]]");
    if (end == std::string_view::npos) return;
    const std::string_view attribute = here.substr(2, end - 2);
    std::string other(gnu_spelling(attribute));
    other.append(static_cast<std::size_t>(std::count(attribute.begin(), attribute.end(), '\n')), '\n');
    source.replace(at, end + 2, other);
  }
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// clang stops at the first error of an asm text and names a place just behind the '%'. The later ones on the line have
// the same error. An operand is '%' and digits, with at most one letter before them ("%c0", "%[name]").
void respell_percents(std::string& source, std::size_t at) {
  WG_ASSERT(at < source.size());
  std::size_t first = at;
  while (first > 0 && at - first < 4 && source[first] != '%') first--;
  if (source[first] != '%') return;
  for (std::size_t i = first; i + 2 < source.size() && source[i] != '\n'; i++) {
    if (source[i] != '%') continue;
    if (source[i + 1] == '%') {
      i++;
    } else if (i == first || (is_letter(source[i + 1]) && is_letter(source[i + 2]))) {
      source.insert(i++, "%");
    }
  }
}

bool of_identifier(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

void blank_word(std::string& text, std::string_view word) {
  for (std::size_t i = text.find(word); i != std::string::npos; i = text.find(word, i + 1)) {
    const bool begins = i == 0 || !of_identifier(text[i - 1]);
    const bool ends = i + word.size() == text.size() || !of_identifier(text[i + word.size()]);
    if (begins && ends) text.replace(i, word.size(), word.size(), ' ');
  }
}

// End of a declarator without initializer that is the only one of its declaration: its ';'.
std::optional<std::size_t> end_of_declaration(std::string_view source, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < source.size(); i++) {
    const char c = source[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && c == ';') return i;
    if (c == '{' || c == '}' || c == '=' || (depth == 0 && c == ',')) return std::nullopt;
  }
  return std::nullopt;
}

// at: the variable's name.
void respell_shared_variable(std::string& source, std::size_t at) {
  std::size_t end_of_name = at;
  while (end_of_name < source.size() && of_identifier(source[end_of_name])) end_of_name++;
  const std::string name = source.substr(at, end_of_name - at);
  const std::optional<std::size_t> end = end_of_declaration(source, end_of_name);
  const std::size_t keyword = source.rfind("__shared__", at);
  if (name.empty() || !end || keyword == std::string::npos) return;
  const std::size_t before = source.find_last_of("\n;{}", keyword);
  const std::size_t begin = source.find_first_not_of(" \t", before == std::string::npos ? 0 : before + 1);
  std::string declaration = source.substr(begin, *end - begin);
  if (declaration.find_first_of(";{}#") != std::string::npos) return;  // the keyword is of another declaration
  for (const std::string_view word : {"__shared__", "static"}) blank_word(declaration, word);
  source.replace(
      begin, *end - begin,
      fmt::format("union wg_shared_{0} {{ {1}; __device__ wg_shared_{0}() {{}} __device__ ~wg_shared_{0}() {{}} "
                  "}}; __shared__ wg_shared_{0} wg_memory_{0}; auto& {0} = wg_memory_{0}.{0}",
                  name, declaration));
}

}  // namespace

std::map<std::string, std::vector<Place>> refused_spellings(std::string_view messages) {
  std::map<std::string, std::vector<Place>> out;
  const Complaint* complaint = nullptr;
  for (const std::string_view line : lines_of(messages)) {
    const std::string plain = without_colours(line);
    if (begins_message(plain)) {
      const auto* found = std::find_if(std::begin(kComplaints), std::end(kComplaints),
                                       [&](const Complaint& c) { return plain.find(c.text) != std::string::npos; });
      complaint = found == std::end(kComplaints) ? nullptr : found;
    }
    if (complaint == nullptr) continue;
    const std::size_t at = std::min(plain.find(complaint->text), plain.find(kInMacro));
    if (at == std::string::npos || at < 2) continue;
    std::string_view place = std::string_view(plain).substr(0, at - 2);  // "a.cu:12:3" before ": error: "
    const auto column = number(take_last(place)), row = number(take_last(place));
    if (column && row) out[std::string(place)].push_back({*row, *column, complaint->what});
  }
  return out;
}

std::string respelt(std::string source, std::vector<Place> places) {
  std::sort(places.begin(), places.end(), std::greater<>());  // from the end, so that earlier places keep their columns
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i < source.size(); i++)
    if (source[i] == '\n') begins.push_back(i + 1);
  for (const Place& place : places) {
    if (place.line == 0 || place.line > begins.size() || place.column == 0) continue;
    const std::size_t at = begins[place.line - 1] + place.column - 1;
    if (at >= source.size()) continue;
    switch (place.what) {
      case Place::Of::attribute:
        respell_attribute(source, at);
        break;
      case Place::Of::percent:
        respell_percents(source, at);
        break;
      case Place::Of::shared_variable:
        respell_shared_variable(source, at);
        break;
    }
  }
  return source;
}

}  // namespace warpgrind::toolchain
