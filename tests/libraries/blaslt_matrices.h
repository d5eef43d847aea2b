// Matrices of every type and memory order that cuBLASLt takes, as complex numbers to compare with.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>

#include "gpu/half.h"
#include "library_test.h"

namespace warpgrind::test {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUBLAS_STATUS_SUCCESS)

using Number = std::complex<double>;

inline std::size_t size_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 4;
  }
}
template <class T>
T& at(void* base, std::int64_t i) {
  return static_cast<T*>(base)[i];
}
inline std::uint16_t bf16(float f) {  // to nearest even
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float bf16(std::uint16_t b) {
  const std::uint32_t bits = static_cast<std::uint32_t>(b) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline void put(cudaDataType type, void* base, std::int64_t i, Number v) {
  switch (type) {
    case CUDA_R_8I:
      at<std::int8_t>(base, i) = static_cast<std::int8_t>(std::clamp(std::nearbyint(v.real()), -128.0, 127.0));
      break;
    case CUDA_R_32I:
      at<std::int32_t>(base, i) = static_cast<std::int32_t>(v.real());
      break;
    case CUDA_R_16F:
      at<std::uint16_t>(base, i) = float_to_half(static_cast<float>(v.real()));
      break;
    case CUDA_R_16BF:
      at<std::uint16_t>(base, i) = bf16(static_cast<float>(v.real()));
      break;
    case CUDA_R_64F:
      at<double>(base, i) = v.real();
      break;
    case CUDA_C_32F:
      at<Complex>(base, i) = Complex(v);
      break;
    case CUDA_C_64F:
      at<DoubleComplex>(base, i) = v;
      break;
    default:
      at<float>(base, i) = static_cast<float>(v.real());
  }
}
inline Number get(cudaDataType type, void* base, std::int64_t i) {
  switch (type) {
    case CUDA_R_8I:
      return at<std::int8_t>(base, i);
    case CUDA_R_32I:
      return at<std::int32_t>(base, i);
    case CUDA_R_16F:
      return half_to_float(at<std::uint16_t>(base, i));
    case CUDA_R_16BF:
      return bf16(at<std::uint16_t>(base, i));
    case CUDA_R_64F:
      return at<double>(base, i);
    case CUDA_C_32F:
      return Number(at<Complex>(base, i));
    case CUDA_C_64F:
      return at<DoubleComplex>(base, i);
    default:
      return at<float>(base, i);
  }
}

// A batch of matrices in memory, with gaps between columns (or rows) and matrices.
class Matrix {
 public:
  Matrix(cudaDataType type, cublasLtOrder_t order, int rows, int columns, int batch = 1, unsigned seed = 0)
      : rows(rows),
        columns(columns),
        batch(batch),
        type_(type),
        order_(order),
        ld_(leading()),
        stride_(ld_ * blocks() + 3),
        memory_(static_cast<std::size_t>(stride_ * batch) * size_of(type), 0x55) {
    EXPECT_EQ(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), ld_),
              CUBLAS_STATUS_SUCCESS);
    const std::int32_t as_order = order;
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, as_order);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride_);
    std::mt19937 random(seed);
    const bool complex = type == CUDA_C_32F || type == CUDA_C_64F;
    const double unit = type == CUDA_R_8I || type == CUDA_R_32I ? 1 : 0.5;
    const auto part = [&] { return unit * (static_cast<int>(random() % 9) - 4); };
    for (int b = 0; b < batch; ++b)
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
          const double real = part();
          write(b, i, j, {real, complex ? part() : 0.0});
        }
  }
  ~Matrix() { EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_SUCCESS); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, T value) const {
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  Number read(int b, int i, int j) const { return get(type_, memory_.data(), b * stride_ + offset(i, j)); }
  // op() of it.
  Number read(int b, int i, int j, cublasOperation_t op) const {
    if (op == CUBLAS_OP_N) return read(b, i, j);
    const Number v = read(b, j, i);
    return op == CUBLAS_OP_C ? std::conj(v) : v;
  }
  void write(int b, int i, int j, Number v) const { put(type_, memory_.data(), b * stride_ + offset(i, j), v); }
  unsigned char* data() const { return memory_.data(); }
  std::int64_t stride_bytes() const { return stride_ * static_cast<std::int64_t>(size_of(type_)); }
  cudaDataType type() const { return type_; }

  const int rows, columns, batch;
  cublasLtMatrixLayout_t layout = nullptr;

 private:
  std::int64_t leading() const {
    switch (order_) {
      case CUBLASLT_ORDER_COL:
        return rows + 2;
      case CUBLASLT_ORDER_ROW:
        return columns + 1;
      case CUBLASLT_ORDER_COL4_4R2_8C:
        return 32 * ((rows + 7) / 8 * 8);
      case CUBLASLT_ORDER_COL32_2R_4R4:
        return 32 * ((rows + 31) / 32 * 32);
      default:
        return 32 * rows;
    }
  }
  std::int64_t blocks() const {
    if (order_ == CUBLASLT_ORDER_COL) return columns;
    return order_ == CUBLASLT_ORDER_ROW ? rows : (columns + 31) / 32;
  }
  std::int64_t offset(std::int64_t i, std::int64_t j) const {
    switch (order_) {
      case CUBLASLT_ORDER_COL:
        return j * ld_ + i;
      case CUBLASLT_ORDER_ROW:
        return i * ld_ + j;
      case CUBLASLT_ORDER_COL32:
        return j / 32 * ld_ + i * 32 + j % 32;
      case CUBLASLT_ORDER_COL4_4R2_8C: {
        // In 32 columns x 8 rows: 4 columns of the even rows, the next 4; then the other columns; then the odd rows.
        std::int64_t place = 0;
        for (std::int64_t odd = 0; odd < 2; ++odd)
          for (std::int64_t column = 0; column < 32; column += 4)
            for (std::int64_t row = odd; row < 8; row += 2, place += 4)
              if (row == i % 8 && column == j % 32 / 4 * 4) return j / 32 * ld_ + i / 8 * 256 + place + j % 4;
        return -1;
      }
      default:
        return j / 32 * ld_ + i / 32 * 1024 + (((i % 32 % 8) / 2 * 4 + i % 32 / 8) * 2 + i % 2) * 32 + j % 32;
    }
  }
  cudaDataType type_;
  cublasLtOrder_t order_;
  std::int64_t ld_, stride_;
  Array<unsigned char> memory_;
};

