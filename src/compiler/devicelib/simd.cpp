// SIMD operations within a register of two halfwords or four bytes. Each function applies one operation to every part.
#include "devicelib/libdevice.h"

// The part of n bits at `place`, signed or unsigned.
template <int n>
WG_INLINE int signed_part(uint32 x, int place) {
  return static_cast<int>(x << (32 - n - place)) >> (32 - n);
}
template <int n>
WG_INLINE int unsigned_part(uint32 x, int place) {
  return static_cast<int>(x >> place & ((1u << n) - 1));
}
template <int n>
WG_INLINE int saturate_signed(int x) {
  return least(greatest(x, -(1 << (n - 1))), (1 << (n - 1)) - 1);
}
template <int n>
WG_INLINE int saturate_unsigned(int x) {
  return least(greatest(x, 0), (1 << n) - 1);
}
WG_INLINE int absolute(int x) {
  return x < 0 ? -x : x;
}

#define PARTS(name, n, part, value)                                      \
  {                                                                      \
    uint32 result = 0;                                                   \
    _Pragma("unroll") for (int place = 0; place < 32; place += n) {      \
      const int x = part<n>(static_cast<uint32>(a), place);              \
      const int y = part<n>(static_cast<uint32>(b), place);              \
      (void)y;                                                           \
      result |= (static_cast<uint32>(value) & ((1u << n) - 1)) << place; \
    }                                                                    \
    return static_cast<int>(result);                                     \
  }
#define ONE(name, part, value)            \
  NV_FUNCTION int __nv_##name##2(int a) { \
    const int b = 0;                      \
    constexpr int n = 16;                 \
    PARTS(name, n, part, value)           \
  }                                       \
  NV_FUNCTION int __nv_##name##4(int a) { \
    const int b = 0;                      \
    constexpr int n = 8;                  \
    PARTS(name, n, part, value)           \
  }
#define TWO(name, part, value)                   \
  NV_FUNCTION int __nv_##name##2(int a, int b) { \
    constexpr int n = 16;                        \
    PARTS(name, n, part, value)                  \
  }                                              \
  NV_FUNCTION int __nv_##name##4(int a, int b) { \
    constexpr int n = 8;                         \
    PARTS(name, n, part, value)                  \
  }

ONE(vabs, signed_part, absolute(x))
ONE(vabsss, signed_part, saturate_signed<n>(absolute(x)))
ONE(vneg, signed_part, -x)
ONE(vnegss, signed_part, saturate_signed<n>(-x))
TWO(vadd, unsigned_part, x + y)
TWO(vaddss, signed_part, saturate_signed<n>(x + y))
TWO(vaddus, unsigned_part, saturate_unsigned<n>(x + y))
TWO(vsub, unsigned_part, x - y)
TWO(vsubss, signed_part, saturate_signed<n>(x - y))
TWO(vsubus, unsigned_part, saturate_unsigned<n>(x - y))
TWO(vabsdiffs, signed_part, absolute(x - y))
TWO(vabsdiffu, unsigned_part, absolute(x - y))
TWO(vavgs, signed_part, (x + y + 1) >> 1)
TWO(vavgu, unsigned_part, (x + y + 1) >> 1)
TWO(vhaddu, unsigned_part, (x + y) >> 1)
TWO(vmaxs, signed_part, greatest(x, y))
TWO(vmaxu, unsigned_part, greatest(x, y))
TWO(vmins, signed_part, least(x, y))
TWO(vminu, unsigned_part, least(x, y))

// Comparisons set all bits of a part (vcmp) or its lowest bit (vset).
#define COMPARISON(name, part, operation)       \
  TWO(vcmp##name, part, x operation y ? -1 : 0) \
  TWO(vset##name, part, x operation y ? 1 : 0)
COMPARISON(eq, unsigned_part, ==)
COMPARISON(ne, unsigned_part, !=)
COMPARISON(ges, signed_part, >=)
COMPARISON(geu, unsigned_part, >=)
COMPARISON(gts, signed_part, >)
COMPARISON(gtu, unsigned_part, >)
COMPARISON(les, signed_part, <=)
COMPARISON(leu, unsigned_part, <=)
COMPARISON(lts, signed_part, <)
COMPARISON(ltu, unsigned_part, <)

// Sums of absolute differences.
#define SUM(name, n, part)                                                                         \
  NV_FUNCTION int __nv_##name(int a, int b) {                                                      \
    int sum = 0;                                                                                   \
    _Pragma("unroll") for (int place = 0; place < 32; place += n) sum +=                           \
        absolute(part<n>(static_cast<uint32>(a), place) - part<n>(static_cast<uint32>(b), place)); \
    return sum;                                                                                    \
  }
SUM(vsads2, 16, signed_part)
SUM(vsads4, 8, signed_part)
SUM(vsadu2, 16, unsigned_part)
SUM(vsadu4, 8, unsigned_part)
