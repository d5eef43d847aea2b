// Error functions of the runtime API.
#include "runtime/call.h"

namespace warpgrind::runtime {

extern "C" {

WG_API const char* cudaGetErrorName(cudaError_t error) {
  return error_name(error);
}

WG_API const char* cudaGetErrorString(cudaError_t error) {
  return error_text(error);
}

WG_API cudaError_t cudaPeekAtLastError() {
  mark_errors_checked();
  return thread_state().last_error;
}

// Clears the thread's last error, unless it is the context's sticky error, which remains.
WG_API cudaError_t cudaGetLastError() {
  mark_errors_checked();
  ThreadState& thread = thread_state();
  cudaError_t error = thread.last_error;
  if (error == cudaSuccess || error != context(thread.device).sticky) thread.last_error = cudaSuccess;
  if (error != cudaSuccess && error == context(thread.device).refused_launch) forget_refused_launch(thread.device);
  return error;
}

}  // extern "C"

}  // namespace warpgrind::runtime
