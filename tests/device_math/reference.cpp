// Errors of the results of device_math, by MPFR:
//   math_reference COUNT FILE              a row per function: bound, largest difference in ulps, where, ...
//   math_reference COUNT FILE NAME LIMIT   samples of one function that are off by more than LIMIT ulps
//   math_reference --sample COUNT          samples with their correctly rounded results: expected.txt, for the test
// A difference is counted as in NVIDIA's guide: in ulps from the correctly rounded result.
#include <mpfr.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"
#include "samples.h"
#include "ulps.h"

namespace {

using device_math::is_bessel;
using device_math::Rule;
using device_math::Samples;
using device_math::text;
using device_math::ulps_between;

struct Real {
  mpfr_t value;
  explicit Real(double x = 0, mpfr_prec_t precision = 200) {
    mpfr_init2(value, precision);
    mpfr_set_d(value, x, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value); }
  operator mpfr_ptr() { return value; }
  operator mpfr_srcptr() const { return value; }
};

constexpr auto rn = MPFR_RNDN;
using Arguments = std::vector<double>;

// Functions that have no single value (exact ones): the host's, which IEEE or C define to the last bit.
template <class T>
using Exact = T (*)(T, T);

using OneArgument = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

void sum_of_squares(mpfr_ptr out, const Arguments& a) {
  mpfr_set_prec(out, 4400);  // exact: squares from 2^-2148 to 2^2048
  mpfr_set_zero(out, 1);
  Real square(0, 4400);
  bool infinite = false;
  for (const double x : a) {
    infinite |= std::isinf(x);
    mpfr_set_d(square, x, rn);
    mpfr_sqr(square, square, rn);
    mpfr_add(out, out, square, rn);
  }
  if (infinite) mpfr_set_inf(out, 1);  // even beside a NaN
}

// Sum of (x/2)^(2k+n) / (k! (k+n)!).
void bessel_i(mpfr_ptr out, double x, int n) {
  if (!(std::fabs(x) < 800)) {
    mpfr_set_d(out, n == 1 && x < 0 ? -INFINITY : std::isnan(x) ? x : INFINITY, rn);
    return;
  }
  Real quarter(x);
  mpfr_sqr(quarter, quarter, rn);
  mpfr_div_2ui(quarter, quarter, 2, rn);
  Real term(1.0);
  if (n == 1) {
    mpfr_set_d(term, x, rn);
    mpfr_div_2ui(term, term, 1, rn);
  }
  mpfr_set(out, term, rn);
  for (unsigned long k = 1; k < 4000 && mpfr_regular_p(term); ++k) {
    mpfr_mul(term, term, quarter, rn);
    mpfr_div_ui(term, term, k, rn);
    mpfr_div_ui(term, term, k + static_cast<unsigned long>(n), rn);
    mpfr_add(out, out, term, rn);
    if (mpfr_regular_p(term) && mpfr_get_exp(term) < mpfr_get_exp(out) - 220) break;
  }
}

// The argument at which an increasing or decreasing f takes the value y: Newton's steps from x.
void inverse(mpfr_ptr out, double start, const std::function<void(mpfr_ptr, mpfr_srcptr)>& difference,
             const std::function<void(mpfr_ptr, mpfr_srcptr)>& derivative) {
  mpfr_set_prec(out, 200);
  mpfr_set_d(out, start, rn);
  Real f(0, 200);
  Real slope(0, 200);
  for (int i = 0; i < 100; ++i) {
    difference(f, out);
    if (mpfr_zero_p(static_cast<mpfr_ptr>(f))) return;
    derivative(slope, out);
    mpfr_div(f, f, slope, rn);
    mpfr_sub(out, out, f, rn);
    if (mpfr_zero_p(out) || mpfr_get_exp(f) < mpfr_get_exp(out) - 90) return;
  }
}

// erfc(x) = y for small y (x > 0), on a logarithmic scale, where Newton's method converges from anywhere.
void inverse_erfc_tail(mpfr_ptr out, mpfr_srcptr y) {
  Real logarithm(0, 200);
  mpfr_log(logarithm, y, rn);
  const double start = std::sqrt(std::max(0.01, -mpfr_get_d(logarithm, rn)));
  inverse(
      out, start,
      [&](mpfr_ptr f, mpfr_srcptr x) {
        mpfr_erfc(f, x, rn);
        mpfr_log(f, f, rn);
        mpfr_sub(f, f, logarithm, rn);
      },
      [&](mpfr_ptr slope, mpfr_srcptr x) {  // -2/sqrt(pi) exp(-x^2) / erfc(x)
        Real e(0, 200);
        mpfr_sqr(slope, x, rn);
        mpfr_neg(slope, slope, rn);
        mpfr_exp(slope, slope, rn);
        mpfr_erfc(e, x, rn);
        mpfr_div(slope, slope, e, rn);
        mpfr_const_pi(e, rn);
        mpfr_rec_sqrt(e, e, rn);
        mpfr_mul(slope, slope, e, rn);
        mpfr_mul_si(slope, slope, -2, rn);
      });
}

// erf(x) = y for any y in (-1, 1) that is not close to its ends.
void inverse_erf_middle(mpfr_ptr out, mpfr_srcptr y) {
  inverse(
      out, 0.8862269254527580 * mpfr_get_d(y, rn),
      [&](mpfr_ptr f, mpfr_srcptr x) {
        mpfr_erf(f, x, rn);
        mpfr_sub(f, f, y, rn);
      },
      [&](mpfr_ptr slope, mpfr_srcptr x) {
        Real e(0, 200);
        mpfr_sqr(slope, x, rn);
        mpfr_neg(slope, slope, rn);
        mpfr_exp(slope, slope, rn);
        mpfr_const_pi(e, rn);
        mpfr_rec_sqrt(e, e, rn);
        mpfr_mul(slope, slope, e, rn);
        mpfr_mul_ui(slope, slope, 2, rn);
      });
}

void erfinv(mpfr_ptr out, double x) {
  if (!(std::fabs(x) < 1)) {
    mpfr_set_d(out, std::fabs(x) == 1 ? x * INFINITY : NAN, rn);
  } else if (x == 0) {
    mpfr_set_d(out, x, rn);
  } else if (std::fabs(x) < 0.5) {
    Real y(x, 1500);
    inverse_erf_middle(out, y);
  } else {
    Real y(1.0, 1500);
    mpfr_sub_d(y, y, std::fabs(x), rn);
    inverse_erfc_tail(out, y);
    if (x < 0) mpfr_neg(out, out, rn);
  }
}

// y = erfc(out), 0 < y < 2, of any precision.
void erfcinv_of(mpfr_ptr out, mpfr_srcptr y) {
  if (mpfr_cmp_d(y, 0.5) < 0) {
    inverse_erfc_tail(out, y);
  } else if (mpfr_cmp_d(y, 1.5) > 0) {
    Real other(0, 1500);
    mpfr_ui_sub(other, 2, y, rn);
    inverse_erfc_tail(out, other);
    mpfr_neg(out, out, rn);
  } else {
    Real other(0, 1500);
    mpfr_ui_sub(other, 1, y, rn);
    if (mpfr_zero_p(static_cast<mpfr_ptr>(other))) {
      mpfr_set_zero(out, 1);
    } else {
      inverse_erf_middle(out, other);
    }
  }
}

void erfcinv(mpfr_ptr out, double x) {
  if (!(x > 0 && x < 2)) {
    mpfr_set_d(out, x == 0 ? INFINITY : x == 2 ? -INFINITY : NAN, rn);
    return;
  }
  Real y(x, 1500);
  erfcinv_of(out, y);
}

void normcdfinv(mpfr_ptr out, double x) {  // -sqrt(2) erfcinv(2x)
  if (!(x > 0 && x < 1)) {
    mpfr_set_d(out, x == 0 ? -INFINITY : x == 1 ? INFINITY : NAN, rn);
    return;
  }
  Real y(x, 1500);
  mpfr_mul_ui(y, y, 2, rn);
  erfcinv_of(out, y);
  Real root(2.0, 400);
  mpfr_sqrt(root, root, rn);
  mpfr_mul(out, out, root, rn);
  if (!mpfr_zero_p(out)) mpfr_neg(out, out, rn);
}

void erfcx(mpfr_ptr out, double x) {  // exp(x^2) erfc(x)
  if (std::isinf(x) || x < -30) {
    mpfr_set_d(out, x > 0 ? 0.0 : INFINITY, rn);
    return;
  }
  if (x > 100) {  // 1/(sqrt(pi) x) (1 - 1/(2x^2) + 1*3/(2x^2)^2 - ...): 30 terms are good to 2^-280 there
    Real step(x, 400);
    mpfr_sqr(step, step, rn);
    mpfr_mul_2ui(step, step, 1, rn);
    Real term(1, 400);
    Real sum(1, 400);
    for (unsigned k = 1; k <= 30; ++k) {
      mpfr_mul_si(term, term, 1 - 2 * static_cast<int>(k), rn);
      mpfr_div(term, term, step, rn);
      mpfr_add(sum, sum, term, rn);
    }
    mpfr_const_pi(out, rn);
    mpfr_rec_sqrt(out, out, rn);
    mpfr_div_d(out, out, x, rn);
    mpfr_mul(out, out, sum, rn);
    return;
  }
  Real a(x, 400);
  Real e(0, 400);
  mpfr_erfc(e, a, rn);
  mpfr_sqr(a, a, rn);
  mpfr_exp(a, a, rn);
  mpfr_mul(out, a, e, rn);
}

void normcdf(mpfr_ptr out, double x) {  // erfc(-x / sqrt(2)) / 2
  Real a(x, 400);
  Real root(2.0, 400);
  mpfr_sqrt(root, root, rn);
  mpfr_div(a, a, root, rn);
  mpfr_neg(a, a, rn);
  mpfr_erfc(out, a, rn);
  mpfr_div_2ui(out, out, 1, rn);
}

void sine_or_cosine_of_turns(mpfr_ptr out, double x, bool cosine) {
  Real a(x);
  if (cosine) {
    mpfr_cosu(out, a, 2, rn);
  } else {
    mpfr_sinu(out, a, 2, rn);
  }
}

// C's zeros: sinpi(n) has the sign of n.
void sinpi(mpfr_ptr out, double x) {
  sine_or_cosine_of_turns(out, x, false);
  if (mpfr_zero_p(out)) mpfr_set_zero(out, std::signbit(x) ? -1 : 1);
}
void cospi(mpfr_ptr out, double x) {
  sine_or_cosine_of_turns(out, x, true);
  if (mpfr_zero_p(out)) mpfr_set_zero(out, 1);
}

// MPFR would take minutes beyond: such arguments are left out, as NaN.
constexpr double bessel_limit = 1e4;

void bessel(mpfr_ptr out, double x, int n, bool second_kind) {
  Real a(x);
  if (std::fabs(x) > bessel_limit && std::isfinite(x)) {
    mpfr_set_nan(out);
    return;
  }
  if (second_kind) {
    mpfr_yn(out, n, a, rn);
  } else {
    mpfr_jn(out, n, a, rn);
  }
}

using Value = std::function<void(mpfr_ptr, const Arguments&)>;

Value one(OneArgument f) {
  return [f](mpfr_ptr out, const Arguments& a) {
    Real x(a[0]);
    f(out, x, rn);
  };
}
Value simple(void (*f)(mpfr_ptr, double)) {
  return [f](mpfr_ptr out, const Arguments& a) { f(out, a[0]); };
}

const std::map<std::string, Value>& values() {
  static const std::map<std::string, Value> table = {
      {"sqrt", one(mpfr_sqrt)},
      {"cbrt", one(mpfr_cbrt)},
      {"exp", one(mpfr_exp)},
      {"exp2", one(mpfr_exp2)},
      {"exp10", one(mpfr_exp10)},
      {"expm1", one(mpfr_expm1)},
      {"log", one(mpfr_log)},
      {"log2", one(mpfr_log2)},
      {"log10", one(mpfr_log10)},
      {"log1p", one(mpfr_log1p)},
      {"sin", one(mpfr_sin)},
      {"cos", one(mpfr_cos)},
      {"tan", one(mpfr_tan)},
      {"asin", one(mpfr_asin)},
      {"acos", one(mpfr_acos)},
      {"atan", one(mpfr_atan)},
      {"sinh", one(mpfr_sinh)},
      {"cosh", one(mpfr_cosh)},
      {"tanh", one(mpfr_tanh)},
      {"asinh", one(mpfr_asinh)},
      {"acosh", one(mpfr_acosh)},
      {"atanh", one(mpfr_atanh)},
      {"erf", one(mpfr_erf)},
      {"erfc", one(mpfr_erfc)},
      {"erfinv", simple(erfinv)},
      {"erfcinv", simple(erfcinv)},
      {"erfcx", simple(erfcx)},
      {"normcdf", simple(normcdf)},
      {"normcdfinv", simple(normcdfinv)},
      {"sinpi", simple(sinpi)},
      {"cospi", simple(cospi)},
      {"rsqrt",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         mpfr_rec_sqrt(out, x, rn);
         if (a[0] == 0 && std::signbit(a[0])) mpfr_set_inf(out, -1);
       }},
      {"rcbrt",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0], 400);
         mpfr_cbrt(x, x, rn);
         mpfr_ui_div(out, 1, x, rn);
       }},
      {"divide",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         Real y(a[1]);
         mpfr_div(out, x, y, rn);
       }},
      {"reciprocal",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         mpfr_ui_div(out, 1, x, rn);
       }},
      {"fma",
       [](mpfr_ptr out, const Arguments& a) {
         mpfr_set_prec(out, 4400);
         Real x(a[0]);
         Real y(a[1]);
         Real z(a[2]);
         mpfr_fma(out, x, y, z, rn);
       }},
      {"pow",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         Real y(a[1]);
         mpfr_pow(out, x, y, rn);
       }},
      {"atan2",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         Real y(a[1]);
         mpfr_atan2(out, x, y, rn);
       }},
      {"norm",
       [](mpfr_ptr out, const Arguments& a) {
         sum_of_squares(out, a);
         mpfr_sqrt(out, out, rn);
       }},
      {"rnorm",
       [](mpfr_ptr out, const Arguments& a) {
         sum_of_squares(out, a);
         mpfr_rec_sqrt(out, out, rn);
       }},
      {"lgamma",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         int sign;
         mpfr_lgamma(out, &sign, x, rn);
       }},
      {"tgamma",
       [](mpfr_ptr out, const Arguments& a) {
         Real x(a[0]);
         if (a[0] < -200 && std::isfinite(a[0])) {  // a zero, with a sign; undefined at integers
           mpfr_set_zero(out, std::fmod(std::floor(a[0]), 2) == 0 ? 1 : -1);
           if (std::floor(a[0]) == a[0]) mpfr_set_nan(out);
         } else if (a[0] > 200) {
           mpfr_set_inf(out, 1);
         } else {
           mpfr_gamma(out, x, rn);
         }
       }},
      {"j0", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 0, false); }},
      {"j1", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 1, false); }},
      {"j3", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 3, false); }},
      {"j128", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 128, false); }},
      {"y0", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 0, true); }},
      {"y1", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 1, true); }},
      {"y3", [](mpfr_ptr out, const Arguments& a) { bessel(out, a[0], 3, true); }},
      {"i0", [](mpfr_ptr out, const Arguments& a) { bessel_i(out, a[0], 0); }},
      {"i1", [](mpfr_ptr out, const Arguments& a) { bessel_i(out, a[0], 1); }},
  };
  return table;
}

