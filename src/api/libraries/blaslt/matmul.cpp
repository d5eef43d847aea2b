// cublasLtMatmul: D = epilogue(alpha op(A) op(B) + beta C). cublasLtMatrixTransform: C = alpha op(A) + beta op(B).
#include <algorithm>

#include "libraries/blaslt/context.h"
#include "libraries/blaslt/factors.h"
#include "libraries/blaslt/plan.h"

namespace warpgrind::libraries::blaslt {
namespace {

struct Matrices {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
};

template <class T>
bool all_zero(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T v) { return v == T{}; });
}

// The product of one matrix of a batch.
template <class T>
class OneProduct {
 public:
  OneProduct(LibraryRun& run, const Plan& plan, const Matrices& m, std::int64_t i)
      : run_(run),
        plan_(plan),
        i_(i),
        a_(matrix_of(plan.a, m.a, i)),
        b_(matrix_of(plan.b, m.b, i)),
        c_(m.c ? matrix_of(plan.c, m.c, i) : nullptr),
        d_(matrix_of(plan.d, m.d, i)) {}

  bool compute(const std::vector<T>& alpha, const std::vector<T>& beta) {
    const auto rows = static_cast<std::size_t>(plan_.product.m);
    values_.assign(rows * static_cast<std::size_t>(plan_.product.n), T{});
    if (plan_.product.k > 0 && !all_zero(alpha) && !multiply()) return false;
    for (std::size_t p = 0; p < values_.size(); ++p) values_[p] *= alpha[p % rows];
    if (!all_zero(beta)) {
      if (!reads(run_, "C", plan_.c, c_)) return false;
      const std::vector<T> addend = gather<T>(plan_.c, c_);
      for (std::size_t p = 0; p < values_.size(); ++p)
        if (beta[p % rows] != T{}) values_[p] += beta[p % rows] * addend[p];
    }
    if (!finish()) return false;
    if (!writes(run_, "D", plan_.d, d_)) return false;
    scatter(plan_.d, values_, d_);
    return true;
  }

 private:
  bool multiply() {
    if (!reads(run_, "A", plan_.a, a_) || !reads(run_, "B", plan_.b, b_)) return false;
    blas::Product p = plan_.product;
    p.c = {kTypeOf<T>, nullptr, nullptr, std::max<std::int64_t>(1, p.m), 0};
    std::vector<T> dense_a, dense_b;
    const void* const a = dense(plan_.a, a_, p.a, dense_a);
    const void* const b = dense(plan_.b, b_, p.b, dense_b);
    blas::multiply_matrices(run_, p, {}, a, b, values_.data());
    return true;
  }
  // Converts a tiled matrix to column-major order.
  static const void* dense(const Layout& l, const void* at, blas::BatchOperand& operand, std::vector<T>& columns) {
    if (!is_tiled(l)) return at;
    columns = gather<T>(l, at);
    operand.type = kTypeOf<T>;
    operand.ld = std::max<std::int64_t>(1, rows_of(l));
    return columns.data();
  }
  bool finish() {
    if constexpr (!kIsComplex<T>) {
      const Epilogue& e = plan_.epilogue;
      if (e.has(CUBLASLT_EPILOGUE_BGRADA) || e.has(CUBLASLT_EPILOGUE_BGRADB)) return operand_gradient();
      return apply(run_, e, i_, values_);
    }
    return true;
  }
  bool operand_gradient() {
    const bool of_a = plan_.epilogue.has(CUBLASLT_EPILOGUE_BGRADA);
    const Layout& l = of_a ? plan_.a : plan_.b;
    const void* const at = of_a ? a_ : b_;
    if (!reads(run_, of_a ? "A" : "B", l, at)) return false;
    const bool transposed = (of_a ? plan_.desc.transa : plan_.desc.transb) != CUBLAS_OP_N;
    return store_bias_gradient(run_, plan_.epilogue, i_, gather<T>(l, at), rows_of(l), transposed == of_a);
  }

  LibraryRun& run_;
  const Plan& plan_;
  std::int64_t i_;
  const void *a_, *b_, *c_;
  void* d_;
  std::vector<T> values_;
};

template <class T>
void multiply_now(LibraryRun& run, const Plan& plan, const Matrices& m, const RowFactors& alpha,
                  const RowFactors& beta) {
  if (!reads_addresses(run, "A", plan.a, m.a) || !reads_addresses(run, "B", plan.b, m.b) ||
      (m.c && !reads_addresses(run, "C", plan.c, m.c)) || !reads_addresses(run, "D", plan.d, m.d))
    return;
  std::vector<T> alphas, betas;
  for (std::int64_t i = 0; i < plan.product.batch; ++i)
    if (!alpha.get(run, "alpha", plan.product.m, i, alphas) || !beta.get(run, "beta", plan.product.m, i, betas) ||
        !OneProduct<T>(run, plan, m, i).compute(alphas, betas))
      return;
}

