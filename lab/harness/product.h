// A random matrix product C = A B (row-major, A is m x k, B is k x n) and the check of its result.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "harness/program.h"
#include "harness/random.h"
#include "harness/verify.h"

namespace lab {

// Small products: every element is compared with a sum in double, if this computer can compute them in some seconds.
// Larger products: kSample elements at random places are compared with sums in long double, and every element must have
// been written.
template <class T>
class Product {
 public:
  // The matrices are stored in a narrower type than T, in which the product is summed.
  struct Narrow {
    T (*rounded)(T) = nullptr;  // to the narrower type and back
    double unit = 0;            // relative error of one rounding
  };

  explicit Product(const Size& size, Narrow narrow = {})
      : m(static_cast<int>(size[0])), n(static_cast<int>(size[1])), k(static_cast<int>(size[2])), narrow_(narrow) {
    if (runs_in_part()) return;  // nothing will be verified
    Random random(2);
    a = values(random, size_t(m) * k);
    b = values(random, size_t(k) * n);
    if (narrow_.rounded)
      for (std::vector<T>* matrix : {&a, &b})
        for (T& v : *matrix) v = narrow_.rounded(v);
    row_norm_.assign(m, 0);
    column_norm_.assign(n, 0);
    for (int row = 0; row < m; ++row)
      for (int i = 0; i < k; ++i) row_norm_[row] += square(a[size_t(row) * k + i]);
    for (int i = 0; i < k; ++i)
      for (int column = 0; column < n; ++column) column_norm_[column] += square(b[size_t(i) * n + column]);
    threads_ = std::max(1u, std::thread::hardware_concurrency());
    if (double(m) * n * k <= kStepsPerThread * threads_) {
      multiply();
    } else {
      for (int i = 0; i < kSample; ++i) sample_.push_back({int(random.below(m)), int(random.below(n))});
      sum_sample();
    }
  }

  Work work() const { return {sizeof(T) * elements(), 2.0 * m * n * k}; }
  // Elements of A, B and C, each counted once.
  double elements() const { return double(m) * k + double(k) * n + double(m) * n; }

  Verdict verify(const std::vector<T>& c) const {
    if (!sample_.empty()) return verify_sample(c);
    std::vector<double> tolerance(c.size());
    for (size_t i = 0; i < c.size(); ++i)
      tolerance[i] = tolerance_at(int(i / n), int(i % n)) + narrow_.unit * std::abs(expected_[i]);
    return compare(c, expected_, tolerance);
  }

  const int m, n, k;
  std::vector<T> a, b;

 private:
  struct Place {
    int row, column;
  };
  static constexpr double kStepsPerThread = 1ull << 32;
  static constexpr int kSample = 16384;
  // Values with as many random bits as T holds. With fewer bits, sums of doubles would be exact.
  static std::vector<T> values(Random& random, size_t count) {
    std::vector<T> out = random.values<T>(count);
    if (sizeof(T) == sizeof(double))
      for (T& v : out) v += static_cast<T>(random.symmetric() * kUnitFloat);
    return out;
  }
  static double square(double v) { return v * v; }

  // A sum of k products in any order differs from the exact sum by at most gamma_k times the sum of their magnitudes
  // (verify.h). That sum is at most |row of A| |column of B| (Cauchy-Schwarz). The reference in double has such an
  // error too, which counts if T is double.
  double tolerance_at(int row, int column) const {
    double gamma = sum_tolerance(k, std::is_same_v<T, float> ? kUnitFloat : kUnitDouble) / k;
    if (sample_.empty()) gamma += sum_tolerance(k, kUnitDouble) / k;
    return gamma * std::sqrt(row_norm_[row] * column_norm_[column]);
  }

  // Threads share the rows. Each works in steps of kDepth, which keep that part of B in the cache.
  void multiply() {
    constexpr int kDepth = 64, kWidth = 512;
    expected_.assign(size_t(m) * n, 0);
    const auto rows = [this](int begin, int end) {
      for (int left = 0; left < n; left += kWidth)
        for (int first = 0; first < k; first += kDepth)
          for (int row = begin; row < end; ++row)
            for (int i = first; i < std::min(k, first + kDepth); ++i) {
              const double factor = a[size_t(row) * k + i];
              const T* from = &b[size_t(i) * n];
              double* to = &expected_[size_t(row) * n];
              for (int column = left; column < std::min(n, left + kWidth); ++column)
                to[column] += factor * from[column];
            }
    };
    in_threads(m, double(m) * n * k < 1e7 ? 1 : static_cast<int>(threads_), rows);
  }

  // Sums at the places of the sample. All kernels are held against them.
  void sum_sample() {
    expected_.resize(kSample);
    in_threads(kSample, static_cast<int>(threads_), [this](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        long double sum = 0;
        for (int x = 0; x < k; ++x)
          sum += static_cast<long double>(a[size_t(sample_[i].row) * k + x]) * b[size_t(x) * n + sample_[i].column];
        expected_[i] = static_cast<double>(sum);
      }
    });
  }

  // Calls work(begin, end) for equal parts of 0 to `count`, each in a thread.
  template <class Work>
  static void in_threads(int count, int threads, const Work& work) {
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back(work, int(long(count) * t / threads), int(long(count) * (t + 1) / threads));
    for (std::thread& thread : pool) thread.join();
  }

  Verdict verify_sample(const std::vector<T>& c) const {
    std::vector<T> got;
    std::vector<double> tolerance;
    for (size_t i = 0; i < sample_.size(); ++i) {
      const Place& place = sample_[i];
      got.push_back(c[size_t(place.row) * n + place.column]);
      tolerance.push_back(tolerance_at(place.row, place.column) + narrow_.unit * std::abs(expected_[i]));
    }
    Verdict verdict = compare(got, expected_, tolerance);
    for (const T v : c) verdict.wrong += !std::isfinite(v);
    return verdict;
  }

  const Narrow narrow_;
  std::vector<double> expected_, row_norm_, column_norm_;
  std::vector<Place> sample_;
  unsigned threads_ = 1;
};

}  // namespace lab
