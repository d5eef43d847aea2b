// Renaming of static device variables in PTX: the plain name becomes the name with the suffix.
#include "toolchain/static_variables.h"

#include <map>

namespace warpgrind::toolchain {

namespace {

// Followed by a digest of -cuid's value.
constexpr std::string_view kStaticMark = "__static__";

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

// Calls f for each word of a line, and g for the text between the words.
template <typename Word, typename Rest>
void each_word(std::string_view line, Word f, Rest g) {
  while (!line.empty()) {
    std::size_t n = 0;
    const bool word = in_name(line[0]);
    while (n < line.size() && in_name(line[n]) == word) n++;
    if (word) {
      f(line.substr(0, n));
    } else {
      g(line.substr(0, n));
    }
    line.remove_prefix(n);
  }
}

template <typename F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t n = end == std::string_view::npos ? text.size() : end + 1;
    f(text.substr(0, n));
    text.remove_prefix(n);
  }
}

}  // namespace

std::string with_static_variables_joined(std::string_view ptx) {
  std::map<std::string, std::string_view, std::less<>> suffix_of;  // by the plain name
  each_line(ptx, [&](std::string_view line) {
    if (line.starts_with(".extern ") || line.find(kStaticMark) == std::string_view::npos) return;
    each_word(
        line,
        [&](std::string_view word) {
          const std::size_t at = word.rfind(kStaticMark);
          if (at != std::string_view::npos && at > 0) suffix_of.emplace(word.substr(0, at), word.substr(at));
        },
        [](std::string_view) {});
  });
  if (suffix_of.empty()) return std::string(ptx);
  std::string out;
  each_line(ptx, [&](std::string_view line) {
    bool known = false;
    std::string joined;
    each_word(
        line,
        [&](std::string_view word) {
          joined += word;
          const auto found = suffix_of.find(word);
          if (found == suffix_of.end()) return;
          joined += found->second;
          known = true;
        },
        [&](std::string_view rest) { joined += rest; });
    if (!(known && line.starts_with(".extern "))) out += joined;
  });
  return out;
}

}  // namespace warpgrind::toolchain
