// cuRAND's host interface: sequences as an H200 gave them, or NVIDIA's library of CUDA 13.0 in the host's memory
// (curandCreateGeneratorHost, which needs no GPU); distributions by their moments; errors.
#include <curand.h>
#include <curand_discrete.h>

#include <algorithm>
#include <cmath>
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
constexpr curandRngType kXorwow = CURAND_RNG_PSEUDO_XORWOW, kMrg = CURAND_RNG_PSEUDO_MRG32K3A,
                        kPhilox = CURAND_RNG_PSEUDO_PHILOX4_32_10, kMtgp = CURAND_RNG_PSEUDO_MTGP32;
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
    // NVIDIA's library, on the host.
    {kPhilox, kDefault, 0, 0, 'b', 300000, 0x4d9bf27825505abau},
    {kPhilox, kDefault, 1234, 0, 'b', 20000, 0xba599b0dedef6d8cu},
    {kPhilox, kDefault, kBig, 0, 'b', 20000, 0x771103d5b1065067u},
    {kPhilox, kDefault, 0, 5, 'b', 20000, 0xbf05f357e5d07975u},
    {kPhilox, kDefault, 0, 262150, 'b', 20000, 0x7f587530c5169d1eu},
    {kPhilox, kLegacy, 0, 0, 'b', 20000, 0x71e346a4aeccee0fu},
    {kPhilox, kDefault, 1234, 0, 'u', 20000, 0x8b00a5e9ad88a89fu},
    {kPhilox, kDefault, 1234, 0, 'd', 20000, 0x26aed205e073ea4eu},
    {kPhilox, kDefault, 1234, 0, 't', 10001, 0x74ca1095f4a14231u},
    {kMtgp, kDefault, 0, 0, 'b', 100000, 0x600ba5d0916f46d6u},
    {kMtgp, kDefault, 1234, 0, 'b', 20000, 0xb5b367888a6aec8bu},
    {kMtgp, kDefault, kBig, 0, 'b', 20000, 0xf34cf54232671264u},
    {kMtgp, kLegacy, 0, 0, 'b', 20000, 0xd5ad15fa2ff1413du},
    {kMtgp, kDefault, 1234, 0, 'u', 20000, 0x12af96216bcbefb9u},
    {kMtgp, kDefault, 1234, 0, 'd', 20000, 0x45b96b301087babu},
    {kMtgp, kDefault, 1234, 0, 't', 10000, 0xd524ac10f0d74506u},
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
INSTANTIATE_TEST_SUITE_P(Nvidias, Recordings, testing::Combine(testing::ValuesIn(kRecorded), testing::Bool()),
                         [](const auto& info) {
                           return "n" + std::to_string(info.index / 2) + (std::get<1>(info.param) ? "host" : "device");
                         });

