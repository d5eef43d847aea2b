// A call of cuBLAS in a program compiled without -lcublas.
#include <cublas_v2.h>

int main() {
  cublasHandle_t handle;
  return cublasCreate(&handle);
}
