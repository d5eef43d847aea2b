#include "debugger/lane_table.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/words.h"
#include "debugger/arithmetic.h"

namespace warpgrind::debugger {

namespace {

bool has_lane(LaneMask mask, unsigned lane) {
  return mask >> lane & 1;
}

bool less(const Number& a, const Number& b) {
  if (a.is_floating()) return a.floating < b.floating;
  if (a.kind == Number::Kind::unsigned_integer)
    return static_cast<unsigned __int128>(a.integer) < static_cast<unsigned __int128>(b.integer);
  return a.integer < b.integer;
}

void find_extremes(LaneTable& table, const TypeTable& types, LaneMask lanes) {
  std::optional<Number> minimum, maximum;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!has_lane(lanes, lane)) continue;
    const Result<Number> number = number_of(types, table.cells[lane].value);
    if (!number.ok()) return;
    if (number->is_floating() && std::isnan(number->floating)) {
      table.not_a_number |= 1u << lane;
      continue;
    }
    if (!minimum || less(*number, *minimum)) {
      minimum = *number;
      table.minimum = lane;
    }
    if (!maximum || less(*maximum, *number)) {
      maximum = *number;
      table.maximum = lane;
    }
  }
}

// Values too large to be read are compared by their texts.
bool is_same(const LaneCell& a, const LaneCell& b) {
  return a.value.bytes == b.value.bytes && (!a.value.bytes.empty() || a.text == b.text);
}

void find_differences(LaneTable& table, LaneMask lanes) {
  const int count = std::popcount(lanes);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!has_lane(lanes, lane)) continue;
    LaneMask same = 0;
    for (unsigned other = 0; other < kWarpSize; ++other)
      if (has_lane(lanes, other) && is_same(table.cells[lane], table.cells[other])) same |= 1u << other;
    if (2 * std::popcount(same) <= count) continue;
    table.all_equal = same == lanes;
    table.different = lanes & ~same;
    return;
  }
}

std::string cell_text(const LaneTable& table, unsigned lane) {
  const LaneCell& cell = table.cells[lane];
  if (!has_lane(table.existing, lane)) return "-";
  if (!cell.error.empty()) return "?";
  if (!has_lane(table.active, lane)) return "(" + cell.text + ")";
  return cell.text + (has_lane(table.different, lane) ? "*" : "");
}

std::string heading(const LaneTable& table) {
  const LaneMask lanes = table.active & table.with_value;
  std::string text = table.expression;
  if (!table.type.empty()) text += " (" + table.type + ")";
  const int active = std::popcount(table.active), existing = std::popcount(table.existing);
  const std::string of = active == existing ? counted(static_cast<std::uint64_t>(active), "lane")
                                            : std::to_string(active) + " active lanes of " + std::to_string(existing);
  if (lanes == 0) return text + ": no active lane has a value";
  if (table.all_equal && lanes == table.active)
    return text + ": " + table.cells[static_cast<unsigned>(std::countr_zero(lanes))].text + " in all " + of;
  text += ": " + of;
  if (table.minimum && !table.all_equal)
    text += ", minimum " + table.cells[*table.minimum].text + " in lane " + std::to_string(*table.minimum) +
            ", maximum " + table.cells[*table.maximum].text + " in lane " + std::to_string(*table.maximum);
  if (table.not_a_number)
    text +=
        ", NaN in lane" + std::string(plural(std::popcount(table.not_a_number))) + " " + lanes_text(table.not_a_number);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

LaneTable make_lane_table(std::span<LaneView* const> lanes, LaneMask active, TypeTable& types,
                          const Expression& expression, const TextOptions& options) {
  LaneTable table;
  table.expression = expression.text();
  for (unsigned lane = 0; lane < std::min<std::size_t>(lanes.size(), kWarpSize); ++lane) {
    if (!lanes[lane]) continue;
    table.existing |= 1u << lane;
    LaneCell& cell = table.cells[lane];
    const LaneContext context{*lanes[lane], types};
    Result<Value> value = evaluate(context, expression);
    if (!value.ok()) {
      cell.error = value.error().message;
      continue;
    }
    cell.value = value.take();
    cell.text = text_of(context, cell.value, options);
    table.with_value |= 1u << lane;
    if (table.type.empty()) table.type = types.name(cell.value.type);
  }
  table.active = active & table.existing;
  const LaneMask compared = table.active & table.with_value;
  find_extremes(table, types, compared);
  find_differences(table, compared);
  return table;
}

std::string lane_table_text(const LaneTable& table) {
  std::string text = heading(table) + "\n";
  const bool is_uniform = table.all_equal && (table.active & table.with_value) == table.existing;
  if (is_uniform) return text;
  std::size_t width = 1;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) width = std::max(width, cell_text(table, lane).size());
  const unsigned columns = width <= 10 ? 8 : width <= 22 ? 4 : 1;
  for (unsigned first = 0; first < kWarpSize; first += columns) {
    const LaneMask row = (columns == 32 ? kFullMask : (1u << columns) - 1) << first;
    if (!(table.existing & row)) continue;
    text += padded(std::to_string(first), 4) + ":";
    for (unsigned lane = first; lane < first + columns; ++lane)
      text += " " + (columns == 1 ? cell_text(table, lane) : padded(cell_text(table, lane), width));
    text += "\n";
  }
  // Each reason once, with its lanes.
  LaneMask explained = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const std::string& error = table.cells[lane].error;
    if (error.empty() || has_lane(explained, lane)) continue;
    LaneMask same = 0;
    for (unsigned other = lane; other < kWarpSize; ++other)
      if (table.cells[other].error == error) same |= 1u << other;
    explained |= same;
    text += "   ? lane" + std::string(plural(std::popcount(same))) + " " + lanes_text(same) + ": " + error + "\n";
  }
  return text;
}

std::string lanes_text(LaneMask lanes) {
  std::string text;
  for (unsigned lane = 0; lane < kWarpSize;) {
    if (!has_lane(lanes, lane)) {
      ++lane;
      continue;
    }
    unsigned end = lane;
    while (end + 1 < kWarpSize && has_lane(lanes, end + 1)) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(lane);
    if (end > lane) text += (end == lane + 1 ? ", " : "-") + std::to_string(end);
    lane = end + 1;
  }
  return text.empty() ? "none" : text;
}

}  // namespace warpgrind::debugger