template <class T>
T quotient(T x, T y) {  // the last three bits of the nearest integer to x/y
  int q = 0;
  std::remquo(x, y, &q);
  return static_cast<T>(q < 0 ? -(-q & 7) : q & 7);
}
// +0 is greater than -0, and any number than a NaN, a signalling one too (the C library makes that a NaN).
template <class T>
T greatest(T x, T y) {
  if (std::isnan(x)) return y;
  return x == 0 && y == 0 ? x + y : x >= y || std::isnan(y) ? x : y;
}
template <class T>
const std::map<std::string, std::function<T(const std::vector<T>&)>>& exact_values() {
  using A = std::vector<T>;
  static const std::map<std::string, std::function<T(const A&)>> table = {
      {"fmod", [](const A& a) { return std::fmod(a[0], a[1]); }},
      {"remainder", [](const A& a) { return std::remainder(a[0], a[1]); }},
      {"quotient", [](const A& a) { return quotient(a[0], a[1]); }},
      {"rint", [](const A& a) { return std::rint(a[0]); }},
      {"round", [](const A& a) { return std::round(a[0]); }},
      {"trunc", [](const A& a) { return std::trunc(a[0]); }},
      {"ceil", [](const A& a) { return std::ceil(a[0]); }},
      {"floor", [](const A& a) { return std::floor(a[0]); }},
      {"fdim", [](const A& a) { return std::fdim(a[0], a[1]); }},
      {"fmax", [](const A& a) { return greatest(a[0], a[1]); }},
      {"fmin", [](const A& a) { return -greatest(-a[0], -a[1]); }},
      {"nextafter", [](const A& a) { return std::nextafter(a[0], a[1]); }},
      {"copysign", [](const A& a) { return std::copysign(a[0], a[1]); }},
      {"logb", [](const A& a) { return std::logb(a[0]); }},
      {"frexp",
       [](const A& a) {
         int e;
         return std::frexp(a[0], &e);
       }},
      {"modf",
       [](const A& a) {
         T whole;
         return std::modf(a[0], &whole);
       }},
      {"ldexp", [](const A& a) { return std::ldexp(a[0], std::fabs(a[1]) <= T(1e6) ? static_cast<int>(a[1]) : 0); }},
  };
  return table;
}

