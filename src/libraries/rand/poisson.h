// Poisson's distribution from one uniform or one normal number. By the mean and the kind of the generator, NVIDIA's
// library goes by a histogram, by the distribution function's inverse, or by rounding a normal number, as can be seen
// in what it gives for known numbers; the results are the same.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::libraries::rand {

// The means from which on the inverse takes the histogram's place, and normal numbers the inverse's.
struct PoissonRule {
  double inverse, normal;
};
inline constexpr PoissonRule kPoissonOfPseudo = {2000, 2000};
inline constexpr double kAbove8000 = 0x1.f400000000001p12;
inline constexpr PoissonRule kPoissonOfQuasi = {10, kAbove8000};
inline constexpr PoissonRule kPoissonOfQuasi64 = {0, 2000};
inline constexpr PoissonRule kPoissonOfMtgp32 = {32, kAbove8000};

// A square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete Random Variables", 2004): columns equally
// wide, each shared by two values. A uniform number below `below` stands for the column's own value, others for
// `other`.
struct Histogram {
  unsigned shift = 0;  // the value of the first column
  std::vector<double> below;
  std::vector<unsigned> other;  // counted from `shift`
};
Histogram poisson_histogram(double mean);

class PoissonDistribution {
 public:
  PoissonDistribution(double mean, PoissonRule rule);
  bool by_normal() const { return by_normal_; }
  // Of a number of (0, 1].
  std::uint32_t of(double u) const;
  std::uint32_t of_normal(double normal) const;

 private:
  double mean_;
  bool by_normal_;
  Histogram histogram_;              // or
  unsigned first_ = 0;               // the value of the first
  std::vector<double> probability_;  // not to exceed the value
};

}  // namespace warpgrind::libraries::rand