// Poisson numbers as NVIDIA's library gave them on the host, 10000 of each: by histogram, by the inverse, by normal
// numbers.
struct RecordedPoisson {
  curandRngType type;
  double lambda;
  std::uint64_t hash;
};
constexpr RecordedPoisson kRecordedPoisson[] = {
    {CURAND_RNG_PSEUDO_XORWOW, 2000, 0xd6d367f17262cfd5u},
    {CURAND_RNG_PSEUDO_MRG32K3A, 5000, 0x1c7a1441fd6c7403u},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, 2000, 0x766410be1338abf7u},
    {CURAND_RNG_PSEUDO_MTGP32, 32, 0xde9523fb2568cf72u},
    {CURAND_RNG_PSEUDO_MTGP32, 8000, 0x2dcce102f0c78671u},
    {CURAND_RNG_PSEUDO_MTGP32, 8001, 0x4bf47c60b1d5a8dfu},
    {CURAND_RNG_QUASI_SOBOL32, 10, 0x7d5ab3c73c00c347u},
    {CURAND_RNG_QUASI_SOBOL32, 1500, 0x46f7343e52203850u},
    {CURAND_RNG_QUASI_SOBOL32, 8001, 0x73dd5b1cbea64192u},
    {CURAND_RNG_QUASI_SOBOL64, 3.5, 0x8d5bbbfeef21c12cu},
    {CURAND_RNG_QUASI_SOBOL64, 1999, 0x55ca6c9dcbe459b5u},
    {CURAND_RNG_QUASI_SOBOL64, 2000, 0xcb2df7805d9d991fu},
    {CURAND_RNG_PSEUDO_XORWOW, 0.001, 0xe75a25a45b69ad4u},
    {CURAND_RNG_PSEUDO_XORWOW, 3.5, 0xf62ba368ea88c933u},
    {CURAND_RNG_PSEUDO_XORWOW, 80, 0x7a3e01d9350397a3u},
    {CURAND_RNG_PSEUDO_XORWOW, 600, 0xe527a5a083427fceu},
    {CURAND_RNG_PSEUDO_XORWOW, 1999, 0x47ec893521d405f6u},
    {CURAND_RNG_PSEUDO_MRG32K3A, 10, 0xef1d328a8816c78fu},
    {CURAND_RNG_PSEUDO_MRG32K3A, 1000, 0x139843ffbc3e5ccu},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, 20, 0x50693c944733b608u},
    {CURAND_RNG_PSEUDO_MTGP32, 31, 0xaef02d218b121748u},
    {CURAND_RNG_QUASI_SOBOL32, 9, 0x33e3703f3afe1982u},
};
class PoissonRecordings : public testing::TestWithParam<RecordedPoisson> {};
TEST_P(PoissonRecordings, AreRepeated) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGenerator(&g, GetParam().type));
  const Array<unsigned> numbers(10000);
  DONE(curandGeneratePoisson(g, numbers.data(), numbers.size(), GetParam().lambda));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(digest(numbers.data(), numbers.size()), GetParam().hash);
  DONE(curandDestroyGenerator(g));
}
INSTANTIATE_TEST_SUITE_P(Nvidias, PoissonRecordings, testing::ValuesIn(kRecordedPoisson),
                         [](const auto& info) { return "n" + std::to_string(info.index); });

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

double poisson_probability(unsigned k, double mean) {
  return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
}

// Pearson's statistic over the values of which ten are expected at least, the rest together: above this bound, six
// deviations of its distribution, in one of 10^6 tests or less.
void expect_poisson(const Array<unsigned>& numbers, double mean) {
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const double n = static_cast<double>(numbers.size());
  std::vector<double> seen(static_cast<std::size_t>(mean * 2 + 100));
  for (std::size_t i = 0; i < numbers.size(); ++i) ++seen[std::min<std::size_t>(numbers[i], seen.size() - 1)];
  double statistic = 0, rest_seen = n, rest_expected = n;
  int classes = 1;
  for (unsigned k = 0; k < seen.size() - 1; ++k) {
    const double expected = n * poisson_probability(k, mean);
    if (expected < 10) continue;
    statistic += (seen[k] - expected) * (seen[k] - expected) / expected;
    rest_seen -= seen[k];
    rest_expected -= expected;
    ++classes;
  }
  if (rest_expected > 1) statistic += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
  EXPECT_LT(statistic, classes + 6 * std::sqrt(2.0 * classes));
}

TEST_P(Distributions, PoissonNumbersAreSpreadAsTheyShould) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGenerator(&g, GetParam()));
  const Array<unsigned> numbers(kCount);
  for (const double mean : {0.1, 3.5, 20.0, 600.0}) {
    DONE(curandGeneratePoisson(g, numbers.data(), kCount, mean));
    expect_poisson(numbers, mean);
  }
  DONE(curandDestroyGenerator(g));
}

