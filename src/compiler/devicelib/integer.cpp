// Integer functions of the device library.
#include "devicelib/libdevice.h"

NV_FUNCTION int __nv_abs(int x) {
  return x < 0 ? static_cast<int>(-static_cast<uint32>(x)) : x;
}
NV_FUNCTION int64 __nv_llabs(int64 x) {
  return x < 0 ? static_cast<int64>(-static_cast<uint64>(x)) : x;
}
NV_FUNCTION int __nv_min(int a, int b) {
  return least(a, b);
}
NV_FUNCTION int __nv_max(int a, int b) {
  return greatest(a, b);
}
NV_FUNCTION uint32 __nv_umin(uint32 a, uint32 b) {
  return least(a, b);
}
NV_FUNCTION uint32 __nv_umax(uint32 a, uint32 b) {
  return greatest(a, b);
}
NV_FUNCTION int64 __nv_llmin(int64 a, int64 b) {
  return least(a, b);
}
NV_FUNCTION int64 __nv_llmax(int64 a, int64 b) {
  return greatest(a, b);
}
NV_FUNCTION uint64 __nv_ullmin(uint64 a, uint64 b) {
  return least(a, b);
}
NV_FUNCTION uint64 __nv_ullmax(uint64 a, uint64 b) {
  return greatest(a, b);
}

NV_FUNCTION int __nv_brev(int x) {
  return static_cast<int>(__builtin_bitreverse32(static_cast<uint32>(x)));
}
NV_FUNCTION int64 __nv_brevll(int64 x) {
  return static_cast<int64>(__builtin_bitreverse64(static_cast<uint64>(x)));
}
NV_FUNCTION int __nv_clz(int x) {
  return __builtin_clzg(static_cast<uint32>(x), 32);
}
NV_FUNCTION int __nv_clzll(int64 x) {
  return __builtin_clzg(static_cast<uint64>(x), 64);
}
NV_FUNCTION int __nv_ffs(int x) {
  return x == 0 ? 0 : __builtin_ctzg(static_cast<uint32>(x), 32) + 1;
}
NV_FUNCTION int __nv_ffsll(int64 x) {
  return x == 0 ? 0 : __builtin_ctzg(static_cast<uint64>(x), 64) + 1;
}
NV_FUNCTION int __nv_popc(uint32 x) {
  return __builtin_popcount(x);
}
NV_FUNCTION int __nv_popcll(uint64 x) {
  return __builtin_popcountll(x);
}
NV_FUNCTION int __nv_byte_perm(int a, int b, int selector) {
  return __nvvm_prmt(a, b, selector);
}

NV_FUNCTION int __nv_mul24(int a, int b) {
  return __nvvm_mul24_i(a, b);
}
NV_FUNCTION uint32 __nv_umul24(uint32 a, uint32 b) {
  return __nvvm_mul24_ui(a, b);
}
NV_FUNCTION int __nv_mulhi(int a, int b) {
  return __nvvm_mulhi_i(a, b);
}
NV_FUNCTION uint32 __nv_umulhi(uint32 a, uint32 b) {
  return __nvvm_mulhi_ui(a, b);
}
NV_FUNCTION int64 __nv_mul64hi(int64 a, int64 b) {
  return __nvvm_mulhi_ll(a, b);
}
NV_FUNCTION uint64 __nv_umul64hi(uint64 a, uint64 b) {
  return __nvvm_mulhi_ull(a, b);
}
NV_FUNCTION int __nv_sad(int a, int b, int c) {
  return __nvvm_sad_i(a, b, c);
}
NV_FUNCTION uint32 __nv_usad(uint32 a, uint32 b, uint32 c) {
  return __nvvm_sad_ui(a, b, c);
}

// Averages that keep the carry of the sum; the r versions round up.
NV_FUNCTION int __nv_hadd(int a, int b) {
  return (a & b) + ((a ^ b) >> 1);
}
NV_FUNCTION int __nv_rhadd(int a, int b) {
  return (a | b) - ((a ^ b) >> 1);
}
NV_FUNCTION int __nv_uhadd(uint32 a, uint32 b) {
  return static_cast<int>((a & b) + ((a ^ b) >> 1));
}
NV_FUNCTION int __nv_urhadd(uint32 a, uint32 b) {
  return static_cast<int>((a | b) - ((a ^ b) >> 1));
}
