// The time model: properties that hold for any constants, and measurements on an H200.
#include <gtest/gtest.h>

#include "timing/estimate.h"
#include "timing/interval.h"
#include "timing/l2_contents.h"
#include "timing/terms/terms.h"
#include "timing_models.h"

namespace warpgrind::timing {
namespace {

LaunchWork empty_kernel(double blocks, double threads = 32) {
  LaunchWork w;
  w.blocks = blocks;
  w.threads_per_block = threads;
  w.warps_per_block = threads / 32;
  w.resident_blocks = std::min(32.0, 2048 / threads);
  return w;
}

// Each thread reads `bytes` and writes them elsewhere, 256 threads a block.
LaunchWork copy_kernel(double total, double bytes) {
  LaunchWork w = empty_kernel(total / bytes / 256, 256);
  w.instructions = 12;
  w.static_instructions = 20;
  w.path_0 = 40, w.path_40 = 80, w.path_290 = 330, w.path_700 = 740, w.path_1000 = 1040;
  const double sectors = total / 32;
  w.l1_load_passes = w.l1_store_passes = total / 128;
  w.l2_read_sectors = w.l2_write_sectors = w.read_sectors = w.write_sectors = sectors;
  w.l2_read_lines = w.l2_write_lines = w.read_lines = w.write_lines = sectors / 4;
  w.read_pieces = w.write_pieces = sectors / 2;
  w.read_pairs = w.write_pairs = sectors / 8;
  w.read_fours = w.write_fours = sectors / 16;
  return w;
}

// 4096 blocks of 256 threads and 16384 blocks of 1024, which load, meet at a barrier and store 128 MiB. Measured on an
// H200: 72 and 95 us.
TEST(Estimate, FewLargeBlocksWithABarrierOverlapLess) {
  LaunchWork small = copy_kernel(128 * 1048576.0, 8);
  small.barriers = 1;
  LaunchWork large = small;
  large.blocks /= 4, large.threads_per_block = 1024, large.warps_per_block = 32, large.resident_blocks = 2;
  const double a = estimate_kernel(h200(), small).ns, b = estimate_kernel(h200(), large).ns;
  EXPECT_NEAR(a, 72e3, 12e3);
  EXPECT_NEAR(b, 95e3, 20e3);
  EXPECT_GT(b, a);
}

// A tile is loaded, and read with and without 8-way bank conflicts (rows_by_eight of tests/advice/pairs.cu). Measured
// on an H200: 10.3 and 7.3 us.
TEST(Estimate, ConflictsBehindABarrierAreNotHiddenByTheLoads) {
  LaunchWork w = empty_kernel(2048, 128);
  w.resident_blocks = 16;
  w.instructions = 170, w.static_instructions = 62, w.alu = 84, w.barriers = 1;
  w.path_0 = 685, w.path_40 = 1213, w.path_290 = 5213, w.path_700 = 11773, w.path_1000 = 16573;
  w.l1_load_passes = 131072, w.l1_store_passes = 8192;
  w.l2_read_sectors = 36000, w.l2_read_lines = 9000, w.l2_write_sectors = 32768, w.l2_write_lines = 8192;
  w.read_sectors = 256, w.read_pieces = 128, w.read_lines = 64, w.read_pairs = 32, w.read_fours = 16;
  w.write_sectors = 32768, w.write_pieces = 16384, w.write_lines = 8192, w.write_pairs = 4096, w.write_fours = 2048;
  w.shared_wavefronts = 1179648;
  const double conflicts = estimate_kernel(h200(), w).ns;
  w.shared_wavefronts = 262144;
  EXPECT_GT(conflicts - estimate_kernel(h200(), w).ns, 2000);
  // Blocks of later waves load while others use shared memory.
  w.resident_blocks = 4;
  const double padded = estimate_kernel(h200(), w).ns;
  w.shared_wavefronts = 1179648;
  EXPECT_LT(estimate_kernel(h200(), w).ns - padded, 2000);
}

// Measured on an H200 (lab/results/h200/short_launches.csv): nothing 1.50 us, a store 1.79 us, and in 1,056 blocks
// eight dependent loads 2.85 us, 0.55 us more than in 132.
TEST(Estimate, ShortLaunchesOfAnH200) {
  LaunchWork w = empty_kernel(16);
  EXPECT_NEAR(estimate_kernel(h200(), w).ns, 1504, 60);
  w.l2_write_sectors = w.write_sectors = 64, w.l2_write_lines = w.write_lines = 16;
  EXPECT_NEAR(estimate_kernel(h200(), w).ns, 1792, 120);
  const auto of_blocks = [](double blocks) {
    LaunchWork chain = empty_kernel(blocks);
    chain.path_0 = 300, chain.path_40 = 340, chain.path_290 = 2600, chain.path_700 = 6000, chain.path_1000 = 8000;
    chain.l2_read_sectors = blocks * 4, chain.read_sectors = 4;
    return estimate_kernel(h200(), chain).ns;
  };
  EXPECT_NEAR(of_blocks(1056) - of_blocks(132), 550, 60);
}

TEST(Estimate, CopiesOfAnH200) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  // Measured: 4281 GB/s (read + write, 1 GiB, 16 bytes a thread). With 4 bytes a thread: 2670 GB/s, plus 37 us for that
  // many blocks at 0.6 ns each.
  const KernelEstimate four = estimate_kernel(h200(), copy_kernel(kGiB, 16));
  EXPECT_LT(four.low_ns, 2 * kGiB / 4281);
  EXPECT_GT(four.high_ns, 2 * kGiB / 4281);
  EXPECT_EQ(four.limit, Limit::dram_bandwidth);
  const KernelEstimate one = estimate_kernel(h200(), copy_kernel(kGiB, 4));
  EXPECT_NEAR(2 * kGiB / one.ns, 2670, 700);
}

// A matrix of `rows` x `columns` floats is read by columns and written by rows: 64 columns a block, one element a
// thread. `misses` of a request, whose 32 lanes read 32 columns: see CacheModel.ColumnsFarApartNeedTranslations.
LaunchWork transposed(double rows, double columns, double misses) {
  const double elements = rows * columns, requests = elements / 32;
  LaunchWork w = copy_kernel(4 * elements, 4);
  w.blocks = elements / 64, w.threads_per_block = 64, w.warps_per_block = 2, w.resident_blocks = 32;
  w.instructions = w.static_instructions = 59, w.alu = 35;
  w.path_0 = 317, w.path_40 = 356, w.path_290 = 606, w.path_700 = 1016, w.path_1000 = 1316;
  w.l1_load_passes = w.l2_read_sectors = w.l2_read_lines = elements;
  w.translation_misses = misses * requests;
  return w;
}

// Measured on an H200, us. Rows of 32 KB: no translation is missing. Of 3 MB and 8 MB: columns are too far apart.
// Clocks of an H200 during products of random halves (lab/results/h200/clocks.csv), by the parts of the time in which
// its tensor cores and L2 were busy. The model's two constants come from the launches of 8192.
TEST(Estimate, TensorCoresLowerTheClock) {
  struct Launch {
    const char* what;
    double tensor, l2, mhz;
  };
  for (const Launch& l : {Launch{"no products", 0, 1, 1980}, Launch{"products alone", 1, 0, 1684},
                          Launch{"tensor cores, 8192", 0.34, 0.23, 1796}, Launch{"stages, 8192", 0.59, 0.36, 1686},
                          Launch{"ring, 8192", 0.92, 0.69, 1523}, Launch{"persistent, 8192", 0.97, 0.62, 1539},
                          Launch{"tensor cores, 4096", 0.33, 0.23, 1793}, Launch{"stages, 4096", 0.57, 0.37, 1733},
                          Launch{"ring, 4096", 0.75, 0.66, 1630}, Launch{"persistent, 4096", 0.88, 0.60, 1610}})
    EXPECT_NEAR(busy_clock_mhz(h200(), l.tensor, l.l2), l.mhz, 0.05 * l.mhz) << l.what;
  // Where nothing was measured, the clock stays.
  GpuModel other = h200();
  other.timing.tensor_clock_mhz = other.timing.fed_tensor_clock_mhz = other.sm_clock_mhz;
  EXPECT_EQ(busy_clock_mhz(other, 1, 1), other.sm_clock_mhz);
}

TEST(Estimate, ColumnsFarApartWaitForTranslations) {
  const auto us = [](double rows, double columns, double misses) {
    return estimate_kernel(h200(), transposed(rows, columns, misses)).ns * 1e-3;
  };
  EXPECT_NEAR(us(8192, 8192, 0), 637, 0.15 * 637);
  EXPECT_NEAR(us(786432, 256, 4.6), 2329, 0.15 * 2329);
  EXPECT_NEAR(us(2097184, 128, 16), 4800, 0.2 * 4800);
  EXPECT_LT(us(2097184, 128, 0), 0.7 * 4800);
  EXPECT_EQ(estimate_kernel(h200(), transposed(2097184, 128, 16)).limit, Limit::translation);
}

// Loads of one sector each, 512 bytes apart: the model's constant is their cost in bytes.
TEST(Estimate, LonelySectorsCostWhatTheModelSays) {
  constexpr double kSectors = 1 << 25;
  LaunchWork w = copy_kernel(32 * kSectors, 4);
  w.l2_write_sectors = w.l2_write_lines = w.write_sectors = w.write_lines = 0;
  w.write_pieces = w.write_pairs = w.write_fours = 0;
  w.read_pieces = w.read_lines = w.l2_read_lines = w.read_pairs = w.read_fours = kSectors;
  GpuModel model = h200();
  for (const double bytes : {model.timing.dram_piece_bytes_512, 2 * model.timing.dram_piece_bytes_512}) {
    model.timing.dram_piece_bytes_512 = bytes;
    const KernelEstimate e = estimate_kernel(model, w);
    EXPECT_EQ(e.limit, Limit::dram_bandwidth);
    const double least = kSectors * bytes / model.timing.dram_read_gbps;
    EXPECT_GT(e.ns, least);
    EXPECT_LT(e.ns, 1.2 * least);
  }
}

TEST(Estimate, BlocksComeAtTheirRate) {
  // 10^6 empty blocks: 0.60 ns each, measured.
  const KernelEstimate e = estimate_kernel(h200(), empty_kernel(1e6));
  EXPECT_EQ(e.limit, Limit::block_launch);
  EXPECT_NEAR(e.ns, 0.60e6, 0.05e6);
}

TEST(Estimate, SmallKernelIsLaunchLatency) {
  const KernelEstimate e = estimate_kernel(h200(), empty_kernel(1));
  EXPECT_EQ(e.limit, Limit::launch);
  EXPECT_GE(e.ns, h200().timing.empty_kernel_ns);
  EXPECT_LT(e.ns, 2 * h200().timing.empty_kernel_ns);
  EXPECT_GT(e.event_ns, e.ns);         // two events measure more than the kernel
  EXPECT_LT(e.queued_ns, e.event_ns);  // another kernel in a busy stream takes less
}

TEST(Estimate, NothingGetsFasterByMoreWork) {
  const LaunchWork base = copy_kernel(1 << 24, 4);
  const double before = estimate_kernel(h200(), base).ns;
  for (const WorkMember& m : kWorkMembers) {
    // Excluded: members whose growth may shorten the time. Fewer resident blocks are slower. Lines and pieces are
    // shares of the sectors before them. A load waits less if more of its sectors are in L2. A path is one of five
    // points. Copies overlap better than loads.
    if (m.name == "resident_blocks" || m.name == "blocks" || m.name == "warps_per_block" ||
        m.name == "atomic_returns" || m.name.find("atomic") == 0 || m.name.find("path") == 0 ||
        m.name.find("slowest") == 0 || m.name.find("copy_") == 0)
      continue;
    if (m.name.find("read_") == 0 || m.name.find("write_") == 0 || m.name.find("l2_") == 0) continue;
    LaunchWork more = base;
    more.*m.value = base.*m.value * 1.5 + 1;
    EXPECT_GE(estimate_kernel(h200(), more).ns, before - 1e-6) << m.name;
  }
}

// One block copies 64 times 32 KB to a ring of so many places (ring_copies m=128 n=128 k=4096 of
// lab/results/h200/asynchronous.csv). Measured on an H200: 53.47, 29.22, 21.44, 18.08 and 14.85 us between events.
TEST(Estimate, ADeeperRingWaitsLess) {
  const auto us = [](double places) {
    LaunchWork w = empty_kernel(1, 384);
    w.static_instructions = 275, w.instructions = 700,
    w.path_0 = w.path_40 = w.path_290 = w.path_700 = w.path_1000 = 4000;
    w.copy_loads = 128, w.copy_load_rows = 16384, w.copy_load_bytes = 2097152, w.copy_new = 1;
    w.copy_turns = 64 / places, w.copy_places = places;
    w.l2_read_sectors = w.read_sectors = 65536, w.l2_read_lines = w.read_lines = 16384;
    w.read_pieces = 32768, w.read_pairs = 8192, w.read_fours = 4096;
    return estimate_kernel(h200(), w).event_ns / 1e3;
  };
  EXPECT_NEAR(us(1), 53.47, 0.2 * 53.47);
  EXPECT_NEAR(us(2), 29.22, 0.2 * 29.22);
  EXPECT_NEAR(us(3), 21.44, 0.2 * 21.44);
  EXPECT_NEAR(us(4), 18.08, 0.2 * 18.08);
  EXPECT_NEAR(us(6), 14.85, 0.25 * 14.85);
}

TEST(Estimate, MoreOfEachTermCostsMore) {
  const auto grows = [](double LaunchWork::*member, double much) {
    LaunchWork w = empty_kernel(1320, 256);
    w.path_0 = w.path_40 = w.path_290 = w.path_700 = w.path_1000 = 100;
    const double before = estimate_kernel(h200(), w).ns;
    w.*member = much;
    return estimate_kernel(h200(), w).ns / before;
  };
  for (double LaunchWork::*m : {&LaunchWork::instructions, &LaunchWork::alu, &LaunchWork::fma, &LaunchWork::integer_fma,
                                &LaunchWork::fp64, &LaunchWork::special, &LaunchWork::shuffles, &LaunchWork::barriers,
                                &LaunchWork::textures, &LaunchWork::tensor_half, &LaunchWork::tensor_double})
    EXPECT_GT(grows(m, 10000), 2);
  for (double LaunchWork::*m :
       {&LaunchWork::shared_wavefronts, &LaunchWork::l1_load_passes, &LaunchWork::l1_store_passes,
        &LaunchWork::l2_read_sectors, &LaunchWork::l2_write_sectors, &LaunchWork::partial_write_sectors})
    EXPECT_GT(grows(m, 1e8), 2);
}

TEST(Estimate, MoreMultiprocessorsAreNotSlower) {
  GpuModel larger = h200();
  larger.sm_count *= 2;
  for (const LaunchWork& w : {copy_kernel(1 << 20, 4), copy_kernel(1 << 28, 16), empty_kernel(100000), empty_kernel(1)})
    // With fewer warps a scheduler hides less latency: up to 2 % (terms/combine.cpp).
    EXPECT_LE(estimate_kernel(larger, w).ns, estimate_kernel(h200(), w).ns * 1.02);
}

TEST(Estimate, OneOfManyTermsIsAllThatCounts) {
  // Sixteen warps a scheduler with FP32 work only: its term and the launch.
  LaunchWork w = empty_kernel(132 * 8, 256);
  w.fma = w.instructions = 1e5;
  const KernelEstimate e = estimate_kernel(h200(), w);
  const double cycles = 1e5 * 132 * 8 * 8 / 132 / 4;
  EXPECT_NEAR(e.ns, cycles / 1.98, 0.08 * cycles / 1.98);
}

// Cost of one more RED request at L2, measured (lab/results/h200/calibration.csv and the lab's histograms).
TEST(Estimate, AtomicsOnFewSectors) {
  constexpr double kRequests = 1e5;
  const auto each_ns = [](double sectors_a_request, double distinct) {
    LaunchWork w = empty_kernel(1e3, 256);
    w.atomic_requests = kRequests;
    w.atomic_lanes = 32 * kRequests;
    w.atomic_sectors = sectors_a_request * kRequests;
    w.atomic_distinct_sectors = distinct;
    for (const Bound& b : estimate_kernel(h200(), w).bounds)
      if (b.limit == Limit::atomics) return b.ns / kRequests;
    return 0.0;
  };
  EXPECT_NEAR(each_ns(32, 32), 11.1, 0.5);      // 32 words 32 bytes apart
  EXPECT_NEAR(each_ns(4, 4), 2.64, 0.15);       // the 32 words of a line
  EXPECT_NEAR(each_ns(4, 32), 10.3 / 8, 0.15);  // 256 bins, 8 requests for all of them
}

// compare_and_swap of lab/results/h200/kinds.csv and the same with fewer words: 132 blocks of 256 threads, two rounds.
TEST(Estimate, RetriesOfCompareAndSwapFollowEachOther) {
  const auto us = [](double turns, double warps) {
    LaunchWork w = empty_kernel(132, 256);
    w.atomic_requests = w.atomic_sectors = turns, w.atomic_lanes = 32 * turns, w.atomic_returns = 1;
    w.atomic_distinct_sectors = 1;
    w.cas_turns = turns, w.cas_warps = warps;
    return estimate_kernel(h200(), w).ns / 1e3;
  };
  EXPECT_NEAR(us(64, 0), 28, 8);           // a warp whose lanes want one word
  EXPECT_NEAR(us(2048, 32), 716, 150);     // 32 blocks of a warp each
  EXPECT_NEAR(us(2112, 1056), 2800, 700);  // 132 blocks of 8 warps, 32 words
}

TEST(Estimate, MappedHostMemory) {
  LaunchWork w = copy_kernel(64 << 20, 16);
  const double bytes = w.host_read_bytes = 64 << 20;
  const KernelEstimate e = estimate_kernel(h200(), w);
  EXPECT_EQ(e.limit, Limit::host_link);
  EXPECT_NEAR(e.ns, bytes / h200().timing.mapped_read_gbps, 0.1 * bytes / h200().timing.mapped_read_gbps);
  w.host_write_bytes = bytes / 2;  // the other direction of the link
  EXPECT_EQ(estimate_kernel(h200(), w).ns, e.ns);
  w.host_write_bytes = 4 * bytes;
  EXPECT_GT(estimate_kernel(h200(), w).ns, 3 * e.ns);
}

TEST(Estimate, ALoadOverALinkTakesItsTime) {
  LaunchWork w = empty_kernel(1);
  w.path_40 = 40, w.path_290 = 290, w.path_700 = 700, w.path_1000 = 1000;  // one load
  w.l2_read_sectors = w.read_sectors = 1;
  const double near = estimate_kernel(h200(), w).ns;
  w.far_loads = 1;
  const double more = h200().timing.mapped_latency_ns - h200().timing.dram_latency_cycles / 1.98;
  EXPECT_NEAR(estimate_kernel(h200(), w).ns - near, more, 0.5 * more);
}

TEST(Estimate, MemoryOfAnotherGpu) {
  LaunchWork w = copy_kernel(64 << 20, 16);
  w.peer_bytes = 64 << 20;
  const KernelEstimate e = estimate_kernel(h200(), w);
  EXPECT_EQ(e.limit, Limit::peer_link);
  EXPECT_NEAR(e.ns, w.peer_bytes / 396, 0.15 * w.peer_bytes / 396);                // NVLink, like copies
  EXPECT_GT(estimate_kernel(**find_gpu_model("gtx280"), w).ns, w.peer_bytes / 6);  // no link: like PCIe
}

// Measured (lab, topics transfer and vecadd, rungs "managed"): 1 MiB 0.43 ms, 16 MiB 1.9 ms, 64 MiB 6.6 to 7.9 ms.
TEST(Estimate, ManagedMemoryThatMoves) {
  const auto more = [](const char* gpu, double bytes) {
    const GpuModel& m = **find_gpu_model(gpu);
    LaunchWork w = copy_kernel(1 << 20, 16);
    const double before = estimate_kernel(m, w).ns;
    w.migrated_bytes = bytes;
    return estimate_kernel(m, w).ns - before;
  };
  EXPECT_NEAR(more("h200", 1 << 20), 428e3, 0.25 * 428e3);
  EXPECT_NEAR(more("h200", 16 << 20), 1897e3, 0.25 * 1897e3);
  EXPECT_NEAR(more("h200", 64 << 20), 7200e3, 0.25 * 7200e3);
  EXPECT_NEAR(more("k40c", 64 << 20), (64 << 20) / 10.3, 0.05 * (64 << 20) / 10.3);  // like one copy
}

TEST(Estimate, OlderGpusAreSlower) {
  double last = 0;
  for (const char* id : {"b200", "h200", "a100", "v100", "k40c", "gtx280", "g80"}) {
    const KernelEstimate e = estimate_kernel(**find_gpu_model(id), copy_kernel(64e6, 16));
    EXPECT_GT(e.ns, last) << id;
    last = e.ns;
  }
}

TEST(Estimate, IntervalHoldsTheEstimate) {
  for (const GpuModel& model : gpu_models()) {
    const KernelEstimate e = estimate_kernel(model, copy_kernel(1 << 24, 4));
    EXPECT_LE(e.low_ns, e.ns) << model.id;
    EXPECT_GE(e.high_ns, e.ns) << model.id;
  }
  // Constants without a measurement, and times that no row has.
  const Interval measured = interval_of(h200(), Limit::dram_bandwidth, 1e5);
  const Interval from_papers = interval_of(**find_gpu_model("gtx280"), Limit::dram_bandwidth, 1e5);
  const Interval far_off = interval_of(h200(), Limit::dram_bandwidth, 1e12);
  EXPECT_GT(from_papers.high, measured.high);
  EXPECT_LT(from_papers.low, measured.low);
  EXPECT_GT(far_off.high, measured.high);
}

TEST(L2Contents, WhatWasLatelyTouchedIsThere) {
  L2Contents l2(h200());
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;
  const L2Contents::Spans small = {{0x1000, 0x1000 + (8 << 20), 8 << 20}},
                          large = {{0x100000000, 0x100000000 + kLarge, double{kLarge}}};
  EXPECT_EQ(l2.before(small).resident, 0);
  l2.after_launch(small, 8 << 20, 8 << 20);
  EXPECT_EQ(l2.before(small).resident, 1);
  l2.after_launch(large, 1 << 30, 1 << 30);
  EXPECT_EQ(l2.before(small).resident, 0);
  EXPECT_EQ(l2.before(large).resident, 0);  // larger than L2
  l2.after_write(0x100000000, 1 << 30);
  EXPECT_EQ(l2.before(small).dirty_bytes, h200().timing.dirty_l2_bytes);
  l2.after_launch(small, 8 << 20, 8 << 20);
  EXPECT_EQ(l2.before(small).dirty_bytes, h200().timing.dirty_l2_bytes - (8 << 20));
  EXPECT_EQ(l2.before(small).resident, 1);
  l2.after_flush();
  EXPECT_EQ(l2.before(small), L2State());
}

TEST(L2Contents, BothSidesOfACopyAreThere) {
  L2Contents l2(h200());
  constexpr std::uint64_t kFrom = 0x200000000, kTo = 0x300000000, kSize = 8 << 20;
  const L2Contents::Spans from = {{kFrom, kFrom + kSize, kSize}}, to = {{kTo, kTo + kSize, kSize}};
  l2.after_copy(from[0], to[0]);
  EXPECT_EQ(l2.before(from).resident, 1);
  EXPECT_EQ(l2.before(to).resident, 1);
  EXPECT_EQ(l2.before(to).dirty_bytes, kSize);
}

// One array in slices, and a few words of it before all of it.
TEST(L2Contents, OnlyTouchedPartsAreThere) {
  L2Contents l2(h200());
  constexpr std::uint64_t kBase = 0x200000000, kSlice = 8 << 20;
  const L2Contents::Spans first = {{kBase, kBase + kSlice, kSlice}},
                          second = {{kBase + kSlice, kBase + 2 * kSlice, kSlice}},
                          both = {{kBase, kBase + 2 * kSlice, 2 * kSlice}},
                          few = {{kBase, kBase + 2 * kSlice, kSlice / 4}};
  l2.after_launch(few, kSlice / 4, kSlice / 4);
  EXPECT_EQ(l2.before(few).resident, 1);
  EXPECT_DOUBLE_EQ(l2.before(both).resident, 0.125);
  l2.after_launch(first, kSlice, kSlice);
  EXPECT_EQ(l2.before(first).resident, 1);
  EXPECT_DOUBLE_EQ(l2.before(second).resident, 0.125);
  EXPECT_DOUBLE_EQ(l2.before(both).resident, 0.5625);
  l2.after_launch(few, kSlice / 4, kSlice / 4);  // the slice stays
  EXPECT_EQ(l2.before(first).resident, 1);
  l2.after_write(kBase + kSlice / 2, kSlice);
  EXPECT_DOUBLE_EQ(l2.before(second).resident, 0.5625);
  EXPECT_EQ(l2.before(first).resident, 1);
}

TEST(Estimate, HostCopies) {
  const TimingConstants& c = h200().timing;
  const auto copy = [](CopyPath path, HostMemory memory, std::uint64_t bytes) {
    return estimate_copy(h200(), path, memory, bytes);
  };
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(gib / copy(CopyPath::host_to_device, HostMemory::pinned, 1u << 30).time.alone, 55.5, 0.5);
  EXPECT_NEAR(gib / copy(CopyPath::device_to_host, HostMemory::pageable, 1u << 30).time.alone, 15.5, 0.5);
  EXPECT_NEAR(2 * gib / copy(CopyPath::device_to_device, HostMemory::pinned, 1u << 30).time.alone, 4282, 50);
  EXPECT_NEAR(gib / copy(CopyPath::peer, HostMemory::pinned, 1u << 30).time.alone, 396, 2);
  // 4 bytes, including the two events around the copy.
  const CopyEstimate small = copy(CopyPath::host_to_device, HostMemory::pinned, 4);
  EXPECT_NEAR(small.time.alone + c.event_pair_ns, c.pinned_to_device_latency_ns, 1);
  EXPECT_NEAR(small.time.queued, c.next_copy_ns, 1);
  EXPECT_TRUE(small.time.with_commands);
  EXPECT_FALSE(copy(CopyPath::host_to_device, HostMemory::pinned, 65536).time.with_commands);
  EXPECT_FALSE(copy(CopyPath::device_to_host, HostMemory::pinned, 4).time.with_commands);
}

TEST(Estimate, PageableCopiesAreTheHosts) {
  const TimingConstants& c = h200().timing;
  const CopyEstimate in = estimate_copy(h200(), CopyPath::host_to_device, HostMemory::pageable, 65536);
  EXPECT_TRUE(in.returns_early);  // once the bytes are staged
  EXPECT_NEAR(in.staging_ns, 65536 / c.pageable_to_device_gbps, 1);
  const CopyEstimate larger = estimate_copy(h200(), CopyPath::host_to_device, HostMemory::pageable, 65537);
  const CopyEstimate out = estimate_copy(h200(), CopyPath::device_to_host, HostMemory::pageable, 65536);
  for (const CopyEstimate& e : {larger, out}) {
    EXPECT_FALSE(e.returns_early);
    EXPECT_EQ(e.staging_ns, 0);
    EXPECT_EQ(e.time.queued, e.time.alone);
  }
  EXPECT_NEAR(out.time.alone + c.host_wait_ns + kHostCallNs - 65536 / c.pageable_to_host_gbps,
              c.pageable_to_host_latency_ns, 1);
}

// In any model, more bytes or earlier work make nothing faster.
TEST(Estimate, CopiesOfAllModels) {
  for (const GpuModel& m : gpu_models())
    for (const CopyPath path : {CopyPath::host_to_device, CopyPath::device_to_host, CopyPath::device_to_device,
                                CopyPath::peer, CopyPath::host_to_host})
      for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned}) {
        double last = 0;
        for (std::uint64_t bytes = 4; bytes <= std::uint64_t{1} << 30; bytes *= 4) {
          const CopyEstimate e = estimate_copy(m, path, memory, bytes);
          EXPECT_GT(e.time.alone + e.staging_ns, last) << m.id << " " << bytes;
          EXPECT_LE(e.time.queued, e.time.alone) << m.id << " " << bytes;
          EXPECT_GT(e.time.queued, 0) << m.id << " " << bytes;
          last = e.time.alone + e.staging_ns;
        }
      }
}

}  // namespace
}  // namespace warpgrind::timing
