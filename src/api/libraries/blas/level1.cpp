// BLAS 1: vectors.
#include <algorithm>
#include <cmath>

#include "libraries/blas/context.h"

namespace warpgrind::libraries::blas {
namespace {

template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, std::int64_t n, const T* alpha, const T* x,
                    std::int64_t incx, T* y, std::int64_t incy) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(alpha);
  WG_FITS(n, incx, incy);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const auto factor = caller.scalar(alpha);
  return caller.issue(length(n), dense_work<T>(3.0 * static_cast<double>(n)), [=](LibraryRun& run) {
    T a;
    if (!factor.get(run, "alpha", a) || !reads_vector(run, "x", x, n, incx) || !writes_vector(run, "y", y, n, incy))
      return;
    WG_BLAS(T, axpy)(narrow(n), by(a), x, narrow(incx), y, narrow(incy));
  });
}

template <class T>
cublasStatus_t copy(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, T* y,
                    std::int64_t incy) {
  WG_BEGIN_CALL(handle, name);
  WG_FITS(n, incx, incy);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return caller.issue(length(n), dense_work<T>(2.0 * static_cast<double>(n), 0), [=](LibraryRun& run) {
    if (!reads_vector(run, "x", x, n, incx) || !writes_vector(run, "y", y, n, incy)) return;
    WG_BLAS(T, copy)(narrow(n), x, narrow(incx), y, narrow(incy));
  });
}

template <class T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t incx, T* y,
                    std::int64_t incy) {
  WG_BEGIN_CALL(handle, name);
  WG_FITS(n, incx, incy);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return caller.issue(length(n), dense_work<T>(4.0 * static_cast<double>(n), 0), [=](LibraryRun& run) {
    if (!writes_vector(run, "x", x, n, incx) || !writes_vector(run, "y", y, n, incy)) return;
    WG_BLAS(T, swap)(narrow(n), x, narrow(incx), y, narrow(incy));
  });
}

// A: type of alpha, which is T or its real type (cublasCsscal). Like cuBLAS, it reads x even if alpha is 0.
template <class T, class A>
cublasStatus_t scal(const char* name, cublasHandle_t handle, std::int64_t n, const A* alpha, T* x, std::int64_t incx) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(alpha);
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  const auto factor = caller.scalar(alpha);
  return caller.issue(length(n), dense_work<T>(2.0 * static_cast<double>(n), 0.5), [=](LibraryRun& run) {
    A a;
    if (!factor.get(run, "alpha", a) || !writes_vector(run, "x", x, n, incx)) return;
    for (std::int64_t i = 0; i < n; ++i) x[i * incx] *= a;
  });
}

// Reduces a vector to one value, in host or device memory. The result is 0 without elements; `reduce` is not called
// then.
template <class T, class R, class Reduce>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, R* result,
                      Reduce reduce) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(result);
  WG_FITS(n, incx);
  const bool on_device = caller.scalars_on_device();
  const std::int64_t count = incx <= 0 ? 0 : std::max<std::int64_t>(n, 0);
  return caller.issue(
      length(n), dense_work<T>(static_cast<double>(count)),
      [=](LibraryRun& run) {
        if (!reads_vector(run, "x", x, count, incx) || !Caller::may_write(run, on_device, "result", result)) return;
        *result = count ? static_cast<R>(reduce(narrow(count), x, narrow(incx))) : R{};
      },
      !on_device);
}

template <class T>
cublasStatus_t nrm2(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                    Real<T>* result) {
  return reduce(name, handle, n, x, incx, result,
                [](int count, const T* v, int inc) { return WG_BLAS(T, nrm2)(count, v, inc); });
}
// Sum of the absolute values of all parts. OpenBLAS 0.3.21's sum of contiguous complex numbers is wrong on processors
// with AVX-512 (scasum: 60 of the lengths up to 99). Its sum of the parts, as real numbers, is correct.
template <class T>
Real<T> sum_of_parts(int count, const T* v, int inc) {
  if constexpr (kIsComplex<T>)
    if (inc == 1 && count <= kMostElements / 2)
      return WG_BLAS(Real<T>, asum)(2 * count, reinterpret_cast<const Real<T>*>(v), 1);
  return WG_BLAS(T, asum)(count, v, inc);
}
template <class T>
cublasStatus_t asum(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                    Real<T>* result) {
  return reduce(name, handle, n, x, incx, result, sum_of_parts<T>);
}
// Index counted from 1, as in Fortran; 0 without elements.
template <class T, class I>
cublasStatus_t amax(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, I* result) {
  return reduce(name, handle, n, x, incx, result,
                [](int count, const T* v, int inc) { return static_cast<I>(WG_BLAS(T, amax)(count, v, inc)) + 1; });
}
template <class T, class I>
cublasStatus_t amin(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, I* result) {
  return reduce(name, handle, n, x, incx, result,
                [](int count, const T* v, int inc) { return static_cast<I>(WG_BLAS(T, amin)(count, v, inc)) + 1; });
}

