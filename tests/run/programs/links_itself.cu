// Calls of libraries whose headers are included, as programs of a course have them.
#include <cublas_v2.h>
#include <cuda.h>
#include <omp.h>

#include <cstdio>

int main() {
  cublasHandle_t handle = nullptr;
  const bool made = cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS && cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS;
  int version = 0, threads = 0;
  const bool known = cuDriverGetVersion(&version) == CUDA_SUCCESS && version > 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += omp_get_num_threads();
  std::printf("cuBLAS %d, driver %d, threads %d\n", made, known, threads);
}
