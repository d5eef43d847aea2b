// Reader of the CSV files measured on an H200 (tests/data/h200).
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/types.h"

namespace warpgrind::test {

using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, separator);) out.push_back(field);
  return out;
}

inline std::vector<CsvRow> read_h200(const std::string& name) {
  std::ifstream in(std::string(WARPGRIND_TESTS) + "/data/h200/" + name);
  std::vector<CsvRow> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line, ',');
    if (header.empty()) {
      header = fields;
      continue;
    }
    CsvRow row;
    for (std::size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

// Byte offsets and mask of a lane pattern for accesses of `bytes`.
struct Lanes {
  std::array<std::int64_t, kWarpSize> offsets{};
  LaneMask mask = 0;
};

inline std::map<std::string, std::vector<int>> lane_patterns() {
  std::map<std::string, std::vector<int>> out;
  for (const CsvRow& row : read_h200("lane_patterns.csv"))
    for (const std::string& index : split(row.at("indices"), ' ')) out[row.at("pattern")].push_back(std::stoi(index));
  return out;
}

inline Lanes lanes_of(const std::vector<int>& pattern, unsigned bytes) {
  Lanes lanes;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (pattern.at(l) < 0) continue;
    lanes.offsets[l] = std::int64_t{pattern[l]} * bytes;
    lanes.mask |= 1u << l;
  }
  return lanes;
}

}  // namespace warpgrind::test
