// Functions of cuBLAS beyond BLAS: batches, mixed types, factorisations, copies; streams and captures; errors.
#include <algorithm>
#include <cstring>

#include "blas_calls.h"

namespace warpgrind::test {
namespace {

template <class T>
class BlasExtensions : public Blas<T> {};
TYPED_TEST_SUITE(BlasExtensions, Types);

TYPED_TEST(BlasExtensions, SumsOfMatricesAndDiagonals) {
  using T = TypeParam;
  constexpr int kM = 70, kN = 45;
  const T alpha = T(Real<T>(2)), beta = T(Real<T>(-0.5)), zero{};
  const Array<T> a(kM * kM), b(kM * kM), c(kM * kN), x(kM);
  fill(a, 30);
  fill(b, 31);
  fill(x, 32);
  std::vector<T> expected(kM * kN);
  for (const cublasOperation_t ta : kOperations)
    for (const cublasOperation_t tb : kOperations) {
      for (int j = 0; j < kN; ++j)
        for (int i = 0; i < kM; ++i)
          expected[static_cast<std::size_t>(j * kM + i)] =
              alpha * element(a.copy(), kM, ta, i, j) + beta * element(b.copy(), kM, tb, i, j);
      DONE(BLAS1(T, geam)(this->handle, ta, tb, kM, kN, cu(&alpha), cu(a), kM, cu(&beta), cu(b), kM, cu(c), kM));
      expect_near(expected, c, tolerance<T>());
      break;
    }
  // Transposed, without a second operand: in place of B any address is right, when its factor is 0.
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kM; ++i)
      expected[static_cast<std::size_t>(j * kM + i)] = a[static_cast<std::size_t>(i * kM + j)];
  const T one = T(1);
  DONE(BLAS1(T, geam)(this->handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, cu(&one), cu(a), kM, cu(&zero), nullptr, kM,
                      cu(c), kM));
  expect_near(expected, c, 0);
  for (const cublasSideMode_t side : kSides) {
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kM; ++i)
        expected[static_cast<std::size_t>(j * kM + i)] =
            a[static_cast<std::size_t>(j * kM + i)] * x[static_cast<std::size_t>(side == CUBLAS_SIDE_LEFT ? i : j)];
    DONE(BLAS1(T, dgmm)(this->handle, side, kM, kN, cu(a), kM, cu(x), 1, cu(c), kM));
    expect_near(expected, c, tolerance<T>());
  }
}

TYPED_TEST(BlasExtensions, Batches) {
  using T = TypeParam;
  constexpr int kM = 5, kN = 4, kK = 6, kCount = 3;
  const T alpha = T(Real<T>(1.5)), beta = T(Real<T>(0.5));
  const Array<T> a(kM * kK * kCount), b(kK * kN * kCount), c(kM * kN * kCount);
  fill(a, 33);
  fill(b, 34);
  fill(c, 35);
  const Array<T*> as(kCount), bs(kCount), cs(kCount);
  std::vector<T> expected = c.copy();
  for (int i = 0; i < kCount; ++i) {
    as[static_cast<std::size_t>(i)] = a.data() + i * kM * kK;
    bs[static_cast<std::size_t>(i)] = b.data() + i * kK * kN;
    cs[static_cast<std::size_t>(i)] = c.data() + i * kM * kN;
    const std::vector<T> am(a.data() + i * kM * kK, a.data() + (i + 1) * kM * kK);
    const std::vector<T> bm(b.data() + i * kK * kN, b.data() + (i + 1) * kK * kN);
    std::vector<T> cm(c.data() + i * kM * kN, c.data() + (i + 1) * kM * kN);
    product(CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, alpha, am, kM, bm, kK, beta, cm, kM);
    product(CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, alpha, am, kM, bm, kK, beta, cm, kM);
    std::copy(cm.begin(), cm.end(), expected.begin() + i * kM * kN);
  }
  using N = typename CudaNumber<T>::type;
  DONE(BLAS1(T, gemmStridedBatched)(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, cu(&alpha), cu(a), kM, kM * kK,
                                    cu(b), kK, kK * kN, cu(&beta), cu(c), kM, kM * kN, kCount));
  DONE(BLAS1(T, gemmBatched)(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, cu(&alpha), as.template as<const N*>(),
                             kM, bs.template as<const N*>(), kK, cu(&beta), cs.template as<N*>(), kM, kCount));
  expect_near(expected, c, tolerance<T>());
}

