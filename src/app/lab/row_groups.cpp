// Groups of rows by problem, and the ends of a ladder.
#include "lab/row_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "lab/derive.h"
#include "lab/text_table.h"

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

std::vector<std::pair<std::string, std::vector<const Row*>>> largest_groups(const TopicResult& result) {
  auto all = groups(result);
  const auto elements = [](const auto& group) {
    double product = 1;
    WG_ASSERT(!group.second.empty());
    for (const double n : group.second.front()->size) product *= n;
    return product;
  };
  std::reverse(all.begin(), all.end());  // of problems of equal size, the last that ran comes first
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return elements(a) > elements(b); });
  return all;
}

std::pair<const Row*, const Row*> ends_of_ladder(const TopicResult& t) {
  std::pair<const Row*, const Row*> ends{nullptr, nullptr};
  const auto look_at = [&ends](const Row& row) {
    auto& [first, best] = ends;
    if (row.role != "rung" || !row.shown() || row.derived.time_us <= 0) return;
    if (!first) first = &row;
    if (ladder_of(row) != ladder_of(*first) || row.size_text != first->size_text || row.type != first->type) return;
    if (!best || row.derived.time_us < best->derived.time_us) best = &row;
  };
  for (const Row& row : t.large) look_at(row);
  for (const auto& [problem, rows] : largest_groups(t)) {
    if (ends.first != ends.second) break;
    ends = {nullptr, nullptr};
    for (const Row* row : rows) look_at(*row);
    WG_ASSERT((ends.first == nullptr) == (ends.second == nullptr));
    const auto steps = std::count_if(rows.begin(), rows.end(), [](const Row* r) { return r->role == "rung"; });
    if (steps != 1 || !ends.first) continue;
    for (const Row* row : rows)  // a single rung: the other end is a faster row of a sweep
      if (row->role == "sweep" && row->shown() && row->derived.time_us > 0 &&
          row->derived.time_us < ends.second->derived.time_us)
        ends.second = row;
  }
  return ends;
}

std::string without_result(const TopicResult& t) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const Row& row : t.rows) {
    if (row.skipped.empty()) continue;
    const std::string name = row.rung.empty() ? row.size_text : row.label() + " " + row.size_text;
    const auto known =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& entry) { return entry.first == row.skipped; });
    if (known == by_reason.end())
      by_reason.emplace_back(row.skipped, name);
    else
      known->second += ", " + name;
  }
  std::string out;
  for (const auto& [reason, names] : by_reason)
    out += wrapped(fmt::format("{}: skipped {}: {}", t.topic, names, reason), kTextWidth, "", "  ");
  return out;
}

std::string failures(const TopicResult& t) {
  std::string out;
  for (const Row& row : t.rows)
    if (row.skipped.empty() && !row.shown())
      out +=
          fmt::format("NOT VERIFIED: {} {} {}: max error {:.3g}, tolerance {:.3g}, {:.0f} of {:.0f} elements wrong\n",
                      row.label(), row.size_text, row.type, row.max_error, row.tolerance, row.wrong, row.elements);
  return out;
}

}  // namespace warpgrind::lab
