// Vector functions for any element types: cublasAxpyEx, cublasDotEx and others. They compute in double. Partial sums of
// dot products are rounded to float, unless the execution type has 64 bits. Results are rounded to their type at the
// end.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/blas/context.h"
#include "libraries/products/products.h"

namespace warpgrind::libraries::blas {
namespace {

using Wide = DoubleComplex;

bool known(cudaDataType type) {
  return element_bytes(type) != 0 && type != CUDA_R_8I && type != CUDA_C_8I && type != CUDA_R_32I;
}
struct Vector {
  const void* at;
  cudaDataType type;
  std::int64_t increment;

  std::size_t bytes(std::int64_t n) const {
    return static_cast<std::size_t>(vector_elements(n, increment)) * element_bytes(type);
  }
  void* element(std::int64_t n, std::int64_t i) const {
    const std::int64_t place = increment < 0 ? (i - n + 1) * increment : i * increment;
    return const_cast<char*>(static_cast<const char*>(at)) + place * static_cast<std::int64_t>(element_bytes(type));
  }
  Wide get(std::int64_t n, std::int64_t i) const { return read_factor(type, element(n, i)); }
  void set(std::int64_t n, std::int64_t i, Wide v) const { store<Wide>(type, element(n, i), 1, 1, 1, &v); }
};
LibraryWork work_of(std::int64_t n, const Vector& x, double vectors) {
  LibraryWork work;
  work.bytes = static_cast<double>(std::max<std::int64_t>(n, 0)) * static_cast<double>(element_bytes(x.type)) * vectors;
  return work;
}
// Rounds an intermediate sum to the documented execution type.
Wide rounded(Wide v, cudaDataType execution) {
  if (execution == CUDA_R_64F || execution == CUDA_C_64F) return v;
  return {static_cast<float>(v.real()), static_cast<float>(v.imag())};
}

// Reduces one or two vectors to a value in host or device memory.
template <class Value>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, std::int64_t n, const Vector& x, const Vector* y,
                      void* result, cudaDataType type, Value value) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(result);
  if (!known(x.type) || (y && !known(y->type)) || !known(type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool on_device = caller.scalars_on_device();
  const Vector second = y ? *y : x;
  return caller.issue(
      length(n), work_of(n, x, y ? 2 : 1),
      [=](LibraryRun& run) {
        if (!run.reads("x", x.at, x.bytes(n)) || !run.reads("y", second.at, second.bytes(n)) ||
            (on_device && !run.writes("result", result, element_bytes(type))))
          return;
        const Wide v = value(x, second);
        store<Wide>(type, result, 1, 1, 1, &v);
      },
      !on_device);
}
cublasStatus_t dot(const char* name, cublasHandle_t handle, std::int64_t n, const Vector& x, const Vector& y,
                   void* result, cudaDataType type, cudaDataType execution, bool conjugated) {
  return reduce(name, handle, n, x, &y, result, type, [=](const Vector& a, const Vector& b) {
    Wide sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum = rounded(sum + (conjugated ? std::conj(a.get(n, i)) : a.get(n, i)) * b.get(n, i), execution);
    return sum;
  });
}
cublasStatus_t norm(const char* name, cublasHandle_t handle, std::int64_t n, const Vector& x, void* result,
                    cudaDataType type) {
  return reduce(name, handle, n, x, nullptr, result, type, [=](const Vector& a, const Vector&) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::norm(a.get(n, i));
    return Wide(std::sqrt(sum));
  });
}
cublasStatus_t sum_of_parts(const char* name, cublasHandle_t handle, std::int64_t n, const Vector& x, void* result,
                            cudaDataType type) {
  return reduce(name, handle, n, x, nullptr, result, type, [=](const Vector& a, const Vector&) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(a.get(n, i).real()) + std::abs(a.get(n, i).imag());
    return Wide(sum);
  });
}
// Index, counted from 1, of the element with the largest or smallest sum of absolute parts; 0 without elements.
template <class I>
cublasStatus_t extreme(const char* name, cublasHandle_t handle, std::int64_t n, const Vector& x, I* result,
                       bool largest) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(result);
  if (!known(x.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool on_device = caller.scalars_on_device();
  return caller.issue(
      length(n), work_of(n, x, 1),
      [=](LibraryRun& run) {
        if (!run.reads("x", x.at, x.bytes(n)) || !Caller::may_write(run, on_device, "result", result)) return;
        I best = 0;
        double value = 0;
        for (std::int64_t i = 0; i < n && x.increment > 0; ++i) {
          const Wide v = x.get(n, i);
          const double size = std::abs(v.real()) + std::abs(v.imag());
          if (best == 0 || (largest ? size > value : size < value)) best = static_cast<I>(i + 1), value = size;
        }
        *result = best;
      },
      !on_device);
}

// Changes vectors in place: change(factor, x, y, i) for each element i.
template <class Change>
cublasStatus_t change(const char* name, cublasHandle_t handle, std::int64_t n, const void* alpha,
                      cudaDataType alpha_type, const Vector& x, const Vector& y, bool writes_x, Change change) {
  WG_BEGIN_CALL(handle, name);
  if (!known(x.type) || !known(y.type) || (alpha && !known(alpha_type))) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const bool on_device = alpha && caller.scalars_on_device();
  const Wide at_call = alpha && !on_device ? read_factor(alpha_type, alpha) : Wide(0);
  return caller.issue(length(n), work_of(n, x, 3), [=](LibraryRun& run) {
    if (on_device && !run.reads("alpha", alpha, element_bytes(alpha_type))) return;
    const Wide factor = on_device ? read_factor(alpha_type, alpha) : at_call;
    const bool may_x =
        writes_x ? run.writes("x", const_cast<void*>(x.at), x.bytes(n)) : run.reads("x", x.at, x.bytes(n));
    if (!may_x || !run.writes("y", const_cast<void*>(y.at), y.bytes(n))) return;
    for (std::int64_t i = 0; i < n; ++i) change(factor, x, y, i);
  });
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_ENTRIES "libraries/blas/vectors_ex_entries.inc"
#include "libraries/blas/both_widths.inc"
}
