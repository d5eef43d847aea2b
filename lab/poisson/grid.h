// The grid of the Poisson programs and the host's part: layout, random problem, reference, tolerance.
//
// -laplace(u) = f on square cells of side h. One Jacobi sweep replaces every interior point at once:
//   u'(y, x) = (u(y-1, x) + u(y+1, x) + u(y, x-1) + u(y, x+1) + s(y, x)) / 4,  s = h h f
// Points -1, `rows` and `columns` are the boundary and never change. The arrays hold s, so a point costs 4 additions
// and 1 multiplication. (The document counts 6: it multiplies by h h in every sweep.) The factor 1/4 is exact and
// nothing can be fused, so every rung must give the same bits.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "harness/harness.h"

namespace poisson {

constexpr int kGuard = 32;  // unused elements left of each row, so that point (y, 0) starts a 128-byte line

struct Grid {
  int rows, columns;  // interior points
  long pitch;         // elements from one row to the next

  Grid(long rows_in, long columns_in)
      : rows(static_cast<int>(rows_in)),
        columns(static_cast<int>(columns_in)),
        pitch((kGuard + columns_in + 4 + 31) / 32 * 32) {}
  __host__ __device__ bool inside(int y, int x) const { return y >= 0 && y < rows && x >= 0 && x < columns; }
  // Returns whether a sweep may read the point: interior or boundary.
  __host__ __device__ bool known(int y, int x) const { return y >= -1 && y <= rows && x >= -1 && x <= columns; }
  __host__ __device__ long at(int y, int x) const { return y * pitch + x; }
  size_t elements() const { return static_cast<size_t>(pitch) * (rows + 2); }
  double points() const { return static_cast<double>(rows) * columns; }
  long origin() const { return pitch + kGuard; }  // index of (0, 0) in an array
};

template <class T>
__host__ __device__ T relaxed(T up, T down, T left, T right, T source) {
  return ((up + down) + (left + right) + source) * T(0.25);
}

// Array on the GPU. data() points at (0, 0).
template <class T>
class Field {
 public:
  explicit Field(const Grid& grid) : array_(grid.elements()), origin_(grid.origin()) {}
  Field(const Grid& grid, const std::vector<T>& host) : array_(host), origin_(grid.origin()) {}
  T* data() { return array_.data() + origin_; }
  void copy_from(Field& other) {
    CHECK_CUDA(cudaMemcpyAsync(array_.data(), other.array_.data(), array_.bytes(), cudaMemcpyDeviceToDevice));
  }
  std::vector<T> host() const { return array_.host(); }
  void upload(const std::vector<T>& host) { array_.upload(host); }

 private:
  lab::DeviceArray<T> array_;
  long origin_;
};

// One sweep on the host, with OpenMP's number of threads. Below 100 x 100 points it uses one thread, because more cost
// more than they gain (from the document).
template <class T>
void host_sweep(const Grid& g, const T* u, const T* source, T* out) {
#pragma omp parallel for schedule(static) if (g.points() >= 10000)
  for (int y = 0; y < g.rows; ++y)
    for (int x = 0; x < g.columns; ++x) {
      const long i = g.at(y, x);
      out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
    }
}

template <class T>
std::vector<T> host_sweeps(const Grid& g, std::vector<T> u, const std::vector<T>& source, int sweeps) {
  std::vector<T> next = u;
  for (int i = 0; i < sweeps; ++i) {
    host_sweep(g, u.data() + g.origin(), source.data() + g.origin(), next.data() + g.origin());
    std::swap(u, next);
  }
  return u;
}

// A problem with random values in [-1, 1), boundary included. Elements that no sweep may use are NaN.
template <class T>
struct RandomProblem {
  std::vector<T> start, empty, source;  // empty: the boundary alone, zeros inside

  explicit RandomProblem(const Grid& g) {
    lab::Random random(13);
    const T nan = std::numeric_limits<T>::quiet_NaN();
    start.assign(g.elements(), nan);
    empty = source = start;
    for (int y = -1; y <= g.rows; ++y)
      for (int x = -1; x <= g.columns; ++x) {
        const long i = g.origin() + g.at(y, x);
        start[i] = random.symmetric();
        if (g.inside(y, x))
          source[i] = random.symmetric();
        else
          empty[i] = start[i];
      }
  }
};

// A sweep rounds 4 sums of magnitude at most 4 m + 1 (m: largest |u| so far) and divides by 4: (4 m + 1) unit. An
// average passes earlier errors on without enlarging them. m starts at 1 and grows by at most 1/4 a sweep. 1 % is ample
// for errors of second order.
inline double sweep_tolerance(int sweeps, double unit) {
  double error = 0;
  for (int k = 1; k <= sweeps; ++k) error += 1.01 * unit * (4 * (1 + 0.25 * k) + 1);
  return error;
}

template <class T>
constexpr double unit() {
  return sizeof(T) == 4 ? lab::kUnitFloat : lab::kUnitDouble;
}
template <class T>
constexpr const char* type_name() {
  return sizeof(T) == 4 ? "float" : "double";
}

// The interior of an array in the layout of the grid.
template <class T>
std::vector<T> interior(const Grid& g, const std::vector<T>& array) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(g.points()));
  for (int y = 0; y < g.rows; ++y)
    for (int x = 0; x < g.columns; ++x) out.push_back(array[g.origin() + g.at(y, x)]);
  return out;
}

// Expected result of `sweeps` sweeps of a random problem.
template <class T>
struct Expected {
  std::vector<double> exact;  // computed in double
  std::vector<T> bits;        // computed in T, in the order of the formula
  double tolerance;

  Expected(const Grid& g, const RandomProblem<T>& problem, int sweeps)
      : exact(interior(g, host_sweeps(g, std::vector<double>(problem.start.begin(), problem.start.end()),
                                      std::vector<double>(problem.source.begin(), problem.source.end()), sweeps))),
        bits(interior(g, host_sweeps(g, problem.start, problem.source, sweeps))),
        tolerance(sweep_tolerance(sweeps, unit<T>())) {}

  // The result must be within the tolerance of `exact` and equal `bits` bit for bit.
  lab::Verdict verdict(const std::vector<T>& got) const {
    lab::Verdict verdict = lab::compare(got, exact, tolerance);
    if (verdict.pass()) verdict.wrong = lab::compare(got, bits).wrong;
    return verdict;
  }
};

// The usual count: each sweep reads u and the source once and writes u once. Rungs that do several sweeps in one pass
// over memory can therefore show more than the memory's bandwidth. That is their purpose.
template <class T>
lab::Work work(const Grid& g, int sweeps) {
  return {3.0 * sizeof(T) * g.points() * sweeps, 5.0 * g.points() * sweeps};
}

}  // namespace poisson
