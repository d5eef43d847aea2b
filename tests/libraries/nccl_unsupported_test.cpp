// Functions of NCCL that are not carried out are there, and say so by their status (ncclInvalidUsage).
#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/nccl/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(NcclUnsupported, EachSaysSo) {
  constexpr int kInvalidUsage = 5;
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/nccl/unsupported.inc"
      },
      kInvalidUsage);
#undef WG_UNSUPPORTED_CALL
}
