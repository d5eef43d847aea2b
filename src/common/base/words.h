// Helpers for the wording of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpgrind {

// "/src/app/main.cu" -> "main.cu"
inline std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "s", or "" if n is 1.
template <class Number>
constexpr const char* plural(Number n) {
  return n == 1 ? "" : "s";
}

// Replaces every `what`, which is not empty, by `by`; not in what was put in.
inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// A count with commas: 1234567 -> "1,234,567". `count` is a whole number.
std::string grouped(double count);

// "1 error", "3 errors"
inline std::string counted(std::uint64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + plural(n);
}

}  // namespace warpgrind