// The correctly rounded result; the exact one too, as far as it is known.
template <class T>
T correct(const std::string& reference, const std::vector<T>& arguments, mpfr_ptr exact) {
  static const std::map<std::string, std::string> by_another_name = {{"hypot", "norm"}, {"rhypot", "rnorm"}};
  const auto alias = by_another_name.find(reference);
  const std::string& name = alias != by_another_name.end() ? alias->second : reference;
  if (const auto f = exact_values<T>().find(name); f != exact_values<T>().end()) {
    const T result = f->second(arguments);
    mpfr_set_d(exact, static_cast<double>(result), rn);
    return result;
  }
  mpfr_set_prec(exact, 400);
  values().at(name)(exact, Arguments(arguments.begin(), arguments.end()));
  return sizeof(T) == 4 ? static_cast<T>(mpfr_get_flt(exact, rn)) : static_cast<T>(mpfr_get_d(exact, rn));
}

struct Row {
  double worst = 0;
  double absolute = 0;      // the largest absolute difference where only that is bounded
  double outside = 0;       // the largest difference, in ulps, where nothing is documented
  unsigned wrong_kind = 0;  // NaN against a number, or a zero of the wrong sign
  std::string where;
  std::string wrong_where;
};

struct Request {
  unsigned count;
  std::FILE* file;
  std::string only;
  double limit = 0;
};

