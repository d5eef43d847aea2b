// Costs of all requests of a warp at once (gpu/neighbours.h) against global_cost() of one after the other.
#include <gtest/gtest.h>

#include <random>

#include "gpu/neighbours.h"

namespace warpgrind {
namespace {

struct Case {
  unsigned count, group, bytes;
  std::int32_t spread;  // bytes over which places lie
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.count << " places, groups of " << c.group << ", " << c.bytes << " bytes, spread " << c.spread;
}

class Neighbours : public testing::TestWithParam<Case> {};

TEST_P(Neighbours, CostWhatTheyCostOneByOne) {
  const auto [count, group, bytes, spread] = GetParam();
  std::mt19937 random(11);
  for (unsigned turn = 0; turn < 300; ++turn) {
    std::int32_t place[kMostOfEach][kWarpSize];
    LaneMask on[kMostOfEach];
    const auto skew = static_cast<std::uint32_t>(random() % (128 / bytes) * bytes);
    for (unsigned k = 0; k < count; ++k) {
      on[k] = turn % 4 == 0 ? kFullMask : turn % 4 == 1 ? 0 : static_cast<LaneMask>(random());
      for (std::int32_t& p : place[k])
        p = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(spread) / bytes * bytes);
    }
    AccessCost want;
    unsigned want_requests = 0;
    for (unsigned first = 0; first < kWarpSize; first += group) {
      std::int64_t offsets[kWarpSize] = {};
      unsigned n = 0;
      for (unsigned k = 0; k < count; ++k)
        for (unsigned l = first; l < first + group; ++l)
          if (on[k] >> l & 1) offsets[n++] = std::int64_t{place[k][l]} + skew;
      if (n == 0) continue;
      ++want_requests;
      want.add(global_cost({}, AccessType::load, offsets, n == kWarpSize ? kFullMask : (LaneMask{1} << n) - 1, bytes));
    }
    unsigned requests = 0;
    const AccessCost got = neighbours_cost(place, on, count, group, skew, bytes, requests);
    ASSERT_EQ(requests, want_requests) << "turn " << turn;
    ASSERT_EQ(got.sectors, want.sectors) << "turn " << turn;
    ASSERT_EQ(got.lines, want.lines) << "turn " << turn;
    ASSERT_EQ(got.distinct_sectors, want.distinct_sectors);
    ASSERT_EQ(got.distinct_lines, want.distinct_lines);
    ASSERT_EQ(got.transactions, want.transactions);
    ASSERT_EQ(got.bytes_moved, want.bytes_moved);
    ASSERT_EQ(got.bytes_asked, want.bytes_asked);
    ASSERT_EQ(got.ideal_sectors, want.ideal_sectors) << "turn " << turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Neighbours,
                         testing::Values(Case{1, 8, 4, 64}, Case{1, 8, 1, 4096}, Case{4, 4, 4, 128},
                                         Case{4, 4, 16, 1024}, Case{4, 8, 2, 512}, Case{2, 4, 8, 1 << 20},
                                         Case{4, 4, 4, 0x7ffffe00}, Case{3, 8, 4, 32}));

}  // namespace
}  // namespace warpgrind
