// Cost of accesses by the plain rules, one by one: the reference for faster ways of counting.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "device/device.h"

namespace warpgrind::device {

// Observer of every access that adds up the costs.
class PlainCounts : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.counts = w.accesses = true;
    return w;
  }
  void on_access(const events::Access& a, unsigned) override {
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = static_cast<std::int64_t>(a.addresses[l]);
    const AccessForm form{a.space, a.type, static_cast<std::uint8_t>(a.bytes), SharedAtomic::native};
    sites[a.site].add(a.space, access_cost((*find_gpu_model("h200"))->rules, form, offsets, a.mask), a.mask);
  }
  std::map<std::uint32_t, events::SiteCounts> sites;
};

inline bool same_cost(const AccessCost& a, const AccessCost& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

inline void expect_same(const events::SiteCounts& got, const events::SiteCounts& want, const std::string& where) {
  EXPECT_EQ(got.requests, want.requests) << where;
  EXPECT_EQ(got.lanes, want.lanes) << where;
  EXPECT_EQ(got.global_requests + 3 * got.shared_requests + 7 * got.local_requests,
            want.global_requests + 3 * want.shared_requests + 7 * want.local_requests)
      << where;
  EXPECT_EQ(got.global_lanes + 3 * got.shared_lanes + 7 * got.local_lanes,
            want.global_lanes + 3 * want.shared_lanes + 7 * want.local_lanes)
      << where;
  EXPECT_TRUE(same_cost(got.global, want.global))
      << where << ": sectors " << got.global.sectors << ", " << want.global.sectors;
  EXPECT_TRUE(same_cost(got.shared, want.shared))
      << where << ": wavefronts " << got.shared.wavefronts << ", " << want.shared.wavefronts;
  EXPECT_TRUE(same_cost(got.local, want.local))
      << where << ": sectors " << got.local.sectors << ", " << want.local.sectors;
}

}  // namespace warpgrind::device
