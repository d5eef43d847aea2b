// Functions of cuBLASLt that are not carried out are there, and say so by their status.
#include <cublas_v2.h>

#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/blaslt/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(BlasLtUnsupported, EachSaysSo) {
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/blaslt/unsupported.inc"
      },
      CUBLAS_STATUS_NOT_SUPPORTED);
#undef WG_UNSUPPORTED_CALL
}