// Computes in the precision of the accumulator.
void multiply_now(LibraryRun& run, const Plan& plan, const Matrices& m, const RowFactors& alpha,
                  const RowFactors& beta) {
  switch (plan.product.compute) {
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return multiply_now<double>(run, plan, m, alpha, beta);  // exact for sums of products of 8-bit integers
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return is_complex(plan.d.element()) ? multiply_now<DoubleComplex>(run, plan, m, alpha, beta)
                                          : multiply_now<double>(run, plan, m, alpha, beta);
    default:
      return is_complex(plan.d.element()) ? multiply_now<Complex>(run, plan, m, alpha, beta)
                                          : multiply_now<float>(run, plan, m, alpha, beta);
  }
}

RowFactors alpha_of(const MatmulDesc& d, const void* alpha) {
  const auto type = static_cast<cudaDataType>(d.scale);
  if (d.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR) return RowFactors::vector(type, alpha, d.alpha_stride);
  return RowFactors::one(type, alpha, d.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE);
}
RowFactors beta_of(const MatmulDesc& d, const void* beta) {
  const auto type = static_cast<cudaDataType>(d.scale);
  switch (d.pointer_mode) {
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
      return RowFactors::vector(type, beta, 0);
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
      return {};
    default:
      return RowFactors::one(type, beta, d.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE);
  }
}

// True if C must not be null: beta is known at the call and is not 0.
bool needs_c(const MatmulDesc& d, const void* beta) {
  if (d.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO) return false;
  if (d.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE || d.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
    return false;  // beta is known only when the stream reaches the work
  return read_factor(static_cast<cudaDataType>(d.scale), beta) != 0.0;
}

std::string arguments_of(const Plan& plan) {
  std::string out = blas::arguments_of(plan.product);
  if (plan.desc.epilogue != CUBLASLT_EPILOGUE_DEFAULT) out += fmt::format(", {}", name_of_epilogue(plan.desc.epilogue));
  return out;
}

// ---- Transformations
struct Transform {
  TransformDesc desc;
  Layout a, b, c;
  const void *at_a, *at_b;  // nullptr: no such operand
  void* at_c;
};

template <class T>
bool add_operand(LibraryRun& run, const Transform& t, const char* name, const Layout& l, const void* first, int op,
                 std::int64_t i, T factor, std::vector<T>& sums) {
  if (!first || factor == T{}) return true;
  const void* const at = matrix_of(l, first, i);
  if (!reads(run, name, l, at)) return false;
  const std::vector<T> values = gather<T>(l, at);
  const std::int64_t rows = rows_of(t.c);
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const auto row = static_cast<std::int64_t>(p) % rows, column = static_cast<std::int64_t>(p) / rows;
    T v = op == CUBLAS_OP_N ? values[p] : values[static_cast<std::size_t>(row * rows_of(l) + column)];
    if (op == CUBLAS_OP_C) v = conjugate(v);
    sums[p] += factor * v;
  }
  return true;
}

template <class T>
void transform_now(LibraryRun& run, const Transform& t, const RowFactors& alpha, const RowFactors& beta) {
  std::vector<T> a, b, sums;
  if (!alpha.get(run, "alpha", 1, 0, a) || !beta.get(run, "beta", 1, 0, b) ||
      (t.at_a && !reads_addresses(run, "A", t.a, t.at_a)) || (t.at_b && !reads_addresses(run, "B", t.b, t.at_b)) ||
      !reads_addresses(run, "C", t.c, t.at_c))
    return;
  for (std::int64_t i = 0; i < t.c.batch; ++i) {
    sums.assign(static_cast<std::size_t>(t.c.rows * t.c.columns), T{});
    void* const c = matrix_of(t.c, t.at_c, i);
    if (!add_operand(run, t, "A", t.a, t.at_a, t.desc.transa, i, a[0], sums) ||
        !add_operand(run, t, "B", t.b, t.at_b, t.desc.transb, i, b[0], sums) || !writes(run, "C", t.c, c))
      return;
    scatter(t.c, sums, c);
  }
}

// Computes in the precision of alpha and beta. 32-bit integers are exact in double.
void transform_now(LibraryRun& run, const Transform& t, const RowFactors& alpha, const RowFactors& beta) {
  switch (t.desc.scale) {
    case CUDA_C_32F:
      return transform_now<Complex>(run, t, alpha, beta);
    case CUDA_C_64F:
      return transform_now<DoubleComplex>(run, t, alpha, beta);
    case CUDA_R_64F:
    case CUDA_R_32I:
      return transform_now<double>(run, t, alpha, beta);
    default:
      return transform_now<float>(run, t, alpha, beta);
  }
}

