// Clusters of blocks: ranks, barrier and shared memory; also the driver's part of shared memory.
#include <vector>

#include "device_fixture.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

Gpu clusters_gpu(unsigned workers = 1) {
  return Gpu(workers, 600, "clusters.ptx");
}

LaunchConfig clustered(Dim3 grid, Dim3 block, Dim3 cluster) {
  LaunchConfig c = shape(grid, block);
  c.cluster = cluster;
  return c;
}

TEST(Clusters, BlocksReadAndAddToEachOthersSharedMemory) {
  for (unsigned workers : {1u, 2u}) {
    Gpu gpu = clusters_gpu(workers);
    int *out = gpu.array<int>(64 * 64), *totals = gpu.array<int>(64);
    const LaunchResult r = gpu.run("ring", clustered({16, 4, 1}, {64, 1, 1}, {4, 2, 1}), out, totals);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (int b = 0; b < 64; ++b) {
      const int rank = b % 16 % 4 + 4 * (b / 16 % 2), next = (rank + 1) % 8;
      EXPECT_EQ(totals[b], 8 * 63 * 64 / 2) << b;
      for (int t = 0; t < 64; ++t) ASSERT_EQ(out[b * 64 + t], 100000 * next + 1000 * next + t) << b << " " << t;
    }
  }
}

TEST(Clusters, StoresThroughTheWindow) {
  Gpu gpu = clusters_gpu();
  int* out = gpu.array<int>(8 * 128);
  const LaunchResult r = gpu.run("push", clustered({8, 1, 1}, {128, 1, 1}, {2, 1, 1}), out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int k = 0; k < 8 * 128; ++k) EXPECT_EQ(out[k], (k / 128 % 2 ^ 1) * 1000 + k % 128);
}

// Without .aligned, the lanes of a warp may arrive and wait at different places. Each waits for its own arrival.
TEST(Clusters, SidesOfABranchMeetAtTheBarrier) {
  for (const char* order : {"low first", "high first"}) {
    SCOPED_TRACE(order);
    Kernel kernel(
        ".reg .b32 %mine, %theirs; mov.u32 %r2, %cluster_ctarank; shl.b32 %r3, %r1, 2; mov.u32 %mine, memory;\n"
        "add.u32 %mine, %mine, %r3; xor.b32 %r4, %r2, 1; mapa.shared::cluster.u32 %theirs, %mine, %r4;\n"
        "mad.lo.u32 %r5, %r2, 64, %r1; mul.wide.u32 %rd2, %r5, 8; add.u64 %rd2, %rd2, %rd1; mul.lo.u32 %r6, %r5, 3;\n"
        "mov.u32 %r7, %laneid; setp.lt.u32 %p1, %r7, 11;\n" +
        std::string(order[0] == 'l' ? "@!%p1 bra HIGH;\n" : "@%p1 bra LOW;\nbra HIGH;\n") +
        // These lanes arrive a second time before the others have waited once.
        "LOW: st.shared.u32 [%mine], %r6; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "ld.shared::cluster.u32 %r8, [%theirs]; barrier.cluster.arrive; bar.warp.sync -1; barrier.cluster.wait;\n"
        "st.shared.u32 [%mine], %r1; barrier.cluster.arrive; barrier.cluster.wait; bra END;\n"
        "HIGH: st.shared.u32 [%mine], %r5; barrier.cluster.arrive; bar.warp.sync -1; barrier.cluster.wait;\n"
        "ld.shared::cluster.u32 %r8, [%theirs]; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "st.shared.u32 [%mine], %r2; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "END: ld.shared::cluster.u32 %r9, [%theirs]; st.global.v2.u32 [%rd2], {%r8, %r9};\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    const LaunchResult r = kernel.run(clustered({2, 1, 1}, {64, 1, 1}, {2, 1, 1}));
    EXPECT_TRUE(r.warnings.empty());
    for (unsigned k = 0; k < 128; ++k) {
      const unsigned other = k ^ 64, low = k % 32 < 11;
      EXPECT_EQ(kernel.data[2 * k], low ? 3 * other : other) << k;
      EXPECT_EQ(kernel.data[2 * k + 1], low ? k % 64 : other / 64) << k;
    }
  }
}

TEST(Clusters, SpecialRegisters) {
  Gpu gpu = clusters_gpu();
  auto* out = gpu.array<unsigned>(48 * 17);
  LaunchConfig config = clustered({6, 4, 2}, {32, 1, 1}, {3, 2, 1});
  config.dynamic_shared = 64;
  ASSERT_FALSE(gpu.run("registers", config, out).fault);
  for (unsigned b = 0; b < 48; ++b) {
    const unsigned x = b % 6, y = b / 6 % 4, z = b / 24;
    const std::vector<unsigned> want = {
        x / 3, y / 2, z, 2, 2, 2, x % 3, y % 2, 0, 3, 2, 1, x % 3 + 3 * (y % 2), 6, 1, 128, 128 + 1024};
    EXPECT_EQ(std::vector<unsigned>(out + b * 17, out + b * 17 + 17), want) << b;
  }
  ASSERT_FALSE(gpu.run("registers", shape({1, 1, 1}, {32, 1, 1}), out).fault);
  const std::vector<unsigned> alone = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1024};
  EXPECT_EQ(std::vector<unsigned>(out, out + 17), alone);
}

