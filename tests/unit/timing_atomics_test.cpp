// Atomics on global memory against an H200: the addresses of tests/h200/atomics.cu, and what they took there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "counters/hot_atomics.h"
#include "timing/estimate.h"
#include "timing_models.h"

namespace warpgrind::timing {
namespace {

using Words = counters::HotAtomics::Words;

constexpr unsigned kBlocks = 2048, kLogged = 32, kThreads = 256;
constexpr double kLaunchNs = 5000;  // between two events

unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

unsigned word_of(std::string_view pattern, unsigned words, unsigned bytes, unsigned i) {
  const unsigned lane = i % 32, warp = i / 32;
  if (pattern == "random") return mix(i) % words;
  if (pattern == "lane_sectors") return (mix(warp) + lane * (32 / bytes)) % words;
  if (pattern == "row") return (mix(warp) * 32 + lane) % words;
  if (pattern == "pairs") return mix(i / 2) % words;
  if (pattern == "half_hot") return (mix(i) & 1) != 0 ? 0 : mix(i * 3 + 1) % words;
  return mix(i) % (words - 1);  // neighbours
}

Words words_of(const std::string& type) {
  return type == "f64" ? Words::doubles : type[0] == 'f' ? Words::floats : Words::integers;
}

LaunchWork work_of(const std::string& op, const std::string& type, unsigned size, const std::string& pattern) {
  const unsigned bytes = type.ends_with("32") ? 4 : 8, words = size / bytes;
  counters::HotAtomics hot(kBlocks, 132 * 8, false);
  LaunchWork w;
  w.blocks = kBlocks, w.threads_per_block = kThreads, w.warps_per_block = kThreads / 32.0, w.resident_blocks = 8;
  for (unsigned k = 0; k < kLogged; ++k) {
    const unsigned block = k * (kBlocks / kLogged);
    for (unsigned warp = 0; warp < kThreads / 32; ++warp)
      for (unsigned next = 0; next < (pattern == "neighbours" ? 2 : 1); ++next) {
        std::uint64_t at[32];
        for (unsigned lane = 0; lane < 32; ++lane)
          at[lane] =
              std::uint64_t{bytes} * (word_of(pattern, words, bytes, block * kThreads + warp * 32 + lane) + next);
        hot.note(block, at, 32, false, words_of(type));
        w.atomic_requests += kBlocks / kLogged;
      }
  }
  w.atomic_sectors = hot.turns() * kBlocks / kLogged;
  w.atomic_lanes = 32 * w.atomic_requests;
  w.atomic_returns = op == "atom";
  w.atomic_distinct_sectors = size / 32.0;
  w.atomic_hot_unit = hot.in_unit();
  w.atomic_hot_sector = hot.of_floats();
  return w;
}

TEST(Atomics, AsOnAnH200) {
  const auto text = read_whole(WARPGRIND_TESTS "/../lab/results/h200/atomics.csv");
  ASSERT_TRUE(text);
  std::istringstream in(*text);
  std::vector<double> errors;
  for (std::string line; std::getline(in, line);) {
    std::string op, type, pattern;
    unsigned size = 0;
    double measured = 0;
    std::istringstream words(line);
    if (!(words >> op >> type >> size >> pattern) || (op != "red" && op != "atom")) continue;
    if (size > 1 << 25) continue;  // what does not fit into L2 is bound by DRAM
    measured = std::stod(pattern.substr(pattern.find(',') + 1));
    pattern.erase(pattern.find(','));
    const double ns = estimate_kernel(h200(), work_of(op, type, size, pattern)).ns + kLaunchNs;
    errors.push_back(std::abs(ns / measured - 1));
    EXPECT_GT(ns, 0.55 * measured) << line;
    EXPECT_LT(ns, 1.6 * measured) << line;
  }
  ASSERT_EQ(errors.size(), 308u);
  std::nth_element(errors.begin(), errors.begin() + 154, errors.end());
  EXPECT_LT(errors[154], 0.1);
}

// Half of the blocks add to one word, then the others to another. No word has more than the others of its time.
TEST(Atomics, BlocksOfLaterTimesMayHaveTheirOwnPlaces) {
  const auto share = [](std::uint64_t at_once) {
    counters::HotAtomics hot(2000, at_once, true);
    for (std::uint64_t block = 0; block < 2000; ++block) {
      const std::uint64_t at = block < 1000 ? 0 : 1 << 20;
      hot.note(block, &at, 1, false, Words::integers);
    }
    return hot.in_unit();
  };
  EXPECT_EQ(share(2000), 0.5);
  EXPECT_EQ(share(1000), 1);
}

TEST(Atomics, DoublesTakeLongerInBothHalvesOfASector) {
  const auto share = [](Words words, std::uint64_t distance) {
    counters::HotAtomics hot(1, 1, true);
    const std::uint64_t at[] = {0, distance};
    hot.note(0, at, 2, false, words);
    return hot.in_unit();
  };
  EXPECT_EQ(share(Words::integers, 16), 1);
  EXPECT_EQ(share(Words::doubles, 16), 1.55);
  EXPECT_EQ(share(Words::doubles, 8), 1);
}

// Each block has a word of its own, and few blocks are known.
TEST(Atomics, WhatOneBlockUsesIsNotHot) {
  counters::HotAtomics hot(100000, 1000, false);
  for (std::uint64_t block = 0; block < 100; ++block) {
    const std::uint64_t at = block << 20;
    for (unsigned i = 0; i < 100; ++i) hot.note(block * 10, &at, 1, false, Words::floats);
  }
  EXPECT_LT(hot.in_unit(), 0.002);
  EXPECT_LT(hot.of_floats(), 0.002);
}

}  // namespace
}  // namespace warpgrind::timing
