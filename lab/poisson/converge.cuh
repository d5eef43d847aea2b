// Iteration until convergence: the norm is computed on the GPU, and the host decides once in kBatch sweeps.
#pragma once

#include <algorithm>
#include <string>

#include "kernels.cuh"

namespace poisson {

// Claim: the largest change costs a sweep only 5 shuffles a warp and one atomic a warp. The bits of nonnegative numbers
// have the same order as the numbers, so an integer maximum works.
static __global__ void jacobi_change(const double* u, const double* source, double* out, Grid g,
                                     unsigned long long* change) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  double mine = 0;
  if (g.inside(y, x)) {
    const long i = g.at(y, x);
    const double value = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
    mine = fabs(value - u[i]);
    out[i] = value;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine = fmax(mine, __shfl_down_sync(0xffffffffu, mine, lanes));
  if (threadIdx.x == 0) atomicMax(change, static_cast<unsigned long long>(__double_as_longlong(mine)));
}

// The unit square, n x n points inside. h = 1 / (n + 1).
struct Boundary {
  int n;
  std::vector<double> start, source;
  double h() const { return 1.0 / (n + 1); }
  Grid grid() const { return Grid(n, n); }
};

inline double sine(double y, double x) {
  return std::sin(M_PI * x) * std::sin(M_PI * y);
}

// f = 2 pi^2 sin(pi x) sin(pi y), 0 on the boundary: u = sin(pi x) sin(pi y).
inline Boundary sine_problem(int n) {
  Boundary p{n, {}, {}};
  const Grid g = p.grid();
  p.start.assign(g.elements(), 0);
  p.source = p.start;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      p.source[g.origin() + g.at(y, x)] = p.h() * p.h() * 2 * M_PI * M_PI * sine((y + 1) * p.h(), (x + 1) * p.h());
  return p;
}

// A room seen from above: three walls at 20 degrees, the last row's wall at 0, and a heater in front of it.
inline Boundary room_problem(int n) {
  Boundary p{n, {}, {}};
  const Grid g = p.grid();
  p.start.assign(g.elements(), 0);
  p.source = p.start;
  for (int y = -1; y <= n; ++y)
    for (int x = -1; x <= n; ++x) {
      const double py = (y + 1) * p.h(), px = (x + 1) * p.h();
      const long i = g.origin() + g.at(y, x);
      if (!g.inside(y, x)) p.start[i] = y == n ? 0 : 20;
      if (g.inside(y, x) && px >= 0.35 && px <= 0.65 && py >= 0.7 && py <= 0.85) p.source[i] = p.h() * p.h() * 4000;
    }
  return p;
}

// The discrete solution by another method, on the host: successive over-relaxation in place with the best factor on a
// square (Young 1954), until a sweep changes nothing beyond rounding.
inline std::vector<double> host_solution(const Boundary& p) {
  const Grid g = p.grid();
  std::vector<double> u = p.start;
  double* const a = u.data() + g.origin();
  const double* const s = p.source.data() + g.origin();
  const double factor = 2 / (1 + std::sin(M_PI * p.h()));
  double change = 1, largest = 1;
  for (int sweep = 0; sweep < 100 * (p.n + 10) && change > 1e-14 * largest; ++sweep) {
    change = 0;
    for (int y = 0; y < p.n; ++y)
      for (int x = 0; x < p.n; ++x) {
        const long i = g.at(y, x);
        const double step = factor * (relaxed(a[i - g.pitch], a[i + g.pitch], a[i - 1], a[i + 1], s[i]) - a[i]);
        a[i] += step;
        change = std::max(change, std::fabs(step));
        largest = std::max(largest, std::fabs(a[i]));
      }
  }
  return u;
}

class Convergence {
 public:
  static constexpr int kBatch = 32, kMostSweeps = 4000000;

  Convergence(const Boundary& p, double tolerance)
      : p_(p), g_(p.grid()), tolerance_(tolerance), a_(g_, p.start), b_(g_, p.start), source_(g_, p.source), norm_(1) {
    CHECK_CUDA(cudaStreamCreate(&stream_));
    capture();
  }
  ~Convergence() {
    cudaGraphExecDestroy(batch_);
    cudaStreamDestroy(stream_);
  }
  Convergence(const Convergence&) = delete;
  Convergence& operator=(const Convergence&) = delete;

  void restart() { a_.upload(p_.start); }
  // Sweeps in batches of kBatch until the largest change is below `tolerance` times that of the first sweep.
  void solve() {
    sweep_with_norm();
    const double first = change();
    last_ = first;
    jacobi_naive<<<blocks(), threads(), 0, stream_>>>(b_.data(), source_.data(), a_.data(), g_);
    for (sweeps_ = 2; last_ > tolerance_ * first && sweeps_ < kMostSweeps; sweeps_ += kBatch) {
      CHECK_CUDA(cudaGraphLaunch(batch_, stream_));
      last_ = change();
    }
    converged_ = last_ <= tolerance_ * first;
    relative_ = first > 0 ? last_ / first : 0;
  }

  bool converged() const { return converged_; }
  int sweeps() const { return sweeps_; }
  double relative_change() const { return relative_; }
  // The largest |f + laplace(u)|: a sweep changes a point by h^2 / 4 times that.
  double residual() const { return last_ * 4 / (p_.h() * p_.h()); }
  // Largest distance of u from the discrete solution: |inverse of the 5-point Laplacian| <= 1/8 on the unit square
  // (maximum principle with x (1 - x) / 2), times the residual. Rounding of 4 sums a sweep stays below the last term.
  double distance(double largest) const { return residual() / 8 + sweeps_ * 5 * lab::kUnitDouble * largest; }
  std::vector<double> solution() const { return interior(g_, a_.host()); }

 private:
  dim3 blocks() const { return dim3(lab::blocks(g_.columns, kBlockX), lab::blocks(g_.rows, kBlockY)); }
  static dim3 threads() { return dim3(kBlockX, kBlockY); }
  void sweep_with_norm() {
    CHECK_CUDA(cudaMemsetAsync(norm_.data(), 0, norm_.bytes(), stream_));
    jacobi_change<<<blocks(), threads(), 0, stream_>>>(a_.data(), source_.data(), b_.data(), g_, norm_.data());
  }
  double change() {
    double value = 0;
    CHECK_CUDA(cudaMemcpyAsync(&value, norm_.data(), sizeof value, cudaMemcpyDeviceToHost, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    return value;
  }
  // Captures kBatch sweeps as one graph. The last but one computes the norm, so that the result is in a_.
  void capture() {
    cudaGraph_t graph;
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kBatch; i += 2) {
      if (i + 2 < kBatch)
        jacobi_naive<<<blocks(), threads(), 0, stream_>>>(a_.data(), source_.data(), b_.data(), g_);
      else
        sweep_with_norm();
      jacobi_naive<<<blocks(), threads(), 0, stream_>>>(b_.data(), source_.data(), a_.data(), g_);
    }
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&batch_, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
  }

  const Boundary& p_;
  Grid g_;
  double tolerance_;
  Field<double> a_, b_, source_;
  lab::DeviceArray<unsigned long long> norm_;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t batch_ = nullptr;
  int sweeps_ = 0;
  double last_ = 0, relative_ = 0;
  bool converged_ = false;
};

}  // namespace poisson
