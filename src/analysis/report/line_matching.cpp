#include "report/line_matching.h"

#include <algorithm>
#include <cstddef>

namespace warpgrind::report {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    out.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

std::vector<std::uint32_t> match_lines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::vector<std::uint32_t> out(a.size(), 0);
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    out[head] = static_cast<std::uint32_t>(head + 1);
    ++head;
  }
  while (tail + head < a.size() && tail + head < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    out[a.size() - 1 - tail] = static_cast<std::uint32_t>(b.size() - tail);
    ++tail;
  }
  const std::size_t n = a.size() - head - tail, m = b.size() - head - tail;
  constexpr std::size_t kMostCells = 25'000'000;  // 100 MB
  if (n == 0 || m == 0 || n > kMostCells / m) return out;
  std::vector<std::uint32_t> length((n + 1) * (m + 1), 0);  // of the longest common subsequence from (i, j) on
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (m + 1) + j]; };
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      at(i, j) = a[head + i] == b[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (a[head + i] == b[head + j]) {
      out[head + i] = static_cast<std::uint32_t>(head + j + 1);
      ++i, ++j;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

}  // namespace warpgrind::report
