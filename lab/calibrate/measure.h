// Tools for every group of microbenchmarks: times of launches behind a busy GPU, clock counts of kernels, and the
// report. A figure is a constant of the time estimate (src/common/gpu/timing_constants.inc). A row is any measurement,
// stored with the figures so that they can be checked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/cuda.h"
#include "harness/harness.h"

namespace calibrate {

using Clock = unsigned long long;

enum class Figure {
#define WG_TIMING(name, unit, what, rule) name,
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};
inline const char* const kFigureNames[] = {
#define WG_TIMING(name, unit, what, rule) #name,
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};
inline const char* const kFigureUnits[] = {
#define WG_TIMING(name, unit, what, rule) unit,
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};

// Medians over repetitions: nanoseconds between two events, clocks inside the kernel (median over blocks).
struct Sample {
  double ns = 0, cycles = 0;
};

// Work that runs before a timed launch and keeps the GPU busy while the launch queues up.
enum class Before { busy, clean_l2, dirty_l2 };

inline std::string text(const char* format, ...) {
  char out[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(out, sizeof out, format, values);
  va_end(values);
  return out;
}

static __global__ void keep_busy(Clock ns) {
  Clock begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

class Report {
 public:
  explicit Report(bool dry) : dry_(dry) {}
  void set(Figure figure, double value) {
    if (dry_) return;
    if (!std::isfinite(value) || value <= 0) {
      std::printf("  %-34s not measured (%g)\n", kFigureNames[index(figure)], value);
      return;
    }
    values_[index(figure)] = value;
    std::printf("  %-34s %12.5g %s\n", kFigureNames[index(figure)], value, kFigureUnits[index(figure)]);
  }
  double operator[](Figure figure) const { return values_[index(figure)]; }
  void row(const std::string& group, const std::string& name, const Sample& sample, double value,
           const std::string& unit) {
    rows_.push_back({group, name, sample, value, unit});
  }

  std::string figures_json() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < kFigures; ++i)
      if (values_[i] > 0)
        out.push_back(lab::JsonObject()
                          .text("name", kFigureNames[i])
                          .number("value", values_[i])
                          .text("unit", kFigureUnits[i])
                          .str());
    return lab::json_list(out, ",\n  ");
  }
  std::string rows_csv() const {
    std::string out = "group,name,ns,cycles,value,unit\n";
    for (const Row& r : rows_)
      out += text("%s,%s,%.1f,%.0f,%.6g,%s\n", r.group.c_str(), r.name.c_str(), r.sample.ns, r.sample.cycles, r.value,
                  r.unit.c_str());
    return out;
  }

 private:
  struct Row {
    std::string group, name;
    Sample sample;
    double value;
    std::string unit;
  };
  static constexpr size_t kFigures = sizeof kFigureNames / sizeof *kFigureNames;
  static size_t index(Figure figure) { return static_cast<size_t>(figure); }
  const bool dry_;
  double values_[kFigures] = {};
  std::vector<Row> rows_;
};

// The current GPU, working memory, and timing. On the virtual GPU every launch is made once and small: this shows that
// the program runs, but measures nothing.
class Bench {
 public:
  Bench()
      : dry(lab::on_virtual_gpu()),
        sms(lab::device_attribute(cudaDevAttrMultiProcessorCount)),
        l2_bytes(std::max(1 << 20, lab::device_attribute(cudaDevAttrL2CacheSize))),
        clocks(kClocks),
        report(dry) {
    size_t available = 0, total = 0;
    CHECK_CUDA(cudaMemGetInfo(&available, &total));
    bytes = dry ? size_t{16} << 20 : size_t{1} << 28;
    while (!dry && bytes < (size_t{2} << 30) && bytes * 8 < available) bytes *= 2;
    CHECK_CUDA(cudaMalloc(&data, bytes));
    CHECK_CUDA(cudaMalloc(&other, bytes / 2));
    CHECK_CUDA(cudaMemset(data, 0, bytes));
    CHECK_CUDA(cudaMemset(other, 0, bytes / 2));
    if (!dry) ghz = lab::measured_sm_mhz() * 1e-3;
  }
  ~Bench() {
    cudaFree(data);
    cudaFree(other);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void enqueue(Before before, Clock busy_ns = 20000) {
    if (dry) return;
    switch (before) {
      case Before::busy:
        keep_busy<<<1, 1>>>(busy_ns);
        break;
      case Before::clean_l2:
        flush_.enqueue();
        break;
      case Before::dirty_l2:
        CHECK_CUDA(cudaMemsetAsync(other, 0, std::min(bytes / 2, 2 * l2_bytes)));
        break;
    }
  }

  // Times one launch or several. clock_blocks: number of `clocks` that it writes.
  template <class Launch>
  Sample time(Launch launch, Before before = Before::busy, int clock_blocks = 0, Clock busy_ns = 20000) {
    launch();
    CHECK_KERNEL();
    if (dry) return {};
    std::vector<double> ns, cycles;
    const double begin_us = lab::wall_us();
    for (int i = 0; i < kRepetitions && (i < 3 || lab::wall_us() - begin_us < kMostUs); ++i) {
      enqueue(before, busy_ns);
      start_.record();
      launch();
      stop_.record();
      ns.push_back(stop_.us_since(start_) * 1e3);
      if (clock_blocks > 0) cycles.push_back(median_clock(clock_blocks));
    }
    CHECK_KERNEL();
    return {median(ns), median(cycles)};
  }
  // Nanoseconds that each additional launch takes, from the times of `least` and of `most` launches.
  template <class Launch>
  double slope(Launch launch_many, int least, int most, Clock busy_ns) {
    const Sample few = time([&] { launch_many(least); }, Before::busy, 0, busy_ns);
    const Sample many = time([&] { launch_many(most); }, Before::busy, 0, busy_ns);
    return (many.ns - few.ns) / (most - least);
  }
  double median_clock(int blocks) const {
    std::vector<Clock> all(static_cast<size_t>(blocks));
    CHECK_CUDA(cudaMemcpy(all.data(), clocks.data(), all.size() * sizeof(Clock), cudaMemcpyDeviceToHost));
    std::vector<double> numbers(all.begin(), all.end());
    return median(numbers);
  }
  static double median(std::vector<double> samples) { return lab::Timing::of(std::move(samples)).median; }
  // Returns the large number on a real GPU, the small one on the virtual GPU.
  int many(int real, int virtual_number) const { return dry ? virtual_number : real; }

  const bool dry;
  const int sms;
  const size_t l2_bytes;
  double ghz = 1;  // SM clock as a kernel sees it
  size_t bytes = 0;
  char *data = nullptr, *other = nullptr;  // zeros; `other` has half of `bytes`
  lab::DeviceArray<Clock> clocks;
  Report report;

 private:
  static constexpr int kRepetitions = 41;  // all of them take some seconds
  static constexpr double kMostUs = 150e3;
  static constexpr size_t kClocks = 1 << 16;
  lab::CacheFlush flush_;
  lab::Event start_, stop_;
};

}  // namespace calibrate
