// Every function of the table with all arguments null or zero: it returns an error or does nothing. The expectations
// are in null_arguments.txt; WARPGRIND_REWRITE=1 rewrites them.
#include "../null_arguments.h"
#include "api_test.h"

namespace warpgrind::runtime {

namespace {

// Zero, also for types with another default, such as dim3.
template <class T>
T null_of() {
  T null;
  std::memset(static_cast<void*>(&null), 0, sizeof null);
  return null;
}

template <class... Parameters>
std::string result_of(cudaError_t (*function)(Parameters...)) {
  const cudaError_t error = function(null_of<Parameters>()...);
  // Ends a capture that the call has begun.
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(reinterpret_cast<cudaStream_t>(2), &graph);
  cudaGetLastError();
  return cudaGetErrorName(error);
}
template <class Result, class... Parameters>
std::string result_of(Result (*function)(Parameters...)) {
  function(null_of<Parameters>()...);
  return "-";
}

}  // namespace

TEST(NullArguments, AreRefusedOrHarmless) {
  std::map<std::string, std::string> seen;
#define WG_FUNCTION(result, name, parameters, arguments) seen[#name] = result_of(&name);
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) \
  WG_FUNCTION(result, name, parameters, arguments)            \
  seen[#name "_ptds"] = result_of(&name##_ptds);
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) \
  WG_FUNCTION(result, name, parameters, arguments)            \
  seen[#name "_ptsz"] = result_of(&name##_ptsz);
#define WG_UNSUPPORTED(name, parameters) seen[#name] = result_of(&name);
#define WG_UNSUPPORTED_PTDS(name, parameters) WG_FUNCTION_PTDS(cudaError_t, name, parameters, ())
#define WG_UNSUPPORTED_PTSZ(name, parameters) WG_FUNCTION_PTSZ(cudaError_t, name, parameters, ())
#define WG_UNDECLARED(name) WG_UNSUPPORTED(name, ())
#include "warpgrind/runtime_functions.inc"
  expect_stored(seen, WARPGRIND_TESTS "/null_arguments.txt");
}

}  // namespace warpgrind::runtime
