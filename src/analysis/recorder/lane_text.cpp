#include "recorder/lane_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace warpgrind::recorder {

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // numbers that a page's arithmetic can hold
constexpr std::size_t kShortestRun = 3;                   // of growing numbers: two are as short one by one

// Only numbers that are written back as they were: no leading zeros or signs.
std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number > kLargest || number < -kLargest || fmt::format("{}", number) != text) return std::nullopt;
  return number;
}

std::string cleaned(const std::string& text) {
  std::string out = text;
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return out;
}

std::string run(std::size_t count, const std::string& text) {
  return count == 1 ? ":" + text : fmt::format("{}:{}", count, text);
}

}  // namespace

std::string runs_of(std::span<const std::int64_t> numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    // Unsigned: differences of any two numbers wrap.
    const auto difference = [&](std::size_t k) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers[k + 1]) -
                                       static_cast<std::uint64_t>(numbers[k]));
    };
    std::size_t end = i + 1;
    const std::int64_t step = end < numbers.size() ? difference(i) : 0;
    while (end < numbers.size() && difference(end - 1) == step) ++end;
    if (!out.empty()) out += '\t';
    if (step != 0 && end - i >= kShortestRun) {
      out += fmt::format("{}+{}:{}", end - i, step, numbers[i]);
    } else {
      if (step != 0) end = i + 1;
      out += run(end - i, fmt::format("{}", numbers[i]));
    }
    i = end;
  }
  return out;
}

std::string runs_of(std::span<const std::string> texts) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : texts) {
    const auto number = whole_number(text);
    if (!number) break;
    numbers.push_back(*number);
  }
  if (numbers.size() == texts.size()) return runs_of(std::span<const std::int64_t>(numbers));
  std::string out;
  for (std::size_t i = 0; i < texts.size();) {
    std::size_t end = i + 1;
    while (end < texts.size() && texts[end] == texts[i]) ++end;
    if (!out.empty()) out += '\t';
    out += run(end - i, cleaned(texts[i]));
    i = end;
  }
  return out;
}

}  // namespace warpgrind::recorder
