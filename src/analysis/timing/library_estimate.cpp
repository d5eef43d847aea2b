// Time estimates of library calls: constants with their sources, and the formula.
#include "timing/library_estimate.h"

#include <algorithm>

namespace warpgrind::timing {
namespace {

// Shares of the peak that cuBLAS 13.1 reaches on an H200 with square matrices of 4096 and 8192 (measured, CUDA events).
// FP32: 50.7 of 66.9 TFLOP/s. FP64: 60.4 of 66.9 (its tensor cores). TF32: 392 of 535. FP16 and BF16: 759 and 793 of
// 1070. All peaks are at the 1980 MHz that the device query reports.
constexpr double kFp32Share = 0.76, kFp64Share = 0.90, kTf32Share = 0.73, kHalfShare = 0.71, kBf16Share = 0.74;
constexpr double kInt8Share = 0.7;  // assumed, like FP16
// Fixed time of a product: its start, plus a time per step of one thread block's sums. Measured likewise at N = 128 to
// 1024: 6.4 to 61 us (FP32), 3.2 to 40 us (FP64); this rule is within 35 % of them.
constexpr double kProductStartNs = 2500, kDepthNs = 6;
// Measured: cublasSgeam of 16384 x 16384 reaches 3947 GB/s, a copy 4273.
constexpr double kDenseShare = 0.92;
// Assumed, not measured. A transform reads and writes all data once per pass: 80 % of a copy's bandwidth. Sparse
// products gather from a vector: 60 %. Generators only write: 90 %.
constexpr double kTransformShare = 0.8, kSparseShare = 0.6, kRandomShare = 0.9;
constexpr double kStartNs = 2000;  // duration of a small kernel, from launch to end

// GPUs of one compute capability differ in products of halves with single-precision sums: a GeForce has half the rate
// of the others. Where mma is the fastest instruction, its duration shows which kind a GPU is.
double half_rate(const GpuModel& model, double of_row) {
  constexpr double kOperationsOfMma = 2 * 16 * 8 * 16;                           // m16n8k16
  const bool faster_instructions = model.cc_major >= 9 && model.cc_major <= 11;  // wgmma, tcgen05.mma
  const double cycles = model.timing.tensor_cycles;
  return faster_instructions || cycles <= 0 ? of_row : kOperationsOfMma / cycles;
}

// Dense operations per clock and SM of the tensor cores (NVIDIA's architecture white papers and datasheets); 0: none.
double tensor_rate(const GpuModel& model, LibraryArithmetic arithmetic) {
  struct Row {
    int cc;
    double fp16, bf16, tf32, int8, fp64;
  };
  static constexpr Row kRows[] = {{70, 1024, 0, 0, 0, 0},
                                  {75, 1024, 0, 0, 2048, 0},
                                  {80, 2048, 2048, 1024, 4096, 128},
                                  {86, 512, 512, 256, 2048, 0},
                                  {87, 2048, 2048, 1024, 4096, 0},
                                  {89, 512, 512, 256, 2048, 0},
                                  {90, 4096, 4096, 2048, 8192, 256},
                                  {100, 8192, 8192, 4096, 16384, 0},
                                  {120, 512, 512, 256, 2048, 0}};
  const Row* best = nullptr;
  for (const Row& row : kRows)
    if (row.cc <= model.cc_major * 10 + model.cc_minor) best = &row;
  if (!best) return 0;
  const double half = half_rate(model, best->fp16), of_row = half / best->fp16;
  switch (arithmetic) {
    case LibraryArithmetic::fp16:
      return half;
    case LibraryArithmetic::bf16:
      return best->bf16 * of_row;
    case LibraryArithmetic::tf32:
      return best->tf32 * of_row;
    case LibraryArithmetic::int8:
      return best->int8;
    case LibraryArithmetic::fp64:
      return best->fp64;
    case LibraryArithmetic::fp32:
      return 0;
  }
  return 0;
}

double product_share(LibraryArithmetic arithmetic) {
  switch (arithmetic) {
    case LibraryArithmetic::fp16:
      return kHalfShare;
    case LibraryArithmetic::bf16:
      return kBf16Share;
    case LibraryArithmetic::tf32:
      return kTf32Share;
    case LibraryArithmetic::int8:
      return kInt8Share;
    case LibraryArithmetic::fp64:
      return kFp64Share;
    case LibraryArithmetic::fp32:
      return kFp32Share;
  }
  return kFp32Share;
}

double operations_ns(const GpuModel& model, const LibraryWork& work) {
  double peak = model.peak_flops(work.arithmetic == LibraryArithmetic::fp64 ? 64 : 32);
  if (work.family == LibraryFamily::matrix_product)
    if (const double rate = tensor_rate(model, work.arithmetic); rate > 0)
      peak = std::max(peak, rate * model.sm_count * model.sm_clock_mhz * 1e6);
  const double reached = peak * product_share(work.arithmetic);
  return reached > 0 ? work.operations / reached * 1e9 : 0;
}

double bytes_share(LibraryFamily family) {
  switch (family) {
    case LibraryFamily::matrix_product:
    case LibraryFamily::dense:
    case LibraryFamily::collective:  // has an estimate of its own
      return kDenseShare;
    case LibraryFamily::transform:
      return kTransformShare;
    case LibraryFamily::random:
      return kRandomShare;
    case LibraryFamily::sparse:
      return kSparseShare;
  }
  return kDenseShare;
}

}  // namespace

LibraryEstimate estimate_library(const GpuModel& model, const LibraryWork& work) {
  if (!work.collectives.empty()) return {estimate_collectives(model, work.collectives), kCollectiveShareOfGpu};
  const double bandwidth =
      model.theoretical_bandwidth() * model.achievable_bandwidth_fraction * bytes_share(work.family);
  const double memory_ns = bandwidth > 0 ? work.bytes / bandwidth * 1e9 : 0;
  const double busy = std::max(operations_ns(model, work), memory_ns);
  if (work.factorisation.kind != Factorisation::none) {
    const double ns = busy + estimate_columns(model, work.factorisation, work.arithmetic == LibraryArithmetic::fp64);
    return {ns, busy / ns};
  }
  const bool product = work.family == LibraryFamily::matrix_product;
  const double start = product ? kProductStartNs + kDepthNs * work.depth : kStartNs;
  LibraryEstimate estimate;
  estimate.ns = start + busy;
  estimate.gpu_fraction = busy / estimate.ns;
  return estimate;
}

}  // namespace warpgrind::timing
