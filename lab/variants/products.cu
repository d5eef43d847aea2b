// Variants of the last rungs of the matrix products, float and double, beside cuBLAS.
#include <unistd.h>

#include "gemm/float_fitted.cuh"
#include "gemm/float_stages.cuh"
#include "gemm/tensor_fitted.cuh"
#include "gemm/tensor_stages.cuh"
#include "harness/blas.h"
#include "variants/bench.h"

namespace {

using variants::Bench;

// Slow and plain: the reference for all others, in double and in the order of k.
template <class T>
__global__ void product_plain(const T* a, const T* b, T* c, int m, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= m || column >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i) sum += double(a[static_cast<long>(row) * k + i]) * b[static_cast<long>(i) * n + column];
  c[static_cast<long>(row) * n + column] = static_cast<T>(sum);
}

template <class T>
class Products {
 public:
  Products(Bench& bench, const char* part, int m, int n, int k)
      : bench_(bench),
        part_(part),
        m_(m),
        n_(n),
        k_(k),
        a_(size_t(m) * k),
        b_(size_t(k) * n),
        c_(size_t(m) * n),
        expected_(c_.count()) {
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(a_.data(), a_.count(), 11);
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(b_.data(), b_.count(), 12);
    product_plain<<<dim3(lab::blocks(n, 32), lab::blocks(m, 8)), dim3(32, 8)>>>(a_.data(), b_.data(), expected_.data(),
                                                                                m, n, k);
    CHECK_KERNEL();
  }
  template <class Shape>
  using Kernel = void (*)(const T*, const T*, T*, int, int, int);

  // Runs one of a kernel's two forms: for rows aligned to 16 bytes, or for any rows.
  template <class Shape>
  void variant(const char* name, Kernel<Shape> wide, Kernel<Shape> narrow) {
    constexpr int kPack = 16 / sizeof(T);
    const auto kernel = n_ % kPack == 0 && k_ % kPack == 0 ? wide : narrow;
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kShared));
    const int grid = lab::blocks(m_, Shape::kTileM) * lab::blocks(n_, Shape::kTileN);
    run(name,
        [=, this] { kernel<<<grid, Shape::kThreads, Shape::kShared>>>(a_.data(), b_.data(), c_.data(), m_, n_, k_); });
  }
  template <class Shape>
  bool holds() const {
    return m_ >= Shape::kTileM && n_ >= Shape::kTileN;
  }
  void library(lab::Cublas& cublas) {
    if (cublas.missing().empty()) run("cuBLAS", [&] { cublas.multiply(a_.data(), b_.data(), c_.data(), m_, n_, k_); });
  }

 private:
  void run(const char* name, const std::function<void()>& launch) {
    c_.poison();
    // Products in double draw so much power that the clocks fall: cuBLAS ran at 63.1 TFLOP/s as the first one and at
    // 59.3 right after ten others. So each variant starts after a rest.
    if (!lab::on_virtual_gpu()) usleep(150000);
    // Tolerance: 6 deviations of a sum of k rounding errors of products below 1, plus the rounding of the result.
    const double unit = sizeof(T) == 4 ? lab::kUnitFloat : lab::kUnitDouble, bound = 6 * unit * k_ * 0.5;
    bench_.run(part_, name, std::to_string(m_) + "x" + std::to_string(n_) + "x" + std::to_string(k_),
               2e-3 * m_ * n_ * k_, "TFLOP/s", launch,
               [&] { return variants::different(expected_.data(), c_.data(), c_.count(), bound) == 0; });
  }

  Bench& bench_;
  const char* part_;
  int m_, n_, k_;
  lab::DeviceArray<T> a_, b_, c_, expected_;
};

template <class Shape>
void tensor(Products<double>& products, const char* name) {
  products.variant<Shape>(name, gemm_tensor_stages<Shape, true>, gemm_tensor_stages<Shape, false>);
}
template <class Shape>
void ordinary(Products<float>& products, const char* name) {
  products.variant<Shape>(name, gemm_float_stages<Shape, true>, gemm_float_stages<Shape, false>);
}

template <class Shape>
void fitted(Products<double>& products, const char* name) {
  products.variant<Shape>(name, gemm_tensor_fitted<Shape, true>, gemm_tensor_fitted<Shape, false>);
}
template <class Shape>
void fitted(Products<float>& products, const char* name) {
  if (products.holds<Shape>())
    products.variant<Shape>(name, gemm_float_fitted<Shape, true, true>, gemm_float_fitted<Shape, false, true>);
  else
    products.variant<Shape>(name, gemm_float_fitted<Shape, true, false>, gemm_float_fitted<Shape, false, false>);
}

