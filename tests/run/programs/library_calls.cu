// A kernel between a product by cuBLAS and a transform by cuFFT.
#include <cublas_v2.h>
#include <cufft.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void twice(float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] *= 2;
}

int main() {
  constexpr int kN = 64, kSize = kN * kN;
  std::vector<float> ones(kSize, 1.0f), result(kSize);
  float *a, *c;
  cudaMalloc(&a, kSize * sizeof(float));
  cudaMalloc(&c, kSize * sizeof(float));
  cudaMemcpy(a, ones.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
  cublasHandle_t blas;
  const float one = 1, zero = 0;
  bool good = cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS;
  good &= cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, kN, kN, kN, &one, a, kN, a, kN, &zero, c, kN) ==
          CUBLAS_STATUS_SUCCESS;
  twice<<<kSize / 256, 256>>>(c, kSize);
  cufftHandle plan;
  good &= cufftPlan1d(&plan, 256, CUFFT_C2C, 1) == CUFFT_SUCCESS;
  auto* data = reinterpret_cast<cufftComplex*>(c);
  good &= cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_SUCCESS;
  cudaMemcpy(result.data(), c, kSize * sizeof(float), cudaMemcpyDeviceToHost);
  // 256 times (128 + 128 i) is transformed into a single element.
  good &= std::abs(result[0] - 128 * 256) < 1 && std::abs(result[1] - 128 * 256) < 1 && std::abs(result[2]) < 1;
  good &= result[512] == 128;
  cufftDestroy(plan);
  cublasDestroy(blas);
  std::puts(good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
