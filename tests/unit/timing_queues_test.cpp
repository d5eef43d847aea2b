// Closed networks of queues: limits that hold for any numbers, and a network whose exact answer is known.
#include <gtest/gtest.h>

#include <vector>

#include "timing/queues.h"

namespace warpgrind::timing {
namespace {

TEST(Queues, ACustomerAloneTakesItsPath) {
  const std::vector<Station> stations = {{30, 1}, {20, 1}};
  EXPECT_DOUBLE_EQ(time_in_queues(100, stations), 100);
  EXPECT_DOUBLE_EQ(time_in_queues(10, stations), 50);  // no path is shorter than its own service
}

TEST(Queues, ManyCustomersTakeTheTimeOfTheBusiestStation) {
  const std::vector<Station> stations = {{1000, 500}, {400, 500}};
  EXPECT_NEAR(time_in_queues(20, stations), 1000, 20);
}

TEST(Queues, NothingTakesNoTime) {
  EXPECT_EQ(time_in_queues(0, {}), 0);
  EXPECT_EQ(time_in_queues(7, {}), 7);
}

// Exact mean value analysis of one station (1 ms of service) and 9 ms elsewhere: 10 customers take 13.0 ms a round.
TEST(Queues, NearTheExactAnswer) {
  double queue = 0, round = 0;
  constexpr int kCustomers = 10;
  for (int n = 1; n <= kCustomers; ++n) {
    const double stay = 1 + queue;
    round = 9 + stay;
    queue = n * stay / round;
  }
  const std::vector<Station> station = {{kCustomers * 1.0, kCustomers}};
  EXPECT_NEAR(time_in_queues(10, station), round, 0.05 * round);
}

TEST(Queues, MoreWorkOrALongerPathIsNeverFaster) {
  double before = 0;
  for (double work = 0; work < 300; work += 10) {
    const std::vector<Station> stations = {{work, 16}, {120, 64}};
    const double now = time_in_queues(80, stations);
    EXPECT_GE(now, before * (1 - 1e-3)) << work;
    EXPECT_GE(time_in_queues(90, stations), now * (1 - 1e-3)) << work;
    before = now;
  }
}

TEST(Queues, WhatIsWaitedBesidesCounts) {
  const std::vector<Station> stations = {{10, 4}};
  const double without = time_in_queues(100, stations);
  const double with = time_in_queues(100, stations, [](double t) { return 1000 / t; });
  EXPECT_GT(with, without + 5);
  EXPECT_LT(with, without + 10);
}

}  // namespace
}  // namespace warpgrind::timing
