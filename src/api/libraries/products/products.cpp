// Matrix products by OpenBLAS or as tensor cores add, with conversion of the operands' types.
#include "libraries/products/products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/half.h"
#include "libraries/products/tensor_cores.h"

namespace warpgrind::libraries::blas {

namespace {

// Rounds a float to the 10 fraction bits that tensor cores use, ties away from zero (cvt.rna.tf32).
float to_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isfinite(value)) bits = (bits + 0x1000) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace

// From the documentation's table of supported types of cublasGemmEx.
std::optional<cudaDataType> scale_type(const Product& p) {
  const cudaDataType ab = p.a.type, c = p.c.type;
  if (p.b.type != ab) return std::nullopt;
  switch (p.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      if (ab == CUDA_R_16F && c == CUDA_R_16F) return CUDA_R_16F;
      return std::nullopt;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (ab == CUDA_R_8I && c == CUDA_R_32I) return CUDA_R_32I;
      return std::nullopt;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      if (ab == c && (ab == CUDA_R_64F || ab == CUDA_C_64F)) return ab;
      return std::nullopt;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      break;
    default:
      return std::nullopt;
  }
  if (c == CUDA_C_32F && (ab == CUDA_C_32F || ab == CUDA_C_8I)) return CUDA_C_32F;
  const bool half = ab == CUDA_R_16F || ab == CUDA_R_16BF;
  if ((half && c == ab) || (c == CUDA_R_32F && (half || ab == CUDA_R_8I || ab == CUDA_R_32F))) return CUDA_R_32F;
  return std::nullopt;
}

namespace {

using Rounding = float (*)(float);
Rounding rounding_of(const Product& p) {
  if (p.a.type != CUDA_R_32F && p.a.type != CUDA_C_32F) return nullptr;
  switch (p.compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return to_tf32;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return [](float v) { return half_to_float(float_to_half(v)); };
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return [](float v) { return bf16_to_float(float_to_bf16(v)); };
    default:
      return nullptr;
  }
}

// An operand for OpenBLAS: the matrix itself if it has type D and needs no rounding, else a converted copy.
template <class D>
struct Dense {
  const D* at = nullptr;
  int ld = 1;
  std::vector<D> copy;

