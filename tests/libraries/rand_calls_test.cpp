// cuRAND's calls around the numbers: versions, streams, tables.
#include <curand.h>

#include <set>

#include "library_test.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CURAND_STATUS_SUCCESS)

TEST(RandCalls, Versions) {
  int version = 0, major = 0, minor = 0, patch = 0;
  DONE(curandGetVersion(&version));
  DONE(curandGetProperty(MAJOR_VERSION, &major));
  DONE(curandGetProperty(MINOR_VERSION, &minor));
  DONE(curandGetProperty(PATCH_LEVEL, &patch));
  EXPECT_EQ(version, 1000 * major + 100 * minor + patch);
  EXPECT_NE(curandGetVersion(nullptr), CURAND_STATUS_SUCCESS);
  EXPECT_NE(curandGetProperty(MAJOR_VERSION, nullptr), CURAND_STATUS_SUCCESS);
}

TEST(RandCalls, NumbersComeInTheStreamsOrder) {
  constexpr std::size_t kCount = 1000;
  const Array<unsigned> expected(kCount), in_stream(kCount);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (const Array<unsigned>* out : {&expected, &in_stream}) {
    curandGenerator_t generator = nullptr;
    DONE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    if (out == &in_stream) {
      DONE(curandSetStream(generator, stream));
    }
    DONE(curandGenerateSeeds(generator));
    DONE(curandGenerate(generator, out->data(), kCount));
    if (out == &in_stream) {
      ASSERT_EQ(cudaMemsetAsync(out->data(), 0, 4, stream), cudaSuccess);  // after the numbers
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    }
    DONE(curandDestroyGenerator(generator));
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(in_stream[0], 0u);
  for (std::size_t i = 1; i < kCount; ++i) ASSERT_EQ(in_stream[i], expected[i]) << i;
  EXPECT_EQ(curandSetStream(nullptr, stream), CURAND_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(curandGenerateSeeds(nullptr), CURAND_STATUS_NOT_INITIALIZED);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// The first dimension is van der Corput's, a bit a vector; every vector of another has the highest bit that its place
// allows as its lowest.
TEST(RandCalls, Tables) {
  constexpr int kDimensions = 20000;  // as documented; PyCUDA copies all of them
  curandDirectionVectors32_t* narrow_vectors = nullptr;
  DONE(curandGetDirectionVectors32(&narrow_vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  for (int d = 1; d < kDimensions; ++d)
    for (int bit = 0; bit < 32; ++bit) ASSERT_EQ(narrow_vectors[d][bit] << bit, 1U << 31) << d << ": " << bit;
  curandDirectionVectors64_t* vectors = nullptr;
  DONE(curandGetDirectionVectors64(&vectors, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
  for (int bit = 0; bit < 64; ++bit) EXPECT_EQ(vectors[0][bit], std::uint64_t{1} << (63 - bit));
  for (int d = 1; d < kDimensions; ++d)
    for (int bit = 0; bit < 64; ++bit) ASSERT_EQ(vectors[d][bit] << bit, std::uint64_t{1} << 63) << d << ": " << bit;
  EXPECT_NE(curandGetDirectionVectors64(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6), CURAND_STATUS_SUCCESS);
  unsigned* narrow = nullptr;
  unsigned long long* wide = nullptr;
  DONE(curandGetScrambleConstants32(&narrow));
  DONE(curandGetScrambleConstants64(&wide));
  EXPECT_GT((std::set<unsigned>(narrow, narrow + kDimensions).size()), std::size_t{19900});
  EXPECT_EQ((std::set<unsigned long long>(wide, wide + kDimensions).size()), static_cast<std::size_t>(kDimensions));
  EXPECT_NE(curandGetScrambleConstants32(nullptr), CURAND_STATUS_SUCCESS);
  EXPECT_NE(curandGetScrambleConstants64(nullptr), CURAND_STATUS_SUCCESS);
}

}  // namespace
}  // namespace warpgrind::test
