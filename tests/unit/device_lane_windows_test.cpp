// Lane addresses against the address window of their site, with each vector width of the machine.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "base/cpu.h"
#include "device/access/lane_vectors.h"

namespace warpgrind::device {
namespace {

using InWindow = bool (*)(const LaneWindow&, const std::uint64_t*, LaneMask, std::uint32_t*);

bool plain(const LaneWindow& w, const std::uint64_t* addresses, LaneMask mask) {
  const std::uint64_t size = std::uint64_t{1} << w.shift;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[std::countr_zero(m)];
    if (w.places == 0 || a < w.low || (a - w.low) % size != 0 || (a - w.low) / size >= w.places) return false;
  }
  return true;
}

void compare(InWindow in_window) {
  std::mt19937_64 random(3);
  unsigned good = 0;
  for (unsigned turn = 0; turn < 20000; ++turn) {
    LaneWindow w;
    w.shift = static_cast<unsigned>(random() % 6);
    w.low = (random() % 2 ? random() >> 16 : random() % 4096) << w.shift;
    w.places = random() % 8 == 0 ? 1 + random() % 2 : 1 + (random() >> 32 >> w.shift);
    const LaneMask mask = random() % 2 ? kFullMask : static_cast<LaneMask>(random());
    std::uint64_t addresses[kWarpSize];
    for (std::uint64_t& a : addresses) a = w.low + (random() % w.places << w.shift);
    // One lane elsewhere, on or off: outside the window, misaligned, or anywhere.
    const std::uint64_t elsewhere[] = {w.low - 1, w.low + (w.places << w.shift), w.low + 1, random(), ~std::uint64_t{0},
                                       0};
    if (random() % 2) addresses[random() % kWarpSize] = elsewhere[random() % 6];
    std::uint32_t offsets[kWarpSize];
    const bool expected = plain(w, addresses, mask);
    ASSERT_EQ(in_window(w, addresses, mask, offsets), expected) << "turn " << turn;
    if (!expected) continue;
    ++good;
    for (unsigned l = 0; l < kWarpSize; ++l)
      ASSERT_EQ(offsets[l], (mask >> l & 1) != 0 ? static_cast<std::uint32_t>(addresses[l] - w.low) : ~0u);
  }
  EXPECT_GT(good, 5000u);
  EXPECT_LT(good, 19000u);
}

TEST(LaneWindows, WithAvx2) {
  compare(lanes_in_window_avx2);
}

TEST(LaneWindows, WithAvx512) {
  if (!kHaveAvx512) GTEST_SKIP() << "this CPU has no AVX-512";
  compare(lanes_in_window_avx512);
}

}  // namespace
}  // namespace warpgrind::device
