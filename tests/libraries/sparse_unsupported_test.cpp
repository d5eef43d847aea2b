// Functions of cuSPARSE that are not carried out are there, and say so by their status.
#include <cusparse.h>

#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/sparse/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(SparseUnsupported, EachSaysSo) {
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/sparse/unsupported.inc"
      },
      CUSPARSE_STATUS_NOT_SUPPORTED);
#undef WG_UNSUPPORTED_CALL
}