// A X = B for several A: factors, solutions and inverses.
TYPED_TEST(BlasExtensions, Factorisations) {
  using T = TypeParam;
  using N = typename CudaNumber<T>::type;
  constexpr int kN = 6, kCount = 2;
  const Array<T> a(kN * kN * kCount), lu(kN * kN * kCount), inverse(kN * kN * kCount), x(kN * kCount);
  fill(a, 36);
  for (std::size_t i = 0; i < kCount; ++i)
    for (std::size_t j = 0; j < kN; ++j) a[i * kN * kN + j * kN + j] += T(Real<T>(9));
  fill(x, 37);
  const Array<T*> as(kCount), inverses(kCount), xs(kCount), originals(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    originals[i] = a.data() + i * kN * kN;
    as[i] = lu.data() + i * kN * kN;
    inverses[i] = inverse.data() + i * kN * kN;
    xs[i] = x.data() + i * kN;
  }
  const Array<int> pivots(kN * kCount), info(kCount);
  const std::vector<T> right = x.copy();
  for (const bool pivoting : {true, false}) {
    copy_to(lu, a.copy());
    copy_to(x, right);
    DONE(BLAS1(T, getrfBatched)(this->handle, kN, as.template as<N*>(), kN, pivoting ? pivots.data() : nullptr,
                                info.data(), kCount));
    int host_info = -1;
    DONE(BLAS1(T, getrsBatched)(this->handle, CUBLAS_OP_N, kN, 1, as.template as<const N*>(), kN,
                                pivoting ? pivots.data() : nullptr, xs.template as<N*>(), kN, &host_info, kCount));
    EXPECT_EQ(host_info, 0);
    DONE(BLAS1(T, getriBatched)(this->handle, kN, as.template as<const N*>(), kN, pivoting ? pivots.data() : nullptr,
                                inverses.template as<N*>(), kN, info.data(), kCount));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(info[i], 0);
      for (std::size_t row = 0; row < kN; ++row) {
        T sum{}, by_inverse{};
        for (std::size_t j = 0; j < kN; ++j) {
          sum += a[i * kN * kN + j * kN + row] * x[i * kN + j];
          by_inverse += inverse[i * kN * kN + j * kN + row] * right[i * kN + j];
        }
        EXPECT_LE(std::abs(sum - right[i * kN + row]), 1e-3);
        EXPECT_LE(std::abs(by_inverse - x[i * kN + row]), 1e-3);
      }
    }
  }
  DONE(BLAS1(T, matinvBatched)(this->handle, kN, originals.template as<const N*>(), kN, as.template as<N*>(), kN,
                               info.data(), kCount));
  expect_near(inverse.copy(), lu, 1e-3);
  // A singular one: the place of the first pivot that is zero.
  for (std::size_t i = 0; i < kN; ++i) lu[3 * kN + i] = T{};
  DONE(BLAS1(T, getrfBatched)(this->handle, kN, as.template as<N*>(), kN, pivots.data(), info.data(), 1));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(info[0], 4);
  // Its inverse has no finite column, so that a norm of it is no number either.
  DONE(BLAS1(T, getriBatched)(this->handle, kN, as.template as<const N*>(), kN, pivots.data(),
                              inverses.template as<N*>(), kN, info.data(), 1));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(info[0], 4);
  for (std::size_t j = 0; j < kN; ++j) {
    T sum{};
    for (std::size_t i = 0; i < kN; ++i) sum += inverse[j * kN + i];
    EXPECT_FALSE(std::isfinite(std::abs(sum))) << j;
  }
}

