// Inverse of the normal distribution function.
#include "libraries/rand/normal_quantile.h"

#include <cmath>

namespace warpgrind::libraries::rand {

// Acklam's rational approximation, refined to double precision by one step of Halley's method.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);  // 1 - p is exact; beside 1, the step below would lose digits
  const auto tail = [](double q) {
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q - 2.549732539343734) *
                 q +
             4.374664141464968) *
                q +
            2.938163982698783) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q + 3.754408661907416) *
                q +
            1);
  };
  double x = 0;
  if (p < 0.02425) {
    x = tail(std::sqrt(-2 * std::log(p)));
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
           1.383577518672690e+02) *
              r -
          3.066479806614716e+01) *
             r +
         2.506628277459239) *
        q /
        (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
           6.680131188771972e+01) *
              r -
          1.328068155288572e+01) *
             r +
         1);
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
  const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
  return std::isfinite(step) ? x - step / (1 + x * step / 2) : x;
}

}  // namespace warpgrind::libraries::rand
