// Part of wrapper.h: atomic functions (CUDA C++ Programming Guide, "Atomic Functions"), each with the scopes device,
// block (_block) and system (_system). They call clang's functions, each of which has one type.
#pragma once

#define WG_DEVICE static __device__ __forceinline__

// scope: empty, _block or _system
#define WG_ATOMIC(name, scope, type, as, function) \
  WG_DEVICE type name##scope(type* p, type v) {    \
    return (type)function##scope((as*)p, (as)v);   \
  }
#define WG_INTEGER_ATOMIC(name, scope, Name)                          \
  WG_ATOMIC(name, scope, int, int, __iAtomic##Name)                   \
  WG_ATOMIC(name, scope, unsigned int, unsigned int, __uAtomic##Name) \
  WG_ATOMIC(name, scope, unsigned long long, unsigned long long, __ullAtomic##Name)
#define WG_LOGIC_ATOMIC(name, scope, Name) \
  WG_INTEGER_ATOMIC(name, scope, Name)     \
  WG_ATOMIC(name, scope, long long, long long, __llAtomic##Name)
#define WG_ATOMICS(scope)                                                                          \
  WG_INTEGER_ATOMIC(atomicAdd, scope, Add)                                                         \
  WG_ATOMIC(atomicAdd, scope, float, float, __fAtomicAdd)                                          \
  WG_ATOMIC(atomicAdd, scope, double, double, __dAtomicAdd)                                        \
  WG_DEVICE int atomicSub##scope(int* p, int v) {                                                  \
    return __iAtomicAdd##scope(p, -v);                                                             \
  }                                                                                                \
  WG_DEVICE unsigned int atomicSub##scope(unsigned int* p, unsigned int v) {                       \
    return __uAtomicAdd##scope(p, -v);                                                             \
  }                                                                                                \
  WG_INTEGER_ATOMIC(atomicExch, scope, Exch)                                                       \
  WG_ATOMIC(atomicExch, scope, float, float, __fAtomicExch)                                        \
  WG_ATOMIC(atomicMin, scope, int, int, __iAtomicMin)                                              \
  WG_ATOMIC(atomicMin, scope, unsigned int, unsigned int, __uAtomicMin)                            \
  WG_ATOMIC(atomicMin, scope, long long, long long, __illAtomicMin)                                \
  WG_ATOMIC(atomicMin, scope, unsigned long long, unsigned long long, __ullAtomicMin)              \
  WG_ATOMIC(atomicMax, scope, int, int, __iAtomicMax)                                              \
  WG_ATOMIC(atomicMax, scope, unsigned int, unsigned int, __uAtomicMax)                            \
  WG_ATOMIC(atomicMax, scope, long long, long long, __illAtomicMax)                                \
  WG_ATOMIC(atomicMax, scope, unsigned long long, unsigned long long, __ullAtomicMax)              \
  WG_ATOMIC(atomicInc, scope, unsigned int, unsigned int, __uAtomicInc)                            \
  WG_ATOMIC(atomicDec, scope, unsigned int, unsigned int, __uAtomicDec)                            \
  WG_LOGIC_ATOMIC(atomicAnd, scope, And)                                                           \
  WG_LOGIC_ATOMIC(atomicOr, scope, Or)                                                             \
  WG_LOGIC_ATOMIC(atomicXor, scope, Xor)                                                           \
  WG_DEVICE int atomicCAS##scope(int* p, int compare, int v) {                                     \
    return __iAtomicCAS##scope(p, compare, v);                                                     \
  }                                                                                                \
  WG_DEVICE unsigned int atomicCAS##scope(unsigned int* p, unsigned int compare, unsigned int v) { \
    return __uAtomicCAS##scope(p, compare, v);                                                     \
  }                                                                                                \
  WG_DEVICE unsigned long long atomicCAS##scope(unsigned long long* p, unsigned long long compare, \
                                                unsigned long long v) {                            \
    return __ullAtomicCAS##scope(p, compare, v);                                                   \
  }
WG_ATOMICS()
WG_ATOMICS(_block)
WG_ATOMICS(_system)

#define WG_CAS16(scope, ptx)                                                                                         \
  WG_DEVICE unsigned short atomicCAS##scope(unsigned short* p, unsigned short compare, unsigned short v) {           \
    unsigned short old;                                                                                              \
    __asm__ volatile("atom" ptx ".cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(compare), "h"(v) : "memory"); \
    return old;                                                                                                      \
  }
WG_CAS16(, )
WG_CAS16(_block, ".cta")
WG_CAS16(_system, ".sys")
#undef WG_CAS16

// Any type of 16 bytes with 16-byte alignment.
template <class T, bool sixteen = sizeof(T) == 16 && alignof(T) >= 16>
struct wg_sixteen_bytes {};
template <class T>
struct wg_sixteen_bytes<T, true> {
  typedef T type;
};
#define WG_ATOMICS128(scope, ptx)                                                       \
  template <class T>                                                                    \
  WG_DEVICE typename wg_sixteen_bytes<T>::type atomicCAS##scope(T* p, T compare, T v) { \
    unsigned long long c[2], n[2], o[2];                                                \
    __builtin_memcpy(c, &compare, 16);                                                  \
    __builtin_memcpy(n, &v, 16);                                                        \
    __asm__ volatile(                                                                   \
        "{ .reg .b128 c, n, o; mov.b128 c, {%3, %4}; mov.b128 n, {%5, %6};\n\t"         \
        "atom" ptx ".cas.b128 o, [%2], c, n; mov.b128 {%0, %1}, o; }"                   \
        : "=l"(o[0]), "=l"(o[1])                                                        \
        : "l"(p), "l"(c[0]), "l"(c[1]), "l"(n[0]), "l"(n[1])                            \
        : "memory");                                                                    \
    __builtin_memcpy(&v, o, 16);                                                        \
    return v;                                                                           \
  }                                                                                     \
  template <class T>                                                                    \
  WG_DEVICE typename wg_sixteen_bytes<T>::type atomicExch##scope(T* p, T v) {           \
    unsigned long long n[2], o[2];                                                      \
    __builtin_memcpy(n, &v, 16);                                                        \
    __asm__ volatile("{ .reg .b128 n, o; mov.b128 n, {%3, %4}; atom" ptx                \
                     ".exch.b128 o, [%2], n; mov.b128 {%0, %1}, o; }"                   \
                     : "=l"(o[0]), "=l"(o[1])                                           \
                     : "l"(p), "l"(n[0]), "l"(n[1])                                     \
                     : "memory");                                                       \
    __builtin_memcpy(&v, o, 16);                                                        \
    return v;                                                                           \
  }
WG_ATOMICS128(, )
WG_ATOMICS128(_block, ".cta")
WG_ATOMICS128(_system, ".sys")
#undef WG_ATOMICS128

#undef WG_ATOMICS
#undef WG_LOGIC_ATOMIC
#undef WG_INTEGER_ATOMIC
#undef WG_ATOMIC
#undef WG_DEVICE
