// Time estimates of library calls.
#include <gtest/gtest.h>

#include "timing/library_estimate.h"

namespace warpgrind::timing {
namespace {

// Share of `tflops` that a large product reaches.
double share_of(const char* gpu, LibraryArithmetic arithmetic, double tflops) {
  const double n = 16384;
  LibraryWork work;
  work.family = LibraryFamily::matrix_product;
  work.arithmetic = arithmetic;
  work.operations = 2 * n * n * n;
  work.bytes = 3 * n * n * 2;
  work.depth = n;
  return work.operations / estimate_library(**find_gpu_model(gpu), work).ns * 1e-3 / tflops;
}

// A product of halves with single-precision sums reaches what cuBLAS reaches of an H200's peak (71 %), of the dense
// peak in NVIDIA's datasheets and whitepapers. GeForce GPUs have half the rate of others with their compute capability.
TEST(LibraryEstimate, HalfPrecisionProductsByDatasheet) {
  const struct {
    const char* gpu;
    double tflops;
  } peaks[] = {{"v100", 125},     {"t4", 65},     {"rtx2080ti", 53.8}, {"a100", 312},      {"a10", 125},
               {"rtx3060", 25.5}, {"orin", 42.5}, {"l4", 121},         {"l40s", 362},      {"rtx4090", 165},
               {"h200", 989},     {"b200", 2250}, {"b300", 2250},      {"rtx5090", 209.5}, {"rtxpro6000", 503.8}};
  for (const auto& peak : peaks) {
    const double share = share_of(peak.gpu, LibraryArithmetic::fp16, peak.tflops);
    EXPECT_GT(share, 0.6) << peak.gpu;
    EXPECT_LT(share, 0.8) << peak.gpu;
  }
}

// TF32 has half of that rate, and bytes twice the rate of halves with half-precision sums, which a GeForce does not
// halve.
TEST(LibraryEstimate, OtherProductsByDatasheet) {
  EXPECT_NEAR(share_of("rtx5090", LibraryArithmetic::tf32, 104.8), 0.73, 0.05);
  EXPECT_NEAR(share_of("l40s", LibraryArithmetic::tf32, 183), 0.73, 0.05);
  EXPECT_NEAR(share_of("a10", LibraryArithmetic::tf32, 62.5), 0.73, 0.05);
  EXPECT_NEAR(share_of("rtx5090", LibraryArithmetic::int8, 838), 0.7, 0.05);
  EXPECT_NEAR(share_of("a10", LibraryArithmetic::int8, 250), 0.7, 0.05);
  EXPECT_NEAR(share_of("orin", LibraryArithmetic::int8, 85), 0.7, 0.05);
}

double collective_us(const char* gpu, Collective::Kind kind, int ranks, double bytes) {
  LibraryWork work;
  work.family = LibraryFamily::collective;
  work.collectives = {{kind, ranks, bytes}};
  return estimate_library(**find_gpu_model(gpu), work).ns / 1000;
}

// A large all-reduce sends 2 (n - 1) / n of its bytes over each link, an all-gather half of that. A small one is a few
// steps. GPUs without a link of their own send through the host.
TEST(LibraryEstimate, CollectivesByLink) {
  using Kind = Collective::Kind;
  constexpr double kGiga = 1e9;
  const double reduce = collective_us("h200", Kind::all_reduce, 4, kGiga);
  EXPECT_NEAR(reduce, 1.5 * kGiga / (396 * 0.92) / 1000, 0.02 * reduce);
  EXPECT_NEAR(collective_us("h200", Kind::all_gather, 4, kGiga), reduce / 2, 0.02 * reduce);
  EXPECT_LT(collective_us("h200", Kind::all_reduce, 8, 8), 15);
  EXPECT_GT(collective_us("t4", Kind::all_reduce, 4, kGiga), 10 * reduce);
}

// A send and a receive of one group run at the same time.
TEST(LibraryEstimate, SendsAndReceivesOverlap) {
  using Kind = Collective::Kind;
  LibraryWork both;
  both.collectives = {{Kind::send, 2, 1e9}, {Kind::receive, 2, 1e9}};
  EXPECT_DOUBLE_EQ(estimate_library(**find_gpu_model("h200"), both).ns / 1000,
                   collective_us("h200", Kind::send, 2, 1e9));
}

}  // namespace
}  // namespace warpgrind::timing
