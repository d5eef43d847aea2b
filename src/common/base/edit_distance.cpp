#include "base/edit_distance.h"

#include <algorithm>
#include <utility>

namespace warpgrind {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::vector<std::size_t> nearest_names(std::string_view written, std::span<const std::string> names, std::size_t most) {
  constexpr std::size_t kShortestPart = 4;
  std::vector<std::pair<std::size_t, std::size_t>> near;  // distance, index
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t distance = edit_distance(written, names[i]);
    if (written.size() >= kShortestPart && names[i].find(written) != std::string::npos)
      distance = std::min(distance, distance / 6 + 1);
    if (distance <= most) near.emplace_back(distance, i);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::size_t> out;
  for (const auto& [distance, index] : near) out.push_back(index);
  return out;
}

}  // namespace warpgrind
