// Memory touched by pieces of work, as the stream and host checkers store it. Merged rows must equal rows one by one,
// and each launch must find its own state.
#include "checkers/touched_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "checkers/launch_states.h"
#include "checkers/stretches.h"

namespace warpgrind::checkers {
namespace {

constexpr std::uint64_t kPageBytes = 256;
using Page = TouchedPage<kPageBytes>;
using Pages = std::map<std::uint64_t, Page>;

void touch(Pages& pages, std::uint64_t address, std::uint64_t bytes, const Toucher& by) {
  for (std::uint64_t at = address; at < address + bytes; ++at)
    pages[at / kPageBytes].touch(at % kPageBytes, at % kPageBytes, by.writes, &by);
}

void expect_same(const Pages& a, const Pages& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [number, page] : a) {
    ASSERT_TRUE(b.contains(number));
    const Page& other = b.at(number);
    for (std::size_t k = 0; k < kPageBytes; ++k) {
      ASSERT_EQ(page.read[k], other.read[k]) << number << " " << k;
      ASSERT_EQ(page.written[k], other.written[k]) << number << " " << k;
    }
    ASSERT_EQ(page.touchers.size(), other.touchers.size());
    for (std::size_t t = 0; t < page.touchers.size(); ++t) {
      EXPECT_EQ(page.touchers[t].number(), other.touchers[t].number());
      EXPECT_EQ(page.touchers[t].low, other.touchers[t].low);
      EXPECT_EQ(page.touchers[t].high, other.touchers[t].high);
    }
  }
}

TEST(Rows, AreTheSameTogether) {
  std::mt19937 random(1);
  for (unsigned turn = 0; turn < 50; ++turn) {
    Pages one_by_one, together;
    Rows<kPageBytes> rows(3);
    std::uint64_t next[6];
    for (std::uint64_t& at : next) at = random() % 2048;
    const auto touch_together = [&](std::uint64_t address, std::uint64_t bytes, const Toucher& by) {
      touch(together, address, bytes, by);
    };
    unsigned followed = 0;
    for (unsigned k = 0; k < 200; ++k) {
      const Toucher by{static_cast<std::uint32_t>(random() % 4),
                       random() % 2 != 0};  // the last site is not one of the kernel's
      std::uint64_t& at = next[by.number() % 6];
      if (random() % 4 == 0) at = random() % 2048;
      const std::uint64_t bytes = 1 + random() % 100;
      touch(one_by_one, at, bytes, by);
      if (rows.follows(at, bytes, by, touch_together))
        ++followed;
      else
        touch(together, at, bytes, by);
      at += bytes;
    }
    rows.settle(touch_together);
    EXPECT_GT(followed, 10u);
    expect_same(one_by_one, together);
  }
}

// A remembered place in the list of touchers changes nothing, even if it is of another page.
TEST(TouchedPage, RememberedPlaces) {
  std::mt19937 random(2);
  Pages with, without;
  std::uint32_t places[8] = {};
  for (unsigned k = 0; k < 1000; ++k) {
    const Toucher by{static_cast<std::uint32_t>(random() % 4), random() % 2 != 0};
    const std::uint64_t page = random() % 3, low = random() % kPageBytes;
    const std::uint64_t high = std::min<std::uint64_t>(kPageBytes - 1, low + random() % 100);
    with[page].touch(low, high, by.writes, &by, &places[by.number()]);
    without[page].touch(low, high, by.writes, &by);
  }
  expect_same(with, without);
}

TEST(Bits, First) {
  Bits<128> none, low, high;
  low.set(3, 70);
  high.set(70, 127);
  EXPECT_EQ((low & high).first(), 70u);
  EXPECT_EQ((none & high).first(), 128u);
  EXPECT_EQ((none | high | low).first(), 3u);
  EXPECT_EQ((high & ~low).first(), 71u);
  EXPECT_TRUE(none.none());
  EXPECT_FALSE(high.none());
  EXPECT_FALSE(low[2]);
  EXPECT_TRUE(low[64]);
}

// Lanes that follow each other, overlap or coincide are one stretch. Inactive lanes have none.
TEST(Stretches, OfLanes) {
  std::vector<std::uint64_t> addresses(kWarpSize, 0);
  std::vector<std::uint32_t> sizes(kWarpSize, 4);
  const std::uint64_t first[] = {100, 104, 104, 106, 200, 300, 304};
  std::copy(std::begin(first), std::end(first), addresses.begin());
  sizes[4] = 0;
  const std::span<const std::uint64_t, kWarpSize> all(addresses.data(), kWarpSize);
  events::Access a{nullptr, 0, StateSpace::global, {0, 0, 0}, 0, 0x7f, all};
  a.sizes = sizes.data();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  each_stretch(a, [&](std::uint64_t at, std::uint64_t bytes) { seen.emplace_back(at, bytes); });
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{100, 10}, {300, 8}}));
}

TEST(LaunchStates, EachFindsItsOwn) {
  LaunchStates<int> states;
  std::vector<events::Launch> launches(200);  // more than there are slots
  for (std::size_t k = 0; k < launches.size(); ++k) launches[k].id = k;
  for (const events::Launch& l : launches) states.add(l, std::make_unique<int>(static_cast<int>(l.id)));
  for (const events::Launch& l : launches) {
    ASSERT_TRUE(states.find(l));
    EXPECT_EQ(*states.find(l), static_cast<int>(l.id));
  }
  for (std::size_t k = 0; k < launches.size(); k += 2) EXPECT_EQ(*states.take(launches[k]), static_cast<int>(k));
  for (std::size_t k = 0; k < launches.size(); ++k) EXPECT_EQ(states.find(launches[k]) != nullptr, k % 2 == 1);
  EXPECT_FALSE(states.take(launches[0]));
  events::Launch later;
  later.id = 1000;
  states.add(later, std::make_unique<int>(7));
  EXPECT_EQ(*states.find(later), 7);
}

}  // namespace
}  // namespace warpgrind::checkers
