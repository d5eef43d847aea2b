// Host substitutes for the intrinsics that cuRAND's device functions use, for plain C++ compilers. Such sources need
// the types of the device headers, and may call the functions that are pure arithmetic.
#pragma once

#ifndef __CUDACC__
#include <math.h>

static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)((unsigned long long)a * b >> 32);
}
static inline int __ffsll(long long v) {
  return __builtin_ffsll(v);
}
#define __sincosf sincosf  // glibc declares __sincosf but does not define it
static inline void sincospi(double x, double* s, double* c) {
  *s = sin(x * 3.141592653589793);
  *c = cos(x * 3.141592653589793);
}
double erfcinv(double x);  // never defined: the C library has no such function
float erfcinvf(float x);
#endif
