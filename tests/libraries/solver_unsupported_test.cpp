// Functions of cuSOLVER that are not carried out are there, and say so by their status.
#include <cusolver_common.h>

#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/solver/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(SolverUnsupported, EachSaysSo) {
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/solver/unsupported.inc"
      },
      CUSOLVER_STATUS_NOT_SUPPORTED);
#undef WG_UNSUPPORTED_CALL
}