template <class T>
std::vector<T> from_device(const T* data, std::size_t count) {
  std::vector<T> copy(count);
  EXPECT_EQ(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return copy;
}

// The columns' parts, added up by the values that they stand for, are the probabilities; the last of the rich keeps
// what their sum is off.
TEST(DiscreteDistribution, ColumnsAddUp) {
  for (const double mean : {0.1, 3.5, 80.0, 1999.0}) {
    curandDiscreteDistribution_t made = nullptr;
    DONE(curandCreatePoissonDistribution(mean, &made));
    const curandDiscreteDistribution_st d = from_device(made, 1)[0];
    EXPECT_EQ(d.method, CURAND_M2);
    const curandDistributionM2Shift_st m2 = from_device(d.M2, 1)[0];
    const curandHistogramM2_st histogram = from_device(m2.histogram, 1)[0];
    const std::vector<double> below = from_device(histogram.V, m2.length + 1);
    const std::vector<unsigned> other = from_device(histogram.K, m2.length + 1);
    std::vector<double> sums(m2.length);
    const double width = 1.0 / m2.length;
    for (unsigned i = 0; i < m2.length; ++i) {
      ASSERT_LT(other[i], m2.length);
      sums[i] += below[i] - i * width;
      sums[other[i]] += (i + 1) * width - below[i];
    }
    for (unsigned i = 0; i < m2.length; ++i) ASSERT_NEAR(sums[i], poisson_probability(m2.shift + i, mean), 1e-12);
    EXPECT_EQ(below[m2.length], 0);  // where a uniform number of 1 leads
    EXPECT_LT(other[m2.length], m2.length);
    DONE(curandDestroyDistribution(made));
    EXPECT_EQ(curandDestroyDistribution(made), CURAND_STATUS_NOT_INITIALIZED);
  }
}
TEST(DiscreteDistribution, GreatMeansAreNormal) {
  curandDiscreteDistribution_t made = nullptr;
  DONE(curandCreatePoissonDistribution(2500, &made));
  const curandDiscreteDistribution_st d = from_device(made, 1)[0];
  EXPECT_EQ(d.method, CURAND_DISCRETE_GAUSS);
  EXPECT_EQ(d.mean, 2500);
  EXPECT_EQ(d.stddev, 50);
  DONE(curandDestroyDistribution(made));
}
TEST(DiscreteDistribution, Errors) {
  curandDiscreteDistribution_t made = nullptr;
  for (const double mean : {0.0, -1.0, 400001.0, std::nan("")})
    EXPECT_EQ(curandCreatePoissonDistribution(mean, &made), CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(curandCreatePoissonDistribution(1, nullptr), CURAND_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(curandDestroyDistribution(nullptr), CURAND_STATUS_NOT_INITIALIZED);
}

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

// The first point is 0: the smallest number that 32 bits have, or 53.
TEST(Quasi, NormalFloatsAreOf32Bits) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGeneratorHost(&g, CURAND_RNG_QUASI_SOBOL64));
  float single = 0;
  DONE(curandGenerateNormal(g, &single, 1, 0, 1));
  EXPECT_NEAR(single, -6.337957f, 1e-5);
  DONE(curandSetGeneratorOffset(g, 0));  // from the beginning
  double wide = 0;
  DONE(curandGenerateNormalDouble(g, &wide, 1, 0, 1));
  EXPECT_NEAR(wide, -8.292361, 1e-5);
  DONE(curandDestroyGenerator(g));
}

// The Gray code of this offset has all bits, and so has the point: 1 as a uniform number, which has no normal quantile.
TEST(Quasi, TheLargestNumberIsOneAndItsNormalIsFinite) {
  constexpr unsigned long long kLargest = 0xaaaaaaaaaaaaaaaa;
  curandGenerator_t g = nullptr;
  DONE(curandCreateGeneratorHost(&g, CURAND_RNG_QUASI_SOBOL64));
  double number = 0;
  DONE(curandSetGeneratorOffset(g, kLargest));
  DONE(curandGenerateUniformDouble(g, &number, 1));
  EXPECT_EQ(number, 1);
  DONE(curandSetGeneratorOffset(g, kLargest));
  DONE(curandGenerateNormalDouble(g, &number, 1, 0, 1));
  EXPECT_NEAR(number, 8.292361, 1e-5);
  DONE(curandDestroyGenerator(g));
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
// As NVIDIA's library answers.
TEST(RandomCalls, Mtgp32HasNoOffsets) {
  curandGenerator_t g = nullptr;
  DONE(curandCreateGeneratorHost(&g, kMtgp));
  EXPECT_EQ(curandSetGeneratorOffset(g, 5), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED), CURAND_STATUS_OUT_OF_RANGE);
  DONE(curandDestroyGenerator(g));
}

}  // namespace
}  // namespace warpgrind::test
