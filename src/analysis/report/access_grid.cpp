// Text drawings of requests, and their shapes in words.
#include "report/access_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "report/format.h"

namespace warpgrind::report {
namespace {

using results::AccessPattern;

constexpr std::int64_t kLine = 128, kSector = 32;
constexpr unsigned kCells = 32;
constexpr char kNoLane = '\0', kSeveral = '#';

char lane_sign(unsigned lane) {
  return "0123456789abcdefghijklmnopqrstuv"[lane];
}

std::int64_t floor_to(std::int64_t value, std::int64_t unit) {
  return value - ((value % unit) + unit) % unit;
}

std::vector<unsigned> lanes_on(const AccessPattern& p) {
  std::vector<unsigned> out;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if ((p.mask >> lane & 1) != 0) out.push_back(lane);
  return out;
}

struct GridRow {
  std::array<char, kCells> sign{};  // kNoLane: no lane
  std::array<bool, kCells> moved{};
  std::array<bool, kCells> conflict{};
};

// Marks the rows to show. Of a long run of rows that look alike (the same cells, other lanes), only the ends are shown.
std::vector<bool> shown_rows(const std::vector<std::pair<std::int64_t, GridRow>>& rows) {
  constexpr std::size_t kAll = 10, kBegin = 3, kEnd = 1;
  std::vector<bool> out(rows.size(), true);
  if (rows.size() <= kAll) return out;
  const auto occupied = [&](std::size_t i) {
    return kCells - std::count(rows[i].second.sign.begin(), rows[i].second.sign.end(), kNoLane);
  };
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && occupied(end) == occupied(begin)) ++end;
    if (end - begin > kBegin + kEnd + 1)
      for (std::size_t i = begin + kBegin; i < end - kEnd; ++i) out[i] = false;
    begin = end;
  }
  return out;
}

class Grid {
 public:
  // cells: per row, with a bar after each `group` cells.
  Grid(const TextOptions& options, std::size_t label, unsigned cells, unsigned group)
      : options_(options), label_(label), cells_(cells), group_(group) {}

  void draw(const std::vector<std::pair<std::int64_t, GridRow>>& rows, const std::string& more) {
    const std::vector<bool> shown = shown_rows(rows);
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!shown[i]) {
        ++left_out;
        continue;
      }
      if (left_out != 0) out_ += fmt::format("{}... {} {}\n", std::string(label_ + 2, ' '), left_out, more);
      left_out = 0;
      row(rows[i].first, rows[i].second);
    }
  }
  void row(std::int64_t offset, const GridRow& r) {
    out_ += right(fmt::format("{:+d}", offset), static_cast<int>(label_)) + " |";
    for (unsigned c = 0; c < cells_; ++c) {
      const char sign = r.sign[c] != kNoLane ? r.sign[c] : r.moved[c] ? '.' : ' ';
      const char* code = r.conflict[c] ? "\033[1;31m" : r.sign[c] != kNoLane ? "\033[1;36m" : "\033[2m";
      out_ += options_.colour && sign != ' ' ? fmt::format("{}{}\033[0m", code, sign) : std::string(1, sign);
      if ((c + 1) % group_ == 0) out_ += '|';
    }
    out_ += '\n';
  }
  void text(const std::string& line) { out_ += line + "\n"; }
  std::string take() { return std::move(out_); }

 private:
  const TextOptions& options_;
  std::size_t label_;
  unsigned cells_, group_;
  std::string out_;
};

void put(char& cell, unsigned lane) {
  cell = cell == kNoLane || cell == lane_sign(lane) ? lane_sign(lane) : kSeveral;
}

}  // namespace

std::string memory_grid(const AccessPattern& p, const GpuModel& model, const TextOptions& options) {
  const std::vector<unsigned> lanes = lanes_on(p);
  if (lanes.empty()) return "    no lane is on\n";
  const std::int64_t bytes = std::max<std::uint32_t>(1, p.lane_bytes);
  const std::int64_t cell = std::min<std::int64_t>(4, bytes), width = cell * kCells;
  // Positions are relative to a multiple of 256, like the alignment.
  std::map<std::int64_t, GridRow> rows;
  const auto cells = [&](std::int64_t from, std::int64_t size, auto&& f) {
    for (std::int64_t at = floor_to(from, cell); at < from + size; at += cell) {
      GridRow& row = rows[floor_to(at, width)];
      f(row, static_cast<unsigned>((at - floor_to(at, width)) / cell));
    }
  };
  const bool by_sectors = model.rules.coalescing == CoalescingRule::sectors_32;
  if (!by_sectors)
    for (const results::Transaction& t : p.transactions)
      cells(p.alignment + t.address_offset, t.bytes, [](GridRow& row, unsigned c) { row.moved[c] = true; });
  for (const unsigned lane : lanes) {
    const std::int64_t at = p.alignment + p.addresses[lane];
    if (by_sectors || p.transactions.empty()) {
      const std::int64_t first = floor_to(at, kSector), end = floor_to(at + bytes - 1, kSector) + kSector;
      cells(first, end - first, [](GridRow& row, unsigned c) { row.moved[c] = true; });
    }
    cells(at, bytes, [&](GridRow& row, unsigned c) { put(row.sign[c], lane); });
  }
  const std::int64_t lowest = rows.begin()->first;
  std::vector<std::pair<std::int64_t, GridRow>> drawn;
  for (const auto& [at, row] : rows) drawn.emplace_back(at - lowest, row);
  Grid grid(options, 11, kCells, static_cast<unsigned>(kSector / cell));
  if (width == kLine)
    grid.text("       bytes |sector 0|sector 1|sector 2|sector 3|  a row: a line of 128 bytes");
  else
    grid.text(fmt::format("       bytes  a row: {} bytes, {}", width,
                          width == kSector ? "one sector" : fmt::format("{} sectors", width / kSector)));
  grid.draw(drawn, "more lines like these");
  return grid.take();
}