// Types that go together.
struct Kind {
  cublasComputeType_t compute;
  cudaDataType scale, ab, cd;
  double tolerance;
  bool epilogues;
};
inline constexpr Kind kKinds[] = {{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 1e-5, true},
                                  {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 1e-5, true},
                                  {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 2e-3, true},
                                  {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, 1e-5, true},
                                  {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 1e-2, true},
                                  {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, 1e-5, true},
                                  {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, 2e-3, true},
                                  {CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, 0, true},
                                  {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 0, false},
                                  {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F, 1e-5, false},
                                  {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 1e-12, false},
                                  {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, 1e-5, false},
                                  {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, 1e-12, false}};
inline constexpr Kind kFloat = kKinds[0];

// One descriptor.
class Description {
 public:
  explicit Description(const Kind& kind) {
    EXPECT_EQ(cublasLtMatmulDescCreate(&handle, kind.compute, kind.scale), CUBLAS_STATUS_SUCCESS);
  }
  ~Description() { EXPECT_EQ(cublasLtMatmulDescDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) const {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(handle, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  cublasLtMatmulDesc_t handle = nullptr;
};

// alpha or beta of any type.
struct Scalar {
  Scalar(cudaDataType type, double value) { put(type, bytes, 0, value); }
  alignas(16) unsigned char bytes[16] = {};
};

class BlasLt : public testing::Test {
 protected:
  BlasLt() { EXPECT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  ~BlasLt() override { EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  cublasStatus_t multiply(const Description& d, const void* alpha, const Matrix& a, const Matrix& b, const void* beta,
                          const Matrix& c, const Matrix& out) const {
    return cublasLtMatmul(handle, d.handle, alpha, a.data(), a.layout, b.data(), b.layout, beta, c.data(), c.layout,
                          out.data(), out.layout, nullptr, nullptr, 0, nullptr);
  }
  cublasLtHandle_t handle = nullptr;
};

}  // namespace warpgrind::test