using BlasCalls = Blas<float>;

std::uint16_t bf16(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, 4);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // of finite values
}
float from_bf16(std::uint16_t v) {
  const std::uint32_t bits = static_cast<std::uint32_t>(v) << 16;
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}
std::uint16_t half(float v) {
  const _Float16 h = static_cast<_Float16>(v);
  std::uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
float from_half(std::uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}

TEST_F(BlasCalls, HalfAndBfloat) {
  constexpr int kN = 16;
  const Array<float> a(kN * kN), b(kN * kN);
  fill(a, 40);
  fill(b, 41);
  std::vector<float> expected(kN * kN);
  product(CUBLAS_OP_N, CUBLAS_OP_T, kN, kN, kN, 1.0f, a.copy(), kN, b.copy(), kN, 0.0f, expected, kN);
  const Array<std::uint16_t> ha(kN * kN), hb(kN * kN), hc(kN * kN), ba(kN * kN), bb(kN * kN), bc(kN * kN);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ha[i] = half(a[i]), hb[i] = half(b[i]);
    ba[i] = bf16(a[i]), bb[i] = bf16(b[i]);
  }
  const std::uint16_t one_half = half(1), zero_half = 0;
  const float one = 1, zero = 0;
  DONE(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, kN, kN, kN, reinterpret_cast<const __half*>(&one_half),
                   ha.as<__half>(), kN, hb.as<__half>(), kN, reinterpret_cast<const __half*>(&zero_half),
                   hc.as<__half>(), kN));
  const Array<float> c(kN * kN);
  DONE(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, kN, kN, kN, &one, ba.data(), CUDA_R_16BF, kN, bb.data(),
                    CUDA_R_16BF, kN, &zero, bc.data(), CUDA_R_16BF, kN, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT_TENSOR_OP));
  DONE(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, kN, kN, kN, &one, ha.data(), CUDA_R_16F, kN, hb.data(),
                    CUDA_R_16F, kN, &zero, c.data(), CUDA_R_32F, kN, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  expect_near(expected, c, 0);  // halves times halves: exact
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(from_half(hc[i]), expected[i]);
    EXPECT_NEAR(from_bf16(bc[i]), expected[i], std::abs(expected[i]) / 256);
  }
}

TEST_F(BlasCalls, IntegersAreExact) {
  constexpr int kM = 8, kN = 12, kK = 40;
  const Array<std::int8_t> a(kM * kK), b(kK * kN);
  const Array<std::int32_t> c(kM * kN, 7);
  std::mt19937 random(42);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(random());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(random());
  const std::int32_t alpha = 2, beta = -3;
  DONE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, a.data(), CUDA_R_8I, kK, b.data(), CUDA_R_8I,
                    kK, &beta, c.data(), CUDA_R_32I, kM, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t j = 0; j < kN; ++j)
    for (std::size_t i = 0; i < kM; ++i) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < kK; ++k) sum += a[i * kK + k] * b[j * kK + k];
      EXPECT_EQ(c[j * kM + i], 2 * sum - 21);
    }
}

