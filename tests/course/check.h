// Common parts of the course programs: a checked call, and a comparison that ends the program with a message.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

inline void expect(bool right, const char* what, long where, double got, double wanted) {
  if (right) return;
  std::printf("%s[%ld]: %.17g, expected %.17g\n", what, where, got, wanted);
  std::exit(1);
}
inline void expect_equal(const char* what, long where, double got, double wanted) {
  expect(got == wanted, what, where, got, wanted);
}
inline void expect_near(const char* what, long where, double got, double wanted, double relative) {
  expect(std::fabs(got - wanted) <= relative * std::fmax(1.0, std::fabs(wanted)), what, where, got, wanted);
}
