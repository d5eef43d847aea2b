// Library for the tests of the exercises. A test (driver.cu) defines judge::test(). It runs the learner's code on
// several sizes and compares each result. `warpgrind exercise check` links it twice: with the learner's code, where it
// only writes down the results, and with the solution, where it compares them. So the process of the learner's code
// knows no right result. It is plain CUDA: `nvcc -I exercises/include -include hand_in.cu driver.cu` runs the same test
// on a GPU, in one process.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace judge {

// alone: compares its own results. answer: writes them into a file. compares: reads the file of an answer.
enum class Part { alone, answer, compares };
inline Part own_part = Part::alone;
inline bool counted_run = false;
inline unsigned run_seed = 0;  // another one for each judgement
inline std::FILE* results_file = nullptr;
inline std::FILE* answer_records = nullptr;  // of the answer, for Part::compares

// Compute the right results only if this holds: the process of the learner's code must not contain them.
inline bool expecting() {
  return own_part != Part::answer;
}

inline unsigned hash_of_seed(unsigned seed) {
  unsigned x = (seed * 2654435761u + 12345u) ^ (run_seed * 2246822519u);
  x = (x ^ (x >> 15)) * 2246822519u;
  return x ^ (x >> 13);
}

// Multiples of 1/512 from -8 to below 8, others in each judgement: float adds thousands of them without rounding, but
// half cannot hold them. Integers: 0 to 31.
template <class T = float>
std::vector<T> numbers(std::size_t n, unsigned seed = 1) {
  std::vector<T> out(n);
  unsigned state = hash_of_seed(seed);
  for (T& x : out) {
    state = state * 1664525u + 1013904223u;
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(state >> 27);
    else
      x = static_cast<T>((static_cast<int>(state >> 19) - 4096) / 512.0);
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
  bool any_order = false;  // the same numbers in another order match, too
};

// True in the run whose counters are judged. That run has one case, of a size at which the counters are significant.
inline bool counted() {
  return counted_run;
}

// A size that no answer can know: a multiple of `step` above `low` and below `high`. `which`: several of them differ.
inline int further_size(int low, int high, int step = 1, unsigned which = 0) {
  const int first = low / step + 1, last = (high - 1) / step;
  return first > last
             ? high
             : step * (first + static_cast<int>(hash_of_seed(777 + which) % static_cast<unsigned>(last - first + 1)));
}

// The sizes of the run: `verified` and a further one, a multiple of what divides all of them.
inline std::vector<int> sizes(std::initializer_list<int> verified, int counted_size) {
  if (counted_run) return {counted_size};
  std::vector<int> out(verified);
  int step = 0;
  for (const int size : verified) step = std::gcd(step, size);
  const auto [low, high] = std::minmax_element(verified.begin(), verified.end());
  if (*low != *high) out.push_back(further_size(*low, *high, step));
  return out;
}

inline std::string one_line(const std::string& text) {
  std::string out(text);
  for (char& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  return out;
}

// Writes the verdict of one case.
inline void write_case(const std::string& name, bool right, const std::string& seen) {
  if (own_part == Part::alone) std::printf("%s: %s %s\n", name.c_str(), right ? "right" : "wrong", seen.c_str());
  if (!results_file) return;
  std::fprintf(results_file, "%s\t%s\t%s\n", one_line(name).c_str(), right ? "right" : "wrong", one_line(seen).c_str());
  std::fflush(results_file);
}

// The file of an answer has a line for each result: "got NAME BYTES", followed by the bytes, or "said NAME right|wrong
// TEXT"; words are separated by tabs. Its last line is "end". It is not trusted.
struct Record {
  std::string kind, name, third, text;
};
inline Record next_record() {
  std::string line;
  for (int c = std::fgetc(answer_records); c != EOF && c != '\n'; c = std::fgetc(answer_records))
    line += static_cast<char>(c);
  Record out;
  std::string* const words[] = {&out.kind, &out.name, &out.third, &out.text};
  std::size_t at = 0;
  for (std::string* word : words) {
    const std::size_t tab = word == &out.text ? std::string::npos : line.find('\t', at);
    *word = line.substr(at, tab == std::string::npos ? tab : tab - at);
    if (tab == std::string::npos) break;
    at = tab + 1;
  }
  return out;
}

[[noreturn]] inline void end_comparing(bool finished) {
  if (finished) std::fputs("end\n", results_file);
  std::fclose(results_file);
  std::_Exit(0);
}

// The file is not that of this test, or the answer ended early.
[[noreturn]] inline void refuse_record(const Record& found, const std::string& name) {
  if (!found.kind.empty())
    write_case(name, false,
               "the results are not those of the test: the answer wrote into the judge's file, or changed the memory "
               "of the test");
  end_comparing(!found.kind.empty());
}

// A verdict that needs no right result, such as an error of the runtime. It comes from the process of the answer, so
// results go to compare() instead. `seen`: one line.
inline void say(const std::string& name, bool right, const std::string& seen = "") {
  if (own_part == Part::answer) {
    std::fprintf(results_file, "said\t%s\t%s\t%s\n", one_line(name).c_str(), right ? "right" : "wrong",
                 one_line(seen).c_str());
    std::fflush(results_file);
  } else if (own_part == Part::compares) {
    const Record found = next_record();
    if (found.kind != "said" || found.name != one_line(name)) refuse_record(found, name);
    write_case(name, found.third == "right", found.text);
  } else {
    write_case(name, right, seen);
  }
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

// `size`: the usual size of the numbers; rounding errors of a sum depend on the terms, not on the sum.
template <class T>
bool same(T a, T b, double tolerance, double size = 1) {
  if (std::memcmp(&a, &b, sizeof a) == 0) return true;
  if constexpr (std::is_integral_v<T>) return a == b;
  const double most = std::max(size, std::fabs(static_cast<double>(b)));
  return std::fabs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance * most;  // false for NaN
}

// Root of the mean square; at least 1.
template <class T>
double usual_size(const std::vector<T>& numbers) {
  double sum = 0;
  for (const T& x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::max(1.0, numbers.empty() ? 1.0 : std::sqrt(sum / static_cast<double>(numbers.size())));
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b, double tolerance) {
  if (a.size() != b.size()) return false;
  const double size = usual_size(b);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i], tolerance, size)) return false;
  return true;
}

template <class T>
bool looks_like(std::vector<T> got, const Lookalike<T>& l, double tolerance) {
  if (!l.any_order) return all_same(got, l.values, tolerance);
  std::vector<T> values = l.values;
  const auto before = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof a) < 0; };  // also of NaN
  std::sort(got.begin(), got.end(), before);
  std::sort(values.begin(), values.end(), before);
  return all_same(got, values, tolerance);
}

