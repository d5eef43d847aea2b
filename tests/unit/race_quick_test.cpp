// Two ways to find races: by lines or sixteen words at once, for accesses that machine code serves itself, and thread
// by thread, for others. Both must find the same races after any history.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <utility>

#include "checkers/race_launch.h"

namespace warpgrind::checkers {
namespace {

constexpr std::uint32_t kWarps = 3, kSites = 24;

struct Fixture {
  events::KernelFacts facts;
  events::Launch launch;
  explicit Fixture(bool copies = false) {
    facts.sites.resize(kSites);
    facts.sites[0].kind = SiteKind::store;  // a store to global memory, so that its other reads are checked
    facts.sites[0].space = StateSpace::global;
    if (copies) facts.sites[1].kind = SiteKind::async_copy;  // then accesses before a barrier are kept
    launch.facts = &facts;
    launch.grid = {2, 1, 1};
    launch.block = {kWarps * kWarpSize, 1, 1};
  }
};

class Watched {
 public:
  Watched(const events::Launch& launch, bool quickly) : races_(launch, nullptr), launch_(launch), quickly_(quickly) {
    for (std::uint64_t b = 0; b < launch.grid.count(); ++b) begin(b);
  }

  void access(const events::AffineAccess& a) {
    // Scattered accesses of whole words also have a quick way. Here those of one warp take it, whatever their pattern.
    if (quickly_ && a.warp != 1 && races_.affine_access(a)) return;
    std::array<std::uint64_t, kWarpSize> addresses;
    std::array<std::uint32_t, kWarpSize> sizes;
    for (unsigned l = 0; l < kWarpSize; ++l)
      addresses[l] = a.base + static_cast<std::uint64_t>(a.kx * (l % a.row) + a.ky * (l / a.row));
    sizes.fill(a.bytes);
    events::Access e{&launch_, a.site, a.space, a.block, a.warp, a.mask, addresses, a.type};
    e.bytes = a.bytes;
    if (!quickly_) e.sizes = sizes.data();  // differing sizes: always thread by thread
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
  void new_block(std::uint64_t block) {
    races_.end_block(block);
    begin(block);
  }
  // Sites, memory and kind of each race.
  std::set<LaunchRaces::Key> found() const {
    std::set<LaunchRaces::Key> keys;
    for (const auto& [key, race] : races_.races()) keys.insert(key);
    return keys;
  }
  // The second sites. Of several readers, the reported one may differ.
  std::set<std::pair<std::uint32_t, RaceKind>> second_sites() const {
    std::set<std::pair<std::uint32_t, RaceKind>> all;
    for (const auto& [key, race] : races_.races()) all.emplace(race.second.site, race.kind);
    return all;
  }

 private:
  void begin(std::uint64_t block) { races_.begin_block({&launch_, {static_cast<std::uint32_t>(block), 0, 0}}); }

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

// Rows, columns or single words, of 1 to 16 bytes a lane, by some or all lanes; mostly each warp in its own part.
events::AffineAccess random_access(Random& random, const events::Launch& launch) {
  events::AffineAccess a;
  a.launch = &launch;
  a.site = random.below(kSites);
  a.space = random.below(2) ? StateSpace::shared : StateSpace::global;
  a.block = {a.space == StateSpace::global ? random.below(2) : 0, 0, 0};
  a.warp = random.below(kWarps);
  a.mask = random.below(3) ? ~LaneMask{0} : static_cast<LaneMask>(random.engine());
  a.bytes = random.of({4u, 4u, 4u, 8u, 16u, 4u, 1u, 2u});
  a.row = random.of({32u, 32u, 16u, 8u});
  a.kx = random.of<std::int64_t>({0, a.bytes, a.bytes, a.bytes, 2 * std::int64_t{a.bytes}, 132});
  a.kx = a.kx / a.bytes * a.bytes;
  a.ky = random.of<std::int64_t>({0, 16 * std::int64_t{a.bytes}, 256});
  a.type = random.below(3) ? AccessType::load : AccessType::store;
  const std::uint64_t part = random.below(5) ? a.warp + 4 * a.block.x : random.below(8);
  a.base = 0x10000 + part * 8192 + random.below(64) * 16;
  return a;
}

// Whole rows as kernels use them: each warp has separate words and the same lanes until it syncs. At barriers the words
// change owners. Some words are only read, by all. Sometimes an access strays.
class WordRows {
 public:
  WordRows(Random& random, const events::Launch& launch, StateSpace space) : random_(random), launch_(launch) {
    space_ = space;
    deal();
  }
  void deal() {
    turn_ = random_.below(kParts);
    shift_ = random_.below(40);
    for (std::uint32_t w = 0; w < kWarps; ++w) choose(w);
  }
  void choose(std::uint32_t warp) {
    Map& m = maps_[warp];
    m.bytes = random_.of({4u, 4u, 4u, 8u, 16u});
    m.row = random_.of({32u, 32u, 32u, 16u, 8u});
    m.pitch = std::int64_t{m.bytes} * (m.row + random_.of({0u, 0u, 1u, 3u}));
    m.first = random_.below(3) * m.bytes;
    m.column = random_.below(8) == 0;
    m.stride = random_.of({1u, 1u, 1u, 2u, 3u, 5u, 17u});
    m.pitch *= m.stride;
  }
  // part: the part of memory; the warp's own if it writes.
  events::AffineAccess access(std::uint32_t warp) {
    const Map& m = maps_[warp];
    events::AffineAccess a;
    a.launch = &launch_;
    a.space = space_;
    a.block = {space_ == StateSpace::global && random_.below(100) == 0, 0, 0};
    a.warp = warp;
    a.bytes = m.bytes;
    const unsigned what = random_.below(10);
    a.type = what < 4 ? AccessType::store : AccessType::load;
    a.site = 2 + warp * 4 + what % 4 + (what < 4 ? 0 : 2);
    a.mask = random_.below(3) ? ~LaneMask{0} : static_cast<LaneMask>(random_.engine());
    const bool strays = random_.below(a.type == AccessType::load ? 80 : 300) == 0;
    const std::uint64_t part = strays                                ? random_.below(kParts + 1)
                               : what >= 7 && random_.below(20) != 0 ? kParts
                                                                     : (warp + turn_) % kParts;
    a.base = 0x10000 + (shift_ * 4 + part * 0x1000) / m.bytes * m.bytes + m.first;
    a.row = m.row;
    a.kx = std::int64_t{m.bytes} * (m.column ? 33 : m.stride);
    a.ky = m.column ? m.bytes : m.pitch;
    // All warps read some words of a row, or one word. Only stray accesses write part kParts.
    if (what == 9 || (what == 8 && random_.below(2))) a.kx = 0;
    if (what >= 7 && random_.below(2)) a.ky = 0;
    return a;
  }

 private:
  static constexpr unsigned kParts = 4;
  struct Map {
    std::uint32_t bytes = 4;
    unsigned row = 32, stride = 1;
    std::int64_t pitch = 0;
    std::uint64_t first = 0;
    bool column = false;
  };
  Random& random_;
  const events::Launch& launch_;
  StateSpace space_;
  unsigned turn_ = 0, shift_ = 0;
  std::array<Map, kWarps> maps_;
};

void rows_are_as_threads(bool copies, StateSpace space) {
  const Fixture fixture(copies);
  std::size_t found = 0, silent = 0, long_ones = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Random random{std::mt19937(seed)};
    WordRows rows(random, fixture.launch, space);
    Watched quick(fixture.launch, true), slow(fixture.launch, false);
    unsigned step = 0;
    for (; step < 60 && slow.found().empty(); ++step) {
      const unsigned what = random.below(24);
      const std::uint32_t warp = random.below(kWarps);
      if (what <= 1) rows.deal();
      if (what <= 4) rows.choose(warp);
      const events::AffineAccess a = rows.access(warp);
      for (Watched* run : {&quick, &slow}) {
        if (what == 0 && space == StateSpace::shared)
          run->new_block(0);
        else if (what <= 1)
          run->barrier(0);
        else if (what <= 4)
          run->warp_sync(0, warp);
        else
          run->access(a);
      }
      ASSERT_EQ(quick.second_sites(), slow.second_sites()) << "seed " << seed << ", step " << step;
    }
    long_ones += step > 20;
    (slow.found().empty() ? silent : found) += 1;
  }
  EXPECT_GT(found, 100u);
  EXPECT_GT(silent, 100u);
  EXPECT_GT(long_ones, 200u);
}

// Words of which four threads write a byte each.
TEST(MoreList, HoldsAnyNumber) {
  MoreList list;
  EXPECT_TRUE(list.empty());
  for (std::uint32_t k = 1; k <= 9; ++k) list.add({k, 0, static_cast<std::uint8_t>(k % 2 ? 1 : 6), k % 3 == 0});
  ASSERT_EQ(list.all().size(), 9u);
  for (std::uint32_t k = 1; k <= 9; ++k) EXPECT_EQ(list.all()[k - 1].record, k);
  list.forget(1);
  ASSERT_EQ(list.all().size(), 4u);
  EXPECT_EQ(list.all()[1].record, 4u);
  list.forget(2);
  ASSERT_EQ(list.all().size(), 4u);
  EXPECT_EQ(list.all()[0].bytes, 4u);
  list.forget(15);
  EXPECT_TRUE(list.empty());
  list.add({7, 0, 3, false});
  list.add({8, 0, 1, false});
  list.forget(1);
  ASSERT_EQ(list.all().size(), 1u);
  EXPECT_EQ(list.all()[0].record, 7u);
  for (std::uint32_t k = 0; k < 100; ++k) list.add({k, 0, 1, false});
  EXPECT_EQ(list.all().size(), 64u);  // the newest
  EXPECT_EQ(list.all()[63].record, 99u);
  list.clear();
  EXPECT_TRUE(list.empty());
}

// One warp has read a row, and another one half of it. A third becomes the second reader of the rest.
TEST(RaceQuick, KnowsASecondReaderOfEachWord) {
  const Fixture fixture;
  for (const bool quickly : {true, false}) {
    Watched run(fixture.launch, quickly);
    const auto row = [&](std::uint32_t site, std::uint32_t warp, LaneMask mask, AccessType type) {
      events::AffineAccess a;
      a.launch = &fixture.launch;
      a.site = site;
      a.space = StateSpace::shared;
      a.block = {0, 0, 0};
      a.warp = warp;
      a.mask = mask;
      a.base = 0x100;
      a.kx = a.bytes = 4;
      a.type = type;
      run.access(a);
    };
    row(2, 0, ~LaneMask{0}, AccessType::load);
    row(3, 1, 0x0000ffff, AccessType::load);
    row(4, 2, ~LaneMask{0}, AccessType::load);
    row(5, 0, 0xffff0000, AccessType::store);
    EXPECT_EQ(run.found(), (std::set<LaunchRaces::Key>{{4, 5, true, RaceKind::plain}}));
    row(6, 0, 0x0000ffff, AccessType::store);
    EXPECT_TRUE(run.found().contains({3, 6, true, RaceKind::plain}));
  }
}

TEST(RaceQuick, FindsInSharedRowsWhatThreadsFind) {
  rows_are_as_threads(false, StateSpace::shared);
}
TEST(RaceQuick, FindsInRowsWithoutForgettingWhatThreadsFind) {
  rows_are_as_threads(true, StateSpace::shared);
}
TEST(RaceQuick, FindsInGlobalRowsWhatThreadsFind) {
  rows_are_as_threads(false, StateSpace::global);
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
      if (!slow.found().empty()) break;  // after a race, results may differ
    }
    (slow.found().empty() ? silent : found) += 1;
  }
  EXPECT_GT(found, 50u);
  EXPECT_GT(silent, 50u);
}

}  // namespace
}  // namespace warpgrind::checkers
