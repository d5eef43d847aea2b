// The ledger: work may end in any order but is placed in the order of issue.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "timing/ledger.h"

namespace {

using warpgrind::timing::Ledger;

TEST(Ledger, PlacesInTheOrderOfIssue) {
  Ledger ledger;
  std::string order;
  const auto a = ledger.open([&] { order += 'a'; }), b = ledger.open([&] { order += 'b'; });
  ledger.add([&] { order += 'c'; });
  ledger.close(b);
  EXPECT_EQ(order, "");
  EXPECT_FALSE(ledger.placed_through(1));
  ledger.close(a);
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(ledger.placed_through(ledger.last()));
  ledger.add([&] { order += 'd'; });  // no work before it: placed at once
  EXPECT_EQ(order, "abcd");
}

TEST(Ledger, GoesOnWithoutWhatStaysOpen) {
  Ledger ledger;
  std::string order;
  const auto a = ledger.open([&] { order += 'a'; }), b = ledger.open([&] { order += 'b'; });
  ledger.close(b);
  ledger.add([&] { order += 'c'; });
  ledger.place_closed(ledger.last());
  EXPECT_EQ(order, "bc");
  EXPECT_FALSE(ledger.placed_through(1));
  ledger.close(a);
  EXPECT_EQ(order, "bca");  // once each
  EXPECT_TRUE(ledger.placed_through(3));
}

TEST(Ledger, APlaceMayAddMore) {
  Ledger ledger;
  std::string order;
  ledger.add([&] {
    ledger.add([&] { order += 'b'; });
    order += 'a';
  });
  EXPECT_EQ(order, "ab");
}

TEST(Ledger, ThreadsCloseAsTheyLike) {
  Ledger ledger;
  std::vector<int> order;
  std::vector<Ledger::EntryPtr> entries;
  constexpr int kEntries = 4000, kThreads = 4;
  for (int i = 0; i < kEntries; ++i) entries.push_back(ledger.open([&order, i] { order.push_back(i); }));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = kEntries - 1 - t; i >= 0; i -= kThreads) ledger.close(entries[static_cast<std::size_t>(i)]);
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kEntries));
  for (int i = 0; i < kEntries; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
