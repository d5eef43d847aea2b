// cuFFT against sums of sines and cosines, written out.
#include <cufft.h>
#include <cufftXt.h>

#include <array>
#include <numbers>

#include "library_test.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUFFT_SUCCESS)

using Shape = std::array<int, 3>;  // the last dimension varies fastest; missing ones first, of size 1

std::vector<DoubleComplex> transform(const std::vector<DoubleComplex>& in, const Shape& n, int direction) {
  std::vector<DoubleComplex> out(in.size());
  for (int a = 0; a < n[0]; ++a)
    for (int b = 0; b < n[1]; ++b)
      for (int c = 0; c < n[2]; ++c) {
        DoubleComplex sum = 0;
        for (int x = 0; x < n[0]; ++x)
          for (int y = 0; y < n[1]; ++y)
            for (int z = 0; z < n[2]; ++z) {
              const double turns = static_cast<double>(a * x) / n[0] + static_cast<double>(b * y) / n[1] +
                                   static_cast<double>(c * z) / n[2];
              sum += in[static_cast<std::size_t>((x * n[1] + y) * n[2] + z)] *
                     std::polar(1.0, direction * 2 * std::numbers::pi * turns);
            }
        out[static_cast<std::size_t>((a * n[1] + b) * n[2] + c)] = sum;
      }
  return out;
}

template <class T>
struct Kind {
  using Real = T;
  static constexpr bool kDouble = std::is_same_v<T, double>;
  using C = std::conditional_t<kDouble, cufftDoubleComplex, cufftComplex>;
  static constexpr cufftType c2c = kDouble ? CUFFT_Z2Z : CUFFT_C2C, r2c = kDouble ? CUFFT_D2Z : CUFFT_R2C,
                             c2r = kDouble ? CUFFT_Z2D : CUFFT_C2R;
  static constexpr double tolerance = kDouble ? 1e-10 : 1e-3;
  static cufftResult forward(cufftHandle p, std::complex<T>* in, std::complex<T>* out, int direction) {
    if constexpr (kDouble)
      return cufftExecZ2Z(p, reinterpret_cast<C*>(in), reinterpret_cast<C*>(out), direction);
    else
      return cufftExecC2C(p, reinterpret_cast<C*>(in), reinterpret_cast<C*>(out), direction);
  }
  static cufftResult real_forward(cufftHandle p, T* in, std::complex<T>* out) {
    if constexpr (kDouble)
      return cufftExecD2Z(p, in, reinterpret_cast<C*>(out));
    else
      return cufftExecR2C(p, in, reinterpret_cast<C*>(out));
  }
  static cufftResult real_back(cufftHandle p, std::complex<T>* in, T* out) {
    if constexpr (kDouble)
      return cufftExecZ2D(p, reinterpret_cast<C*>(in), out);
    else
      return cufftExecC2R(p, reinterpret_cast<C*>(in), out);
  }
};

template <class T>
class Fft : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Fft, Reals);

cufftResult plan(cufftHandle* out, const Shape& n, cufftType type) {
  if (n[0] > 1) return cufftPlan3d(out, n[0], n[1], n[2], type);
  if (n[1] > 1) return cufftPlan2d(out, n[1], n[2], type);
  return cufftPlan1d(out, n[2], type, 1);
}
constexpr Shape kShapes[] = {{1, 1, 16}, {1, 1, 15}, {1, 6, 8}, {1, 5, 7}, {3, 4, 6}};

TYPED_TEST(Fft, ComplexThereAndBack) {
  using K = Kind<TypeParam>;
  for (const Shape& n : kShapes) {
    const auto size = static_cast<std::size_t>(n[0] * n[1] * n[2]);
    const Array<std::complex<TypeParam>> in(size), out(size);
    fill(in, 50);
    const std::vector<DoubleComplex> wide(in.data(), in.data() + size);
    cufftHandle p = 0;
    DONE(plan(&p, n, K::c2c));
    DONE(K::forward(p, in.data(), out.data(), CUFFT_FORWARD));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::vector<DoubleComplex> there = transform(wide, n, CUFFT_FORWARD);
    for (std::size_t i = 0; i < size; ++i) EXPECT_LE(std::abs(DoubleComplex(out[i]) - there[i]), K::tolerance);
    DONE(K::forward(p, out.data(), out.data(), CUFFT_INVERSE));  // in place, and not divided by the size
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_LE(std::abs(DoubleComplex(out[i]) - wide[i] * static_cast<double>(size)), size * K::tolerance);
    DONE(cufftDestroy(p));
  }
}

