// Common parts of tests whose results are stored as hashes that a real GPU gave. Plain C++17, so that the runner for a
// GPU can use it, too.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace hashed_results {

// FNV-1a of 64-bit words, the low byte first.
struct Fnv {
  std::uint32_t value = 2166136261u;
  void add(std::uint64_t word) {
    for (int k = 0; k < 64; k += 8) value = (value ^ static_cast<unsigned char>(word >> k)) * 16777619u;
  }
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace hashed_results
