// Small helpers for the text of commands.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::debug {

inline std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A whole text that is a number without a sign; nullopt: it is none.
inline std::optional<std::int64_t> read_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

// Removes the first word and returns it. A word ends at a blank.
inline std::string cut_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = text.find_first_of(" \t");
  const std::string word(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view{} : trim(text.substr(end));
  return word;
}

}  // namespace warpgrind::debug