// 1 and 39 products of 2^-24, half a unit in the last place of 1. A tensor core of compute capability 9.0 adds 16
// products as one exact sum, those of 8.x eight, and cuts off the bits below the last place
// (tests/hardware/tensor_cores.expected for an H200; Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021,
// for 8.0). Each addition of f32 gives 1.
TEST_F(BlasCalls, HalvesAddAsOnTensorCores) {
  constexpr std::size_t kK = 40;
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  ASSERT_GE(properties.major, 8);
  const float unit = 0x1p-23f, one = 1, zero = 0;
  const auto expected = [&](std::size_t k) {
    const std::size_t terms = properties.major >= 9 ? 16 : 8;
    float sum = 1;
    // The first sum has an odd number of small products, so that half a unit is lost.
    for (std::size_t first = 0; first < k; first += terms)
      sum += unit * static_cast<float>((std::min(terms, k - first) - (first == 0 ? 1 : 0)) / 2);
    return sum;
  };
  const Array<std::uint16_t> ha(kK, half(0x1p-12f)), ba(kK, bf16(0x1p-12f));
  ha[0] = half(1), ba[0] = bf16(1);
  const Array<std::uint16_t> hb(kK, half(0x1p-12f)), bb(kK, bf16(0x1p-12f));
  hb[0] = half(1), bb[0] = bf16(1);
  for (const int k : {16, 32, 40}) {
    const Array<float> of_halves(1), of_bf16(1);
    DONE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, k, &one, ha.data(), CUDA_R_16F, kK, hb.data(), CUDA_R_16F,
                      kK, &zero, of_halves.data(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    DONE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, k, &one, ba.data(), CUDA_R_16BF, kK, bb.data(),
                      CUDA_R_16BF, kK, &zero, of_bf16.data(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(of_halves[0], expected(static_cast<std::size_t>(k))) << k;
    EXPECT_EQ(of_bf16[0], expected(static_cast<std::size_t>(k))) << k;
  }
}

// Products of 24 x 40 x 136 whose results an H200's cuBLAS 13.0 gave, as hashes (FNV-1a) of their bytes.
TEST_F(BlasCalls, HalvesGiveTheBitsOfAnH200) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  if (properties.major != 9) GTEST_SKIP() << "the results are those of compute capability 9.0";
  constexpr int kM = 24, kN = 40, kK = 136;
  struct {
    cudaDataType factors, result;
    float alpha, beta;
    std::uint64_t hash;
  } const cases[] = {{CUDA_R_16BF, CUDA_R_32F, 1, 0, 0xa04ad33b2d971f15},
                     {CUDA_R_16F, CUDA_R_32F, 1, 0, 0x3c2cfa23e37c799d},
                     {CUDA_R_16BF, CUDA_R_16BF, 1, 0, 0x36cde68d1a951639},
                     {CUDA_R_16F, CUDA_R_16F, 1, 0, 0x96af3eb7e4bfc687},
                     {CUDA_R_16BF, CUDA_R_32F, 1.5f, 0.5f, 0x64e87107ef9a8325}};
  for (const auto& c : cases) {
    std::uint32_t seed = 12345 + kM + 7 * kN + 31 * kK;
    const auto next = [&] {
      seed = seed * 1664525 + 1013904223;
      return static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) / (1 << 22);
    };
    Array<std::uint16_t> a(kM * kK), b(kK * kN);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = c.factors == CUDA_R_16F ? half(next()) : bf16(next());
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = c.factors == CUDA_R_16F ? half(next()) : bf16(next());
    Array<float> d(kM * kN, 0.0f);
    if (c.beta != 0)
      for (std::size_t i = 0; i < d.size(); ++i) d[i] = next();
    DONE(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &c.alpha, a.data(), c.factors, kK, b.data(),
                      c.factors, kK, &c.beta, d.data(), c.result, kM, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::uint64_t hash = 1469598103934665603u;
    for (std::size_t i = 0; i < kM * kN * (c.result == CUDA_R_32F ? 4 : 2); ++i)
      hash = (hash ^ d.as<std::uint8_t>()[i]) * 1099511628211u;
    EXPECT_EQ(hash, c.hash) << c.factors << " " << c.result << " " << c.beta;
  }
}

TEST_F(BlasCalls, Tf32RoundsOperands) {
  const Array<float> a{1.0f + 1.0f / 4096}, c{0.0f};
  const Array<float> b{1.0f};
  const float one = 1, zero = 0;
  DONE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.data(), 1, b.data(), 1, &zero, c.data(), 1));
  expect_near({a[0]}, c, 0);
  DONE(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  DONE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.data(), 1, b.data(), 1, &zero, c.data(), 1));
  expect_near({1.0f}, c, 0);
}