cublasStatus_t check_operand(const Transform& t, const Layout& l, int op) {
  if (const cublasStatus_t wrong = check(l)) return wrong;
  WG_REQUIRE(op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C);
  WG_REQUIRE((op == CUBLAS_OP_N ? l.rows : l.columns) == t.c.rows &&
             (op == CUBLAS_OP_N ? l.columns : l.rows) == t.c.columns);
  WG_REQUIRE(l.batch == t.c.batch);
  return is_complex(l.element()) == is_complex(t.c.element()) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t check_transform(const Transform& t) {
  if (const cublasStatus_t wrong = check(t.c)) return wrong;
  const auto scale = static_cast<cudaDataType>(t.desc.scale);
  if (scale == CUDA_R_8I || element_bytes(scale) == 0 || is_complex(scale) != is_complex(t.c.element()))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (t.at_a)
    if (const cublasStatus_t wrong = check_operand(t, t.a, t.desc.transa)) return wrong;
  if (t.at_b)
    if (const cublasStatus_t wrong = check_operand(t, t.b, t.desc.transb)) return wrong;
  WG_REQUIRE(t.desc.pointer_mode >= CUBLASLT_POINTER_MODE_HOST &&
             t.desc.pointer_mode <= CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
  return t.desc.pointer_mode <= CUBLASLT_POINTER_MODE_DEVICE ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

LibraryWork work_of(const Transform& t) {
  const double elements = blas::real(rows_of(t.c)) * blas::real(columns_of(t.c)) * t.c.batch;
  LibraryWork work;
  work.family = LibraryFamily::dense;
  work.arithmetic = t.desc.scale == CUDA_R_64F ? LibraryArithmetic::fp64 : LibraryArithmetic::fp32;
  const auto bytes = [](const Layout& l) { return static_cast<double>(element_bytes(l.element())); };
  work.bytes = elements * (bytes(t.c) + (t.at_a ? bytes(t.a) : 0) + (t.at_b ? bytes(t.b) : 0));
  work.operations = elements * ((t.at_a ? 2 : 0) + (t.at_b ? 2 : 0));
  return work;
}

}  // namespace
}  // namespace warpgrind::libraries::blaslt

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blaslt;

extern "C" {

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* A,
                              cublasLtMatrixLayout_t a, const void* B, cublasLtMatrixLayout_t b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c, void* D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  Plan plan;
  if (const cublasStatus_t wrong = make_plan(desc, a, b, c, d, plan)) return wrong;
  if (algorithm)
    if (const cublasStatus_t wrong = check_algorithm(algorithm, plan)) return wrong;
  WG_REQUIRE(workspace || workspace_bytes == 0);
  if (plan.product.m == 0 || plan.product.n == 0 || plan.product.batch == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && A && B && D);
  WG_REQUIRE(beta || plan.desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO);
  WG_REQUIRE(C || !needs_c(plan.desc, beta));
  WG_REQUIRE(plan.epilogue.bias || !uses_bias(plan.epilogue.kind));
  WG_REQUIRE(plan.epilogue.aux || !uses_aux(plan.epilogue.kind));
  const RowFactors al = alpha_of(plan.desc, alpha), be = beta_of(plan.desc, beta);
  const Matrices matrices{A, B, C, D};
  return blas::issue_work("cublasLtMatmul", arguments_of(plan), blas::work_of(plan.product), stream, false,
                          [=](LibraryRun& run) { multiply_now(run, plan, matrices, al, be); });
}

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc, const void* alpha,
                                       const void* A, cublasLtMatrixLayout_t a, const void* beta, const void* B,
                                       cublasLtMatrixLayout_t b, void* C, cublasLtMatrixLayout_t c,
                                       cudaStream_t stream) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto* const transform = content<TransformDesc>(desc);
  const auto* const to = content<Layout>(c);
  const auto *const from_a = content<Layout>(a), *const from_b = content<Layout>(b);
  WG_REQUIRE(transform && to && C && (!A || (from_a && alpha)) && (!B || (from_b && beta)));
  const Transform t{*transform, A ? *from_a : Layout{}, B ? *from_b : Layout{}, *to, A, B, C};
  if (const cublasStatus_t wrong = check_transform(t)) return wrong;
  if (t.c.rows == 0 || t.c.columns == 0 || t.c.batch == 0) return CUBLAS_STATUS_SUCCESS;
  const auto factor = [&](const void* at, bool used) {
    return used ? RowFactors::one(static_cast<cudaDataType>(t.desc.scale), at,
                                  t.desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE)
                : RowFactors();
  };
  const RowFactors al = factor(alpha, A), be = factor(beta, B);
  return blas::issue_work("cublasLtMatrixTransform", fmt::format("{} x {}", t.c.rows, t.c.columns), work_of(t), stream,
                          false, [=](LibraryRun& run) { transform_now(run, t, al, be); });
}

}  // extern "C"