template <class T, class Dot>
cublasStatus_t dot_by(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                      const T* y, std::int64_t incy, T* result, Dot dot) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(result);
  WG_FITS(n, incx, incy);
  const bool on_device = caller.scalars_on_device();
  return caller.issue(
      length(n), dense_work<T>(2.0 * static_cast<double>(std::max<std::int64_t>(n, 0)), 1),
      [=](LibraryRun& run) {
        if (!reads_vector(run, "x", x, n, incx) || !reads_vector(run, "y", y, n, incy) ||
            !Caller::may_write(run, on_device, "result", result))
          return;
        T sum{};
        if (n > 0) dot(narrow(n), x, narrow(incx), y, narrow(incy), sum);
        *result = sum;
      },
      !on_device);
}
template <class T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, const T* y,
                   std::int64_t incy, T* result) {
  return dot_by(
      name, handle, n, x, incx, y, incy, result,
      [](int count, const T* a, int ia, const T* b, int ib, T& sum) { sum = WG_BLAS(T, dot)(count, a, ia, b, ib); });
}
template <class T>
cublasStatus_t dotu(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, const T* y,
                    std::int64_t incy, T* result) {
  return dot_by(name, handle, n, x, incx, y, incy, result,
                [](int count, const T* a, int ia, const T* b, int ib, T& sum) {
                  WG_BLAS(T, dotu)(count, a, ia, b, ib, &sum);
                });
}
template <class T>
cublasStatus_t dotc(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, const T* y,
                    std::int64_t incy, T* result) {
  return dot_by(name, handle, n, x, incx, y, incy, result,
                [](int count, const T* a, int ia, const T* b, int ib, T& sum) {
                  WG_BLAS(T, dotc)(count, a, ia, b, ib, &sum);
                });
}

// S: type of s, which is T or its real type (cublasCsrot).
template <class T, class S>
cublasStatus_t rot(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t incx, T* y,
                   std::int64_t incy, const Real<T>* c, const S* s) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(c && s);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const auto cosine = caller.scalar(c);
  const auto sine = caller.scalar(s);
  return caller.issue(length(n), dense_work<T>(4.0 * static_cast<double>(n), 1.5), [=](LibraryRun& run) {
    Real<T> cv;
    S sv;
    if (!cosine.get(run, "c", cv) || !sine.get(run, "s", sv) || !writes_vector(run, "x", x, n, incx) ||
        !writes_vector(run, "y", y, n, incy))
      return;
    T* const first_x = first_element(x, n, incx);
    T* const first_y = first_element(y, n, incy);
    for (std::int64_t i = 0; i < n; ++i) {
      T &a = first_x[i * incx], &b = first_y[i * incy];
      const T rotated = cv * a + sv * b;
      b = cv * b - conjugate(sv) * a;
      a = rotated;
    }
  });
}

template <class T>
cublasStatus_t rotm(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t incx, T* y,
                    std::int64_t incy, const T* param) {
  struct Parameters {
    T flag, h[4];
  };
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(param);
  WG_FITS(n, incx, incy);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const auto parameters = caller.scalar(reinterpret_cast<const Parameters*>(param));
  return caller.issue(length(n), dense_work<T>(4.0 * static_cast<double>(n), 1.5), [=](LibraryRun& run) {
    Parameters p;
    if (!parameters.get(run, "param", p) || !writes_vector(run, "x", x, n, incx) ||
        !writes_vector(run, "y", y, n, incy))
      return;
    WG_BLAS(T, rotm)(narrow(n), x, narrow(incx), y, narrow(incy), &p.flag);
  });
}

// A call on single values, which are all in host or all in device memory. The host waits for values in its memory.
template <class Values, class Run>
cublasStatus_t on_values(const Caller& caller, Values values, Run run) {
  const bool on_device = caller.scalars_on_device();
  return caller.issue(
      "", dense_work<float>(1),
      [=](LibraryRun& access) {
        if (values(access, on_device)) run();
      },
      !on_device);
}

template <class T>
void givens(T& a, T& b, Real<T>& c, T& s) {
  if constexpr (!kIsComplex<T>) {
    WG_BLAS(T, rotg)(&a, &b, &c, &s);
  } else {  // as in BLAS's reference implementation
    if (std::abs(a) == 0) {
      c = 0;
      s = T(1);
      a = b;
      return;
    }
    const Real<T> scale = std::abs(a) + std::abs(b);
    const Real<T> norm = scale * std::sqrt(std::norm(a / scale) + std::norm(b / scale));
    const T direction = a / std::abs(a);
    c = std::abs(a) / norm;
    s = direction * std::conj(b) / norm;
    a = direction * norm;
  }
}
template <class T>
cublasStatus_t rotg(const char* name, cublasHandle_t handle, T* a, T* b, Real<T>* c, T* s) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(a && b && c && s);
  return on_values(
      caller,
      [=](LibraryRun& run, bool on_device) {
        return Caller::may_write(run, on_device, "a", a) && Caller::may_write(run, on_device, "b", b) &&
               Caller::may_write(run, on_device, "c", c) && Caller::may_write(run, on_device, "s", s);
      },
      [=] { givens(*a, *b, *c, *s); });
}
template <class T>
cublasStatus_t rotmg(const char* name, cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* param) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(d1 && d2 && x1 && y1 && param);
  return on_values(
      caller,
      [=](LibraryRun& run, bool on_device) {
        return Caller::may_write(run, on_device, "d1", d1) && Caller::may_write(run, on_device, "d2", d2) &&
               Caller::may_write(run, on_device, "x1", x1) && (!on_device || run.reads("y1", y1, sizeof(T))) &&
               (!on_device || run.writes("param", param, 5 * sizeof(T)));
      },
      [=] {
        WG_BLAS(T, rotmg)
        (d1, d2, x1, *y1, param);
      });
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_TYPED "libraries/blas/level1_entries.inc"
#include "libraries/blas/both_widths.inc"
#undef WG_TYPED
#define WG_CUBLAS(name) cublasStatus_t name
#define WG_TYPED "libraries/blas/rotation_entries.inc"
#include "warpgrind/cublas_types.inc"
#undef WG_TYPED
#undef WG_CUBLAS
}
