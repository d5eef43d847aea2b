// Names of statuses, issue of work, and conversion of operations to OpenBLAS.
#include "libraries/products/operands.h"

namespace warpgrind::libraries::blas {

namespace {
struct StatusName {
  cublasStatus_t status;
  const char* name;
  const char* text;
};
// Texts of the documentation of cublasStatus_t.
constexpr StatusName kStatusNames[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used as an argument"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "an absent device architectural feature is required"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
     "an error was detected checking the current licensing"}};
}  // namespace

const char* name_of(cublasStatus_t status) {
  for (const StatusName& s : kStatusNames)
    if (s.status == status) return s.name;
  return "CUBLAS_STATUS_UNKNOWN";
}
const char* text_of(cublasStatus_t status) {
  for (const StatusName& s : kStatusNames)
    if (s.status == status) return s.text;
  return "unknown";
}

cublasStatus_t issue_work(const char* function, std::string arguments, const LibraryWork& work, cudaStream_t stream,
                          bool host_waits, std::function<void(LibraryRun&)> run) {
  if (const std::string& missing = openblas().missing; !missing.empty()) {
    warpgrind_library_missing(fmt::format("cuBLAS needs OpenBLAS on the host: {}", missing).c_str());
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const LibraryIssue issued =
      libraries::issue({function, std::move(arguments)}, "OpenBLAS", work, stream, host_waits, std::move(run));
  if (issued == LibraryIssue::done) return CUBLAS_STATUS_SUCCESS;
  return issued == LibraryIssue::not_captured ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_EXECUTION_FAILED;
}

CBLAS_TRANSPOSE operation_of(cublasOperation_t op) {
  switch (op) {
    case CUBLAS_OP_T:
      return CblasTrans;
    case CUBLAS_OP_C:
      return CblasConjTrans;
    case CUBLAS_OP_CONJG:
      return CblasConjNoTrans;
    default:
      return CblasNoTrans;
  }
}

}  // namespace warpgrind::libraries::blas
