// What topics that are not yet programs of harness/program.h use. Goes away with the last of them.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "harness/cuda.h"

namespace lab {

// argv[index] as a number of elements from 1 to 2^31 - 1; `fallback` when it was not given.
inline int size_argument(int argc, char** argv, int index, int fallback, const char* what) {
  if (index >= argc) return fallback;
  char* end = nullptr;
  const long value = std::strtol(argv[index], &end, 10);
  if (end == argv[index] || *end || value < 1 || value > 2147483647L) {
    std::fprintf(stderr, "%s: %s must be a whole number from 1 to 2147483647, not '%s'\n", argv[0], what, argv[index]);
    std::exit(kExitArguments);
  }
  return static_cast<int>(value);
}

// Ends the program with a message when the host's memory cannot hold what the program is about to make.
inline void require_memory(const char* program, double bytes) {
  const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (bytes < 0.8 * have) return;
  std::fprintf(stderr, "%s: this size needs %.1f GB of memory, this machine has %.1f GB\n", program, bytes / 1e9,
               have / 1e9);
  std::exit(kExitArguments);
}

// One line per rung, and the program's exit code.
class Report {
 public:
  // `errors` and `bounds`: per element, how far from the reference and how far it may be.
  void rung(const char* name, double max_error, double tolerance, size_t wrong) {
    const bool pass = wrong == 0;
    std::printf("%-24s %s  max error %.3g (tolerance %.3g)", name, pass ? "PASS" : "FAIL", max_error, tolerance);
    if (!pass) std::printf(", %zu elements wrong", wrong);
    std::printf("\n");
    failed_ += !pass;
  }
  // got[i] against expected[i], each within tolerance[i] (one value: for all).
  template <class T>
  void compare(const char* name, const std::vector<T>& got, const std::vector<double>& expected,
               const std::vector<double>& tolerance) {
    double max_error = 0, max_tolerance = 0;
    size_t wrong = got.size() != expected.size();
    for (size_t i = 0; i < got.size() && i < expected.size(); ++i) {
      const double bound = tolerance[tolerance.size() == 1 ? 0 : i];
      const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
      if (!(error <= bound)) ++wrong;  // also true for NaN
      if (!(error <= max_error)) max_error = error;
      if (bound > max_tolerance) max_tolerance = bound;
    }
    rung(name, max_error, max_tolerance, wrong);
  }
  int exit_code() const {
    std::printf("%s\n", failed_ ? "FAIL" : "PASS");
    return failed_ ? kExitWrong : 0;
  }

 private:
  int failed_ = 0;
};

}  // namespace lab