TEST_F(BlasCalls, VectorsOfHalf) {
  const Array<std::uint16_t> x{half(1), half(2), half(3)}, y{half(4), half(5), half(6)}, result(1);
  const float alpha = 2;
  DONE(cublasAxpyEx(handle, 3, &alpha, CUDA_R_32F, x.data(), CUDA_R_16F, 1, y.data(), CUDA_R_16F, 1, CUDA_R_32F));
  DONE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  DONE(cublasDotEx(handle, 3, x.data(), CUDA_R_16F, 1, y.data(), CUDA_R_16F, 1, result.data(), CUDA_R_16F, CUDA_R_32F));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(from_half(y[2]), 12);
  EXPECT_EQ(from_half(result[0]), 6 + 18 + 36);
}

TEST_F(BlasCalls, CopiesWithIncrements) {
  const std::vector<float> from{1, 2, 3, 4, 5, 6};
  std::vector<float> back(6, 0);
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 12 * sizeof(float)), cudaSuccess);
  DONE(cublasSetVector(3, sizeof(float), from.data(), 2, device, 3));
  DONE(cublasGetVector(3, sizeof(float), device, 3, back.data(), 1));
  EXPECT_EQ(back, (std::vector<float>{1, 3, 5, 0, 0, 0}));
  DONE(cublasSetMatrix(2, 3, sizeof(float), from.data(), 2, device, 4));
  DONE(cublasGetMatrix(2, 3, sizeof(float), device, 4, back.data(), 2));
  EXPECT_EQ(back, from);
  EXPECT_EQ(cublasSetVector(3, sizeof(float), from.data(), 0, device, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSetMatrix(3, 2, sizeof(float), from.data(), 2, device, 4), CUBLAS_STATUS_INVALID_VALUE);
  cudaFree(device);
}