void doubles(Bench& bench, lab::Cublas& cublas, int m, int n, int k) {
  Products<double> products(bench, "dgemm", m, n, k);
  products.library(cublas);
  tensor<TensorShape<128, 128, 32, 2, 4, 3, 16>>(products, "128x128x32 w64x32 k16 s3");
  tensor<TensorShape<128, 64, 16, 2, 2, 4, 8, 2>>(products, "128x64x16 w64x32 k8 s4 2/SM");
  tensor<TensorShape<64, 64, 16, 2, 2, 4, 8, 3>>(products, "64x64x16 w32x32 k8 s4 3/SM");
  fitted<FittedTensorShape<112, 128, 2, 4, 6>>(products, "fitted 112x128 w56x32 s6");
  fitted<FittedTensorShape<128, 128, 2, 4, 6>>(products, "fitted 128x128 w64x32 s6");
  fitted<FittedTensorShape<128, 128, 2, 4, 5>>(products, "fitted 128x128 w64x32 s5");
  fitted<FittedTensorShape<128, 128, 2, 4, 7>>(products, "fitted 128x128 w64x32 s7");
  fitted<FittedTensorShape<128, 64, 4, 2, 6>>(products, "fitted 128x64 w32x32 s6");
  fitted<FittedTensorShape<64, 128, 2, 4, 6>>(products, "fitted 64x128 w32x32 s6");
  products.library(cublas);
}

void floats(Bench& bench, lab::Cublas& cublas, int m, int n, int k) {
  Products<float> products(bench, "sgemm", m, n, k);
  products.library(cublas);
  ordinary<FloatShape<128, 128, 8, 8, 8, 4, 2>>(products, "128x128x8 8x8 s4 2/SM");
  ordinary<FloatShape<128, 256, 32, 8, 16, 3, 1>>(products, "128x256x32 8x16 s3");
  ordinary<FloatShape<64, 64, 16, 8, 4, 4, 4>>(products, "64x64x16 8x4 s4 4/SM");
  fitted<FittedFloatShape<128, 256, 8, 16, 3, 1, 3>>(products, "fitted 128x256 8x16 s3 p3");
  fitted<FittedFloatShape<128, 256, 8, 16, 3, 1, 4>>(products, "fitted 128x256 8x16 s3 p4");
  fitted<FittedFloatShape<128, 256, 8, 16, 3, 1, 5>>(products, "fitted 128x256 8x16 s3 p5");
  fitted<FittedFloatShape<128, 256, 8, 16, 4, 1, 3>>(products, "fitted 128x256 8x16 s4 p3");
  fitted<FittedFloatShape<128, 256, 8, 16, 4, 1, 1>>(products, "fitted 128x256 8x16 s4 p1");
  fitted<FittedFloatShape<256, 128, 16, 8, 4, 1, 4>>(products, "fitted 256x128 16x8 s4 p4");
  fitted<FittedFloatShape<128, 128, 8, 8, 3, 2, 1>>(products, "fitted 128x128 8x8 s3 p1 2/SM");
  fitted<FittedFloatShape<128, 128, 8, 8, 3, 2, 4>>(products, "fitted 128x128 8x8 s3 p4 2/SM");
  fitted<FittedFloatShape<64, 128, 8, 8, 4, 2, 1>>(products, "fitted 64x128 8x8 s4 p1 2/SM");
  fitted<FittedFloatShape<64, 128, 8, 8, 4, 2, 4>>(products, "fitted 64x128 8x8 s4 p4 2/SM");
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv);
  lab::Cublas cublas;
  struct Size {
    int m, n, k;
  };
  const std::vector<Size> sizes =
      bench.small() ? std::vector<Size>{{256, 256, 64}, {130, 262, 70}, {67, 133, 45}}
                    : std::vector<Size>{{4096, 4096, 4096}, {2000, 3000, 1500}, {1001, 1777, 1235}, {1024, 1024, 1024}};
  for (const auto& [m, n, k] : sizes) {
    if (bench.wanted("dgemm")) doubles(bench, cublas, m, n, k);
    if (bench.wanted("sgemm")) floats(bench, cublas, m, n, k);
  }
  return bench.finish();
}
