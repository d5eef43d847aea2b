// Conditions under which a documented error bound holds.
#pragma once

#include <cmath>
#include <vector>

namespace device_math {

enum class Rule {
  everywhere,
  finite_arguments,   // and the second not 0; other arguments have no defined integer result
  finite_nonzero,     // likewise
  small_integers,     // values within the integer type
  outside_poles_f32,  // lgammaf: ulps outside (-10.001, -2.264), nothing inside
  outside_poles_f64,  // lgamma: ulps outside (-11.0001, -2.2637)
  below_8_f32,        // Bessel functions: ulps for |x| < 8, else an absolute error of 2.2e-6
  below_8_f64,        // 5e-12
  absolute_f32,       // jnf: 2.2e-6
  absolute_f64,       // jn: 5e-12
  below_order_f32,    // ynf(3, x): ulps for |x| < 3, else 2.2e-6
  above_order_f64,    // yn(3, x): 5e-12 for |x| > 4.5, nothing below
};

enum class Measure { none, undocumented, ulps, absolute };

inline double absolute_bound(Rule rule) {
  switch (rule) {
    case Rule::below_8_f32:
    case Rule::absolute_f32:
    case Rule::below_order_f32:
      return 2.2e-6;
    case Rule::below_8_f64:
    case Rule::absolute_f64:
    case Rule::above_order_f64:
      return 5e-12;
    default:
      return 0;
  }
}

template <class T>
Measure measure_of(Rule rule, const std::vector<T>& arguments) {
  const double x = static_cast<double>(arguments[0]);
  const double size = std::fabs(x);
  switch (rule) {
    case Rule::everywhere:
      return Measure::ulps;
    case Rule::finite_arguments:
      return std::isfinite(x) && std::isfinite(arguments[1]) && arguments[1] != 0 ? Measure::ulps : Measure::none;
    case Rule::finite_nonzero:
      return std::isfinite(x) && x != 0 ? Measure::ulps : Measure::none;
    case Rule::small_integers:
      return size < 1e15 && std::rint(x) != 0 && std::round(x) != 0 ? Measure::ulps : Measure::none;
    case Rule::outside_poles_f32:
      return x > -10.001 && x < -2.264 ? Measure::undocumented : Measure::ulps;
    case Rule::outside_poles_f64:
      return x > -11.0001 && x < -2.2637 ? Measure::undocumented : Measure::ulps;
    case Rule::below_8_f32:
    case Rule::below_8_f64:
      return size < 8 ? Measure::ulps : Measure::absolute;
    case Rule::absolute_f32:
    case Rule::absolute_f64:
      return Measure::absolute;
    case Rule::below_order_f32:
      return size < 3 ? Measure::ulps : Measure::absolute;
    case Rule::above_order_f64:
      return size > 4.5 ? Measure::absolute : Measure::undocumented;
  }
  return Measure::none;
}

}  // namespace device_math
