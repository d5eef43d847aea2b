// cuBLASLt: products of every type, operation, order and epilogue, against the formulas written out here.
#include <cstring>

#include "blaslt_matrices.h"

namespace warpgrind::test {
namespace {

constexpr int kM = 5, kN = 4, kK = 6;
constexpr cublasLtOrder_t kOrders[] = {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW};
constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

Number product(const Matrix& a, cublasOperation_t ta, const Matrix& b, cublasOperation_t tb, int batch, int i, int j,
               int k = kK) {
  Number sum = 0;
  for (int p = 0; p < k; ++p) sum += a.read(batch, i, p, ta) * b.read(batch, p, j, tb);
  return sum;
}
// As the type of D keeps it.
Number kept(const Kind& kind, Number v) {
  alignas(16) unsigned char bytes[16];
  put(kind.cd, bytes, 0, v);
  return get(kind.cd, bytes, 0);
}
void expect_close(const Kind& kind, Number expected, Number got, const std::string& what) {
  ASSERT_LE(std::abs(kept(kind, expected) - got), kind.tolerance * (1 + std::abs(expected))) << what;
}

class BlasLtProducts : public BlasLt, public testing::WithParamInterface<Kind> {};
INSTANTIATE_TEST_SUITE_P(Types, BlasLtProducts, testing::ValuesIn(kKinds));
class BlasLtEpilogues : public BlasLtProducts {};
INSTANTIATE_TEST_SUITE_P(Types, BlasLtEpilogues, testing::ValuesIn(kKinds));

TEST_P(BlasLtProducts, EveryOperationAndOrder) {
  const Kind& kind = GetParam();
  const bool integers = kind.scale == CUDA_R_32I;
  const double alpha = integers ? 3 : 0.5, beta = integers ? -2 : 2;
  const Scalar al(kind.scale, alpha), be(kind.scale, beta);
  for (const cublasOperation_t ta : kOperations)
    for (const cublasOperation_t tb : kOperations)
      for (const cublasLtOrder_t oa : kOrders)
        for (const cublasLtOrder_t ob : kOrders)
          for (const cublasLtOrder_t od : kOrders) {
            const bool na = ta == CUBLAS_OP_N, nb = tb == CUBLAS_OP_N;
            const Matrix a(kind.ab, oa, na ? kM : kK, na ? kK : kM, 2, 1),
                b(kind.ab, ob, nb ? kK : kN, nb ? kN : kK, 2, 2);
            const Matrix c(kind.cd, kOrders[0], kM, kN, 2, 3), d(kind.cd, od, kM, kN, 2, 4);
            const Description desc(kind);
            desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, ta);
            desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, tb);
            DONE(multiply(desc, al.bytes, a, b, be.bytes, c, d));
            ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
            for (int n = 0; n < 2; ++n)
              for (int j = 0; j < kN; ++j)
                for (int i = 0; i < kM; ++i)
                  expect_close(kind, alpha * product(a, ta, b, tb, n, i, j) + beta * c.read(n, i, j), d.read(n, i, j),
                               "matrix " + std::to_string(n));
          }
}

