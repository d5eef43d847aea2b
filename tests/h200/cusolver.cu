// Times of cuSOLVER's dense functions on a real GPU, between two events: nvcc -O3 cusolver.cu -o cusolver -lcusolver &&
// ./cusolver > cusolver.csv Square matrices; medians of up to 15 calls on a fresh copy of the matrix.
// LibraryEstimate.FactorisationsAsMeasured compares the estimates with them.
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s returned %d\n", what, status);
  std::exit(1);
}

// float and double by one name.
struct Single {
  using T = float;
  static constexpr char kLetter = 'S';
  static constexpr auto getrf_size = cusolverDnSgetrf_bufferSize;
  static constexpr auto getrf = cusolverDnSgetrf;
  static constexpr auto potrf_size = cusolverDnSpotrf_bufferSize;
  static constexpr auto potrf = cusolverDnSpotrf;
  static constexpr auto geqrf_size = cusolverDnSgeqrf_bufferSize;
  static constexpr auto geqrf = cusolverDnSgeqrf;
  static constexpr auto syevd_size = cusolverDnSsyevd_bufferSize;
  static constexpr auto syevd = cusolverDnSsyevd;
  static constexpr auto gesvd_size = cusolverDnSgesvd_bufferSize;
  static constexpr auto gesvd = cusolverDnSgesvd;
};
struct Double {
  using T = double;
  static constexpr char kLetter = 'D';
  static constexpr auto getrf_size = cusolverDnDgetrf_bufferSize;
  static constexpr auto getrf = cusolverDnDgetrf;
  static constexpr auto potrf_size = cusolverDnDpotrf_bufferSize;
  static constexpr auto potrf = cusolverDnDpotrf;
  static constexpr auto geqrf_size = cusolverDnDgeqrf_bufferSize;
  static constexpr auto geqrf = cusolverDnDgeqrf;
  static constexpr auto syevd_size = cusolverDnDsyevd_bufferSize;
  static constexpr auto syevd = cusolverDnDsyevd;
  static constexpr auto gesvd_size = cusolverDnDgesvd_bufferSize;
  static constexpr auto gesvd = cusolverDnDgesvd;
};

template <class Type>
class Measurement {
  using T = typename Type::T;

 public:
  explicit Measurement(int most) : most_(most) {
    check(cusolverDnCreate(&handle_), "cusolverDnCreate");
    const std::size_t all = static_cast<std::size_t>(most) * most * sizeof(T);
    for (T** one : {&matrix_, &original_, &left_, &right_}) check(cudaMalloc(one, all), "cudaMalloc");
    check(cudaMalloc(&values_, most * sizeof(T)), "cudaMalloc");
    check(cudaMalloc(&pivots_, most * sizeof(int)), "cudaMalloc");
    check(cudaMalloc(&info_, sizeof(int)), "cudaMalloc");
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  void all(int n) {
    fill(n);
    measure(
        "getrf", n, [&](int* size) { return Type::getrf_size(handle_, n, n, matrix_, n, size); },
        [&] { return Type::getrf(handle_, n, n, matrix_, n, work_, pivots_, info_); });
    measure(
        "potrf", n, [&](int* size) { return Type::potrf_size(handle_, kLower, n, matrix_, n, size); },
        [&] { return Type::potrf(handle_, kLower, n, matrix_, n, work_, size_, info_); });
    measure(
        "geqrf", n, [&](int* size) { return Type::geqrf_size(handle_, n, n, matrix_, n, size); },
        [&] { return Type::geqrf(handle_, n, n, matrix_, n, values_, work_, size_, info_); });
    measure(
        "syevd", n,
        [&](int* size) { return Type::syevd_size(handle_, kVectors, kLower, n, matrix_, n, values_, size); },
        [&] { return Type::syevd(handle_, kVectors, kLower, n, matrix_, n, values_, work_, size_, info_); });
    measure(
        "gesvd", n, [&](int* size) { return Type::gesvd_size(handle_, n, n, size); },
        [&] {
          return Type::gesvd(handle_, 'A', 'A', n, n, matrix_, n, values_, left_, n, right_, n, work_, size_, nullptr,
                             info_);
        });
  }

 private:
  static constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
  static constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;

  // Symmetric, and positive definite by its diagonal.
  void fill(int n) {
    std::vector<T> host(static_cast<std::size_t>(n) * n);
    unsigned state = 1;
    for (int c = 0; c < n; ++c)
      for (int r = 0; r <= c; ++r) {
        state = state * 1664525u + 1013904223u;
        const T value = static_cast<T>(state >> 8) / (1 << 24) - T(0.5) + (r == c ? T(n) : T(0));
        host[static_cast<std::size_t>(c) * n + r] = host[static_cast<std::size_t>(r) * n + c] = value;
      }
    check(cudaMemcpy(original_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  double once(int n, const std::function<int()>& call) {
    check(cudaMemcpy(matrix_, original_, static_cast<std::size_t>(n) * n * sizeof(T), cudaMemcpyDeviceToDevice),
          "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cudaEventRecord(begin_);
    check(call(), "the call");
    cudaEventRecord(end_);
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float ms = 0;
    cudaEventElapsedTime(&ms, begin_, end_);
    return ms * 1000.0;
  }
  void measure(const std::string& name, int n, const std::function<int(int*)>& size, const std::function<int()>& call) {
    constexpr double kSlow = 3e6, kEnough = 4e5;  // us: the next size would take too long; for one case
    double& last = last_[name == "syevd" ? 1 : name == "gesvd" ? 2 : 0];
    if (last > kSlow) return;
    size_ = 0;
    check(size(&size_), "bufferSize");
    check(cudaMalloc(&work_, std::max(size_, 1) * sizeof(T)), "cudaMalloc");
    once(n, call);
    std::vector<double> times;
    double sum = 0;
    while (times.size() < 15 && (times.empty() || sum < kEnough)) sum += times.emplace_back(once(n, call));
    int info = 0;
    cudaMemcpy(&info, info_, sizeof info, cudaMemcpyDeviceToHost);
    std::sort(times.begin(), times.end());
    last = times[times.size() / 2];
    std::printf("%c%s,%d,%.2f,%zu,%d\n", Type::kLetter, name.c_str(), n, last, times.size(), info);
    std::fflush(stdout);
    cudaFree(work_);
  }

  int most_;
  cusolverDnHandle_t handle_ = nullptr;
  T *matrix_ = nullptr, *original_ = nullptr, *left_ = nullptr, *right_ = nullptr, *values_ = nullptr, *work_ = nullptr;
  int *pivots_ = nullptr, *info_ = nullptr, size_ = 0;
  double last_[3] = {};
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 4096;
  std::printf("function,n,us,repetitions,info\n");
  Measurement<Single> single(most);
  Measurement<Double> twice(most);
  for (int n = 16; n <= most; n *= 2) {
    single.all(n);
    twice.all(n);
  }
}
