// Discrete distributions for kernels: the tables in device memory that curand_discrete() reads.
#include <cuda_runtime_api.h>
#include <curand.h>
#include <curand_discrete.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "libraries/common/handles.h"
#include "libraries/common/issue.h"
#include "libraries/rand/poisson.h"

namespace warpgrind::libraries::rand {
namespace {

// From this mean on, results are rounded normal numbers.
constexpr double kNormalMean = 2000;
constexpr double kGreatestMean = 400000;

using Bytes = std::vector<unsigned char>;

// Offsets in one allocation: the structures, which point to each other, then the two arrays of the columns.
struct Layout {
  std::size_t m2 = sizeof(curandDiscreteDistribution_st);
  std::size_t histogram = m2 + sizeof(curandDistributionM2Shift_st);
  std::size_t below = histogram + sizeof(curandHistogramM2_st);
  std::size_t other, size;
  explicit Layout(std::size_t columns)
      : other(below + columns * sizeof(double)), size(other + columns * sizeof(unsigned)) {}
};
static_assert(sizeof(curandDiscreteDistribution_st) % 8 == 0 && sizeof(curandDistributionM2Shift_st) % 8 == 0 &&
              sizeof(curandHistogramM2_st) % 8 == 0);

// Adds a column after the last, since a kernel's uniform number may be 1.
void add_column_of_one(Histogram& h) {
  h.below.push_back(0);
  h.other.push_back(h.other.back());
}

template <class T>
void put(Bytes& bytes, std::size_t place, const T& value) {
  std::memcpy(bytes.data() + place, &value, sizeof(T));
}
template <class T>
void put(Bytes& bytes, std::size_t place, const std::vector<T>& values) {
  std::memcpy(bytes.data() + place, values.data(), values.size() * sizeof(T));
}

curandDiscreteDistribution_st distribution_at(char* base, double mean) {
  curandDiscreteDistribution_st d{};
  d.self_host_ptr = reinterpret_cast<curandDiscreteDistribution_t>(base);
  d.mean = mean;
  d.stddev = std::sqrt(mean);
  d.method = CURAND_DISCRETE_GAUSS;
  return d;
}

Bytes image_by_histogram(char* base, double mean, const Layout& at, const Histogram& h) {
  Bytes image(at.size);
  curandDiscreteDistribution_st d = distribution_at(base, mean);
  d.method = CURAND_M2;
  d.M2 = reinterpret_cast<curandDistributionM2Shift_t>(base + at.m2);
  put(image, 0, d);
  curandDistributionM2Shift_st m2{};
  m2.histogram = reinterpret_cast<curandHistogramM2_t>(base + at.histogram);
  m2.shift = h.shift;
  m2.length = static_cast<unsigned>(h.below.size()) - 1;
  put(image, at.m2, m2);
  curandHistogramM2_st histogram{};
  histogram.V = reinterpret_cast<double*>(base + at.below);
  histogram.K = reinterpret_cast<unsigned*>(base + at.other);
  put(image, at.histogram, histogram);
  put(image, at.below, h.below);
  put(image, at.other, h.other);
  return image;
}

Bytes image_by_normal(char* base, double mean) {
  Bytes image(sizeof(curandDiscreteDistribution_st));
  put(image, 0, distribution_at(base, mean));
  return image;
}

struct DeviceMemory {
  char* base = nullptr;
  ~DeviceMemory() { cudaFree(base); }
};
Handles<curandDiscreteDistribution_t, DeviceMemory>& distributions() {
  return handles<curandDiscreteDistribution_t, DeviceMemory>();
}

curandStatus_t create_poisson(double mean, curandDiscreteDistribution_t* out) {
  if (!out) return CURAND_STATUS_NOT_INITIALIZED;
  if (!(mean > 0) || mean > kGreatestMean) return CURAND_STATUS_OUT_OF_RANGE;
  if (cudaFree(nullptr) != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  const bool by_normal = mean >= kNormalMean;
  Histogram histogram;
  if (!by_normal) {
    histogram = poisson_histogram(mean);
    add_column_of_one(histogram);
  }
  const Layout layout(histogram.below.size());
  auto memory = std::make_shared<DeviceMemory>();
  if (cudaMalloc(reinterpret_cast<void**>(&memory->base), layout.size) != cudaSuccess)
    return CURAND_STATUS_ALLOCATION_FAILED;
  const Bytes image =
      by_normal ? image_by_normal(memory->base, mean) : image_by_histogram(memory->base, mean, layout, histogram);
  if (cudaMemcpy(memory->base, image.data(), image.size(), cudaMemcpyHostToDevice) != cudaSuccess)
    return CURAND_STATUS_INITIALIZATION_FAILED;
  *out = reinterpret_cast<curandDiscreteDistribution_t>(memory->base);
  distributions().add(*out, memory);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpgrind::libraries::rand

extern "C" {

curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t* discrete_distribution) {
  return warpgrind::libraries::rand::create_poisson(lambda, discrete_distribution);
}
curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t discrete_distribution) {
  return warpgrind::libraries::rand::distributions().remove(discrete_distribution) ? CURAND_STATUS_SUCCESS
                                                                                   : CURAND_STATUS_NOT_INITIALIZED;
}

}  // extern "C"