template <class T>
void measure(const Request& request, const char* name, unsigned arity, const char* reference, double bound, Rule rule,
             double low, double high) {
  std::vector<T> results(request.count);
  if (std::fread(results.data(), sizeof(T), request.count, request.file) != request.count) {
    std::fprintf(stderr, "math_reference: the results end before %s\n", name);
    std::exit(1);
  }
  if (!request.only.empty() && request.only != name) return;
  const Samples<T> samples(name, low, high);
  Row row;
  Real exact;
  for (unsigned i = 0; i < request.count; ++i) {
    std::vector<T> arguments;
    for (unsigned position = 0; position < arity; ++position) arguments.push_back(samples.argument(i, position));
    const device_math::Measure how = device_math::measure_of(rule, arguments);
    if (how == device_math::Measure::none) continue;
    const T expected = correct(reference, arguments, exact);
    const T got = results[i];
    if (std::isnan(expected) && (std::isnan(got) || (is_bessel(reference) && !std::isnan(arguments[0])))) continue;
    const bool other_zero = expected == 0 && got == 0 && std::signbit(expected) != std::signbit(got);
    if (std::isnan(expected) != std::isnan(got) || (other_zero && !is_bessel(reference))) {
      if (row.wrong_kind++ == 0) row.wrong_where = text(arguments);
      if (!request.only.empty())
        std::printf("%s: %a, not %a\n", text(arguments).c_str(), double(got), double(expected));
      continue;
    }
    const double difference = ulps_between(expected, got);
    if (!request.only.empty()) {
      if (difference > request.limit) {
        std::printf("%s (%.17g): %a, not %a: %g\n", text(arguments).c_str(), double(arguments[0]), double(got),
                    double(expected), difference);
      }
      continue;
    }
    if (how == device_math::Measure::undocumented) {
      row.outside = std::max(row.outside, difference);
    } else if (how == device_math::Measure::absolute) {
      if (std::isfinite(expected)) row.absolute = std::max(row.absolute, std::fabs(double(expected) - double(got)));
    } else if (difference > row.worst) {
      row.worst = difference;
      row.where = text(arguments);
    }
  }
  if (request.only.empty()) {
    std::printf("%s,%s,%g,%g,%s,%g,%g,%g,%u,%s\n", name, sizeof(T) == 4 ? "f32" : "f64", bound, row.worst,
                row.where.c_str(), device_math::absolute_bound(rule), row.absolute, row.outside, row.wrong_kind,
                row.wrong_where.c_str());
    std::fflush(stdout);
  }
}

