// Orders of blocks and warps: a correct kernel has the same results and counts in each.
#include <gtest/gtest.h>

#include <vector>

#include "device/schedule.h"
#include "device_fixture.h"

namespace warpgrind::device {
namespace {

constexpr unsigned kOrders = 7;  // up to random:4

TEST(Orders, AreReadAsTheyAreWritten) {
  for (unsigned k = 0; k < kOrders; ++k) {
    const Schedule schedule = numbered_schedule(k);
    const auto read = read_schedule(name(schedule));
    ASSERT_TRUE(read) << name(schedule);
    EXPECT_EQ(*read, schedule);
  }
  EXPECT_EQ(name(numbered_schedule(0)), "forward");
  EXPECT_EQ(name(numbered_schedule(3)), "random:1");
  EXPECT_EQ(name(*read_schedule("random:18446744073709551615")), "random:18446744073709551615");
  for (const char* wrong :
       {"", "backward", "random", "random:", "random:x", "random:1x", "random:18446744073709551616"})
    EXPECT_FALSE(read_schedule(wrong)) << wrong;
}

// 391 blocks, no power of two: each block runs exactly once.
TEST(Orders, EveryBlockRunsOnce) {
  for (unsigned k = 0; k < kOrders; ++k) {
    Gpu gpu(2);
    gpu.device->set_schedule(numbered_schedule(k), false);
    const int n = 100003;
    auto *a = gpu.array<float>(n), *b = gpu.array<float>(n), *c = gpu.array<float>(n);
    for (int i = 0; i < n; ++i) a[i] = b[i] = static_cast<float>(i);
    const LaunchResult r = gpu.run("vadd", shape({(n + 255) / 256, 1, 1}, {256, 1, 1}), a, b, c, n);
    ASSERT_FALSE(r.fault) << r.fault->message;
    EXPECT_EQ(r.counts.threads_launched, (n + 255) / 256 * 256u);
    for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], static_cast<float>(2 * i)) << i << " " << name(numbered_schedule(k));
  }
}

TEST(Orders, BarriersHold) {
  for (unsigned k = 0; k < kOrders; ++k) {
    Gpu gpu(2);
    gpu.device->set_schedule(numbered_schedule(k), k % 2 != 0);
    const int n = 4096;
    auto* in = gpu.array<float>(n);
    auto* out = gpu.array<float>(16);
    for (int i = 0; i < n; ++i) in[i] = 1;
    ASSERT_FALSE(gpu.run("reduce", shape({16, 1, 1}, {256, 1, 1}, 1024), in, out, n).fault);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], 256.0f) << name(numbered_schedule(k));
    // A fault leaves no state that disturbs the next launch.
    ASSERT_TRUE(gpu.run("reduce", shape({16, 1, 1}, {256, 1, 1}, 0), in, out, n).fault);
    ASSERT_FALSE(gpu.run("reduce", shape({16, 1, 1}, {256, 1, 1}, 1024), in, out, n).fault);
    EXPECT_EQ(out[15], 256.0f);
  }
}

}  // namespace
}  // namespace warpgrind::device