  Dense(const BatchOperand& from, const void* matrix, std::int64_t rows, std::int64_t columns, Rounding rounding) {
    if (from.type == kTypeOf<D> && !rounding) {
      at = static_cast<const D*>(matrix);
      ld = narrow(from.ld);
      return;
    }
    copy.resize(static_cast<std::size_t>(rows * columns));
    load(from.type, matrix, from.ld, rows, columns, copy.data());
    if constexpr (std::is_same_v<Real<D>, float>)
      if (rounding) {
        float* const parts = reinterpret_cast<float*>(copy.data());
        for (std::size_t i = 0; i < copy.size() * sizeof(D) / sizeof(float); ++i) parts[i] = rounding(parts[i]);
      }
    at = copy.data();
    ld = narrow(std::max<std::int64_t>(1, rows));
  }
};

struct Shape {
  std::int64_t rows_a, columns_a, rows_b, columns_b;
  explicit Shape(const Product& p)
      : rows_a(is_transposed(p.transa) ? p.k : p.m),
        columns_a(is_transposed(p.transa) ? p.m : p.k),
        rows_b(is_transposed(p.transb) ? p.n : p.k),
        columns_b(is_transposed(p.transb) ? p.k : p.n) {}
};

// True: the product is one of tensor cores, and C is done.
template <class D>
bool multiplied_on_tensor_cores(LibraryRun& run, const Product& p, const Factors& f, const Dense<D>& a,
                                const Dense<D>& b, void* c) {
  if constexpr (std::is_same_v<D, float>) {
    const auto factors = tensor_core_factors(p);
    std::vector<float> sums(static_cast<std::size_t>(p.m * p.n)), before;
    if (!factors || !multiply_on_tensor_cores(run, p, *factors, {a.at, a.ld}, {b.at, b.ld}, sums.data())) return false;
    const float alpha = converted<float>(f.alpha), beta = converted<float>(f.beta);
    if (beta != 0) {
      before.resize(sums.size());
      load(p.c.type, c, p.c.ld, p.m, p.n, before.data());
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = beta != 0 ? std::fma(alpha, sums[i], beta * before[i]) : alpha * sums[i];
    store(p.c.type, c, p.c.ld, p.m, p.n, sums.data());
    return true;
  }
  return false;
}

template <class D>
void multiply_one(LibraryRun& run, const Product& p, const Factors& f, const void* a, const void* b, void* c) {
  const Shape shape(p);
  const Dense<D> da(p.a, a, shape.rows_a, shape.columns_a, rounding_of(p));
  const Dense<D> db(p.b, b, shape.rows_b, shape.columns_b, rounding_of(p));
  if (multiplied_on_tensor_cores(run, p, f, da, db, c)) return;
  const D alpha = converted<D>(f.alpha);
  const D beta = converted<D>(f.beta);
  const auto gemm = [&](D* to, std::int64_t ld) {
    WG_BLAS(D, gemm)
    (CblasColMajor, operation_of(p.transa), operation_of(p.transb), narrow(p.m), narrow(p.n), narrow(p.k), by(alpha),
     da.at, da.ld, db.at, db.ld, by(beta), to, narrow(ld));
  };
  if (p.c.type == kTypeOf<D>) return gemm(static_cast<D*>(c), p.c.ld);
  std::vector<D> sums(static_cast<std::size_t>(p.m * p.n));
  if (beta != D{}) load(p.c.type, c, p.c.ld, p.m, p.n, sums.data());
  gemm(sums.data(), std::max<std::int64_t>(1, p.m));
  store(p.c.type, c, p.c.ld, p.m, p.n, sums.data());
}

bool reads(LibraryRun& run, const char* name, const BatchOperand& o, const void* at, std::int64_t rows,
           std::int64_t columns) {
  return run.reads(name, at, static_cast<std::size_t>(matrix_elements(rows, columns, o.ld)) * element_bytes(o.type));
}

}  // namespace

void multiply_matrices(LibraryRun& run, const Product& p, const Factors& f, const void* a, const void* b, void* c) {
  switch (p.compute) {
    // Sums of products of 8-bit integers are exact in double.
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return multiply_one<double>(run, p, f, a, b, c);
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return p.a.type == CUDA_C_64F ? multiply_one<DoubleComplex>(run, p, f, a, b, c)
                                    : multiply_one<double>(run, p, f, a, b, c);
    default:
      return p.c.type == CUDA_C_32F ? multiply_one<Complex>(run, p, f, a, b, c)
                                    : multiply_one<float>(run, p, f, a, b, c);
  }
}

const void* matrix_of(const BatchOperand& o, std::int64_t i) {
  if (o.addresses) return o.addresses[i];
  return static_cast<const char*>(o.at) + i * o.stride * static_cast<std::int64_t>(element_bytes(o.type));
}

LibraryWork work_of(const Product& p) {
  LibraryWork work;
  work.family = LibraryFamily::matrix_product;
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k),
               batch = static_cast<double>(p.batch);
  const bool complex = p.c.type == CUDA_C_32F || p.c.type == CUDA_C_64F;
  work.operations = (complex ? 8 : 2) * m * n * k * batch;
  const auto bytes = [](cudaDataType type) { return static_cast<double>(element_bytes(type)); };
  work.bytes = batch * (m * k * bytes(p.a.type) + k * n * bytes(p.b.type) + m * n * bytes(p.c.type));
  work.depth = k;
  switch (p.compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      work.arithmetic = LibraryArithmetic::fp64;
      break;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      work.arithmetic = LibraryArithmetic::int8;
      break;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      work.arithmetic = LibraryArithmetic::tf32;
      break;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      work.arithmetic = LibraryArithmetic::fp16;
      break;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      work.arithmetic = LibraryArithmetic::bf16;
      break;
    default:
      work.arithmetic = p.a.type == CUDA_R_16F    ? LibraryArithmetic::fp16
                        : p.a.type == CUDA_R_16BF ? LibraryArithmetic::bf16
                        : p.a.type == CUDA_R_8I   ? LibraryArithmetic::int8
                                                  : LibraryArithmetic::fp32;
  }
  return work;
}

std::string arguments_of(const Product& p) {
  std::string out = fmt::format("{} x {} x {}", p.m, p.n, p.k);
  if (p.batch != 1) out += fmt::format(", {} times", p.batch);
  return out;
}

cublasStatus_t check(const Product& p) {
  const Shape shape(p);
  WG_REQUIRE(is_operation(p.transa) && is_operation(p.transb) && p.m >= 0 && p.n >= 0 && p.k >= 0 && p.batch >= 0);
  WG_REQUIRE(at_least(p.a.ld, shape.rows_a) && at_least(p.b.ld, shape.rows_b) && at_least(p.c.ld, p.m));
  WG_FITS(p.m, p.n, p.k, p.a.ld, p.b.ld, p.c.ld);
  return CUBLAS_STATUS_SUCCESS;
}

void multiply_now(LibraryRun& run, const Product& p, const Factors& f) {
  const Shape shape(p);
  const bool no_product = p.k == 0 || f.alpha == 0.0;  // then A and B are not read
  const auto addresses = static_cast<std::size_t>(p.batch) * sizeof(void*);
  const struct {
    const char* name;
    const BatchOperand* operand;
  } arrays[] = {{"Aarray", &p.a}, {"Barray", &p.b}, {"Carray", &p.c}};
  for (const auto& array : arrays)
    if (array.operand->addresses && !run.reads(array.name, array.operand->addresses, addresses)) return;
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const void *a = matrix_of(p.a, i), *b = matrix_of(p.b, i);
    void* const c = const_cast<void*>(matrix_of(p.c, i));
    if (!no_product && (!reads(run, "A", p.a, a, shape.rows_a, shape.columns_a) ||
                        !reads(run, "B", p.b, b, shape.rows_b, shape.columns_b)))
      return;
    if (!run.writes("C", c, static_cast<std::size_t>(matrix_elements(p.m, p.n, p.c.ld)) * element_bytes(p.c.type)))
      return;
    Product one = p;
    if (no_product) one.k = 0;
    multiply_matrices(run, one, f, a, b, c);
  }
}

}  // namespace warpgrind::libraries::blas
