// Time estimates of library calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/csv_line.h"
#include "base/file.h"
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

// A large all-reduce sends 2 (n - 1) / n of its bytes over each link. A small one is a few steps. GPUs without a link
// of their own send through the host.
TEST(LibraryEstimate, CollectivesByLink) {
  using Kind = Collective::Kind;
  constexpr double kGiga = 1e9;
  const double reduce = collective_us("h200", Kind::all_reduce, 4, kGiga);
  EXPECT_NEAR(reduce, 1.5 * kGiga / (396 * 0.77) / 1000, 0.02 * reduce);
  EXPECT_LT(collective_us("h200", Kind::all_reduce, 8, 8), 25);
  EXPECT_GT(collective_us("t4", Kind::all_reduce, 4, kGiga), 10 * reduce);
}

// NCCL's own tests on two H200s. Below 4 MiB their times are mostly those of the host, which issues for both GPUs.
TEST(LibraryEstimate, CollectivesAsMeasured) {
  using Kind = Collective::Kind;
  const std::map<std::string, Kind> kinds = {
      {"all_reduce", Kind::all_reduce},         {"all_gather", Kind::all_gather}, {"broadcast", Kind::broadcast},
      {"reduce_scatter", Kind::reduce_scatter}, {"reduce", Kind::reduce},         {"sendrecv", Kind::send},
      {"alltoall", Kind::all_to_all},           {"gather", Kind::gather},         {"scatter", Kind::scatter}};
  const auto text = read_whole(WARPGRIND_TESTS "/../lab/results/h200/nccl-x2.csv");
  ASSERT_TRUE(text);
  std::istringstream in(*text);
  std::string line;
  std::getline(in, line);  // names of the columns
  int compared = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split_csv_line(line);
    ASSERT_EQ(cells.size(), 4u);
    const double bytes = std::stod(cells[1]), measured = std::stod(cells[2]);
    if (bytes < 4 << 20) continue;
    const double estimated = collective_us("h200", kinds.at(cells[0]), 2, bytes);
    EXPECT_NEAR(estimated / measured, 1, bytes < 64 << 20 ? 0.35 : 0.15) << line;
    ++compared;
  }
  EXPECT_EQ(compared, 36);
}

// cuSOLVER's functions on an H200: each row is within a factor of 2.4, and the medians of all errors and of those of
// each function are small. A share of the peak alone was 10 to 200 times too short below 1024.
TEST(LibraryEstimate, FactorisationsAsMeasured) {
  const struct {
    const char* name;
    Factorisation kind;
    double operations;  // of LAPACK, over the cube of n
  } functions[] = {{"getrf", Factorisation::lu, 2.0 / 3},
                   {"potrf", Factorisation::cholesky, 1.0 / 3},
                   {"geqrf", Factorisation::qr, 4.0 / 3},
                   {"syevd", Factorisation::eigenvalues, 9},
                   {"gesvd", Factorisation::singular_values, 20}};
  const auto text = read_whole(WARPGRIND_TESTS "/../lab/results/h200/cusolver.csv");
  ASSERT_TRUE(text);
  std::istringstream in(*text);
  std::string line;
  std::getline(in, line);  // names of the columns
  std::map<std::string, std::vector<double>> errors;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split_csv_line(line);
    ASSERT_EQ(cells.size(), 5u);
    const double n = std::stod(cells[1]), measured = std::stod(cells[2]);
    for (const auto& function : functions) {
      if (cells[0].substr(1) != function.name) continue;
      LibraryWork work;
      work.family = LibraryFamily::matrix_product;
      work.arithmetic = cells[0][0] == 'D' ? LibraryArithmetic::fp64 : LibraryArithmetic::fp32;
      work.operations = function.operations * n * n * n;
      work.bytes = 2 * n * n * (cells[0][0] == 'D' ? 8 : 4);
      work.factorisation = {function.kind, n, n};
      const double ratio = estimate_library(**find_gpu_model("h200"), work).ns / 1000 / measured;
      EXPECT_LT(std::max(ratio, 1 / ratio), 2.4) << line;
      errors[cells[0]].push_back(std::abs(ratio - 1));
      errors["all"].push_back(std::abs(ratio - 1));
    }
  }
  ASSERT_EQ(errors["all"].size(), 90u);
  for (auto& [name, of_function] : errors) {
    std::sort(of_function.begin(), of_function.end());
    EXPECT_LT(of_function[of_function.size() / 2], name == "all" ? 0.09 : 0.14) << name;
  }
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
