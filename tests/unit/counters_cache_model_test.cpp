// The cache model: a sectored cache, the lines of a request, the footprint of blocks, and a whole launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "counters/cache_model.h"
#include "counters/footprint.h"
#include "counters/request_lines.h"
#include "counters/sectored_cache.h"
#include "counters/translation_cache.h"

namespace warpgrind::counters {
namespace {

// ---- A cache

TEST(SectoredCache, FetchesSectorsAndFindsLines) {
  SectoredCache c(16 * 128);
  EXPECT_EQ(c.look_up(7, 0b0001, true), 0);
  EXPECT_EQ(c.look_up(7, 0b0011, true), 0b0001);  // the second sector was missing
  EXPECT_EQ(c.look_up(7, 0b1111, false), 0b0011);
  EXPECT_EQ(c.look_up(7, 0b1111, false), 0b0011);  // nothing was fetched
  c.clear();
  EXPECT_EQ(c.look_up(7, 0b1111, false), 0);
}

TEST(SectoredCache, TheLeastRecentlyUsedMakesRoom) {
  SectoredCache c(16 * 128);  // one set
  for (std::uint64_t line = 0; line < 16; ++line) c.look_up(line, 1, true);
  EXPECT_EQ(c.look_up(0, 1, true), 1);
  c.look_up(16, 1, true);  // replaces line 1
  EXPECT_EQ(c.look_up(0, 1, false), 1);
  EXPECT_EQ(c.look_up(1, 1, false), 0);
  EXPECT_EQ(c.look_up(2, 1, false), 1);
}

TEST(SectoredCache, OfFewLinesUsesOnlyThese) {
  SectoredCache c(3 * 128);
  for (std::uint64_t line = 0; line < 4; ++line) c.look_up(line, 1, true);
  EXPECT_EQ(c.look_up(0, 1, false), 0);
  for (std::uint64_t line = 1; line < 4; ++line) EXPECT_EQ(c.look_up(line, 1, false), 1);
}

// 3, 16 and 100 lines, against lists in the order of use. One cache serves all, as a launch takes that of the last one.
TEST(SectoredCache, ReusedItBehavesLikeANewOne) {
  std::mt19937 random(1);
  SectoredCache c(1000 * 128);
  for (const unsigned lines : {3u, 16u, 3u, 3u, 100u, 16u}) {
    c.reset(lines * 128);
    SectoredCache fresh(lines * 128);
    std::vector<std::pair<std::uint64_t, unsigned>> recent;  // line and its sectors, the most recent first
    for (unsigned k = 0; k < 3000; ++k) {
      const std::uint64_t line = random() % (lines + lines / 3 + 2) << 35 | random() % 2;
      const auto mask = static_cast<std::uint8_t>(1 + random() % 15);
      const bool allocate = random() % 4 != 0;
      const std::uint8_t found = c.look_up(line, mask, allocate);
      ASSERT_EQ(found, fresh.look_up(line, mask, allocate));
      if (lines > SectoredCache::kWays) continue;  // several sets
      auto at = std::find_if(recent.begin(), recent.end(), [&](const auto& of) { return of.first == line; });
      ASSERT_EQ(found, at == recent.end() ? 0 : at->second & mask);
      if (at == recent.end()) {
        if (!allocate) continue;
        if (recent.size() == lines) recent.pop_back();
        at = recent.insert(recent.end(), {line, 0});
      }
      if (allocate) at->second |= mask;
      std::rotate(recent.begin(), at, at + 1);
    }
  }
}

TEST(SectoredCache, NoBytesHoldNothing) {
  SectoredCache c(0);
  c.look_up(1, 1, true);
  EXPECT_EQ(c.look_up(1, 1, true), 0);
}

TEST(TranslationCache, TheLeastRecentlyUsedRegionMakesRoom) {
  using Found = TranslationCache::Found;
  TranslationCache c(2, 1000);
  EXPECT_EQ(c.look_up(0), Found::first);
  EXPECT_EQ(c.look_up(999), Found::there);
  EXPECT_EQ(c.look_up(1000), Found::first);
  EXPECT_EQ(c.look_up(1), Found::there);
  EXPECT_EQ(c.look_up(2000), Found::first);  // replaces 1000 to 1999
  EXPECT_EQ(c.look_up(2), Found::there);
  EXPECT_EQ(c.look_up(1500), Found::replaced);
  c.clear();
  EXPECT_EQ(c.look_up(1500), Found::first);
}

// ---- Requests

events::LoggedAccess affine(std::uint64_t base, std::int64_t kx, std::uint8_t bytes = 4, LaneMask mask = kFullMask) {
  events::LoggedAccess e;
  e.base = base;
  e.kx = kx;
  e.bytes = bytes;
  e.mask = mask;
  return e;
}

TEST(RequestLines, LinesAndSectors) {
  const events::AccessLog log;
  const events::BlockLog block;
  RequestLines r;
  find_lines(log, block, affine(128, 4), 4, 0, &r);
  EXPECT_EQ(r.count, 1u);
  EXPECT_EQ(r.sector_count(), 4u);
  find_lines(log, block, affine(132, 4), 4, 0, &r);  // bytes 132 to 259: a fifth sector, in the next line
  EXPECT_EQ(r.count, 2u);
  EXPECT_EQ(r.sector_count(), 5u);
  EXPECT_EQ(r.sectors[1], 1);
  find_lines(log, block, affine(0, 128), 4, 0, &r);  // a column
  EXPECT_EQ(r.count, 32u);
  EXPECT_EQ(r.sector_count(), 32u);
  find_lines(log, block, affine(64, 0), 8, 0, &r);
  EXPECT_EQ(r.sector_count(), 1u);
  events::LoggedAccess local = affine(8, 0, 8);
  local.space = StateSpace::local;  // words 2 and 3 of 32 lanes: a line each
  find_lines(log, block, local, 8, 1 << 20, &r);
  EXPECT_EQ(r.count, 2u);
  EXPECT_EQ(r.line[0], ((1u << 20) + 2 * 128) / 128);
  EXPECT_EQ(r.sector_count(), 8u);
}

// Runs of lanes side by side give the lines of the same lanes with addresses of their own.
TEST(RequestLines, OfRunsAreThoseOfTheirLanes) {
  std::mt19937_64 random(7);
  for (unsigned k = 0; k < 3000; ++k) {
    events::AccessLog log;
    log.row = 1u << random() % 6;
    const auto bytes = static_cast<std::uint8_t>(1u << random() % 5);
    events::LoggedAccess e = affine((1u << 20) + random() % 64 * bytes, bytes, bytes, static_cast<LaneMask>(random()));
    if (k % 3 == 0) e.mask = kFullMask;
    e.ky = (static_cast<std::int64_t>(random() % 200) - 100) * bytes;
    events::BlockLog block;
    for (LaneMask m = e.mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      block.offsets.push_back(
          static_cast<std::uint32_t>((1 << 20) + e.kx * (lane % log.row) + e.ky * (lane / log.row)));
    }
    events::LoggedAccess apart = e;
    apart.base -= 1u << 20;
    apart.lanes = true;
    apart.kx = apart.ky = 0;
    RequestLines together, alone;
    find_lines(log, block, e, bytes, 0, &together);
    find_lines(log, block, apart, bytes, 0, &alone);
    ASSERT_EQ(together.count, alone.count) << k;
    for (unsigned i = 0; i < alone.count; ++i) {
      EXPECT_EQ(together.line[i], alone.line[i]) << k;
      EXPECT_EQ(together.sectors[i], alone.sectors[i]) << k;
    }
  }
}

// Each lane at another place of its local memory: every word of every lane is in a line of its own.
TEST(RequestLines, MostLinesOfARequest) {
  const events::AccessLog log;
  const events::BlockLog block;
  RequestLines r;
  for (const unsigned bytes : {4u, 8u, 16u, 32u}) {
    events::LoggedAccess local = affine(0, bytes, static_cast<std::uint8_t>(bytes));
    local.space = StateSpace::local;
    find_lines(log, block, local, bytes, 0, &r);
    EXPECT_EQ(r.count, kWarpSize * bytes / 4);
    EXPECT_EQ(r.sector_count(), kWarpSize * bytes / 4);
  }
}

// Source: the time model. Columns of 1, 2 and 4 elements of 8 bytes across take 2, 4 and 8 cycles a request.
TEST(RequestLines, PassesThroughTheBanks) {
  events::AccessLog log;
  const events::BlockLog block;
  EXPECT_EQ(bank_passes(log, block, affine(0, 4), 4), 1u);
  EXPECT_EQ(bank_passes(log, block, affine(0, 0), 4), 1u);
  EXPECT_EQ(bank_passes(log, block, affine(0, 8), 8), 2u);
  EXPECT_EQ(bank_passes(log, block, affine(0, 16), 16), 4u);
  EXPECT_EQ(bank_passes(log, block, affine(0, 128), 4), 32u);  // all in one bank
  EXPECT_EQ(bank_passes(log, block, affine(0, 132), 4), 8u);   // no conflict, but 32 lines, four at a time
}

// ---- Footprint: the memory that blocks use

TEST(Footprint, StretchesAndTheirSizes) {
  EXPECT_EQ(merged({{8, 10}, {0, 4}, {3, 6}, {6, 7}}), (Stretches{{0, 7}, {8, 10}}));
  const events::DistinctStretches d = distinct({{1, 2}, {3, 4}, {16, 17}});
  EXPECT_EQ(d.sectors, 3);
  EXPECT_EQ(d.pieces, 3);
  EXPECT_EQ(d.lines, 2);
  EXPECT_EQ(d.pairs, 2);
  EXPECT_EQ(d.quads, 2);
}

TEST(Footprint, ManyStretches) {
  SectorSet set;
  for (std::uint64_t i = 0; i < 1000; ++i) set.add(i * 7919 % 1000 * 3, i * 7919 % 1000 * 3 + 2);
  const Stretches s = set.stretches();
  ASSERT_EQ(s.size(), 1000u);
  EXPECT_EQ(sectors_in(s), 2000u);
  EXPECT_EQ(s[5], (Stretch{15, 17}));
  set.add(0, 3000);
  EXPECT_EQ(set.stretches(), (Stretches{{0, 3000}}));
}

// Tiles of 2 sectors x 3 rows of a matrix whose rows have 100 sectors; a grid of 50 x 10 of them.
// Few and many stretches, near each other and far apart: merged by sorting, in a bitmap and in pages.
TEST(Footprint, MergingIsTheSameInEachWay) {
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  };
  for (const std::uint64_t span : {300u, 5'000u, 400'000u, 2'000'000'000u})
    for (const unsigned count : {3u, 70u, 1500u}) {
      Stretches all;
      std::set<std::uint64_t> sectors;
      for (unsigned k = 0; k < count; ++k) {
        const std::uint64_t begin = next(span), length = 1 + next(k % 9 == 0 ? 200 : 3);
        all.push_back({begin, begin + length});
        for (std::uint64_t s = 0; s < length; ++s) sectors.insert(begin + s);
      }
      Stretches expected;
      for (const std::uint64_t s : sectors)
        if (!expected.empty() && expected.back().end == s)
          ++expected.back().end;
        else
          expected.push_back({s, s + 1});
      EXPECT_EQ(merged(all), expected) << span << ", " << count;
      const auto half = all.begin() + count / 2;
      EXPECT_EQ(united(merged({all.begin(), half}), merged({half, all.end()})), expected) << span << ", " << count;
    }
}

TEST(Footprint, AllBlocksFromSome) {
  const Dim3 grid{50, 10, 1};
  const auto tile = [](std::uint32_t x, std::uint32_t y) {
    BlockStretches b{{x, y, 0}, {}};
    for (std::uint64_t row = 0; row < 3; ++row) {
      const std::uint64_t at = 1000 + (y * 3 + row) * 100 + x * 2;
      b.stretches.push_back({at, at + 2});
    }
    return b;
  };
  const auto moved = find_steps({tile(3, 1), tile(40, 2), tile(7, 7)}, grid);
  ASSERT_TRUE(moved);
  EXPECT_DOUBLE_EQ(moved->step[0], 2);
  EXPECT_DOUBLE_EQ(moved->step[1], 300);
  const auto all = moved_over(*moved, grid, 500, {0, 0});
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (Stretches{{1000, 4000}}));
  // The first 100 blocks are two rows of tiles. Then an allocation that ends earlier.
  EXPECT_EQ(sectors_in(*moved_over(*moved, grid, 100, {0, 0})), 600u);
  EXPECT_EQ(sectors_in(*moved_over(*moved, grid, 500, {1000 * 32, 2000 * 32})), 1000u);
  // Two blocks of one row do not determine the step along y. Blocks of different shapes are not copies.
  EXPECT_FALSE(find_steps({tile(3, 1), tile(40, 1)}, grid));
  BlockStretches other = tile(5, 5), another = tile(6, 6);
  other.stretches.pop_back();
  another.stretches[0].end += 9;
  EXPECT_FALSE(find_steps({tile(3, 1), other, another}, grid));
}

TEST(Footprint, RandomOverlapFindsTheRegion) {
  EXPECT_NEAR(extrapolated(10, 40, 4, 100, 1e9), 1000, 1e-6);  // no block shares sectors
  EXPECT_NEAR(extrapolated(10, 10, 4, 100, 1e9), 10, 1e-3);    // all blocks share all sectors
  EXPECT_NEAR(extrapolated(10, 40, 4, 100, 300), 300, 1e-6);   // at most the whole region
  // 8 blocks take 100 of 1000 each: 1000 (1 - 0.9^8) = 569.5; 20 blocks 878.4
  EXPECT_NEAR(extrapolated(100, 569.533, 8, 20, 1e9), 878.42, 0.5);
}

// ---- A launch

struct Kernel {
  Kernel() {
    log.ranges.resize(2);
    facts.sites.resize(2);
    facts.sites[1].kind = SiteKind::store;
    counts.sites.resize(2);
  }
  // Adds a block of one warp with these accesses of site 0. Accesses of site 1 are stores.
  void block(std::uint64_t number, std::vector<events::LoggedAccess> accesses) {
    events::BlockLog b;
    b.block = number;
    b.index = {static_cast<std::uint32_t>(number), 0, 0};
    b.taken = {static_cast<std::uint32_t>(accesses.size())};
    for (events::LoggedAccess& e : accesses)
      if (e.site == 1) e.type = AccessType::store;
    b.accesses = std::move(accesses);
    log.blocks.push_back(std::move(b));
  }
  events::CacheCounts run(std::uint32_t grid, std::uint64_t loads, std::uint64_t stores = 0, CacheSizes sizes = kSizes,
                          const char* gpu = "h200") {
    log.grid = {grid, 1, 1};
    const auto set = [](events::SiteCounts& c, std::uint64_t sectors) {
      c.requests = c.global_requests = (sectors + 3) / 4;
      c.global.sectors = sectors;
      c.global.bytes_moved = sectors * 32;
    };
    set(counts.sites[0], loads);
    set(counts.sites[1], stores);
    return model_caches(**find_gpu_model(gpu), sizes, facts, counts, log);
  }
  static constexpr CacheSizes kSizes{64 << 10, 0, 50 << 20, 2};
  events::KernelFacts facts;
  events::LaunchCounts counts;
  events::AccessLog log;
};

events::LoggedAccess store(std::uint64_t base, std::int64_t kx = 4) {
  events::LoggedAccess e = affine(base, kx);
  e.site = 1;
  return e;
}

constexpr std::uint64_t kArray = 1 << 20;

TEST(CacheModel, LoadsAreColdAndThenHit) {
  Kernel k;
  k.block(0, {affine(kArray, 4), affine(kArray, 4), affine(kArray + 4, 4)});
  const events::CacheCounts c = k.run(1, 13);
  EXPECT_EQ(c.global_loads.sectors, 13);
  EXPECT_EQ(c.global_loads.hits, 4 + 4);
  EXPECT_EQ(c.l2_read_sectors, 5);
  EXPECT_EQ(c.l2_read_lines, 2);
  EXPECT_EQ(c.read.sectors, 5);
  EXPECT_EQ(c.dram_read_bytes, 3 * 64);  // Hopper's fetch of 64 bytes
  EXPECT_EQ(c.read_by_block.sectors, 5);
  EXPECT_EQ(c.l2.hits, 0);
  EXPECT_EQ(c.dram_written_bytes, 0);
}

TEST(CacheModel, BlocksShareAnSmButNotTheGpu) {
  // 132 SMs: blocks 0 and 1 are on two of them.
  Kernel k;
  k.block(0, {affine(kArray, 4)});
  k.block(1, {affine(kArray, 4)});
  EXPECT_EQ(k.run(2, 8).global_loads.hits, 0);
  EXPECT_EQ(k.run(2, 8).l2.hits, 4);  // L2 has them
  EXPECT_EQ(k.run(2, 8).dram_read_bytes, 128);
  Kernel one;
  std::uint64_t second = 132;
  while (events::sm_of_block(second, 132) != 0) ++second;
  one.block(0, {affine(kArray, 4)});
  one.block(second, {affine(kArray, 4)});
  EXPECT_EQ(one.run(2, 8).global_loads.hits, 4);
}

TEST(CacheModel, StoresGoThrough) {
  Kernel k;
  k.block(0, {store(kArray), affine(kArray, 4), store(kArray)});
  const events::CacheCounts c = k.run(1, 4, 8);
  EXPECT_EQ(c.global_loads.hits, 0);  // a store fetches nothing
  EXPECT_EQ(c.global_stores.hits, 4);
  EXPECT_EQ(c.l2_written_sectors, 8);
  EXPECT_EQ(c.written.sectors, 4);
  EXPECT_EQ(c.partly_written_sectors, 0);
}

// Requests of one lane that stay in the sectors of the site's last one take a short way. The same requests as lists of
// lanes do not.
TEST(CacheModel, RequestsThatRepeatAPlace) {
  std::mt19937 random(7);
  for (unsigned turn = 0; turn < 20; ++turn) {
    Kernel one, other;
    std::vector<events::LoggedAccess> accesses;
    std::uint64_t at[2] = {kArray, kArray + 512};
    for (unsigned k = 0; k < 3000; ++k) {
      const auto site = static_cast<std::uint32_t>(random() % 3 == 0);
      std::uint64_t& place = at[site];
      place += random() % 8 == 0 ? 0 : 4;
      if (random() % 100 == 0) place = kArray + random() % 65536 * 4;
      events::LoggedAccess e = affine(place, 0);
      e.site = site;
      e.mask = 1;
      accesses.push_back(e);
    }
    one.block(0, accesses);
    for (events::LoggedAccess& e : accesses) e.lanes = true;
    other.block(0, accesses);
    other.log.blocks[0].offsets = {0};
    one.facts.sites[0].at_l2 = other.facts.sites[0].at_l2 = turn % 4 == 3;
    const events::CacheCounts a = one.run(1, 2000, 1000), b = other.run(1, 2000, 1000);
    EXPECT_EQ(a.global_loads.hits, b.global_loads.hits);
    EXPECT_EQ(a.global_stores.hits, b.global_stores.hits);
    EXPECT_EQ(a.l2_read_sectors, b.l2_read_sectors);
    EXPECT_EQ(a.l2_read_lines, b.l2_read_lines);
    EXPECT_EQ(a.l2_written_sectors, b.l2_written_sectors);
    EXPECT_EQ(a.partly_written_sectors, b.partly_written_sectors);
    EXPECT_EQ(a.translation_misses, b.translation_misses);
    EXPECT_EQ(a.load_passes, b.load_passes);
    EXPECT_EQ(a.store_passes, b.store_passes);
    EXPECT_EQ(a.read.sectors, b.read.sectors);
    EXPECT_EQ(a.written.sectors, b.written.sectors);
    for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(a.sites[s].waiting_requests, b.sites[s].waiting_requests);
    EXPECT_EQ(a.global_loads.hits > 0, turn % 4 != 3);
  }
}

TEST(CacheModel, PartlyWrittenSectors) {
  Kernel k;
  k.block(0, {store(kArray, 8)});  // every other word
  EXPECT_EQ(k.run(1, 0, 8).partly_written_sectors, 8);
  Kernel both;
  both.block(0, {store(kArray, 8), store(kArray + 4, 8)});
  EXPECT_EQ(both.run(1, 0, 16).partly_written_sectors, 0);
}

TEST(CacheModel, LoadsThatLeaveL1Out) {
  Kernel k;
  k.facts.sites[0].at_l2 = true;
  k.block(0, {affine(kArray, 4), affine(kArray, 4)});
  const events::CacheCounts c = k.run(1, 8);
  EXPECT_EQ(c.global_loads.hits, 0);
  EXPECT_EQ(c.l2_read_sectors, 8);
  EXPECT_EQ(c.l2.hits, 4);
}

TEST(CacheModel, Generations) {
  Kernel k;
  k.block(0, {affine(kArray, 4), affine(kArray, 4)});
  const CacheSizes none{0, 8192, 0, 1}, small{16 << 10, 12288, 786432, 1}, kepler{16 << 10, 49152, 1572864, 1};
  EXPECT_EQ(k.run(1, 8, 0, none, "gtx280").global_loads.hits, 0);
  EXPECT_EQ(k.run(1, 8, 0, none, "gtx280").dram_read_bytes, 8 * 32);  // one fetch for each transaction
  EXPECT_EQ(k.run(1, 8, 0, small, "m2090").global_loads.hits, 4);
  EXPECT_EQ(k.run(1, 8, 0, kepler, "k40c").global_loads.hits, 0);
  Kernel one_word;  // Fermi fetches whole lines
  one_word.block(0, {affine(kArray, 0), affine(kArray + 96, 0)});
  EXPECT_EQ(one_word.run(1, 2, 0, small, "m2090").global_loads.hits, 1);
  EXPECT_EQ(one_word.run(1, 2, 0, small, "m2090").l2_read_sectors, 4);
  EXPECT_EQ(one_word.run(1, 2).global_loads.hits, 0);
}

TEST(CacheModel, SomeBlocksStandForAll) {
  Kernel k;
  for (std::uint64_t b : {0, 7, 500, 900}) k.block(b, {affine(kArray + b * 128, 4)});
  const events::CacheCounts c = k.run(1000, 4000);
  EXPECT_EQ(c.blocks_seen, 4);
  EXPECT_EQ(c.read.sectors, 4000);
  EXPECT_EQ(c.dram_read_bytes, 4000 * 32);
  EXPECT_EQ(c.read_by_block.sectors, 4000);
  EXPECT_EQ(c.l2_read_sectors, 4000);
}

// A matrix of 64 columns that is read by columns, each word once. The logged blocks read its first eight, which share
// their sectors; the other 56 have sectors of their own.
TEST(CacheModel, WordsThatAreReadOnceComeFromDram) {
  constexpr std::uint64_t kColumns = 64, kBlocksOfColumn = 16, kRowBytes = 4 * kColumns;
  Kernel k;
  for (std::uint64_t column = 0; column < 8; ++column)
    for (std::uint64_t part = 0; part < kBlocksOfColumn; ++part)
      k.block(column * kBlocksOfColumn + part, {affine(kArray + part * 32 * kRowBytes + 4 * column, kRowBytes)});
  constexpr std::uint64_t kBlocks = kColumns * kBlocksOfColumn, kBytes = kBlocks * 32 * 4;
  k.counts.sites[0].global.bytes_asked = kBytes;
  const events::CacheCounts c = k.run(kBlocks, kBlocks * 32);
  EXPECT_EQ(c.read.sectors, kBytes / 32);
  EXPECT_EQ(c.dram_read_bytes, kBytes);
  // All columns read the same words: no more must come.
  Kernel twice;
  for (std::uint64_t column = 0; column < 8; ++column)
    for (std::uint64_t part = 0; part < kBlocksOfColumn; ++part)
      twice.block(column * kBlocksOfColumn + part,
                  {affine(kArray + part * 32 * kRowBytes + 4 * (column / 8), kRowBytes)});
  twice.counts.sites[0].global.bytes_asked = kBytes;
  EXPECT_LT(twice.run(kBlocks, kBlocks * 32).dram_read_bytes, kBytes / 3);  // 64 bytes for each sector
}

// Two rows of 256 columns, 32 columns a request. On an H200 such loads are as slow as others as long as the columns
// span less than 256 MB, the reach of an SM's translations: 16 regions of 16 MiB. Beyond, a request of 96 MB has 6 or 7
// misses.
TEST(CacheModel, ColumnsFarApartNeedTranslations) {
  const auto misses_of_request = [](std::uint64_t apart) {
    constexpr std::uint64_t kColumns = 256, kRequests = 2 * kColumns / 32;
    Kernel k;
    std::vector<events::LoggedAccess> accesses;
    for (std::uint64_t row = 0; row < 2; ++row)
      for (std::uint64_t column = 0; column < kColumns; column += 32)
        accesses.push_back(affine(kArray + column * apart + 4 * row, static_cast<std::int64_t>(apart)));
    k.block(0, std::move(accesses));
    CacheSizes no_l1 = Kernel::kSizes;
    no_l1.l1_bytes = 0;
    return k.run(1, kRequests * 32, 0, no_l1).translation_misses / kRequests;
  };
  EXPECT_EQ(misses_of_request(32 << 10), 0);
  EXPECT_EQ(misses_of_request(512 << 10), 0);
  EXPECT_GT(misses_of_request(3 << 20), 4);
  EXPECT_LT(misses_of_request(3 << 20), 7);
}

// Of a stream, each logged block is the first in its region: no miss, whatever the blocks between them did.
TEST(CacheModel, StreamsNeedNoTranslations) {
  Kernel k;
  for (std::uint64_t b = 0; b < 100; ++b) k.block(b * 1000, {affine(kArray + (b << 25), 4)});
  EXPECT_EQ(k.run(100000, 400000).translation_misses, 0);
}

// The replay keeps memory for the next launch, but no content: nothing of the launches before counts.
TEST(CacheModel, LaunchesDoNotDependOnEarlierOnes) {
  const auto hits = [](std::uint64_t blocks, std::uint64_t loads) {
    Kernel k;
    for (std::uint64_t b = 0; b < blocks; ++b) k.block(b, {affine(kArray, 4), affine(kArray + 128 * b, 8)});
    const events::CacheCounts c = k.run(static_cast<std::uint32_t>(blocks), loads);
    return std::pair(c.global_loads.hits, c.sites[0].waiting_requests);
  };
  const auto one = hits(1, 12), many = hits(300, 3600);
  EXPECT_EQ(hits(1, 12), one);
  EXPECT_EQ(hits(300, 3600), many);
  EXPECT_EQ(hits(300, 3600), many);
}

TEST(CacheModel, NewToAWarp) {
  Kernel k;
  k.block(0, {affine(kArray, 4), affine(kArray, 4), affine(kArray + 128, 4), affine(kArray, 0)});
  k.counts.sites[0].global_requests = 4;
  const events::CacheCounts c = k.run(1, 16);
  EXPECT_EQ(c.sites[0].waiting_requests, 2);
}

// The first block of a texture's rows is cut off at address 0; extrapolated backwards it would be before that.
TEST(Footprint, NothingLiesBeforeTheFirstAddress) {
  std::vector<BlockStretches> blocks;
  for (std::uint32_t x = 2; x < 7; ++x) blocks.push_back({{x, 0, 0}, {{10ull * x - 15, 10ull * x - 5}}});
  EXPECT_FALSE(find_steps(blocks, {8, 1, 1}));
  for (BlockStretches& b : blocks) b.stretches[0] = {b.stretches[0].begin + 100, b.stretches[0].end + 100};
  EXPECT_TRUE(find_steps(blocks, {8, 1, 1}));
}

}  // namespace
}  // namespace warpgrind::counters
