// The generators of cuRAND's device headers (include/curand_kernel.h), compiled for the host. Kernels and the host
// library share the code, so a sequence is defined only once.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "curand.h"  // defines __device__; curand_kernel.h includes it before the other headers
#include "curand_mrg32k3a.h"
#include "curand_philox4x32_x.h"
#include "vector_functions.h"
#include "vector_types.h"
#include "warpgrind/curand/sobol.h"
#include "warpgrind/curand/xorwow.h"

namespace warpgrind::libraries::rand {

// ---- Uniform numbers in (0, 1] (as in include/curand_uniform.h)
inline float uniform(std::uint32_t x) {
  return static_cast<float>(x) * 0x1p-32f + 0x1p-33f;
}
inline double uniform_double(std::uint32_t x) {
  return static_cast<double>(x) * 0x1p-32 + 0x1p-32;
}
inline double uniform_double(std::uint32_t x, std::uint32_t y) {
  return static_cast<double>(x ^ (std::uint64_t{y} << 21)) * 0x1p-53 + 0x1p-54;
}
// In (0, 1): the normal quantile of 1 is infinite.
inline double inner_uniform(std::uint32_t x) {
  return static_cast<double>(x) * 0x1p-32 + 0x1p-33;
}

template <class State>
float next_uniform(State& s) {
  return uniform(curand(&s));
}
template <class State>
double next_uniform_double(State& s) {
  const std::uint32_t x = curand(&s), y = curand(&s);
  return uniform_double(x, y);
}
constexpr double kMrgScale = 2.3283065498378288e-10;  // 1 / m1
inline float next_uniform(curandStateMRG32k3a& s) {
  return static_cast<float>(wg_mrg32k3a_next(&s) * kMrgScale);
}
inline double next_uniform_double(curandStateMRG32k3a& s) {
  return wg_mrg32k3a_next(&s) * kMrgScale;
}

// ---- Pairs of normal numbers by the Box-Muller method
template <class T>
struct Pair {
  T first, second;
};
template <class State>
Pair<float> next_normals(State& s) {
  const std::uint32_t x = curand(&s), y = curand(&s);
  constexpr float kTurn = 0x1.921fb6p-30f;  // 2 pi 2^-32
  const float radius = std::sqrt(-2.0f * std::log(uniform(x))), angle = static_cast<float>(y) * kTurn + kTurn / 2;
  return {radius * std::sin(angle), radius * std::cos(angle)};
}
template <class State>
Pair<double> next_normals_double(State& s) {
  const double u = next_uniform_double(s), v = next_uniform_double(s);
  const double radius = std::sqrt(-2.0 * std::log(u)), angle = 2 * M_PI * v;
  return {radius * std::sin(angle), radius * std::cos(angle)};
}
inline Pair<float> next_normals(curandStateMRG32k3a& s) {
  const float u = next_uniform(s), v = next_uniform(s) * 0x1.921fb6p+2f;
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {radius * std::sin(v), radius * std::cos(v)};
}
// One at a time: the state keeps the second of a pair.
template <class State>
float next_normal(State& s) {
  s.boxmuller_flag = !s.boxmuller_flag;
  if (!s.boxmuller_flag) return s.boxmuller_extra;
  const Pair<float> pair = next_normals(s);
  s.boxmuller_extra = pair.second;
  return pair.first;
}

}  // namespace warpgrind::libraries::rand