TEST(Clusters, BlocksThatHaveEnded) {
  Gpu gpu = clusters_gpu();
  int* out = gpu.array<int>(4);
  std::fill(out, out + 4, 0);
  LaunchResult r = gpu.run("gone", clustered({4, 1, 1}, {64, 1, 1}, {4, 1, 1}), out, 0);
  ASSERT_FALSE(r.fault) << r.fault->message;
  EXPECT_EQ(std::vector<int>(out, out + 4), (std::vector<int>{5, 0, 5, 5}));
  r = gpu.run("gone", clustered({4, 1, 1}, {64, 1, 1}, {4, 1, 1}), out, 1);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::shared_out_of_bounds);
  EXPECT_NE(r.fault->message.find("of the shared memory of another block of the cluster, which has ended"),
            std::string::npos)
      << r.fault->message;
}

// As in fast.cu's matmul 8 to 12: consumers signal a block that needs no more signals. On an H200 that block has not
// quite ended, and they pass; if it ended 20 ms before, the launch fails.
TEST(Clusters, ArrivalsAtMBarriersOfEndedBlocksAreLeftOut) {
  Kernel kernel(R"(
    .reg .b32 %mine, %theirs; .shared .align 8 .b64 bar; mov.u32 %r2, %cluster_ctarank; mov.u32 %mine, bar;
    mbarrier.init.shared::cta.b64 [%mine], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
    setp.eq.u32 %p1, %r2, 0; @%p1 bra STAYS;
    mov.u32 %r5, 1; st.volatile.global.u32 [%rd1], %r5; ret;
    STAYS: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p1, %r5, 0; @%p1 bra STAYS;
    mapa.shared::cluster.u32 %theirs, %mine, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%theirs];
    mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%theirs], 16;
    mov.u32 %r5, 77; st.global.u32 [%rd1+4], %r5;)");
  kernel.data[0] = kernel.data[1] = 0;
  const LaunchResult r = kernel.run(clustered({2, 1, 1}, {1, 1, 1}, {2, 1, 1}));
  EXPECT_EQ(kernel.data[1], 77u);
  ASSERT_EQ(r.warnings.size(), 2u);
  for (const Fault& warning : r.warnings)
    EXPECT_EQ(
        warning.message,
        "mbarrier operation of 8 bytes at offset 4096 of the shared memory of another block of the cluster, which "
        "has ended; it is left out here (an H200 goes on if the block ends at about that time, and fails if it ended "
        "before)");
}