// Without beta C is not read, and may be none at all.
TEST_P(BlasLtProducts, WithoutC) {
  const Kind& kind = GetParam();
  const Matrix a(kind.ab, CUBLASLT_ORDER_COL, kM, kK, 1, 1), b(kind.ab, CUBLASLT_ORDER_COL, kK, kN, 1, 2);
  const Matrix d(kind.cd, CUBLASLT_ORDER_COL, kM, kN, 1, 3);
  const Description desc(kind);
  const Scalar one(kind.scale, 1), zero(kind.scale, 0);
  std::memset(d.data(), 0xff, static_cast<std::size_t>(d.stride_bytes()));  // NaN
  DONE(cublasLtMatmul(handle, desc.handle, one.bytes, a.data(), a.layout, b.data(), b.layout, zero.bytes, nullptr,
                      d.layout, d.data(), d.layout, nullptr, nullptr, 0, nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kM; ++i)
      expect_close(kind, product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, 0, i, j), d.read(0, i, j), "");
  EXPECT_EQ(cublasLtMatmul(handle, desc.handle, one.bytes, a.data(), a.layout, b.data(), b.layout, one.bytes, nullptr,
                           d.layout, d.data(), d.layout, nullptr, nullptr, 0, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
}

double gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {  // by a difference
  return (gelu(x + 1e-6) - gelu(x - 1e-6)) / 2e-6;
}

TEST_P(BlasLtEpilogues, Forward) {
  const Kind& kind = GetParam();
  if (!kind.epilogues) return;
  const cudaDataType bias_type = kind.cd == CUDA_R_8I ? CUDA_R_32F : kind.cd;
  const Scalar one(kind.scale, 1), zero(kind.scale, 0);
  struct Case {
    cublasLtEpilogue_t kind;
    bool bias, relu, gelu, aux;
  };
  for (const Case& e : {Case{CUBLASLT_EPILOGUE_DEFAULT, false, false, false, false},
                        Case{CUBLASLT_EPILOGUE_RELU, false, true, false, false},
                        Case{CUBLASLT_EPILOGUE_RELU_AUX, false, true, false, true},
                        Case{CUBLASLT_EPILOGUE_BIAS, true, false, false, false},
                        Case{CUBLASLT_EPILOGUE_RELU_BIAS, true, true, false, false},
                        Case{CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, true, false, true},
                        Case{CUBLASLT_EPILOGUE_GELU, false, false, true, false},
                        Case{CUBLASLT_EPILOGUE_GELU_AUX, false, false, true, true},
                        Case{CUBLASLT_EPILOGUE_GELU_BIAS, true, false, true, false},
                        Case{CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, false, true, true}})
    for (const cublasLtOrder_t order : kOrders) {
      const Matrix a(kind.ab, CUBLASLT_ORDER_COL, kM, kK, 2, 5), b(kind.ab, CUBLASLT_ORDER_ROW, kK, kN, 2, 6);
      const Matrix d(kind.cd, order, kM, kN, 2, 7), bias(bias_type, CUBLASLT_ORDER_COL, kM, 2, 1, 8);
      constexpr std::int64_t kBits = 128, kAuxLd = 8;
      const std::int64_t aux_ld = e.relu ? kBits : kAuxLd;
      const Array<unsigned char> aux(static_cast<std::size_t>(2 * kBits * kN * 4), 0x55);
      const Description desc(kind);
      desc.set<std::uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, e.kind);
      if (e.bias) {
        desc.set<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.data());
        desc.set<std::int64_t>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, kM + 2);
      }
      if (e.aux) {
        desc.set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.data());
        desc.set<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_ld);
        desc.set<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_ld * kN);
      }
      DONE(multiply(desc, one.bytes, a, b, zero.bytes, d, d)) << e.kind;
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      for (int n = 0; n < 2; ++n)
        for (int j = 0; j < kN; ++j)
          for (int i = 0; i < kM; ++i) {
            double x = product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, n, i, j).real();
            if (e.bias) x += bias.read(0, i, n).real();
            const double y = e.relu ? std::max(x, 0.0) : e.gelu ? gelu(x) : x;
            expect_close(kind, y, d.read(n, i, j), "epilogue " + std::to_string(e.kind));
            const std::int64_t place = (n * kN + j) * aux_ld + i;
            if (e.aux && e.relu) {
              ASSERT_EQ(aux[static_cast<std::size_t>(place / 8)] >> (place % 8) & 1, x > 0) << i << " " << j;
            }
            if (e.aux && e.gelu) expect_close(kind, x, get(kind.cd, aux.data(), place), "aux");
          }
    }
}

TEST_P(BlasLtEpilogues, Gradients) {
  const Kind& kind = GetParam();
  if (!kind.epilogues) return;
  const cudaDataType bias_type = kind.cd == CUDA_R_8I ? CUDA_R_32F : kind.cd;
  const Scalar one(kind.scale, 1), zero(kind.scale, 0);
  for (const cublasLtEpilogue_t e : {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU,
                                     CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB})
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      const bool relu = (e & 8) != 0, plain = (e & 128) == 0;
      const Matrix a(kind.ab, CUBLASLT_ORDER_COL, op == CUBLAS_OP_N ? kM : kK, op == CUBLAS_OP_N ? kK : kM, 1, 9);
      const Matrix b(kind.ab, CUBLASLT_ORDER_COL, op == CUBLAS_OP_N ? kK : kN, op == CUBLAS_OP_N ? kN : kK, 1, 10);
      const Matrix d(kind.cd, CUBLASLT_ORDER_COL, kM, kN, 1, 11), gradient(bias_type, CUBLASLT_ORDER_COL, kM, 1, 1, 12);
      const std::int64_t aux_ld = relu ? 128 : 8;
      const Array<unsigned char> aux(static_cast<std::size_t>(128 * kN), 0x2d);
      if (!relu)
        for (int i = 0; i < 8 * kN; ++i) put(kind.cd, aux.data(), i, (i % 7 - 3) * 0.5);
      const Description desc(kind);
      desc.set<std::uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, e);
      desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, op);
      desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, op);
      desc.set<void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient.data());
      desc.set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.data());
      desc.set<std::int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_ld);
      DONE(multiply(desc, one.bytes, a, b, zero.bytes, d, d)) << e;
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::vector<double> rows(kM), rows_of_a(kM), columns_of_b(kN);
      for (int j = 0; j < kN; ++j)
        for (int i = 0; i < kM; ++i) {
          double x = product(a, op, b, op, 0, i, j).real();
          const std::int64_t place = j * aux_ld + i;
          if (relu && !(aux[static_cast<std::size_t>(place / 8)] >> (place % 8) & 1)) x = 0;
          if (!relu && !plain) x *= gelu_slope(get(kind.cd, aux.data(), place).real());
          expect_close(kind, x, d.read(0, i, j), "epilogue " + std::to_string(e));
          rows[static_cast<std::size_t>(i)] += x;
        }
      for (int p = 0; p < kK; ++p) {
        for (int i = 0; i < kM; ++i) rows_of_a[static_cast<std::size_t>(i)] += a.read(0, i, p, op).real();
        for (int j = 0; j < kN; ++j) columns_of_b[static_cast<std::size_t>(j)] += b.read(0, p, j, op).real();
      }
      const Kind of_gradient{kind.compute, kind.scale, kind.ab, bias_type, std::max(kind.tolerance, 1e-5) * 4, true};
      const bool given = e & 16 || plain;
      const std::vector<double>& expected = e == CUBLASLT_EPILOGUE_BGRADA   ? rows_of_a
                                            : e == CUBLASLT_EPILOGUE_BGRADB ? columns_of_b
                                                                            : rows;
      for (std::size_t i = 0; given && i < expected.size(); ++i)
        expect_close(of_gradient, expected[i], gradient.read(0, static_cast<int>(i), 0),
                     "gradient " + std::to_string(e));
    }
}

