// Local memory that L2 cannot hold: arrays of tests/h200/local.cu, and what an H200 read from and wrote to DRAM.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "base/file.h"
#include "counters/local_reuse.h"

namespace warpgrind::counters {
namespace {

LocalReuse reuse_of(unsigned words, unsigned rounds) {
  LocalReuse reuse;
  LocalWords local;
  local.begin(4 * words);
  for (unsigned r = 0; r < rounds; ++r) {
    for (unsigned k = 0; k < words; ++k) local.use(4 * ((k * 7 + words) % words), true, reuse);
    for (unsigned k = 0; k < words; ++k) local.use(4 * ((k * 3 + r) % words), false, reuse);
  }
  local.end(reuse);
  return reuse;
}

TEST(LocalReuse, AsOnAnH200) {
  const auto text = read_whole(WARPGRIND_TESTS "/../lab/results/h200/local.csv");
  ASSERT_TRUE(text);
  std::istringstream in(*text);
  unsigned compared = 0;
  for (std::string line; std::getline(in, line);) {
    unsigned words = 0, blocks = 0, rounds = 0;
    double loads = 0, hits = 0, stores = 0, read = 0, written = 0, ns = 0;
    if (std::sscanf(line.c_str(), "%u words %u blocks %u rounds,%lf,%lf,%lf,%lf,%lf,%lf", &words, &blocks, &rounds, &ns,
                    &loads, &hits, &stores, &read, &written) != 9)
      continue;
    const LocalReuse reuse = reuse_of(words, rounds);
    const double of_word = blocks * 128.0 * 4, l2 = 60 << 20;
    EXPECT_NEAR(reuse.loads.mean([&](double w) { return lost_loads(w * of_word, l2); }), read / 32 / loads, 0.3)
        << line;
    EXPECT_NEAR(reuse.stores.mean([&](double w) { return lost_stores(w * of_word, l2); }), written / 32 / stores, 0.2)
        << line;
    ++compared;
  }
  EXPECT_EQ(compared, 36u);
}

// A thread with a large array that uses its beginning again and again.
TEST(LocalReuse, OnlyWhatIsUsedInBetweenCounts) {
  LocalReuse reuse;
  LocalWords local;
  local.begin(1 << 14);
  for (unsigned k = 0; k < 4096; ++k) local.use(4 * (k % 16), k % 2 == 0, reuse);
  EXPECT_NEAR(reuse.loads.mean([](double words) { return words; }), 16, 3);
  EXPECT_NEAR(reuse.stores.mean([](double words) { return words; }), 16, 3);
}

}  // namespace
}  // namespace warpgrind::counters
