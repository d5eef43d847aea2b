// The check of a rung's result: every element is compared with a reference that the host computed in double. The output
// is poisoned before the kernel, so that an element that no thread writes cannot look right.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace lab {

struct Verdict {
  double max_error = 0, tolerance = 0;  // largest distance from the reference, and the largest allowed
  size_t wrong = 0, count = 0;          // elements out of tolerance, and elements compared
  bool pass() const { return wrong == 0 && count > 0; }
};

// Compares got[i] with expected[i] within tolerance[i] (a single value holds for all). NaN is wrong.
template <class T, class U>
Verdict compare(const std::vector<T>& got, const std::vector<U>& expected, const std::vector<double>& tolerance) {
  Verdict verdict;
  verdict.count = got.size();
  verdict.wrong = got.size() != expected.size();
  for (size_t i = 0; i < got.size() && i < expected.size(); ++i) {
    const double bound = tolerance[tolerance.size() == 1 ? 0 : i];
    const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= bound)) ++verdict.wrong;
    if (!(error <= verdict.max_error)) verdict.max_error = error;
    if (bound > verdict.tolerance) verdict.tolerance = bound;
  }
  return verdict;
}

template <class T, class U>
Verdict compare(const std::vector<T>& got, const std::vector<U>& expected, double tolerance = 0) {
  return compare(got, expected, std::vector<double>{tolerance});
}

// Largest error of a sum of `terms` products of values in [-1, 1), if each step rounds with relative error `unit`
// (2^-24 for float, 2^-53 for double) and the order is free. Source: Higham, Accuracy and Stability of Numerical
// Algorithms, section 3.1, gamma_n times the sum of the magnitudes (at most `terms`).
inline double sum_tolerance(double terms, double unit) {
  return (terms + 1) * unit / (1 - (terms + 1) * unit) * terms;
}
constexpr double kUnitFloat = 1.0 / 16777216.0, kUnitDouble = 1.0 / 9007199254740992.0;

}  // namespace lab
