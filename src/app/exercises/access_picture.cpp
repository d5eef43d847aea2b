#include "exercises/access_picture.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>

namespace warpgrind::exercises {

namespace {

constexpr int kCell = 17, kLeft = 64, kTop = 34;
constexpr std::int64_t kLine = 128, kWord = 4, kSector = 32;
constexpr std::size_t kMostRows = 12;
constexpr int kColumns = 32;

std::int64_t round_down(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

// The lanes that ask for each word, by the word's address.
std::map<std::int64_t, std::vector<int>> words_of(const results::AccessPattern& pattern) {
  std::map<std::int64_t, std::vector<int>> out;
  const std::int64_t bytes = pattern.lane_bytes == 0 ? kWord : pattern.lane_bytes;
  for (int lane = 0; lane < kColumns; ++lane) {
    if ((pattern.mask >> lane & 1) == 0) continue;
    const std::int64_t first = pattern.addresses[static_cast<std::size_t>(lane)] + pattern.alignment % kLine;
    for (std::int64_t word = round_down(first, kWord); word < first + bytes; word += kWord) out[word].push_back(lane);
  }
  return out;
}

std::string cell(int column, std::size_t row, const char* kind, const std::string& text, const std::string& title) {
  const int x = kLeft + column * kCell, y = kTop + static_cast<int>(row) * (kCell + 3);
  std::string out =
      fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">", kind, x, y, kCell - 1, kCell - 1);
  out += title.empty() ? "</rect>" : fmt::format("<title>{}</title></rect>", title);
  if (!text.empty())
    out += fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>", x + (kCell - 1) / 2, y + kCell - 5, text);
  return out;
}

}  // namespace

std::string access_picture(const results::AccessPattern& pattern) {
  const bool shared = pattern.space == "shared";
  const auto words = words_of(pattern);
  std::set<std::int64_t> rows, sectors;
  for (const auto& [word, lanes] : words) {
    rows.insert(round_down(word, kLine));
    sectors.insert(round_down(word, kSector));
  }
  std::string cells;
  std::size_t row = 0;
  for (const std::int64_t line : rows) {
    if (row == kMostRows) break;
    cells += fmt::format("<text class=\"l\" x=\"{}\" y=\"{}\">{}{}</text>", kLeft - 8,
                         kTop + static_cast<int>(row) * (kCell + 3) + kCell - 5, line < 0 ? "" : "+", line);
    for (int column = 0; column < kColumns; ++column) {
      const std::int64_t word = line + column * kWord;
      const auto found = words.find(word);
      const bool moved = !shared && sectors.contains(round_down(word, kSector));
      if (found == words.end()) {
        cells += cell(column, row, moved ? "m" : "e", "", moved ? "moved, and no lane asks for it" : "");
      } else {
        const std::size_t lanes = found->second.size();
        cells += cell(column, row, "u", lanes == 1 ? std::to_string(found->second[0]) : "#",
                      lanes == 1 ? fmt::format("lane {}", found->second[0]) : fmt::format("{} lanes", lanes));
      }
    }
    ++row;
  }
  std::string head;
  for (int group = 0; group < (shared ? kColumns : 4); ++group) {
    const int wide = shared ? 1 : 8;
    head += fmt::format("<text class=\"h\" x=\"{}\" y=\"{}\">{}{}</text>",
                        kLeft + group * wide * kCell + wide * kCell / 2, kTop - 8, shared ? "" : "sector ", group);
  }
  const std::string what = shared ? fmt::format("one request: its lanes in the 32 banks; {} passes, {} would do",
                                                pattern.wavefronts, pattern.ideal_wavefronts)
                                  : fmt::format("one request: its lanes in lines of 128 bytes; {} sectors, {} would do",
                                                pattern.sectors, pattern.ideal_sectors);
  const std::size_t hidden = rows.size() > kMostRows ? rows.size() - kMostRows : 0;
  const int width = kLeft + kColumns * kCell + 4,
            height = kTop + static_cast<int>(row) * (kCell + 3) + (hidden != 0 ? 20 : 4);
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" width=\"{}\" role=\"img\" aria-label=\"{}\"><text class=\"w\" x=\"{}\" "
      "y=\"12\">{}</text>{}{}",
      width, height, width, what, kLeft, what, head, cells);
  if (hidden != 0)
    out += fmt::format("<text class=\"w\" x=\"{}\" y=\"{}\">and {} more lines</text>", kLeft, height - 5, hidden);
  return out + "</svg>";
}

}  // namespace warpgrind::exercises