TYPED_TEST(Fft, RealThereAndBack) {
  using K = Kind<TypeParam>;
  for (const Shape& n : kShapes)
    for (const bool in_place : {false, true}) {
      const auto size = static_cast<std::size_t>(n[0] * n[1] * n[2]);
      const int half = n[2] / 2 + 1, row = in_place ? 2 * half : n[2];
      const auto rows = static_cast<std::size_t>(n[0] * n[1]);
      const Array<std::complex<TypeParam>> spectrum(rows * static_cast<std::size_t>(half));
      const Array<TypeParam> separate(size), back(rows * static_cast<std::size_t>(row));
      TypeParam* const in = in_place ? reinterpret_cast<TypeParam*>(spectrum.data()) : separate.data();
      std::mt19937 random(51);
      std::vector<DoubleComplex> wide;
      for (std::size_t r = 0; r < rows; ++r)
        for (int i = 0; i < n[2]; ++i) {
          const auto v = random_number<TypeParam>(random);
          in[r * static_cast<std::size_t>(row) + static_cast<std::size_t>(i)] = v;
          wide.emplace_back(v);
        }
      cufftHandle there = 0, home = 0;
      DONE(plan(&there, n, K::r2c));
      DONE(plan(&home, n, K::c2r));
      DONE(K::real_forward(there, in, spectrum.data()));
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      const std::vector<DoubleComplex> expected = transform(wide, n, CUFFT_FORWARD);
      for (std::size_t r = 0; r < rows; ++r)
        for (int i = 0; i < half; ++i)
          EXPECT_LE(std::abs(DoubleComplex(spectrum[r * static_cast<std::size_t>(half) + static_cast<std::size_t>(i)]) -
                             expected[r * static_cast<std::size_t>(n[2]) + static_cast<std::size_t>(i)]),
                    K::tolerance);
      TypeParam* const out = in_place ? in : back.data();
      const std::vector<std::complex<TypeParam>> before = spectrum.copy();
      DONE(K::real_back(home, spectrum.data(), out));
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      if (!in_place) {
        EXPECT_EQ(spectrum.copy(), before);  // the input stays
      }
      for (std::size_t r = 0; r < rows; ++r)
        for (int i = 0; i < n[2]; ++i)
          EXPECT_LE(std::abs(static_cast<double>(out[r * static_cast<std::size_t>(row) + static_cast<std::size_t>(i)]) -
                             wide[r * static_cast<std::size_t>(n[2]) + static_cast<std::size_t>(i)].real() *
                                 static_cast<double>(size)),
                    size * K::tolerance);
      DONE(cufftDestroy(there));
      DONE(cufftDestroy(home));
    }
}

// Columns of a matrix: elements apart, transforms side by side.
TEST(FftLayouts, StridesAndBatches) {
  constexpr int kRows = 8, kColumns = 5;
  const Array<Complex> in(kRows * kColumns), out(kRows * kColumns);
  fill(in, 52);
  int n[] = {kRows}, embed[] = {kRows};
  cufftHandle p = 0;
  DONE(cufftPlanMany(&p, 1, n, embed, kColumns, 1, embed, 1, kRows, CUFFT_C2C, kColumns));
  DONE(cufftExecC2C(p, in.as<cufftComplex>(), out.as<cufftComplex>(), CUFFT_FORWARD));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t c = 0; c < kColumns; ++c) {
    std::vector<DoubleComplex> column;
    for (std::size_t r = 0; r < kRows; ++r) column.emplace_back(in[r * kColumns + c]);
    const std::vector<DoubleComplex> expected = transform(column, {1, 1, kRows}, CUFFT_FORWARD);
    for (std::size_t r = 0; r < kRows; ++r) EXPECT_LE(std::abs(DoubleComplex(out[c * kRows + r]) - expected[r]), 1e-3);
  }
  DONE(cufftDestroy(p));
  // Without embed sizes strides and distances are ignored.
  const Array<Complex> dense(kRows * 2);
  DONE(cufftPlanMany(&p, 1, n, nullptr, 7, 7, nullptr, 7, 7, CUFFT_C2C, 2));
  DONE(cufftExecC2C(p, in.as<cufftComplex>(), dense.as<cufftComplex>(), CUFFT_FORWARD));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  Complex sum = 0;
  for (std::size_t i = 0; i < kRows; ++i) sum += in[kRows + i];
  EXPECT_LE(std::abs(dense[kRows] - sum), 1e-3);
  DONE(cufftDestroy(p));
}