std::string bank_grid(const AccessPattern& p, const GpuModel& model, const TextOptions& options) {
  const std::vector<unsigned> lanes = lanes_on(p);
  if (lanes.empty()) return "    no lane is on\n";
  const BankRule& rule = model.rules.banks;
  const std::int64_t word = rule.bank_bytes, width = word * rule.banks;
  const std::int64_t bytes = std::max<std::uint32_t>(1, p.lane_bytes);
  const auto start = static_cast<std::int64_t>(p.base.offset);
  // Lanes that the banks serve together: fewer if each lane accesses more than a word.
  const unsigned together = static_cast<unsigned>(
      std::clamp<std::int64_t>(rule.lanes * word / std::max<std::int64_t>(word, bytes), 1, kWarpSize));
  std::map<std::int64_t, GridRow> rows;
  std::map<std::pair<unsigned, unsigned>, std::set<std::int64_t>> words;  // by group of lanes and bank
  for (const unsigned lane : lanes)
    for (std::int64_t at = floor_to(start + p.addresses[lane], word); at < start + p.addresses[lane] + bytes;
         at += word) {
      const auto bank = static_cast<unsigned>(at / word % rule.banks);
      put(rows[floor_to(at, width)].sign[bank], lane);
      words[{lane / together, bank}].insert(at);
    }
  std::array<std::size_t, kCells> most{};
  for (const auto& [key, set] : words) most[key.second] = std::max(most[key.second], set.size());
  for (auto& [at, row] : rows)
    for (unsigned b = 0; b < rule.banks; ++b) row.conflict[b] = row.sign[b] != kNoLane && most[b] > 1;
  const std::int64_t lowest = rows.begin()->first;
  std::vector<std::pair<std::int64_t, GridRow>> drawn;
  for (const auto& [at, row] : rows) drawn.emplace_back(at - lowest, row);
  Grid grid(options, 11, rule.banks, rule.banks);
  std::string tens = "        bank |", ones = "             |", count = "       words |";
  for (unsigned b = 0; b < rule.banks; ++b) {
    tens += b % 10 == 0 ? fmt::format("{}", b / 10) : " ";
    ones += fmt::format("{}", b % 10);
    const std::size_t n = most[b];
    const std::string sign = n == 0    ? " "
                             : n < 10  ? std::to_string(n)
                             : n <= 32 ? std::string(1, static_cast<char>('a' + n - 10))
                                       : "+";
    count += options.colour && n > 1 ? "\033[1;31m" + sign + "\033[0m" : sign;
  }
  grid.text(tens + "|");
  grid.text(ones + "|");
  grid.draw(drawn, "more rows like these");
  const std::size_t worst = *std::max_element(most.begin(), most.end());
  grid.text(count + (worst == 1
                         ? "|  no conflict"
                         : fmt::format("|  {} words of one bank{}", worst,
                                       worst > 9 ? fmt::format(" ({})", static_cast<char>('a' + worst - 10)) : "")));
  if (together < kWarpSize) grid.text(fmt::format("{}{} lanes are served at a time", std::string(14, ' '), together));
  return grid.take();
}

std::string shape_of(const AccessPattern& p) {
  const std::vector<unsigned> lanes = lanes_on(p);
  const auto at = [&](std::size_t i) { return p.addresses[lanes[i]]; };
  std::string lanes_text = lanes.size() == kWarpSize ? "" : fmt::format("{} of 32 lanes on: ", lanes.size());
  if (lanes.size() < 2) return lanes_text + "one address";
  const bool one = std::all_of(lanes.begin(), lanes.end(), [&](unsigned l) { return p.addresses[l] == at(0); });
  if (one) return lanes_text + "all lanes want one address";
  const auto gap = static_cast<std::int64_t>(lanes[1]) - lanes[0];
  const std::int64_t difference = at(1) - at(0);
  bool affine = difference % gap == 0;
  const std::int64_t stride = affine ? difference / gap : 0;
  for (std::size_t i = 1; affine && i < lanes.size(); ++i)
    affine = at(i) - at(0) == stride * (static_cast<std::int64_t>(lanes[i]) - lanes[0]);
  const std::int64_t bytes = p.lane_bytes;
  if (affine && stride == bytes) return lanes_text + "side by side";
  if (affine)
    return lanes_text +
           fmt::format("lane k at {:+d} k bytes: a stride of {} elements", stride,
                       bytes != 0 && stride % bytes == 0
                           ? std::to_string(stride / bytes)
                           : fmt::format("{:.2f}", static_cast<double>(stride) / static_cast<double>(bytes)));
  // Runs of lanes with consecutive addresses.
  std::vector<std::size_t> runs{1};
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i] == lanes[i - 1] + 1 && at(i) - at(i - 1) == bytes)
      ++runs.back();
    else
      runs.push_back(1);
  }
  const bool even = std::all_of(runs.begin(), runs.end(), [&](std::size_t r) { return r == runs[0]; });
  if (even && runs[0] > 1) return lanes_text + fmt::format("{} runs of {} lanes side by side", runs.size(), runs[0]);
  std::set<std::int64_t> different;
  for (const unsigned l : lanes) different.insert(p.addresses[l]);
  if (different.size() == lanes.size()) return lanes_text + "scattered";
  return lanes_text + fmt::format("{} different addresses", different.size());
}

}  // namespace warpgrind::report
