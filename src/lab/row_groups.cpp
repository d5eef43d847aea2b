#include "lab/row_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgrind::lab {

const Row* same_row(const TopicResult* other, const Row& row) {
  if (!other) return nullptr;
  for (const Row& r : other->rows)
    if (r.key() == row.key() && r.shown()) return &r;
  return nullptr;
}

std::vector<std::pair<std::string, std::vector<const Row*>>> groups(const TopicResult& result) {
  std::vector<std::pair<std::string, std::vector<const Row*>>> out;
  for (const Row& row : result.rows) {
    const std::string name = row.size_text + " " + row.type;
    auto it = std::find_if(out.begin(), out.end(), [&](const auto& group) { return group.first == name; });
    if (it == out.end()) it = out.insert(out.end(), {name, {}});
    it->second.push_back(&row);
  }
  return out;
}

std::string failures(const TopicResult& t) {
  std::string out;
  for (const Row& row : t.rows)
    if (row.skipped.empty() && !row.verified)
      out +=
          fmt::format("NOT VERIFIED: {} {} {}: max error {:.3g}, tolerance {:.3g}, {:.0f} of {:.0f} elements wrong\n",
                      row.label(), row.size_text, row.type, row.max_error, row.tolerance, row.wrong, row.elements);
  return out;
}

}  // namespace warpgrind::lab