template <class T>
void sample(unsigned count, const char* name, unsigned arity, const char* reference, Rule rule, double low,
            double high) {
  const Samples<T> samples(name, low, high);
  Real exact;
  std::printf("%s", name);
  for (unsigned taken = 0, i = 0; taken < count && i < 100 * count; ++i) {
    // Every 37th: of the pairs of 28 special values some of all kinds, then the others.
    std::vector<T> arguments;
    for (unsigned position = 0; position < arity; ++position) arguments.push_back(samples.argument(i * 37, position));
    if (device_math::measure_of(rule, arguments) == device_math::Measure::none) continue;
    const T expected = correct(reference, arguments, exact);
    if (is_bessel(reference) && std::fabs(arguments[0]) > bessel_limit) continue;
    ++taken;
    using Bits = typename Samples<T>::Bits;
    const Bits bits = std::isnan(expected) ? Bits(-1) : std::bit_cast<Bits>(expected);
    std::printf(" %u:%llx", i * 37, static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  mpfr_set_emin(-100000);
  mpfr_set_emax(100000);
  using f32 = float;
  using f64 = double;
  if (argc == 3 && std::strcmp(argv[1], "--sample") == 0) {
    const unsigned count = static_cast<unsigned>(std::atoi(argv[2]));
#define MATH(name, precision, arguments, call, reference, bound, rule, low, high) \
  sample<precision>(count, #name, arguments, #reference, Rule::rule, low, high);
#include "functions.inc"
#undef MATH
    return 0;
  }
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: math_reference COUNT FILE [NAME LIMIT] | --sample COUNT\n");
    return 2;
  }
  Request request{static_cast<unsigned>(std::atoi(argv[1])), std::fopen(argv[2], "rb"), argc == 5 ? argv[3] : ""};
  if (argc == 5) request.limit = std::atof(argv[4]);
  if (request.file == nullptr) {
    std::perror(argv[2]);
    return 2;
  }
  if (request.only.empty())
    std::printf(
        "function,precision,bound,ulps,where,absolute_bound,absolute,undocumented_ulps,wrong_kind,wrong_where\n");
#define MATH(name, precision, arguments, call, reference, bound, rule, low, high) \
  measure<precision>(request, #name, arguments, #reference, bound, Rule::rule, low, high);
#include "functions.inc"
#undef MATH
}