template <class T>
std::string number_text(T value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.7g", static_cast<double>(value));
  return text;
}

// An element of a Buffer.
template <class T>
std::string shown(T value) {
  unsigned char bytes[sizeof(T)], unwritten[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  std::memset(unwritten, 0xFF, sizeof unwritten);
  return std::memcmp(bytes, unwritten, sizeof value) == 0 ? "not written" : number_text(value);
}

// Answer: writes the results. Comparing: reads those of the answer into `got`, and returns true if there are any.
template <class T>
bool pass_results(const std::string& name, std::vector<T>& got) {
  const std::string bytes = std::to_string(got.size() * sizeof(T));
  if (own_part == Part::answer) {
    std::fprintf(results_file, "got\t%s\t%s\n", one_line(name).c_str(), bytes.c_str());
    std::fwrite(got.data(), sizeof(T), got.size(), results_file);
    std::fputc('\n', results_file);
    std::fflush(results_file);
    return false;
  }
  if (own_part == Part::alone) return true;
  const Record found = next_record();
  if (found.kind == "said" && found.third == "wrong") {  // ran() found an error, and most tests end then
    write_case(found.name, false, found.text);
    end_comparing(true);
  }
  if (found.kind != "got" || found.name != one_line(name)) refuse_record(found, name);
  if (found.third != bytes) {  // the answer decides about the number of results
    const unsigned long written = std::strtoul(found.third.c_str(), nullptr, 10);
    if (std::fseek(answer_records, static_cast<long>(std::min(written, 1ul << 30)), SEEK_CUR) != 0 ||
        std::fgetc(answer_records) != '\n')
      refuse_record({}, name);
    write_case(
        name, false,
        "there are " + std::to_string(written / sizeof(T)) + " results, right are " + std::to_string(got.size()));
    return false;
  }
  if (std::fread(got.data(), sizeof(T), got.size(), answer_records) != got.size() || std::fgetc(answer_records) != '\n')
    refuse_record({}, name);
  return true;
}

// Compares all elements. `row`: elements per row, if places are to be named by row and column; 0: by index.
template <class T>
void compare(const std::string& name, std::vector<T> got, const std::vector<T>& want, std::size_t row = 0,
             const std::vector<Lookalike<T>>& lookalikes = {}, double tolerance = 1e-5) {
  if (!pass_results(name, got)) return;
  std::size_t wrong = 0, first = 0, unwritten = 0;
  const double size = usual_size(want);
  for (std::size_t i = want.size(); i-- > 0;)
    if (!same(got[i], want[i], tolerance, size)) {
      ++wrong;
      first = i;
      unwritten += shown(got[i]) == "not written";
    }
  if (wrong == 0) return write_case(name, true, "");
  const std::string place = row ? "row " + std::to_string(first / row) + ", column " + std::to_string(first % row)
                                : "element " + std::to_string(first);
  std::string text = place + " is " + shown(got[first]) + ", right is " + shown(want[first]) + " (" +
                     std::to_string(wrong) + " of " + std::to_string(want.size()) + " are wrong";
  if (unwritten) text += ", " + std::to_string(unwritten) + " were never written";
  text += ")";
  for (const Lookalike<T>& l : lookalikes)
    if (looks_like(got, l, tolerance)) {
      text += ". " + l.what;
      break;
    }
  write_case(name, false, text);
}

// Compares a single number that a host function returned.
template <class T>
void compare_value(const std::string& name, T got, T want, const std::vector<Lookalike<T>>& lookalikes = {},
                   double tolerance = 1e-5) {
  std::vector<T> value{got};
  if (!pass_results(name, value)) return;
  got = value[0];
  if (same(got, want, tolerance)) return write_case(name, true, "");
  std::string text = "it is " + number_text(got) + ", right is " + number_text(want);
  for (const Lookalike<T>& l : lookalikes)
    if (same(got, l.values[0], tolerance)) {
      text += ". " + l.what;
      break;
    }
  write_case(name, false, text);
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

// judged [checked|counted [SEED [FILE OUTPUT]]]
// With a seed: writes the results into judge.results. With a file, too: compares the results in it, and writes the
// verdicts into OUTPUT.
int main(int argc, char** argv) {
  judge::counted_run = argc > 1 && std::strcmp(argv[1], "counted") == 0;
  judge::own_part = argc > 4 ? judge::Part::compares : argc > 2 ? judge::Part::answer : judge::Part::alone;
  if (argc > 2) judge::run_seed = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  if (argc > 4) judge::answer_records = std::fopen(argv[3], "rb");
  if (argc > 4 && !judge::answer_records) return 3;
  if (argc > 2) judge::results_file = std::fopen(argc > 4 ? argv[4] : "judge.results", "wb");
  if (argc > 2 && !judge::results_file) return 3;
  judge::test();
  if (argc > 4) {
    const judge::Record last = judge::next_record();
    if (last.kind != "end" || std::fgetc(judge::answer_records) != EOF) judge::refuse_record(last, "end of the test");
  }
  if (judge::results_file) std::fputs("end\n", judge::results_file);  // the test has ended normally
  if (judge::results_file) std::fclose(judge::results_file);
  return 0;
}
