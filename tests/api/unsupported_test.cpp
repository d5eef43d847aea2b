// Functions that are unsupported by design: each returns that error for any arguments.
#include "api_test.h"

namespace warpgrind::runtime {

namespace {

template <class... Parameters>
cudaError_t call(cudaError_t (*function)(Parameters...)) {
  return function(Parameters{}...);
}

}  // namespace

TEST(Unsupported, SaySo) {
#define WG_FUNCTION(result, name, parameters, arguments)
#define WG_FUNCTION_PTDS WG_FUNCTION
#define WG_FUNCTION_PTSZ WG_FUNCTION
#define WG_UNDECLARED(name)                               \
  EXPECT_EQ(call(&name), cudaErrorNotSupported) << #name; \
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported) << #name;
#define WG_UNSUPPORTED(name, parameters) WG_UNDECLARED(name)
#define WG_UNSUPPORTED_PTDS(name, parameters) WG_UNDECLARED(name) WG_UNDECLARED(name##_ptds)
#define WG_UNSUPPORTED_PTSZ(name, parameters) WG_UNDECLARED(name) WG_UNDECLARED(name##_ptsz)
#include "warpgrind/runtime_functions.inc"
}

}  // namespace warpgrind::runtime
