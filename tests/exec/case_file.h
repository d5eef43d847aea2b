// The expected bits of one instruction family (FAMILY.txt, written by reference/generate.py). Plain C++17, used by the
// runner for the virtual GPU and by the one for a real GPU.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace exec {

constexpr std::size_t kElements = 128;  // inputs of an instruction

struct Row {
  unsigned width = 0;  // bits of a value; each lies in a slot of 8 bytes
  unsigned line = 0;   // of the file, for messages
  std::vector<std::uint64_t> values;
  std::string ptx;  // the instruction, for results
};

struct Kernel {
  std::string name;
  std::vector<Row> in, out;

  std::vector<std::uint64_t> input() const {
    std::vector<std::uint64_t> slots;
    for (const Row& row : in) slots.insert(slots.end(), row.values.begin(), row.values.end());
    return slots;
  }
};

// Empty: no file, or a wrong line in it.
inline std::vector<Kernel> read_kernels(const std::string& path) {
  std::vector<Kernel> kernels;
  std::ifstream file(path);
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string kind, width;
    words >> kind;
    if (kind == "kernel") {
      kernels.emplace_back();
      words >> kernels.back().name;
      continue;
    }
    if ((kind != "in" && kind != "out") || kernels.empty()) continue;
    Row row;
    row.line = number;
    words >> width;
    row.width = static_cast<unsigned>(std::atoi(width.c_str()));
    for (std::string word; words >> word && word != ";";)
      row.values.push_back(std::strtoull(word.c_str(), nullptr, 16));
    std::getline(words >> std::ws, row.ptx);
    if (row.values.size() != kElements) {
      std::fprintf(stderr, "%s:%u: %zu values, not %zu\n", path.c_str(), number, row.values.size(), kElements);
      return {};
    }
    (kind == "in" ? kernels.back().in : kernels.back().out).push_back(row);
  }
  return kernels;
}

// Compares with the expected values. Returns how many results differ and describes the first few of each.
inline unsigned judge(const Kernel& kernel, const std::vector<std::uint64_t>& slots, const char* how,
                      const std::function<void(const std::string&)>& report) {
  unsigned wrong_rows = 0;
  for (std::size_t j = 0; j < kernel.out.size(); ++j) {
    const Row& row = kernel.out[j];
    unsigned wrong = 0;
    for (std::size_t i = 0; i < kElements; ++i) {
      const std::uint64_t got = slots[j * kElements + i], expected = row.values[i];
      if (got == expected || ++wrong > 4) continue;
      std::ostringstream text;
      text << kernel.name << " (" << how << "), line " << row.line << ", value " << i + 1 << ": " << row.ptx << std::hex
           << " of";
      for (const Row& in : kernel.in) text << " 0x" << in.values[i];
      text << " = 0x" << got << ", expected 0x" << expected;
      if (kernel.out.size() > 1) text << std::dec << " (result " << j << ')';
      report(text.str());
    }
    if (wrong > 4) report("  ... and " + std::to_string(wrong - 4) + " more of " + row.ptx);
    wrong_rows += wrong != 0;
  }
  return wrong_rows;
}

// The same PTX with one element per block instead of one per lane, so that all lanes of a warp have equal operands.
inline std::string uniform_variant(std::string ptx) {
  const std::string lane = "%tid.x", block = "%ctaid.x";
  for (std::size_t at = 0; (at = ptx.find(lane, at)) != std::string::npos; at += block.size())
    ptx.replace(at, lane.size(), block);
  return ptx;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::vector<std::string>& families() {
  static const std::vector<std::string> all = {"integer",       "affine", "logic_and_shift", "compare_and_select",
                                               "data_movement", "video"};  // video_by_manual: not on a GPU
  return all;
}

// The least number of results that a family must have, so that a generator cannot lose cases without a word. A family
// that gets more cases raises its number.
inline std::size_t least_results(const std::string& family) {
  static const std::map<std::string, std::size_t> all = {
      {"integer", 164},       {"affine", 450}, {"logic_and_shift", 94}, {"compare_and_select", 245},
      {"data_movement", 457}, {"video", 268},  {"video_by_manual", 43}};
  const auto found = all.find(family);
  return found == all.end() ? ~std::size_t{0} : found->second;  // a new family needs its number here
}

}  // namespace exec
