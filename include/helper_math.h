// Operators and functions of CUDA's vector types, as the samples use them: component by component unless said.
#ifndef HELPER_MATH_H
#define HELPER_MATH_H

#include <math.h>

#include "cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

#define WG_BOTH inline __host__ __device__

// ---- Making one of another
#define WG_MAKE234(name, type)                        \
  WG_BOTH name##2 make_##name##2(type s) {            \
    return make_##name##2(s, s);                      \
  }                                                   \
  WG_BOTH name##2 make_##name##2(name##3 a) {         \
    return make_##name##2(a.x, a.y);                  \
  }                                                   \
  WG_BOTH name##3 make_##name##3(type s) {            \
    return make_##name##3(s, s, s);                   \
  }                                                   \
  WG_BOTH name##3 make_##name##3(name##2 a) {         \
    return make_##name##3(a.x, a.y, (type)0);         \
  }                                                   \
  WG_BOTH name##3 make_##name##3(name##2 a, type s) { \
    return make_##name##3(a.x, a.y, s);               \
  }                                                   \
  WG_BOTH name##3 make_##name##3(name##4 a) {         \
    return make_##name##3(a.x, a.y, a.z);             \
  }                                                   \
  WG_BOTH name##4 make_##name##4(type s) {            \
    return make_##name##4(s, s, s, s);                \
  }                                                   \
  WG_BOTH name##4 make_##name##4(name##3 a) {         \
    return make_##name##4(a.x, a.y, a.z, (type)0);    \
  }                                                   \
  WG_BOTH name##4 make_##name##4(name##3 a, type w) { \
    return make_##name##4(a.x, a.y, a.z, w);          \
  }
WG_MAKE234(float, float)
WG_MAKE234(int, int)
WG_MAKE234(uint, unsigned int)
#undef WG_MAKE234
#define WG_CONVERT(to, type, from)                                   \
  WG_BOTH to##2 make_##to##2(from##2 a) {                            \
    return make_##to##2((type)a.x, (type)a.y);                       \
  }                                                                  \
  WG_BOTH to##3 make_##to##3(from##3 a) {                            \
    return make_##to##3((type)a.x, (type)a.y, (type)a.z);            \
  }                                                                  \
  WG_BOTH to##4 make_##to##4(from##4 a) {                            \
    return make_##to##4((type)a.x, (type)a.y, (type)a.z, (type)a.w); \
  }
WG_CONVERT(float, float, int)
WG_CONVERT(float, float, uint)
WG_CONVERT(int, int, float)
WG_CONVERT(int, int, uint)
WG_CONVERT(uint, unsigned int, int)
#undef WG_CONVERT

// ---- Arithmetic
#define WG_OPERATOR(op, name, type, n, both, left, right) \
  WG_BOTH name##n operator op(name##n a, name##n b) {     \
    return make_##name##n both;                           \
  }                                                       \
  WG_BOTH name##n operator op(name##n a, type b) {        \
    return make_##name##n left;                           \
  }                                                       \
  WG_BOTH name##n operator op(type b, name##n a) {        \
    return make_##name##n right;                          \
  }                                                       \
  WG_BOTH void operator op##=(name##n& a, name##n b) {    \
    a = a op b;                                           \
  }                                                       \
  WG_BOTH void operator op##=(name##n& a, type b) {       \
    a = a op b;                                           \
  }
#define WG_OPERATORS(op, name, type)                                                                   \
  WG_OPERATOR(op, name, type, 2, (a.x op b.x, a.y op b.y), (a.x op b, a.y op b), (b op a.x, b op a.y)) \
  WG_OPERATOR(op, name, type, 3, (a.x op b.x, a.y op b.y, a.z op b.z), (a.x op b, a.y op b, a.z op b), \
              (b op a.x, b op a.y, b op a.z))                                                          \
  WG_OPERATOR(op, name, type, 4, (a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w),                     \
              (a.x op b, a.y op b, a.z op b, a.w op b), (b op a.x, b op a.y, b op a.z, b op a.w))
WG_OPERATORS(+, float, float)
WG_OPERATORS(-, float, float)
WG_OPERATORS(*, float, float)
WG_OPERATORS(/, float, float)
WG_OPERATORS(+, int, int)
WG_OPERATORS(-, int, int)
WG_OPERATORS(*, int, int)
WG_OPERATORS(+, uint, unsigned int)
WG_OPERATORS(-, uint, unsigned int)
WG_OPERATORS(*, uint, unsigned int)
#undef WG_OPERATORS
#undef WG_OPERATOR

// ---- Functions of one, two or three vectors
#define WG_EACH1(function, name, f)                        \
  WG_BOTH name##2 function(name##2 a) {                    \
    return make_##name##2(f(a.x), f(a.y));                 \
  }                                                        \
  WG_BOTH name##3 function(name##3 a) {                    \
    return make_##name##3(f(a.x), f(a.y), f(a.z));         \
  }                                                        \
  WG_BOTH name##4 function(name##4 a) {                    \
    return make_##name##4(f(a.x), f(a.y), f(a.z), f(a.w)); \
  }
