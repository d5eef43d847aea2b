// Holds what device_math computed against correctly rounded results that were recorded once (expected.txt, by
// `math_reference --sample`): no difference may be above NVIDIA's documented bound.
//   check_bounds EXPECTED COUNT RESULTS
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "rules.h"
#include "samples.h"
#include "ulps.h"

namespace {

using device_math::Measure;
using device_math::Rule;
using device_math::Samples;

struct Expected {
  unsigned sample;
  unsigned long long bits;
};
std::map<std::string, std::vector<Expected>> expected;
unsigned checked = 0;
unsigned failed = 0;

template <class T>
void check(const char* name, unsigned arity, bool bessel, double bound, Rule rule, double low, double high,
           unsigned count, std::FILE* file) {
  std::vector<T> results(count);
  if (std::fread(results.data(), sizeof(T), count, file) != count) {
    std::printf("%s: no results\n", name);
    ++failed;
    return;
  }
  const auto known = expected.find(name);
  if (known == expected.end()) {
    std::printf("%s: nothing is expected of it: write expected.txt anew\n", name);
    ++failed;
    return;
  }
  const Samples<T> samples(name, low, high);
  for (const Expected& e : known->second) {
    std::vector<T> arguments;
    for (unsigned position = 0; position < arity; ++position) arguments.push_back(samples.argument(e.sample, position));
    const T want = std::bit_cast<T>(static_cast<typename Samples<T>::Bits>(e.bits));
    const T got = results[e.sample];
    ++checked;
    bool good;
    if (std::isnan(want) || std::isnan(got)) {
      good = std::isnan(want) && std::isnan(got);
    } else if (want == 0 && got == 0) {
      good = bessel || std::signbit(want) == std::signbit(got);
    } else if (device_math::measure_of(rule, arguments) == Measure::absolute) {
      good = want == got || std::fabs(double(want) - double(got)) <= device_math::absolute_bound(rule);
    } else if (device_math::measure_of(rule, arguments) == Measure::undocumented) {
      good = std::isfinite(want) == std::isfinite(got);
    } else {
      good = device_math::ulps_between(want, got) <= bound;
    }
    if (good) continue;
    ++failed;
    std::printf("%s of %s: %a, not %a\n", name, device_math::text(arguments).c_str(), double(got), double(want));
  }
}

}  // namespace

int main(int argc, char** argv) {
  using f32 = float;
  using f64 = double;
  if (argc != 4) {
    std::fprintf(stderr, "usage: check_bounds EXPECTED COUNT RESULTS\n");
    return 2;
  }
  std::ifstream in(argv[1]);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    Expected e;
    char colon;
    while (words >> std::dec >> e.sample >> colon >> std::hex >> e.bits) expected[name].push_back(e);
  }
  const unsigned count = static_cast<unsigned>(std::atoi(argv[2]));
  std::FILE* file = std::fopen(argv[3], "rb");
  if (file == nullptr || expected.empty()) {
    std::fprintf(stderr, "check_bounds: cannot read %s or %s\n", argv[1], argv[3]);
    return 2;
  }
#define MATH(name, precision, arguments, call, reference, bound, rule, low, high) \
  check<precision>(#name, arguments, device_math::is_bessel(#reference), bound, Rule::rule, low, high, count, file);
#include "functions.inc"
#undef MATH
  std::printf("%u results of %zu functions checked, %u beyond their bounds\n", checked, expected.size(), failed);
  return failed == 0 && checked > 0 ? 0 : 1;
}
