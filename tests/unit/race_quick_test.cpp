// Accesses that machine code serves itself are compared sixteen words at once, others thread by thread: both must find
// the same races, whatever came before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "checkers/race_launch.h"

namespace warpgrind::checkers {
namespace {

constexpr std::uint32_t kWarps = 3, kSites = 24;

struct Fixture {
  events::KernelFacts facts;
  events::Launch launch;
  Fixture() {
    facts.sites.resize(kSites);
    facts.sites[0].kind = SiteKind::store;  // to global memory: what else is read there is looked at
    facts.sites[0].space = StateSpace::global;
    launch.facts = &facts;
    launch.grid = {2, 1, 1};
    launch.block = {kWarps * kWarpSize, 1, 1};
  }
};

class Watched {
 public:
  Watched(const events::Launch& launch, bool quickly) : races_(launch, nullptr), launch_(launch), quickly_(quickly) {
    for (std::uint64_t b = 0; b < launch.grid.count(); ++b) races_.begin_block(b);
  }

  void access(const events::AffineAccess& a) {
    if (quickly_ && races_.affine_access(a)) return;
    std::array<std::uint64_t, kWarpSize> addresses;
    std::array<std::uint32_t, kWarpSize> sizes;
    for (unsigned l = 0; l < kWarpSize; ++l)
      addresses[l] = a.base + static_cast<std::uint64_t>(a.kx * (l % a.row) + a.ky * (l / a.row));
    sizes.fill(a.bytes);
    events::Access e{&launch_, a.site, a.space, a.block, a.warp, a.mask, addresses, a.type};
    e.bytes = a.bytes;
    if (!quickly_) e.sizes = sizes.data();  // of differing sizes: always thread by thread
    races_.access(e);
  }
  void barrier(std::uint64_t block) {
    BlockOrder* const b = races_.find(block);
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      events::Barrier e;
      e.launch = &launch_;
      e.warp = w;
      e.mask = e.live = ~LaneMask{0};
      races_.order().barrier(*b, e);
    }
    races_.order().barrier_passed(*b, 0);
  }
  void warp_sync(std::uint64_t block, std::uint32_t warp) {
    events::WarpSync e;
    e.launch = &launch_;
    e.warp = warp;
    e.mask = e.members = e.together = e.live = ~LaneMask{0};
    races_.order().warp_sync(*races_.find(block), e);
  }
  // Sites, memory and kind of each.
  std::set<LaunchRaces::Key> found() const {
    std::set<LaunchRaces::Key> keys;
    for (const auto& [key, race] : races_.races()) keys.insert(key);
    return keys;
  }

 private:
  LaunchRaces races_;
  const events::Launch& launch_;
  const bool quickly_;
};

struct Random {
  std::mt19937 engine;
  unsigned below(unsigned n) { return static_cast<unsigned>(engine() % n); }
  template <class T, std::size_t kCount>
  T of(const T (&values)[kCount]) {
    return values[below(kCount)];
  }
};

// Rows, columns, single words, of 4 to 16 bytes a lane, by some lanes or all; mostly each warp in a part of its own.
events::AffineAccess random_access(Random& random, const events::Launch& launch) {
  events::AffineAccess a;
  a.launch = &launch;
  a.site = random.below(kSites);
  a.space = random.below(2) ? StateSpace::shared : StateSpace::global;
  a.block = {a.space == StateSpace::global ? random.below(2) : 0, 0, 0};
  a.warp = random.below(kWarps);
  a.mask = random.below(3) ? ~LaneMask{0} : static_cast<LaneMask>(random.engine());
  a.bytes = random.of({4u, 4u, 4u, 8u, 16u});
  a.row = random.of({32u, 32u, 16u, 8u});
  a.kx = random.of<std::int64_t>({0, a.bytes, a.bytes, a.bytes, 2 * std::int64_t{a.bytes}, 132});
  a.kx = a.kx / a.bytes * a.bytes;
  a.ky = random.of<std::int64_t>({0, 16 * std::int64_t{a.bytes}, 256});
  a.type = random.below(3) ? AccessType::load : AccessType::store;
  const std::uint64_t part = random.below(5) ? a.warp + 4 * a.block.x : random.below(8);
  a.base = 0x10000 + part * 8192 + random.below(64) * 16;
  return a;
}

TEST(RaceQuick, FindsWhatComparingThreadByThreadFinds) {
  const Fixture fixture;
  std::size_t found = 0, silent = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random{std::mt19937(seed)};
    Watched quick(fixture.launch, true), slow(fixture.launch, false);
    const unsigned steps = 2 + random.below(30);
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned what = random.below(8);
      const std::uint64_t block = random.below(2);
      const std::uint32_t warp = random.below(kWarps);
      const events::AffineAccess a = random_access(random, fixture.launch);
      for (Watched* run : {&quick, &slow}) {
        if (what == 0)
          run->barrier(block);
        else if (what == 1)
          run->warp_sync(block, warp);
        else
          run->access(a);
      }
      ASSERT_EQ(quick.found(), slow.found()) << "seed " << seed << ", step " << step;
      if (!slow.found().empty()) break;  // what comes after a race need not be the same
    }
    (slow.found().empty() ? silent : found) += 1;
  }
  EXPECT_GT(found, 50u);
  EXPECT_GT(silent, 50u);
}

}  // namespace
}  // namespace warpgrind::checkers