TEST_F(BlasLt, PointerModes) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kK, 2, 1), b(CUDA_R_32F, CUBLASLT_ORDER_COL, kK, kN, 2, 2);
  const Matrix c(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kN, 2, 3), d(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kN, 2, 4);
  const Array<float> alphas(2 * kM), betas(kM);
  fill(alphas, 5);
  fill(betas, 6);
  const float host = 3;
  for (int mode = CUBLASLT_POINTER_MODE_HOST; mode <= CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST; ++mode) {
    const bool vectors = mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    const bool host_beta =
        mode == CUBLASLT_POINTER_MODE_HOST || mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
    const std::int64_t stride = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST ? kM : 0;
    const Description desc(kFloat);
    desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
    desc.set<std::int64_t>(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, stride);
    const float* alpha = mode == CUBLASLT_POINTER_MODE_HOST ? &host : alphas.data();
    const float* beta = host_beta                                                     ? &host
                        : mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ? nullptr
                                                                                      : betas.data();
    DONE(multiply(desc, alpha, a, b, beta, c, d)) << mode;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int n = 0; n < 2; ++n)
      for (int j = 0; j < kN; ++j)
        for (int i = 0; i < kM; ++i) {
          const float x = alpha[vectors ? n * stride + i : 0];
          const float y = beta ? beta[mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? i : 0] : 0;
          expect_close(kFloat,
                       double{x} * product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, n, i, j) + double{y} * c.read(n, i, j),
                       d.read(n, i, j), "mode " + std::to_string(mode));
        }
  }
}

TEST_F(BlasLt, BatchesByAddress) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kK, 2, 1), b(CUDA_R_32F, CUBLASLT_ORDER_COL, kK, kN, 2, 2);
  const Matrix d(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kN, 2, 3);
  const Array<void*> as(2), bs(2), ds(2);
  for (std::size_t n = 0; n < 2; ++n) {  // in reverse
    as[n] = a.data() + (1 - n) * static_cast<std::size_t>(a.stride_bytes());
    bs[n] = b.data() + (1 - n) * static_cast<std::size_t>(b.stride_bytes());
    ds[n] = d.data() + (1 - n) * static_cast<std::size_t>(d.stride_bytes());
  }
  for (const Matrix* m : {&a, &b, &d})
    m->set<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, CUBLASLT_BATCH_MODE_POINTER_ARRAY);
  const Description desc(kFloat);
  const float one = 1, zero = 0;
  DONE(cublasLtMatmul(handle, desc.handle, &one, as.data(), a.layout, bs.data(), b.layout, &zero, ds.data(), d.layout,
                      ds.data(), d.layout, nullptr, nullptr, 0, nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int n = 0; n < 2; ++n)
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kM; ++i)
        expect_close(kFloat, product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, n, i, j), d.read(n, i, j), "");
}

