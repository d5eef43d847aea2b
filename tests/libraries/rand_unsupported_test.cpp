// Functions of cuRAND that are not carried out are there, and say so by their status.
#include <curand.h>

#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/rand/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(RandUnsupported, EachSaysSo) {
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/rand/unsupported.inc"
      },
      CURAND_STATUS_TYPE_ERROR);
#undef WG_UNSUPPORTED_CALL
}
