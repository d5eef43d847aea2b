// What the programs of the benchmark share: a kernel is launched and timed a few times, its last result is checked, and
// one line is printed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

// Whether any result was wrong.
inline bool wrong = false;
inline void expect(double got, double want) {
  if (!(std::fabs(got - want) <= 1e-4 * (1 + std::fabs(want)))) wrong = true;
}

// A kernel with its buffers: how to launch it until it has ended, and how to check what it left. Items: work items of
// one launch.
struct Work {
  double items = 0;
  std::function<void()> launch, verify = [] {};
};
// Makes the work of one size; only the kernel that is asked for gets its buffers.
using Works = std::map<std::string, std::function<Work(int size)>>;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// main() of `PROGRAM KERNEL SIZE REPETITIONS`. Prints KERNEL,SIZE,first s,median s,least s,most s,work items,million
// items a second,ok|WRONG: times by the host's clock; `first` holds the compilation.
inline int measure(int argc, char** argv, const Works& works) {
  const std::string name = argc > 1 ? argv[1] : "";
  const int size = argc > 2 ? std::atoi(argv[2]) : 0, repetitions = argc > 3 ? std::atoi(argv[3]) : 0;
  const auto found = works.find(name);
  if (found == works.end() || size < 1 || repetitions < 1) {
    std::fprintf(stderr, "usage: %s KERNEL SIZE REPETITIONS\nkernels:", argv[0]);
    for (const auto& [known, make] : works) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const Work work = found->second(size);
  std::vector<double> seconds;
  double first = 0;
  for (int i = 0; i <= repetitions; i++) {
    const double begin = now();
    work.launch();
    (i == 0 ? first : seconds.emplace_back()) = now() - begin;
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  work.verify();
  std::printf("%s,%d,%.6f,%.6f,%.6f,%.6f,%.0f,%.2f,%s\n", name.c_str(), size, first, median, seconds.front(),
              seconds.back(), work.items, work.items / median / 1e6, wrong ? "WRONG" : "ok");
  return wrong;
}

}  // namespace bench
