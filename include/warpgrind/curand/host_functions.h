// What the device functions of cuRAND stand on, where a plain C++ compiler reads them: there a source wants their
// types, and may call those that are arithmetic alone.
#pragma once

#ifndef __CUDACC__
#include <math.h>

static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)((unsigned long long)a * b >> 32);
}
static inline int __ffsll(long long v) {
  return __builtin_ffsll(v);
}
#define __sincosf sincosf  // glibc declares this name, and has it not
static inline void sincospi(double x, double* s, double* c) {
  *s = sin(x * 3.141592653589793);
  *c = cos(x * 3.141592653589793);
}
double erfcinv(double x);  // nowhere: the C library has no such function
float erfcinvf(float x);
#endif
