#include <gtest/gtest.h>

#include "timing/estimate.h"

namespace warpgrind::timing {
namespace {

const GpuModel& h200() {
  return **find_gpu_model("h200");
}

// A copy kernel, `bytes` a lane, of `total` bytes in blocks of 256 threads.
KernelEstimate copy_kernel(const GpuModel& m, double total, unsigned bytes, const Footprint& footprint = {}) {
  events::KernelFacts facts;
  events::LaunchCounts counts;
  const auto warps = static_cast<std::uint64_t>(total / bytes / 32);
  std::int64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = std::int64_t{l} * bytes;
  for (const auto kind : {events::SiteKind::load, events::SiteKind::store}) {
    events::Site s;
    s.kind = kind;
    facts.sites.push_back(s);
    events::SiteCounts& c = counts.sites.emplace_back();
    c.global.add(global_cost(m.rules, kind == events::SiteKind::load ? AccessType::load : AccessType::store, offsets,
                             kFullMask, bytes),
                 warps);
    c.global_requests = c.requests = warps;
  }
  events::BlockFacts b;
  b.by_class[static_cast<unsigned>(events::InstructionClass::integer)] = 8;
  facts.blocks.push_back(b);
  counts.blocks.push_back({warps, warps * 32});
  const Occupancy o = occupancy(m, {.threads = 256, .registers_per_thread = 16});
  return estimate_kernel(m, facts, counts, o, warps / 8, footprint);
}

TEST(Estimate, CopiesOfAnH200) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  // Measured: 2670 GB/s with one float a thread, 4247 GB/s with four (read + write, 1 GiB).
  const KernelEstimate one = copy_kernel(h200(), kGiB, 4), four = copy_kernel(h200(), kGiB, 16);
  EXPECT_NEAR(2 * kGiB / one.ns, 2670, 400);
  EXPECT_EQ(one.limit, Limit::latency);
  EXPECT_NEAR(2 * kGiB / four.ns, 4247, 200);
  EXPECT_EQ(four.limit, Limit::dram_bandwidth);
}

// One of the two arrays of a copy is the host's: half of the traffic crosses the link.
TEST(Estimate, MappedHostMemory) {
  constexpr std::uint64_t kBytes = 64 << 20;
  const KernelEstimate e = copy_kernel(h200(), kBytes, 16, {.device = kBytes, .host = kBytes});
  EXPECT_EQ(e.limit, Limit::host_link);
  EXPECT_NEAR(e.ns, 1e3 * h200().launch_latency_us + kBytes / h200().link_gbps_pinned, 1);
  EXPECT_EQ(e.dram_bytes, kBytes);
}

TEST(Estimate, SmallKernelIsLaunchLatency) {
  const KernelEstimate e = copy_kernel(h200(), 4096, 4);
  EXPECT_EQ(e.limit, Limit::launch);
  EXPECT_GE(e.ns, 1e3 * h200().launch_latency_us);
}

TEST(Estimate, OlderGpusAreSlower) {
  double last = 0;
  for (const char* id : {"b200", "h200", "a100", "v100", "k40c", "gtx280", "g80"}) {
    const KernelEstimate e = copy_kernel(**find_gpu_model(id), 64e6, 16);
    EXPECT_GT(e.ns, last) << id;
    last = e.ns;
  }
}

TEST(Estimate, HostCopies) {
  // Measured on an H200: 1 GiB pinned 55.5 GB/s, pageable about 19 from the device; 1 KiB pinned 6.1 us.
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(gib / estimate_copy_ns(h200(), CopyPath::host_to_device, HostMemory::pinned, 1u << 30), 55.5, 0.5);
  EXPECT_NEAR(gib / estimate_copy_ns(h200(), CopyPath::device_to_host, HostMemory::pageable, 1u << 30), 18, 1);
  EXPECT_NEAR(estimate_copy_ns(h200(), CopyPath::host_to_device, HostMemory::pinned, 1024), 6100, 700);
  EXPECT_NEAR(2 * gib / estimate_copy_ns(h200(), CopyPath::device_to_device, HostMemory::pinned, 1u << 30), 4223, 120);
  EXPECT_LT(estimate_copy_ns(h200(), CopyPath::host_to_device, HostMemory::pinned, 1 << 20),
            estimate_copy_ns(h200(), CopyPath::host_to_device, HostMemory::pageable, 1 << 20));
}

}  // namespace
}  // namespace warpgrind::timing