TEST(FftLayouts, ByTypesAndInSteps) {
  constexpr long long kN = 12;
  const Array<DoubleComplex> in(kN), out(kN);
  fill(in, 53);
  cufftHandle p = 0;
  std::size_t bytes = 1, again = 2;
  long long n[] = {kN};
  DONE(cufftCreate(&p));
  DONE(cufftSetAutoAllocation(p, 0));
  DONE(cufftXtMakePlanMany(p, 1, n, nullptr, 1, kN, CUDA_C_64F, nullptr, 1, kN, CUDA_C_64F, 1, &bytes, CUDA_C_64F));
  DONE(cufftGetSize(p, &again));
  EXPECT_EQ(bytes, again);
  DONE(cufftXtExec(p, in.data(), out.data(), CUFFT_INVERSE));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<DoubleComplex> expected = transform(in.copy(), {1, 1, kN}, CUFFT_INVERSE);
  for (std::size_t i = 0; i < kN; ++i) EXPECT_LE(std::abs(out[i] - expected[i]), 1e-9);
  DONE(cufftDestroy(p));
}

TEST(FftCalls, WorkIsOfTheStreamAndCaptured) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const Array<Complex> data(4, Complex(1));
  cufftHandle p = 0;
  DONE(cufftPlan1d(&p, 4, CUFFT_C2C, 1));
  DONE(cufftSetStream(p, stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  DONE(cufftExecC2C(p, data.as<cufftComplex>(), data.as<cufftComplex>(), CUFFT_FORWARD));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  DONE(cufftDestroy(p));  // the graph keeps what it needs
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(data[0], Complex(4));
  EXPECT_EQ(data[1], Complex(0));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST(FftCalls, Errors) {
  cufftHandle p = 0;
  EXPECT_EQ(cufftPlan1d(&p, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&p, 8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE);
  EXPECT_EQ(cufftPlan1d(&p, 8, static_cast<cufftType>(1), 1), CUFFT_INVALID_TYPE);
  EXPECT_EQ(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecC2C(12345, nullptr, nullptr, CUFFT_FORWARD), CUFFT_INVALID_PLAN);
  EXPECT_EQ(cufftDestroy(12345), CUFFT_INVALID_PLAN);
  const Array<Complex> data(8);
  DONE(cufftPlan1d(&p, 8, CUFFT_C2C, 1));
  EXPECT_EQ(cufftExecC2C(p, nullptr, data.as<cufftComplex>(), CUFFT_FORWARD), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecC2C(p, data.as<cufftComplex>(), data.as<cufftComplex>(), 5), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftExecR2C(p, data.as<cufftReal>(), data.as<cufftComplex>()), CUFFT_INVALID_PLAN);
  std::vector<Complex> host(8);
  DONE(cufftExecC2C(p, reinterpret_cast<cufftComplex*>(host.data()), data.as<cufftComplex>(), CUFFT_FORWARD));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cufftExecC2C(p, data.as<cufftComplex>(), data.as<cufftComplex>(), CUFFT_FORWARD), CUFFT_EXEC_FAILED);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cufftDestroy(p), CUFFT_SUCCESS);
}

}  // namespace
}  // namespace warpgrind::test