// On a GPU the block's own addresses carry its rank from bit 24 on. CuTe clears that bit to name the even block of a
// pair (Sm100MmaPeerBitMask).
TEST(Clusters, AddressesCarryTheRank) {
  Kernel kernel(R"(
    .reg .b32 %mine, %masked; .extern .shared .align 8 .b64 dynamic[];
    mov.u32 %r2, %cluster_ctarank; mov.u32 %mine, memory; mul.lo.u32 %r3, %r2, 64; cvt.u64.u32 %rd2, %r3; add.u64 %rd2, %rd2, %rd1;
    add.u32 %r4, %r2, 1000; st.shared.u32 [memory+8], %r4; st.shared.u32 [dynamic], %r2;
    barrier.cluster.arrive; barrier.cluster.wait;
    shr.u32 %r5, %mine, 24; st.global.u32 [%rd2], %r5;
    getctarank.shared::cluster.u32 %r5, %mine; st.global.u32 [%rd2+4], %r5;
    mov.u32 %r6, dynamic; shr.u32 %r5, %r6, 24; st.global.u32 [%rd2+8], %r5;
    and.b32 %masked, %mine, 0xfeffffff; ld.shared::cluster.u32 %r5, [%masked+8]; st.global.u32 [%rd2+12], %r5;
    ld.shared.u32 %r5, [%mine+8]; st.global.u32 [%rd2+16], %r5;
    cvt.u64.u32 %rd3, %mine; cvta.shared.u64 %rd4, %rd3; ld.u32 %r5, [%rd4+8]; st.global.u32 [%rd2+20], %r5;
    getctarank.u64 %r5, %rd4; st.global.u32 [%rd2+24], %r5;
    cvta.to.shared.u64 %rd5, %rd4; setp.eq.u64 %p1, %rd5, %rd3; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd2+28], %r5;
    xor.b32 %r7, %r2, 1; mapa.u64 %rd6, %rd4, %r7; ld.u32 %r5, [%rd6+8]; st.global.u32 [%rd2+32], %r5;
    isspacep.shared::cta %p1, %rd6; isspacep.shared::cta %p2, %rd4; selp.u32 %r5, 2, 0, %p1; @%p2 or.b32 %r5, %r5, 1;
    isspacep.shared::cluster %p1, %rd6; @%p1 or.b32 %r5, %r5, 4; st.global.u32 [%rd2+36], %r5;
    mapa.shared::cluster.u32 %r8, %mine, %r2; setp.eq.u32 %p1, %r8, %mine; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd2+40], %r5;
    barrier.cluster.arrive; barrier.cluster.wait;
    atom.shared.add.u32 %r5, [%mine+8], 5; st.global.u32 [%rd2+44], %r5;
    barrier.cluster.arrive; barrier.cluster.wait;
    mapa.shared::cluster.u32 %r8, %mine, %r7; atom.shared::cluster.add.u32 %r5, [%r8+8], 1; st.global.u32 [%rd2+48], %r5;
    barrier.cluster.arrive; barrier.cluster.wait;)");
  LaunchConfig config = clustered({8, 1, 1}, {1, 1, 1}, {4, 1, 1});
  config.dynamic_shared = 64;
  kernel.run(config);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::vector<std::uint32_t> want = {
        rank, rank, rank,        1000 + (rank & ~1u), 1000 + rank, 1000 + rank, rank, 1, 1000 + (rank ^ 1),
        5,    1,    1000 + rank, 1005 + (rank ^ 1)};
    const std::uint32_t* got = kernel.data + 16 * rank;
    EXPECT_EQ(std::vector<std::uint32_t>(got, got + want.size()), want) << rank;
  }
}

// The message is relative to the nearest block's memory. It was "16773116 bytes past the end of shared memory".
TEST(Clusters, AccessesBesideAnotherBlocksMemory) {
  const auto message_of = [](int rank, const std::string& place) {
    Kernel kernel(
        ".reg .b32 %mine, %theirs; mov.u32 %r2, %cluster_ctarank; mov.u32 %mine, memory;\n"
        "xor.b32 %r4, %r2, 1; mapa.shared::cluster.u32 %theirs, %mine, %r4;\n"
        "setp.eq.u32 %p1, %r2, " +
        std::to_string(rank) + "; @%p1 ld.shared::cluster.u32 %r8, [%theirs" + place +
        "]; st.global.u32 [%rd1], %r8;\n");
    LaunchConfig config = shape({2, 1, 1}, {1, 1, 1});
    config.cluster = {2, 1, 1};
    const LaunchResult r = kernel.try_run(config);
    return r.fault ? r.fault->message : "no fault";
  };
  for (const int rank : {0, 1}) {
    EXPECT_EQ(message_of(rank, "-4"),
              "read of 4 bytes at offset -4, 4 bytes before the beginning of the shared memory of another block of the "
              "cluster; it has 4096 bytes");
    EXPECT_EQ(message_of(rank, "+4104"),
              "read of 4 bytes at offset 4104, 8 bytes past the end of the shared memory of another block of the "
              "cluster; it has 4096 bytes");
  }
}

TEST(Clusters, BadSizesAreRefused) {
  Gpu gpu = clusters_gpu();
  std::uint64_t out = reinterpret_cast<std::uint64_t>(gpu.array<int>(4));
  void* parameters[] = {&out, &out};
  for (const Dim3 cluster : {Dim3{3, 1, 1}, Dim3{0, 1, 1}, Dim3{32, 1, 1}})
    EXPECT_FALSE(gpu.device->launch(gpu.module, 0, clustered({32, 1, 1}, {64, 1, 1}, cluster), parameters).ok());
}

TEST(Clusters, TilesOfSeveralWarpsUseTheDriversSharedMemory) {
  Gpu gpu = clusters_gpu();
  int *out = gpu.array<int>(256), *in = gpu.array<int>(256);
  for (int t = 0; t < 256; ++t) in[t] = t * t;
  const LaunchResult r = gpu.run("wide_tiles", shape({1, 1, 1}, {256, 1, 1}, 256 * sizeof(int)), out, in);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int t = 0; t < 256; ++t) {
    int sum = 0;
    for (int k = t / 128 * 128; k < t / 128 * 128 + 128; ++k) sum += k * k;
    EXPECT_EQ(out[t], sum) << t;
  }
}

}  // namespace
}  // namespace warpgrind::device
