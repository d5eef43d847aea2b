// A value of all lanes as a table.
#include "debug/warp_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/json.h"

namespace warpgrind::debug {

namespace {

struct Lane {
  int lane = 0;
  std::string value;
  bool active = true, undefined = false;
};

std::optional<double> number_of(std::string_view text) {
  double out = 0;
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) {
    std::uint64_t bits = 0;
    const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return static_cast<double>(bits);
  }
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// "0-3, 7"
std::string ranges(const std::vector<int>& lanes) {
  std::string out;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t last = i;
    while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", lanes[i]);
    if (last > i) out += fmt::format("-{}", lanes[last]);
    i = last + 1;
  }
  return out;
}

std::string lanes_text(const std::vector<int>& lanes) {
  return fmt::format("lane{} {}", lanes.size() == 1 ? "" : "s", ranges(lanes));
}

// What the defined values of active lanes have in common.
std::string summary(const std::vector<Lane>& lanes) {
  std::map<std::string, std::vector<int>> by_value;
  for (const Lane& one : lanes)
    if (one.active && !one.undefined) by_value[one.value].push_back(one.lane);
  if (by_value.empty()) return "";
  const bool all_defined =
      std::none_of(lanes.begin(), lanes.end(), [](const Lane& l) { return l.active && l.undefined; });
  if (by_value.size() == 1)
    return fmt::format("{} equal: {}\n", all_defined ? "all" : "all defined ones", by_value.begin()->first);
  std::optional<std::pair<double, const std::string*>> least, greatest;
  bool numbers = true;
  for (const auto& [value, where] : by_value) {
    const auto number = number_of(value);
    numbers &= number.has_value();
    if (!numbers) break;
    if (!least || *number < least->first) least = {*number, &value};
    if (!greatest || *number > greatest->first) greatest = {*number, &value};
  }
  std::string out = fmt::format("{} different values\n", by_value.size());
  if (numbers)
    out = fmt::format("min {} in {}, max {} in {}\n", *least->second, lanes_text(by_value[*least->second]),
                      *greatest->second, lanes_text(by_value[*greatest->second]));
  // One value that most lanes share: the others are what one looks for.
  const auto common = std::max_element(by_value.begin(), by_value.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<int> others;
  std::size_t all = 0;
  for (const auto& [value, where] : by_value) {
    all += where.size();
    if (value != common->first) others.insert(others.end(), where.begin(), where.end());
  }
  std::sort(others.begin(), others.end());
  if (2 * common->second.size() > all) out += fmt::format("{} in all but {}\n", common->first, lanes_text(others));
  return out;
}

}  // namespace

std::string warp_table(const Json& values) {
  std::vector<Lane> lanes;
  json::each(values, "lanes", [&](const Json& one) {
    Lane lane;
    json::read(one, "lane", lane.lane);
    lane.value = json::text(one, "value");
    json::read(one, "active", lane.active);
    json::read(one, "undefined", lane.undefined);
    lanes.push_back(lane);
  });
  if (lanes.empty()) return "no lanes\n";
  std::vector<std::string> cells;
  std::size_t width = 0;
  std::vector<int> inactive, undefined;
  for (const Lane& one : lanes) {
    constexpr std::string_view kPartly = " <partly undefined>";
    std::string value = one.value == "<undefined>" ? "" : one.value;
    if (value.ends_with(kPartly)) value.resize(value.size() - kPartly.size());
    if (one.undefined) value += "?";
    cells.push_back(one.active ? value : "[" + value + "]");
    width = std::max(width, cells.back().size());
    if (!one.active) inactive.push_back(one.lane);
    if (one.undefined) undefined.push_back(one.lane);
  }
  constexpr std::size_t kWidest = 8;  // 8 cells of it fit into 80 columns
  const std::size_t in_row = width > kWidest ? 4 : 8;
  std::string out = json::text(values, "type");
  if (!out.empty()) out += "\n";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % in_row == 0) out += fmt::format("{}lane {:>2}:", i == 0 ? "" : "\n", lanes[i].lane);
    out += fmt::format(" {:>{}}", cells[i], width);
  }
  out += "\n" + summary(lanes);
  if (!inactive.empty()) out += fmt::format("[ ] inactive: {}\n", lanes_text(inactive));
  if (!undefined.empty()) out += fmt::format("? undefined: {}\n", lanes_text(undefined));
  return out;
}

}  // namespace warpgrind::debug
