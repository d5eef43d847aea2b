// Passes through the banks of shared memory for a warp's read, by the published rules of each generation, from the 32
// word indices alone. Independent of the virtual GPU's code, so that the two can be compared.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using Places = std::vector<int>;  // word indices of the 32 lanes, in words of the type that is read

// The banks of one generation. In one pass a bank delivers one row: 4 bytes, or 8 if its rows are that wide.
struct Banks {
  const char* name;
  int banks, lanes;  // lanes served together when each reads 4 bytes
  int row_words;     // 32-bit words from one row of a bank to the next
  int word_shift;    // 2^word_shift neighbouring words share a bank
  int group_bytes;   // most bytes that lanes served together may request
};

// 2.x, and 5.0 and later: successive words are in successive banks, 32 in all. A wider word is read by half-warps or
// quarter-warps.
constexpr Banks kBanks32 = {"32 banks", 32, 32, 32, 0, 128};
// 3.x: banks are 8 bytes wide. In the 4-byte mode, words i and i + 32 of 64 aligned words share a row. In the 8-byte
// mode, two neighbouring words do.
constexpr Banks kBanks3x4 = {"3.x, 4-byte mode", 32, 32, 64, 0, 256};
constexpr Banks kBanks3x8 = {"3.x, 8-byte mode", 32, 32, 64, 1, 256};

// Passes for the lanes `first` to `last` - 1, served together: the most rows that one bank must deliver.
inline int group_passes(const Places& places, int first, int last, int words, const Banks& rule) {
  std::map<int, std::set<int>> rows;
  for (int lane = first; lane < last; ++lane)
    for (int i = 0; i < words; ++i) {
      const int word = places[lane] * words + i;
      rows[(word >> rule.word_shift) % rule.banks].insert(word / rule.row_words);
    }
  size_t most = 0;
  for (const auto& [bank, wanted] : rows) most = std::max(most, wanted.size());
  return static_cast<int>(most);
}

inline int passes(const Places& places, int word_bytes, const Banks& rule) {
  const int group = std::min(rule.lanes, rule.group_bytes / word_bytes);
  int sum = 0;
  for (int lane = 0; lane < 32; lane += group) sum += group_passes(places, lane, lane + group, word_bytes / 4, rule);
  return sum;
}

// 1.x: 16 banks, half-warps; a wider word is read as one 32-bit word after the other. Each pass broadcasts one word
// (here: the one that most lanes wait for). Each of the other banks serves one lane.
inline int passes_16_banks(const Places& places, int word_bytes) {
  int sum = 0;
  const int words = word_bytes / 4;
  for (int first = 0; first < 32; first += 16)
    for (int i = 0; i < words; ++i) {
      std::vector<int> waiting;
      for (int lane = first; lane < first + 16; ++lane) waiting.push_back(places[lane] * words + i);
      for (; !waiting.empty(); ++sum) {
        std::map<int, int> wanted;
        for (const int word : waiting) ++wanted[word];
        const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
        const int broadcast = std::max_element(wanted.begin(), wanted.end(), fewer)->first;
        std::set<int> busy = {broadcast % 16};
        std::vector<int> left;
        for (const int word : waiting)
          if (word != broadcast && !busy.insert(word % 16).second) left.push_back(word);
        waiting = left;
      }
    }
  return sum;
}
