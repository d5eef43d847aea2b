// cuRAND's host interface: sequences as an H200 gave them (CUDA 13.0), distributions by their moments, errors.
#include <curand.h>

#include <cstring>
#include <memory>
#include <string>

#include "library_test.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CURAND_STATUS_SUCCESS)

template <class T>
std::uint64_t digest(const T* values, std::size_t count) {  // FNV-1a of the bytes
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count * sizeof(T); ++i)
    hash = (hash ^ reinterpret_cast<const unsigned char*>(values)[i]) * 0x100000001b3u;
  return hash;
}

struct Recorded {
  curandRngType type;
  curandOrdering ordering;
  unsigned long long seed, offset;
  char what;  // b bits, u uniform, d uniform double, t bits in two calls of 1000 and the rest
  std::size_t count;
  std::uint64_t hash;
};
constexpr curandRngType kXorwow = CURAND_RNG_PSEUDO_XORWOW, kMrg = CURAND_RNG_PSEUDO_MRG32K3A;
constexpr curandOrdering kDefault = CURAND_ORDERING_PSEUDO_DEFAULT, kLegacy = CURAND_ORDERING_PSEUDO_LEGACY;
constexpr unsigned long long kBig = 0x123456789abcdef0u;
constexpr Recorded kRecorded[] = {
    {kXorwow, kDefault, 0, 0, 'b', 100000, 0xede25b7f3b084ff0u},
    {kXorwow, kDefault, 1234, 0, 'b', 20000, 0xeeee96627cc75311u},
    {kXorwow, kDefault, kBig, 0, 'b', 20000, 0x11876d4c5b0e2d42u},
    {kXorwow, kDefault, 0, 5, 'b', 20000, 0x9bde3ebdda91e2d9u},
    {kXorwow, kDefault, 0, 100001, 'b', 20000, 0x9df006794b9f03cu},
    {kXorwow, kLegacy, 0, 0, 'b', 20000, 0xaeb9d6c3129b34e9u},
    {kXorwow, kDefault, 1234, 0, 'u', 20000, 0x6b9fb361feb4de5du},
    {kXorwow, kDefault, 1234, 0, 'd', 20000, 0x2b69a7c77ab8686fu},
    {kXorwow, kDefault, 1234, 0, 't', 10000, 0x5c9e3c2dc06863f3u},
    {kMrg, kDefault, 0, 0, 'b', 100000, 0x7ec41bfc9e01c1cu},
    {kMrg, kDefault, 1234, 0, 'b', 20000, 0x794d003009e27865u},
    {kMrg, kDefault, kBig, 0, 'b', 20000, 0x15f916128193d091u},
    {kMrg, kDefault, 0, 5, 'b', 20000, 0xf87c5a4eb162aea3u},
    {kMrg, kDefault, 0, 100001, 'b', 20000, 0xe34ea82807ea4f9cu},
    {kMrg, kLegacy, 0, 0, 'b', 20000, 0x377467a8679ddab6u},
    {kMrg, kDefault, 1234, 0, 'u', 20000, 0xbc29e96bf6116ca3u},
    {kMrg, kDefault, 1234, 0, 'd', 20000, 0xbeace5f841faac7u},
    {kMrg, kDefault, 1234, 0, 't', 10000, 0xc30826cf47965a85u},
};

class Recordings : public testing::TestWithParam<std::tuple<Recorded, bool>> {};
TEST_P(Recordings, AreRepeated) {
  const auto& [r, on_host] = GetParam();
  curandGenerator_t g = nullptr;
  DONE(on_host ? curandCreateGeneratorHost(&g, r.type) : curandCreateGenerator(&g, r.type));
  DONE(curandSetGeneratorOrdering(g, r.ordering));
  if (r.seed) {
    DONE(curandSetPseudoRandomGeneratorSeed(g, r.seed));
  }
  if (r.offset) {
    DONE(curandSetGeneratorOffset(g, r.offset));
  }
  const Array<double> memory(r.count);
  auto* const bits = memory.as<unsigned>();
  std::uint64_t hash = 0;
  if (r.what == 'b') {
    DONE(curandGenerate(g, bits, r.count));
  }
  if (r.what == 't') {
    DONE(curandGenerate(g, bits, 1000));
  }
  if (r.what == 't') {
    DONE(curandGenerate(g, bits + 1000, r.count - 1000));
  }
  if (r.what == 'u') {
    DONE(curandGenerateUniform(g, memory.as<float>(), r.count));
  }
  if (r.what == 'd') {
    DONE(curandGenerateUniformDouble(g, memory.data(), r.count));
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  hash = r.what == 'd' ? digest(memory.data(), r.count) : digest(bits, r.count);
  EXPECT_EQ(hash, r.hash);
  DONE(curandDestroyGenerator(g));
}
INSTANTIATE_TEST_SUITE_P(H200, Recordings, testing::Combine(testing::ValuesIn(kRecorded), testing::Bool()),
                         [](const auto& info) {
                           return "n" + std::to_string(info.index / 2) + (std::get<1>(info.param) ? "host" : "device");
                         });

constexpr curandRngType kAll[] = {CURAND_RNG_PSEUDO_DEFAULT,  CURAND_RNG_PSEUDO_XORWOW,
                                  CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
                                  CURAND_RNG_PSEUDO_MT19937,  CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                  CURAND_RNG_QUASI_SOBOL32,   CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
                                  CURAND_RNG_QUASI_SOBOL64,   CURAND_RNG_QUASI_SCRAMBLED_SOBOL64};
constexpr std::size_t kCount = 40000;

template <class T>
void expect_moments(const Array<T>& values, double mean, double deviation) {
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]);
    squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  const double n = static_cast<double>(values.size()), got = sum / n;
  EXPECT_NEAR(got, mean, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - got * got), deviation, 0.03 * deviation);
}

