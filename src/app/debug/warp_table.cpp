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

// "(float *) 0x7f00 <cudaMalloc in main, byte 8 of a 64-byte allocation>": the address and the allocation alone.
struct Pointer {
  std::string address, allocation;  // "cudaMalloc in main, a 64-byte allocation"
  std::int64_t byte = 0;
};

std::optional<Pointer> read_pointer(std::string_view value) {
  if (value.starts_with("(")) {
    const std::size_t type = value.find(") ");
    if (type == std::string_view::npos) return std::nullopt;
    value.remove_prefix(type + 2);
  }
  if (!value.starts_with("0x")) return std::nullopt;
  const std::size_t end = value.find(" <");
  Pointer out{std::string(value.substr(0, end)), "", 0};
  if (end == std::string_view::npos) return out;
  const std::string_view about = value.substr(end + 2, value.size() - end - 3);
  const std::size_t byte = about.rfind(", byte "), of = about.find(" of ", byte == std::string_view::npos ? 0 : byte);
  if (byte == std::string_view::npos || of == std::string_view::npos) {
    out.allocation = about;
    return out;
  }
  const char* const digits = about.data() + byte + 7;
  std::from_chars(digits, about.data() + of, out.byte);
  out.allocation = std::string(about.substr(0, byte)) + ", " + std::string(about.substr(of + 4));
  return out;
}

// What the lanes' pointers point to: a line for each allocation.
std::string allocations_text(const std::vector<std::pair<int, Pointer>>& pointers) {
  std::map<std::string, std::vector<std::pair<int, std::int64_t>>> by_allocation;
  for (const auto& [lane, pointer] : pointers) {
    // In shared memory the name has the place in the variable: "tile+128".
    const std::size_t plus = pointer.allocation.find('+'), comma = pointer.allocation.find(',');
    std::string name = pointer.allocation;
    if (plus < comma && comma != std::string::npos) name.erase(plus, comma - plus);
    by_allocation[name].emplace_back(lane, pointer.byte);
  }
  std::string out;
  for (const auto& [name, lanes] : by_allocation) {
    if (name.empty()) continue;
    std::vector<int> where;
    bool even = lanes.size() > 1;
    const std::int64_t step = even ? lanes[1].second - lanes[0].second : 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      where.push_back(lanes[i].first);
      even &= i == 0 || (lanes[i].second - lanes[i - 1].second == step && lanes[i].first == lanes[i - 1].first + 1);
    }
    out += fmt::format("{}: {}, byte {}", lanes_text(where), name, lanes.front().second);
    if (even && step != 0) out += fmt::format(", {:+} from lane to lane", step);
    if (!even) out += " and others";
    out += "\n";
  }
  return out;
}

// Wide values: a line for each run of lanes with the same one.
std::string list_text(const std::vector<Lane>& lanes, const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    while (end < cells.size() && cells[end] == cells[i]) ++end;
    const std::string where = end == i + 1 ? fmt::format("lane {}", lanes[i].lane)
                                           : fmt::format("lanes {}-{}", lanes[i].lane, lanes[end - 1].lane);
    out += fmt::format("{:<12} {}\n", where + ":", cells[i]);
    i = end;
  }
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
  std::vector<std::pair<int, Pointer>> pointers;
  for (Lane& one : lanes) {
    if (auto pointer = read_pointer(one.value)) {
      one.value = pointer->address;
      if (one.active) pointers.emplace_back(one.lane, std::move(*pointer));
    }
    constexpr std::string_view kPartly = " <partly undefined>";
    std::string value = one.value == "<undefined>" ? "" : one.value;
    if (value.ends_with(kPartly)) value.resize(value.size() - kPartly.size());
    if (one.undefined) value += "?";
    cells.push_back(one.active ? value : "[" + value + "]");
    width = std::max(width, cells.back().size());
    if (!one.active) inactive.push_back(one.lane);
    if (one.undefined) undefined.push_back(one.lane);
  }
  constexpr std::size_t kWidest = 8, kHalf = 17;  // 8 cells, 4 cells of it fit into 80 columns
  const std::size_t in_row = width > kWidest ? 4 : 8;
  std::string out = json::text(values, "type");
  if (!out.empty()) out += "\n";
  if (width > kHalf) out += list_text(lanes, cells);
  for (std::size_t i = 0; i < cells.size() && width <= kHalf; ++i) {
    if (i % in_row == 0) out += fmt::format("{}lane {:>2}:", i == 0 ? "" : "\n", lanes[i].lane);
    out += fmt::format(" {:>{}}", cells[i], width);
  }
  if (width <= kHalf) out += "\n";
  // Addresses are no quantities, and one line of a list says already that all are equal.
  const std::string allocations = allocations_text(pointers);
  const bool one_line = width > kHalf && std::equal(cells.begin() + 1, cells.end(), cells.begin());
  out += !allocations.empty() ? allocations : one_line ? "" : summary(lanes);
  if (!inactive.empty()) out += fmt::format("[ ] inactive: {}\n", lanes_text(inactive));
  if (!undefined.empty()) out += fmt::format("? undefined: {}\n", lanes_text(undefined));
  return out;
}

}  // namespace warpgrind::debug
