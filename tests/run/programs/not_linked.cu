// Calls cuBLAS, and is compiled without -lcublas.
#include <cublas_v2.h>

int main() {
  cublasHandle_t handle;
  return cublasCreate(&handle);
}