class Distributions : public testing::TestWithParam<curandRngType> {};
TEST_P(Distributions, HaveTheirMoments) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGenerator(&g, GetParam()));
  const Array<float> f(kCount);
  const Array<double> d(kCount);
  const Array<unsigned> u(kCount);
  DONE(curandGenerateUniform(g, f.data(), kCount));
  expect_moments(f, 0.5, std::sqrt(1.0 / 12));
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(f[i] > 0 && f[i] <= 1);
  DONE(curandGenerateUniformDouble(g, d.data(), kCount));
  expect_moments(d, 0.5, std::sqrt(1.0 / 12));
  DONE(curandGenerateNormal(g, f.data(), kCount, 3, 2));
  expect_moments(f, 3, 2);
  DONE(curandGenerateNormalDouble(g, d.data(), kCount, -1, 0.5));
  expect_moments(d, -1, 0.5);
  DONE(curandGenerateLogNormalDouble(g, d.data(), kCount, 0, 0.25));
  expect_moments(d, std::exp(0.03125), std::exp(0.03125) * std::sqrt(std::exp(0.0625) - 1));
  DONE(curandGenerateLogNormal(g, f.data(), kCount, 0, 0.25f));
  expect_moments(f, std::exp(0.03125), std::exp(0.03125) * std::sqrt(std::exp(0.0625) - 1));
  for (const double lambda : {3.0, 900.0}) {
    DONE(curandGeneratePoisson(g, u.data(), kCount, lambda));
    expect_moments(u, lambda, std::sqrt(lambda));
  }
  DONE(curandDestroyGenerator(g));
}
INSTANTIATE_TEST_SUITE_P(All, Distributions, testing::ValuesIn(kAll),
                         [](const auto& info) { return "type" + std::to_string(info.param); });

// Points of Sobol's sequence: those of each dimension after those of the one before; the first dimension is van der
// Corput's sequence in the order of Gray's code.
TEST(Quasi, DimensionsFollowEachOther) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32));
  DONE(curandSetQuasiRandomGeneratorDimensions(g, 2));
  const Array<unsigned> x(8);
  DONE(curandGenerate(g, x.data(), 8));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x.copy(), (std::vector<unsigned>{0, 0x80000000u, 0xc0000000u, 0x40000000u, 0, 0x80000000u, 0x40000000u,
                                             0xc0000000u}));
  EXPECT_EQ(curandGenerate(g, x.data(), 7), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  DONE(curandDestroyGenerator(g));
  curandDirectionVectors32_t* vectors = nullptr;
  DONE(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  EXPECT_EQ(vectors[1][1], 0xc0000000u);
}

TEST(RandomCalls, Errors) {
  curandGenerator_t g = nullptr;
  EXPECT_EQ(curandCreateGenerator(&g, static_cast<curandRngType>(7)), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandGenerate(nullptr, nullptr, 1), CURAND_STATUS_NOT_INITIALIZED);
  DONE(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT));
  const Array<unsigned long long> memory(4);
  EXPECT_EQ(curandGenerateLongLong(g, memory.data(), 4), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandSetQuasiRandomGeneratorDimensions(g, 2), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT), CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(curandGenerateNormal(g, memory.as<float>(), 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_EQ(curandGeneratePoisson(g, memory.as<unsigned>(), 3, -1), CURAND_STATUS_OUT_OF_RANGE);
  std::vector<unsigned> host(4);
  DONE(curandGenerate(g, host.data(), 4));  // host memory: a fault of the GPU
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(curandGenerate(g, memory.as<unsigned>(), 4), CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  DONE(curandDestroyGenerator(g));
  EXPECT_EQ(curandDestroyGenerator(g), CURAND_STATUS_NOT_INITIALIZED);
}

}  // namespace
}  // namespace warpgrind::test
