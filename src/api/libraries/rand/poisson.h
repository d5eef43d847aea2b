// Poisson distribution from one uniform or one normal number. Depending on the mean and the generator, NVIDIA's library
// uses a histogram, the inverse distribution function, or a rounded normal number. Its results for known input numbers
// show which. Our results are equal to NVIDIA's.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::libraries::rand {

// Smallest means for the inverse (below it: the histogram) and for normal numbers (below it: the inverse).
struct PoissonRule {
  double inverse, normal;
};
inline constexpr PoissonRule kPoissonOfPseudo = {2000, 2000};
inline constexpr double kAbove8000 = 0x1.f400000000001p12;
inline constexpr PoissonRule kPoissonOfQuasi = {10, kAbove8000};
inline constexpr PoissonRule kPoissonOfQuasi64 = {0, 2000};
inline constexpr PoissonRule kPoissonOfMtgp32 = {32, kAbove8000};

// A square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete Random Variables", 2004). Its columns are
// equally wide, and two values share each. A uniform number less than `below` gives the column's own value, any other
// gives `other`.
struct Histogram {
  unsigned shift = 0;  // value of the first column
  std::vector<double> below;
  std::vector<unsigned> other;  // value minus `shift`
};
Histogram poisson_histogram(double mean);

class PoissonDistribution {
 public:
  PoissonDistribution(double mean, PoissonRule rule);
  bool by_normal() const { return by_normal_; }
  // u: a uniform number in (0, 1].
  std::uint32_t of(double u) const;
  std::uint32_t of_normal(double normal) const;

 private:
  double mean_;
  bool by_normal_;
  Histogram histogram_;              // used if `probability_` is empty
  unsigned first_ = 0;               // value of the first entry of `probability_`
  std::vector<double> probability_;  // cumulative: that the result does not exceed the value
};

}  // namespace warpgrind::libraries::rand
