// A generator of cuRAND's host interface. It fills arrays in the documented order.
#pragma once

#include <curand.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace warpgrind::libraries::rand {

struct Settings {
  curandRngType type = CURAND_RNG_PSEUDO_XORWOW;
  curandOrdering ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  std::uint64_t seed = 0, offset = 0;
  unsigned dimensions = 1;
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual void bits(std::uint32_t* out, std::size_t n) = 0;
  virtual void bits(std::uint64_t* out, std::size_t n) = 0;
  virtual void uniform(float* out, std::size_t n) = 0;
  virtual void uniform(double* out, std::size_t n) = 0;
  virtual void normal(float* out, std::size_t n, float mean, float deviation) = 0;
  virtual void normal(double* out, std::size_t n, double mean, double deviation) = 0;
  virtual void poisson(std::uint32_t* out, std::size_t n, double lambda) = 0;
};

bool is_quasi(curandRngType type);
bool is_64_bit(curandRngType type);
// A new generator, positioned at settings.offset.
std::unique_ptr<Generator> make_generator(const Settings& settings);

}  // namespace warpgrind::libraries::rand
