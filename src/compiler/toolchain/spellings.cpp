// Respelling of attributes and asm texts at the places of clang's complaints.
#include "toolchain/spellings.h"

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
    if (place.what == Place::Of::attribute) {
      respell_attribute(source, at);
    } else {
      respell_percents(source, at);
    }
  }
  return source;
}

}  // namespace warpgrind::toolchain