// A handle's work is done when the handle is destroyed, in any stream: the copy on another stream below does not wait
// for it.
TEST_F(BlasCalls, DestroyWaits) {
  constexpr int kRounds = 20, kSize = 200;
  Array<float> a(kSize * kSize, 0.0F), x(kSize, 1.0F), y(kSize, 0.0F);
  cudaStream_t one = nullptr, other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  for (int i = 0; i < kSize; ++i) a.data()[i * kSize + i] = 1.0F;
  const float one_value = 1.0F;
  for (int round = 0; round < kRounds; ++round) {
    cublasHandle_t own = nullptr;
    ASSERT_EQ(cublasCreate(&own), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(own, one), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(
        cublasSgemv(own, CUBLAS_OP_N, kSize, kSize, &one_value, a.data(), kSize, x.data(), 1, &one_value, y.data(), 1),
        CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasDestroy(own), CUBLAS_STATUS_SUCCESS);
    std::vector<float> copied(kSize);
    ASSERT_EQ(cudaMemcpyAsync(copied.data(), y.data(), kSize * sizeof(float), cudaMemcpyDeviceToHost, other),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(copied[kSize - 1], static_cast<float>(round + 1));
  }
  ASSERT_EQ(cudaStreamDestroy(one), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(BlasCalls, WorkIsOfTheStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  DONE(cublasSetStream(handle, stream));
  cudaStream_t set = nullptr;
  DONE(cublasGetStream(handle, &set));
  EXPECT_EQ(set, stream);
  const Array<float> x(4, 1.0f);
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 16), cudaSuccess);
  // In order with the copies of the stream, and with factors that were taken at the call.
  float two = 2;
  ASSERT_EQ(cudaMemcpyAsync(device, x.data(), 16, cudaMemcpyDefault, stream), cudaSuccess);
  DONE(cublasSscal(handle, 4, &two, device, 1));
  two = 100;
  ASSERT_EQ(cudaMemcpyAsync(x.data(), device, 16, cudaMemcpyDefault, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(x[3], 2.0f);
  cudaFree(device);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(BlasCalls, CapturedCallsRunAtEachLaunch) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  DONE(cublasSetStream(handle, stream));
  const Array<float> x(3, 1.0f), y(3, 0.0f), alpha{1.0f};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  float result = 0;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  DONE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  DONE(cublasSaxpy(handle, 3, alpha.data(), x.data(), 1, y.data(), 1));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(y[0], 0.0f);
  for (int i = 0; i < 3; ++i) {
    alpha[0] = static_cast<float>(i + 1);
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  EXPECT_EQ(y[2], 6.0f);
  // A result for the host cannot be captured: the call would have to wait.
  DONE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cublasSdot(handle, 3, x.data(), 1, y.data(), 1, &result), CUBLAS_STATUS_NOT_SUPPORTED);
  cudaGraph_t none = nullptr;
  EXPECT_NE(cudaStreamEndCapture(stream, &none), cudaSuccess);
  cudaGetLastError();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  DONE(cublasSetStream(handle, nullptr));
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(BlasCalls, TimeIsEstimated) {
  constexpr int kN = 512;
  const Array<float> a(kN * kN), b(kN * kN), c(kN * kN);
  const float one = 1, zero = 0;
  cudaEvent_t begin = nullptr, end = nullptr;
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(begin, nullptr), cudaSuccess);
  DONE(
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kN, kN, kN, &one, a.data(), kN, b.data(), kN, &zero, c.data(), kN));
  ASSERT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float ms = 0;
  ASSERT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
  EXPECT_NEAR(ms, 0.0137, 0.007);  // an H200: 13.7 us, 19.64 TFLOP/s
}

TEST_F(BlasCalls, Errors) {
  const Array<float> a(16), b(16), c(16);
  const float one = 1;
  const auto gemm = [&](cublasHandle_t h, int m, int n, int k, int lda, int ldb, int ldc, const float* alpha) {
    return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha, a.data(), lda, b.data(), ldb, &one, c.data(), ldc);
  };
  EXPECT_EQ(gemm(nullptr, 4, 4, 4, 4, 4, 4, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(gemm(reinterpret_cast<cublasHandle_t>(0x1234), 4, 4, 4, 4, 4, 4, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(gemm(handle, -1, 4, 4, 4, 4, 4, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, 4, 3, 4, 4, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, 4, 4, 3, 4, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, 4, 4, 4, 3, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 4, 4, 4, 4, 4, 4, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(handle, 0, 4, 4, 4, 4, 4, &one), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSgemm(handle, static_cast<cublasOperation_t>(9), CUBLAS_OP_N, 4, 4, 4, &one, a.data(), 4, b.data(), 4,
                        &one, c.data(), 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.data(), CUDA_R_32F, 4, b.data(), CUDA_R_16F,
                         4, &one, c.data(), CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(5)), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
  int version = 0;
  EXPECT_EQ(cublasGetVersion(handle, &version), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(version, CUBLAS_VERSION);
}

// What no kernel could reach ends the call, as a fault of a kernel does, and never the process.
TEST_F(BlasCalls, WrongPointersAreFaults) {
  std::vector<float> host(16, 1.0f);
  const Array<float> y(16);
  const float one = 1;
  DONE(cublasSaxpy(handle, 16, &one, host.data(), 1, y.data(), 1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cublasSaxpy(handle, 16, &one, y.data(), 1, y.data(), 1), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  const Array<float> small(4), again(16);
  DONE(cublasSaxpy(handle, 16, &one, small.data(), 1, again.data(), 1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  DONE(cublasSaxpy(handle, 16, &one, nullptr, 1, again.data(), 1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
}  // namespace warpgrind::test
