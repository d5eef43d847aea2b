// Matrix products with the settings of a cublasHandle_t.
#include "libraries/blas/multiply.h"

namespace warpgrind::libraries::blas {

cublasStatus_t multiply(const char* name, cublasHandle_t handle, const Product& p, const void* alpha,
                        const void* beta) {
  WG_BEGIN_CALL(handle, name);
  const std::optional<cudaDataType> scale = scale_type(p);
  if (!scale) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (const cublasStatus_t status = check(p); status != CUBLAS_STATUS_SUCCESS) return status;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  Product product = p;
  if (product.compute == CUBLAS_COMPUTE_32F && caller.context().math == CUBLAS_TF32_TENSOR_OP_MATH &&
      (p.a.type == CUDA_R_32F || p.a.type == CUDA_C_32F))
    product.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  const Factor al(*scale, alpha, caller.scalars_on_device()), be(*scale, beta, caller.scalars_on_device());
  return caller.issue(arguments_of(p), work_of(product), [=](LibraryRun& run) {
    Factors f;
    if (al.get(run, "alpha", f.alpha) && be.get(run, "beta", f.beta)) multiply_now(run, product, f);
  });
}

}  // namespace warpgrind::libraries::blas
