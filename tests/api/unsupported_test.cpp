// Functions that are unsupported by design: each says so, whatever it is given.
#include "api_test.h"

namespace warpgrind::cudart {

TEST(Unsupported, SaySo) {
#define WG_FUNCTION(result, name, parameters, arguments)
#define WG_FUNCTION_PTDS(result, name, parameters, arguments)
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments)
#define WG_UNSUPPORTED(name)                         \
  EXPECT_EQ(name(), cudaErrorNotSupported) << #name; \
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported) << #name;
#include "cudart/api.inc"
#undef WG_FUNCTION
#undef WG_FUNCTION_PTDS
#undef WG_FUNCTION_PTSZ
#undef WG_UNSUPPORTED
}

// There is no driver API behind this library (yet).
TEST(Unsupported, DriverEntryPoints) {
  void* function = &function;
  int status = 0;
  FAILS(cudaErrorNotSupported, cudaGetDriverEntryPoint("cuInit", &function, 0, &status));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);  // cudaDriverEntryPointSymbolNotFound
  FAILS(cudaErrorNotSupported, cudaGetDriverEntryPoint_ptsz("cuInit", &function, 0, &status));
  FAILS(cudaErrorNotSupported, cudaGetDriverEntryPointByVersion("cuInit", &function, 13000, 0, &status));
  FAILS(cudaErrorNotSupported, cudaGetDriverEntryPointByVersion_ptsz("cuInit", &function, 13000, 0, &status));
}

}  // namespace warpgrind::cudart
