// Library for the tests of the exercises. A test (driver.cu) defines judge::test(). It runs the learner's code on
// several sizes and reports for each whether the results are right. `warpgrind exercise check` compiles it after the
// learner's file and runs it twice: with small sizes under `warpgrind check`, and with one size whose counters are
// judged. It is plain CUDA: `nvcc -I exercises/include -include hand_in.cu driver.cu` runs the same test on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace judge {

// The same numbers in every run: multiples of 0.5 from -8 to 7.5. Sums of many of them are exact in any order.
template <class T = float>
std::vector<T> numbers(std::size_t n, unsigned seed = 1) {
  std::vector<T> out(n);
  unsigned state = seed * 2654435761u + 12345u;
  for (T& x : out) {
    state = state * 1664525u + 1013904223u;
    const int k = static_cast<int>(state >> 27) - 16;
    x = std::is_integral_v<T> ? static_cast<T>(k + 16) : static_cast<T>(k * 0.5);
  }
  return out;
}

// Device memory of exactly n elements, so that an access to one element too many is out of bounds. Without contents,
// all bytes are 0xFF; an element with that value counts as never written.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t n) : n_(n) {
    cudaMalloc(&data_, n * sizeof(T));
    cudaMemset(data_, 0xFF, n * sizeof(T));
  }
  explicit Buffer(const std::vector<T>& contents) : n_(contents.size()) {
    cudaMalloc(&data_, n_ * sizeof(T));
    cudaMemcpy(data_, contents.data(), n_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return data_; }  // NOLINT: passed to kernels as a pointer is
  std::vector<T> read() const {
    std::vector<T> out(n_);
    cudaMemcpy(out.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t n_ = 0;
};

// A typical wrong result, and the mistake that leads to it. compare() reports the first that matches.
template <class T>
struct Lookalike {
  std::string what;
  std::vector<T> values;
};

inline bool counted_run = false;
inline std::FILE* results_file = nullptr;

// True in the run whose counters are judged. That run has one case, of a size at which the counters are significant.
inline bool counted() {
  return counted_run;
}
inline std::vector<int> sizes(std::initializer_list<int> verified, int counted_size) {
  return counted_run ? std::vector<int>{counted_size} : std::vector<int>(verified);
}

// Writes the result of one case. `seen`: one line that describes what is wrong.
inline void say(const std::string& name, bool right, const std::string& seen = "") {
  std::string line;
  for (const char c : name + "\t" + (right ? "right" : "wrong") + "\t" + seen) line += c == '\n' ? ' ' : c;
  std::fprintf(results_file, "%s\n", line.c_str());
  std::fflush(results_file);
}

// Call after a launch: waits for the kernel. An error of the runtime makes the case wrong; returns false then.
inline bool ran(const std::string& name) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue) {
    say(name, false,
        std::string("a call was refused, a launch most likely (") + cudaGetErrorName(error) +
            "): a grid has at least one block, a block 1 to 1024 threads");
    return false;
  }
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    say(name, false,
        std::string("it was stopped: ") + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
  return error == cudaSuccess;
}

template <class T>
bool same(T a, T b, double tolerance) {
  if (std::memcmp(&a, &b, sizeof a) == 0) return true;  // also if both have the value of unwritten memory
  if constexpr (std::is_integral_v<T>) return a == b;
  const double size = std::fabs(static_cast<double>(b));
  return std::fabs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance * (size > 1 ? size : 1);
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b, double tolerance) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i], tolerance)) return false;
  return true;
}

template <class T>
std::string shown(T value) {
  unsigned char bytes[sizeof(T)], unwritten[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  std::memset(unwritten, 0xFF, sizeof unwritten);
  char text[64];
  if (std::memcmp(bytes, unwritten, sizeof value) == 0) return "not written";
  std::snprintf(text, sizeof text, "%.7g", static_cast<double>(value));
  return text;
}

// Compares all elements. `row`: elements per row, if places are to be named by row and column; 0: by index.
template <class T>
void compare(const std::string& name, const std::vector<T>& got, const std::vector<T>& want, std::size_t row = 0,
             const std::vector<Lookalike<T>>& lookalikes = {}, double tolerance = 1e-5) {
  std::size_t wrong = 0, first = 0, unwritten = 0;
  for (std::size_t i = want.size(); i-- > 0;)
    if (!same(got[i], want[i], tolerance)) {
      ++wrong;
      first = i;
      unwritten += shown(got[i]) == "not written";
    }
  if (wrong == 0) return say(name, true);
  const std::string place = row ? "row " + std::to_string(first / row) + ", column " + std::to_string(first % row)
                                : "element " + std::to_string(first);
  std::string text = place + " is " + shown(got[first]) + ", right is " + shown(want[first]) + " (" +
                     std::to_string(wrong) + " of " + std::to_string(want.size()) + " are wrong";
  if (unwritten) text += ", " + std::to_string(unwritten) + " were never written";
  text += ")";
  for (const Lookalike<T>& l : lookalikes)
    if (all_same(got, l.values, tolerance)) {
      text += ". " + l.what;
      break;
    }
  say(name, false, text);
}

// Compares a single number.
template <class T>
void compare_value(const std::string& name, T got, T want, const std::vector<Lookalike<T>>& lookalikes = {},
                   double tolerance = 1e-5) {
  if (same(got, want, tolerance)) return say(name, true);
  std::string text = "it is " + shown(got) + ", right is " + shown(want);
  for (const Lookalike<T>& l : lookalikes)
    if (same(got, l.values[0], tolerance)) {
      text += ". " + l.what;
      break;
    }
  say(name, false, text);
}

inline std::string n_is(long n) {
  return "n = " + std::to_string(n);
}
inline std::string rows_by_columns(long rows, long columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}
inline int blocks(long n, int threads) {
  return static_cast<int>((n + threads - 1) / threads);
}

void test();  // of the driver

}  // namespace judge

int main(int argc, char** argv) {
  judge::counted_run = argc > 1 && std::strcmp(argv[1], "counted") == 0;
  judge::results_file = std::fopen("judge.results", "w");
  if (judge::results_file == nullptr) return 3;
  judge::test();
  std::fputs("end\n", judge::results_file);  // the test has ended normally
  std::fclose(judge::results_file);
  return 0;
}
