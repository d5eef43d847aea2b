// The 200 sets of parameters for curandMakeMTGP32Constants and curandMakeMTGP32KernelState.
#ifndef CURAND_MTGP32DC_P_11213_H
#define CURAND_MTGP32DC_P_11213_H

#include "curand_mtgp32.h"

#if __cplusplus >= 201703L
#define WG_MTGP32_ONCE inline
#else
#define WG_MTGP32_ONCE static
#endif

WG_MTGP32_ONCE const int mtgpdc_params_11213_num = CURAND_NUM_MTGP32_PARAMS;

// A table is the span of four rows.
#define WG_SPAN_2(x, a) (x), (x) ^ (a)
#define WG_SPAN_4(x, a, b) WG_SPAN_2(x, a), WG_SPAN_2((x) ^ (b), a)
#define WG_SPAN_8(x, a, b, c) WG_SPAN_4(x, a, b), WG_SPAN_4((x) ^ (c), a, b)
#define WG_SPAN_16(x, a, b, c, d) \
  { WG_SPAN_8(x, a, b, c), WG_SPAN_8((x) ^ (d), a, b, c) }
#define WG_BYTES(x) (x) >> 24, (x) >> 16 & 255, (x) >> 8 & 255, (x)&255
#define WG_MTGP32_SET(position, shift1, shift2, a, b, c, d, e, f, g, h, s0, s1, s2, s3, s4) \
  {MTGPDC_MEXP,                                                                             \
   position,                                                                                \
   shift1,                                                                                  \
   shift2,                                                                                  \
   WG_SPAN_16(0u, a, b, c, d),                                                              \
   WG_SPAN_16(0u, e, f, g, h),                                                              \
   WG_SPAN_16(0x3f800000u, (e) >> 9, (f) >> 9, (g) >> 9, (h) >> 9),                         \
   0xfff80000u,                                                                             \
   {WG_BYTES(s0), WG_BYTES(s1), WG_BYTES(s2), WG_BYTES(s3), WG_BYTES(s4), 0}},
WG_MTGP32_ONCE mtgp32_params_fast_t mtgp32dc_params_fast_11213[] = {
#include "warpgrind/curand/mtgp32_11213.inc"
};
#undef WG_MTGP32_SET
#undef WG_BYTES
#undef WG_SPAN_16
#undef WG_SPAN_8
#undef WG_SPAN_4
#undef WG_SPAN_2
#undef WG_MTGP32_ONCE

#endif