#define WG_EACH2(function, name, f)                                            \
  WG_BOTH name##2 function(name##2 a, name##2 b) {                             \
    return make_##name##2(f(a.x, b.x), f(a.y, b.y));                           \
  }                                                                            \
  WG_BOTH name##3 function(name##3 a, name##3 b) {                             \
    return make_##name##3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));              \
  }                                                                            \
  WG_BOTH name##4 function(name##4 a, name##4 b) {                             \
    return make_##name##4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)); \
  }
#define WG_NEGATE(v) (-(v))
WG_EACH1(operator-, float, WG_NEGATE)
WG_EACH1(operator-, int, WG_NEGATE)
#undef WG_NEGATE
#define WG_SMALLER(a, b) ((b) < (a) ? (b) : (a))
#define WG_LARGER(a, b) ((a) < (b) ? (b) : (a))
WG_EACH2(fminf, float, ::fminf)
WG_EACH2(fmaxf, float, ::fmaxf)
WG_EACH2(min, int, WG_SMALLER)
WG_EACH2(max, int, WG_LARGER)
WG_EACH2(min, uint, WG_SMALLER)
WG_EACH2(max, uint, WG_LARGER)
WG_EACH2(fmodf, float, ::fmodf)
WG_EACH1(floorf, float, ::floorf)
WG_EACH1(fabs, float, ::fabsf)
#define WG_ABSOLUTE(v) ((v) < 0 ? -(v) : (v))
WG_EACH1(abs, int, WG_ABSOLUTE)
#undef WG_ABSOLUTE
WG_BOTH float fracf(float v) {
  return v - ::floorf(v);
}
WG_EACH1(fracf, float, fracf)
#undef WG_EACH1
#undef WG_EACH2

#ifndef __cpp_lib_interpolate  // C++20's <math.h> has it
WG_BOTH float lerp(float a, float b, float t) {
  return a + t * (b - a);
}
#endif
#define WG_LERP(n)                                         \
  WG_BOTH float##n lerp(float##n a, float##n b, float t) { \
    return a + t * (b - a);                                \
  }
WG_LERP(2)
WG_LERP(3)
WG_LERP(4)
#undef WG_LERP
WG_BOTH float clamp(float f, float a, float b) {
  return ::fmaxf(a, ::fminf(f, b));
}
WG_BOTH int clamp(int f, int a, int b) {
  return WG_LARGER(a, WG_SMALLER(f, b));
}
WG_BOTH unsigned int clamp(unsigned int f, unsigned int a, unsigned int b) {
  return WG_LARGER(a, WG_SMALLER(f, b));
}
#define WG_CLAMP(name, type)                                                                                       \
  WG_BOTH name##2 clamp(name##2 v, name##2 a, name##2 b) {                                                         \
    return make_##name##2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y));                                             \
  }                                                                                                                \
  WG_BOTH name##3 clamp(name##3 v, name##3 a, name##3 b) {                                                         \
    return make_##name##3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z));                       \
  }                                                                                                                \
  WG_BOTH name##4 clamp(name##4 v, name##4 a, name##4 b) {                                                         \
    return make_##name##4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w)); \
  }                                                                                                                \
  WG_BOTH name##2 clamp(name##2 v, type a, type b) {                                                               \
    return clamp(v, make_##name##2(a), make_##name##2(b));                                                         \
  }                                                                                                                \
  WG_BOTH name##3 clamp(name##3 v, type a, type b) {                                                               \
    return clamp(v, make_##name##3(a), make_##name##3(b));                                                         \
  }                                                                                                                \
  WG_BOTH name##4 clamp(name##4 v, type a, type b) {                                                               \
    return clamp(v, make_##name##4(a), make_##name##4(b));                                                         \
  }
WG_CLAMP(float, float)
WG_CLAMP(int, int)
WG_CLAMP(uint, unsigned int)
#undef WG_CLAMP
#undef WG_SMALLER
#undef WG_LARGER

// ---- Geometry
#define WG_DOT(name, type)                                \
  WG_BOTH type dot(name##2 a, name##2 b) {                \
    return a.x * b.x + a.y * b.y;                         \
  }                                                       \
  WG_BOTH type dot(name##3 a, name##3 b) {                \
    return a.x * b.x + a.y * b.y + a.z * b.z;             \
  }                                                       \
  WG_BOTH type dot(name##4 a, name##4 b) {                \
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; \
  }
WG_DOT(float, float)
WG_DOT(int, int)
WG_DOT(uint, unsigned int)
#undef WG_DOT
#define WG_LENGTH(n)                                                \
  WG_BOTH float length(float##n v) {                                \
    return ::sqrtf(dot(v, v));                                      \
  }                                                                 \
  WG_BOTH float##n normalize(float##n v) {                          \
    return v * (1.0f / ::sqrtf(dot(v, v)));                         \
  }                                                                 \
  WG_BOTH float##n smoothstep(float##n a, float##n b, float##n x) { \
    const float##n y = clamp((x - a) / (b - a), 0.0f, 1.0f);        \
    return y * y * (3.0f - 2.0f * y);                               \
  }
WG_LENGTH(2)
WG_LENGTH(3)
WG_LENGTH(4)
#undef WG_LENGTH
WG_BOTH float smoothstep(float a, float b, float x) {
  const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
WG_BOTH float3 reflect(float3 i, float3 n) {
  return i - 2.0f * n * dot(n, i);
}
WG_BOTH float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef WG_BOTH
#endif