// From every order and type to every other, and A B of tensor cores' tiles.
TEST_F(BlasLt, Transformations) {
  constexpr int kRows = 37, kColumns = 45;
  constexpr cublasLtOrder_t kAll[] = {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW, CUBLASLT_ORDER_COL32,
                                      CUBLASLT_ORDER_COL4_4R2_8C, CUBLASLT_ORDER_COL32_2R_4R4};
  cublasLtMatrixTransformDesc_t desc = nullptr;
  DONE(cublasLtMatrixTransformDescCreate(&desc, CUDA_R_32F));
  const float alpha = 2, beta = -1;
  for (const cublasLtOrder_t from : kAll)
    for (const cublasLtOrder_t to : kAll)
      for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        const std::int32_t as_int = op;
        DONE(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &as_int, 4));
        const bool plain = op == CUBLAS_OP_N;
        const Matrix a(CUDA_R_8I, from, plain ? kRows : kColumns, plain ? kColumns : kRows, 2, 1);
        const Matrix b(CUDA_R_32F, CUBLASLT_ORDER_COL, kRows, kColumns, 2, 2), c(CUDA_R_32I, to, kRows, kColumns, 2, 3);
        DONE(cublasLtMatrixTransform(handle, desc, &alpha, a.data(), a.layout, &beta, nullptr, nullptr, c.data(),
                                     c.layout, nullptr));
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        for (int n = 0; n < 2; ++n)
          for (int j = 0; j < kColumns; ++j)
            for (int i = 0; i < kRows; ++i)
              ASSERT_EQ(c.read(n, i, j), 2.0 * a.read(n, i, j, op)) << from << " to " << to << ": " << i << ", " << j;
        const Matrix sum(CUDA_R_32F, to, kRows, kColumns, 2, 4);
        DONE(cublasLtMatrixTransform(handle, desc, &alpha, a.data(), a.layout, &beta, b.data(), b.layout, sum.data(),
                                     sum.layout, nullptr));
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        ASSERT_EQ(sum.read(1, 36, 44), 2.0 * a.read(1, 36, 44, op) - b.read(1, 36, 44));
      }
  DONE(cublasLtMatrixTransformDescDestroy(desc));
}

TEST_F(BlasLt, ProductsOfTiles) {
  const Kind kind{CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 0, false};
  const Matrix a(CUDA_R_8I, CUBLASLT_ORDER_COL32, 40, 33, 1, 1), d(CUDA_R_32I, CUBLASLT_ORDER_COL32, 40, 20, 1, 3);
  for (const cublasLtOrder_t order : {CUBLASLT_ORDER_COL4_4R2_8C, CUBLASLT_ORDER_COL32_2R_4R4}) {
    const Matrix b(CUDA_R_8I, order, 20, 33, 1, 2);
    const Description desc(kind);
    desc.set<std::int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
    const std::int32_t one = 1, zero = 0;
    DONE(multiply(desc, &one, a, b, &zero, d, d));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int j = 0; j < 20; ++j)
      for (int i = 0; i < 40; ++i) ASSERT_EQ(d.read(0, i, j), product(a, CUBLAS_OP_N, b, CUBLAS_OP_T, 0, i, j, 33));
  }
}

// A handle of cuBLAS contains one of cuBLASLt.
TEST_F(BlasLt, HandlesOfCublas) {
  cublasHandle_t blas = nullptr;
  DONE(cublasCreate(&blas));
  const auto light = reinterpret_cast<cublasLtHandle_t>(blas);
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kM, 1, 1), d(CUDA_R_32F, CUBLASLT_ORDER_COL, kM, kM, 1, 2);
  const Description desc(kFloat);
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    return cublasLtMatmul(light, desc.handle, &one, a.data(), a.layout, a.data(), a.layout, &zero, d.data(), d.layout,
                          d.data(), d.layout, nullptr, nullptr, 0, nullptr);
  };
  DONE(multiply());
  EXPECT_EQ(cublasLtDestroy(light), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasDestroy(reinterpret_cast<cublasHandle_t>(handle)), CUBLAS_STATUS_NOT_INITIALIZED);
  DONE(cublasDestroy(blas));
  EXPECT_EQ(multiply(), CUBLAS_STATUS_NOT_INITIALIZED);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(BlasLt, CapturedCallsRunAtEachLaunch) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 1, 1, 1, 1), d(CUDA_R_32F, CUBLASLT_ORDER_COL, 1, 1, 1, 2);
  a.write(0, 0, 0, 2);
  d.write(0, 0, 0, 0);
  const Description desc(kFloat);
  const float one = 1;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  DONE(cublasLtMatmul(handle, desc.handle, &one, a.data(), a.layout, a.data(), a.layout, &one, d.data(), d.layout,
                      d.data(), d.layout, nullptr, nullptr, 0, stream));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(d.read(0, 0, 0), 0.0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(d.read(0, 0, 0), 12.0);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace warpgrind::test
