// Stores that fill sectors together on their way to L2.
#include <gtest/gtest.h>

#include <utility>

#include "timing/stores_to_l2.h"

namespace warpgrind::timing {
namespace {

// A kernel of one block of code; each warp of 1000 makes the accesses in their order.
struct StoringKernel {
  sass::Code code;
  events::KernelFacts facts;
  events::LaunchCounts counts;

  StoringKernel() { code.blocks.resize(1); }
  // A word of a structure of `words` words for each lane, at `distance` bytes from the leader's.
  void access(SiteKind kind, unsigned words, std::uint32_t leader = events::Site::kAlone, std::int64_t distance = 0) {
    events::Site site;
    site.kind = kind;
    site.leader = leader;
    site.distance = distance;
    events::SiteCounts c;
    c.global_requests = 1000;
    c.global.sectors = 1000ull * 4 * std::min(8u, words);
    c.global.lines = 1000ull * words;
    c.global.bytes_asked = 1000ull * 128;
    sass::Instruction i;
    i.issue = 1;
    i.site = static_cast<std::uint32_t>(facts.sites.size());
    facts.sites.push_back(site);
    counts.sites.push_back(c);
    code.blocks[0].instructions.push_back(i);
  }
  void structure(unsigned words) {
    const auto leader = static_cast<std::uint32_t>(facts.sites.size());
    for (unsigned w = 0; w < words; ++w) access(SiteKind::store, words, w == 0 ? events::Site::kAlone : leader, 4 * w);
  }
  double sectors(const events::CacheCounts* caches = nullptr, double warps = 64) const {
    double sum = 0;
    for (const StoresToL2& s : stores_to_l2(code, facts, counts, caches, warps))
      sum += static_cast<double>(s.cost.sectors);
    return sum / 1000;
  }
};

TEST(StoresToL2, SmallStructuresFillTheirSectors) {
  for (const unsigned words : {1u, 2u}) {
    StoringKernel k;
    k.structure(words);
    EXPECT_EQ(k.sectors(), 4 * words) << words;
  }
}

// Sectors that an H200 counted, for each warp.
TEST(StoresToL2, LargerOnesDoSoInPart) {
  const std::pair<unsigned, double> measured[] = {{3, 14.2}, {4, 34.9}, {5, 71.8}, {6, 112.3}, {8, 244}};
  for (const auto& [words, sectors] : measured) {
    StoringKernel k;
    k.structure(words);
    EXPECT_NEAR(k.sectors(), sectors, 0.02 * sectors) << words;
    EXPECT_NEAR(k.sectors(nullptr, 1), 4 * words, 0.01) << words << ", one warp alone";
  }
}

TEST(StoresToL2, ALoadBetweenThemKeepsThemApart) {
  StoringKernel k;
  k.access(SiteKind::store, 2);
  k.access(SiteKind::load, 2);
  k.access(SiteKind::store, 2, 0, 4);
  EXPECT_EQ(k.sectors(), 2 * 8);
}

TEST(StoresToL2, SoDoOtherInstructions) {
  for (const unsigned gap : {1u, 4u}) {
    StoringKernel k;
    k.access(SiteKind::store, 2);
    for (unsigned n = 0; n < gap; ++n) k.code.blocks[0].instructions.emplace_back().issue = 1;
    k.access(SiteKind::store, 2, 0, 4);
    EXPECT_EQ(k.sectors(), gap == 1 ? 8 : 2 * 8);
  }
}

TEST(StoresToL2, RowsOfDifferentArraysStayApart) {
  StoringKernel k;
  k.access(SiteKind::store, 1);
  k.access(SiteKind::store, 1, 0, 4096);
  EXPECT_EQ(k.sectors(), 2 * 4);
}

// Strides that are known at run time only: each store has a register of its own.
TEST(StoresToL2, WithoutACommonRegisterTheLaunchTells) {
  StoringKernel k;
  for (int w = 0; w < 3; ++w) k.access(SiteKind::store, 3);
  events::CacheCounts caches;
  caches.written.sectors = 1000 * 12;
  EXPECT_NEAR(k.sectors(&caches), 14.2, 0.2);
  caches.written.sectors = 1000 * 36;
  EXPECT_EQ(k.sectors(&caches), 36) << "three arrays";
  EXPECT_EQ(k.sectors(), 36) << "not known";
}

// Structures of 5 words, one word read for each: 42 sectors a warp on an H200, 23 if as many are read. 72 without.
TEST(StoresToL2, MoreOfThemDoSoWhereTheKernelReads) {
  StoringKernel k;
  k.access(SiteKind::load, 1);
  k.structure(5);
  EXPECT_NEAR(k.sectors(), 33, 10);
}

}  // namespace
}  // namespace warpgrind::timing
