// Access patterns of each site: typical, worst and best, with examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "gpu/gpu_model.h"
#include "observers/access_patterns.h"

namespace warpgrind::observers {
namespace {

using Addresses = std::array<std::uint64_t, kWarpSize>;

struct Fixture {
  events::KernelFacts facts;
  events::Launch launch;
  AccessPatterns patterns;

  explicit Fixture(const char* gpu = "h200")
      : patterns({0, *find_gpu_model(gpu), {}, [](std::uint64_t address) {
                    return std::optional(AllocationRange(address & ~0xfffffull, 1 << 20));
                  }}) {
    facts.name = "k";
    events::Site site;
    site.function = "k";
    site.ptx_line = 7;
    facts.sites.push_back(site);
    site.ptx_line = 8;
    site.space = StateSpace::shared;
    facts.sites.push_back(site);
    launch.facts = &facts;
    launch.grid = {1000, 1, 1};
  }
  void access(std::uint32_t site, const Addresses& addresses, std::uint32_t block, unsigned worker,
              LaneMask mask = kFullMask) {
    patterns.on_access({&launch, site, facts.sites[site].space, Dim3{block, 0, 0}, 0, mask, addresses}, worker);
  }
  void end() { patterns.on_launch_end(launch, {}); }
  SitePatterns site(std::uint32_t ptx_line) { return patterns.result().at({"k", "k", ptx_line}); }
};

Addresses row(std::uint64_t base, std::int64_t stride) {
  Addresses out;
  for (unsigned l = 0; l < kWarpSize; ++l) out[l] = base + static_cast<std::uint64_t>(stride) * l;
  return out;
}

TEST(AccessPatterns, CountsTypicalWorstAndBest) {
  Fixture f;
  for (std::uint32_t b = 0; b < 90; ++b) f.access(0, row(0x100000 + 128 * b, 4), b, 0);
  for (std::uint32_t b = 90; b < 99; ++b) f.access(0, row(0x100000 + 128 * b + 4, 4), b, 0);
  f.access(0, row(0x100000, 512), 99, 0);
  f.end();
  const SitePatterns s = f.site(7);
  ASSERT_EQ(s.patterns.size(), 3u);
  EXPECT_EQ(s.patterns[0].count, 90u);  // in two places of 256 bytes, at the same cost
  EXPECT_EQ(s.patterns[0].cost.sectors, 4u);
  EXPECT_EQ(s.patterns[1].count, 9u);
  EXPECT_EQ(s.patterns[1].cost.sectors, 5u);
  EXPECT_EQ(s.patterns[1].key.alignment % 32, 4u);
  EXPECT_EQ(s.patterns[2].cost.sectors, 32u);
  EXPECT_EQ(s.worst, 2u);
  EXPECT_EQ(s.best, 0u);
  EXPECT_EQ(s.other, 0u);
  EXPECT_EQ(s.patterns[1].block.x, 90u);  // the example comes from the lowest block
  EXPECT_EQ(s.patterns[1].base_offset, 90u * 128 + 4);
  ASSERT_TRUE(s.patterns[1].allocation);
  EXPECT_EQ(s.patterns[1].allocation->first, 0x100000u);
}

// A kernel in a named range keeps its first launch there; launches in other ranges and later ones do not matter.
TEST(AccessPatterns, RangesKeepTheirFirstLaunch) {
  Fixture f;
  const auto launch = [&f](const char* range, std::int64_t stride) {
    f.launch.range = range;
    f.access(0, row(0x100000, stride), 0, 0);
    f.end();
  };
  launch("wide", 128);
  launch("dense", 4);
  launch("wide", 4);
  launch("", 8);
  results::Profile profile;
  for (const char* range : {"dense", "wide", "other"}) {
    results::SiteProfile site;
    site.function = "k";
    site.ptx_line = 7;
    profile.ranges.push_back({range, 1, {}, {{"k", "k", 1, {site}, {}}}});
  }
  f.patterns.contribute(profile);
  const auto site = [&profile](std::size_t i) { return profile.ranges[i].kernels[0].sites[0]; };
  ASSERT_EQ(site(0).patterns.size(), 1u);
  EXPECT_EQ(site(0).patterns[0].sectors, 4u);
  ASSERT_EQ(site(1).patterns.size(), 1u);
  EXPECT_EQ(site(1).patterns[0].sectors, 32u);
  EXPECT_TRUE(site(2).patterns.empty());
}

TEST(AccessPatterns, SharedMemoryByBanks) {
  Fixture f;
  f.access(1, row(64, 128), 0, 0);
  f.access(1, row(64 + 1280, 128), 1, 0);
  f.end();
  const SitePatterns s = f.site(8);
  ASSERT_EQ(s.patterns.size(), 1u);
  EXPECT_EQ(s.patterns[0].count, 2u);
  EXPECT_EQ(s.patterns[0].cost.wavefronts, 32u);
  EXPECT_EQ(s.patterns[0].cost.ideal_wavefronts, 1u);
  EXPECT_EQ(s.patterns[0].base_offset, 64u);
}

// Far more patterns than are kept: the sums hold for any assignment of blocks to workers.
TEST(AccessPatterns, SameForAnyNumberOfWorkers) {
  std::vector<SitePatterns> results;
  for (const unsigned workers : {1u, 2u, 5u}) {
    Fixture f;
    std::mt19937_64 random(1);
    std::uint64_t requests = 0;
    for (std::uint32_t b = 0; b < 20000; ++b, ++requests) {
      Addresses a;
      for (std::uint64_t& x : a) x = 0x100000 + random() % 4096 * 4;
      if (b % 10 == 0) a = row(0x100000, 4);
      f.access(0, a, b, b % workers, b % 3 == 0 ? 0x0000ffffu : kFullMask);
    }
    f.end();
    results.push_back(f.site(7));
    std::uint64_t sum = results.back().other;
    for (const PatternCount& p : results.back().patterns) sum += p.count;
    EXPECT_EQ(sum, requests);
    EXPECT_LE(results.back().patterns.size(), AccessPatterns::kListed);
  }
  for (const SitePatterns& r : results) {
    ASSERT_EQ(r.patterns.size(), results[0].patterns.size());
    EXPECT_EQ(r.worst, results[0].worst);
    EXPECT_EQ(r.best, results[0].best);
    for (std::size_t i = 0; i < r.patterns.size(); ++i) {
      EXPECT_EQ(r.patterns[i].key, results[0].patterns[i].key);
      EXPECT_EQ(r.patterns[i].count, results[0].patterns[i].count);
      EXPECT_EQ(r.patterns[i].block.x, results[0].patterns[i].block.x);
    }
  }
}

TEST(AccessPatterns, LanesThatAreOffDoNotMatter) {
  Fixture f;
  Addresses a = row(0x100000, 4), b = a;
  b[31] = 0xdeadbeef;
  f.access(0, a, 0, 0, 0x7fffffffu);
  f.access(0, b, 1, 0, 0x7fffffffu);
  f.end();
  EXPECT_EQ(f.site(7).patterns.size(), 1u);
}

TEST(Transactions, AreWhatTheCostCounts) {
  std::mt19937_64 random(2);
  for (const char* gpu : {"8800gtx", "gtx280", "m2090", "k40c", "h200"}) {
    const AccessRules& rules = (*find_gpu_model(gpu))->rules;
    for (int round = 0; round < 3000; ++round) {
      const unsigned bytes = 1u << (random() % 5);
      const auto type = random() % 2 != 0 ? AccessType::load : AccessType::store;
      const LaneMask mask = round % 3 == 0 ? kFullMask : static_cast<LaneMask>(random() | 1);
      const std::int64_t stride = static_cast<std::int64_t>(random() % 40) * bytes;
      std::int64_t offsets[kWarpSize];
      for (unsigned l = 0; l < kWarpSize; ++l)
        offsets[l] = round % 2 == 0 ? static_cast<std::int64_t>(random() % 64 * bytes) : stride * l + bytes * 16;
      const AccessCost cost = global_cost(rules, type, offsets, mask, bytes);
      const auto list = global_transactions(rules, type, offsets, mask, bytes);
      std::uint64_t moved = 0;
      for (const MemoryTransaction& t : list) moved += t.bytes;
      ASSERT_EQ(list.size(), cost.transactions) << gpu << " round " << round;
      ASSERT_EQ(moved, cost.bytes_moved) << gpu << " round " << round;
      for (unsigned l = 0; l < kWarpSize; ++l) {  // every requested byte is moved
        const bool moved_for_lane = std::any_of(list.begin(), list.end(), [&](const MemoryTransaction& t) {
          return offsets[l] >= t.offset && offsets[l] + bytes <= t.offset + t.bytes;
        });
        ASSERT_TRUE((mask >> l & 1) == 0 || moved_for_lane) << gpu << " lane " << l;
      }
    }
  }
}

}  // namespace
}  // namespace warpgrind::observers
