// Functions of cuFFT that are not carried out are there, and say so by their status.
#include <cufft.h>

#include "unsupported_test.h"

#define WG_UNSUPPORTED_CALL(name) extern "C" int name();
#include "libraries/fft/unsupported.inc"
#undef WG_UNSUPPORTED_CALL

TEST(FftUnsupported, EachSaysSo) {
#define WG_UNSUPPORTED_CALL(name) {#name, name},
  warpgrind::test::expect_refused(
      {
#include "libraries/fft/unsupported.inc"
      },
      CUFFT_NOT_SUPPORTED);
#undef WG_UNSUPPORTED_CALL
}
