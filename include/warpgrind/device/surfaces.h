// Part of wrapper.h: surface functions (CUDA C++ Programming Guide, "Surface Functions"). x is in bytes, as documented.
// The boundary mode is a constant at the call and selects the instruction. T: one, two or four elements of 1, 2, 4 or 8
// bytes.
#pragma once

#if __cplusplus >= 201103L
#define WG_SURFACE static __device__ __forceinline__

namespace wg_surface {

template <class T, class = void>
struct PiecesOf {
  static constexpr int bytes = sizeof(T) == 16 ? 8 : sizeof(T), count = sizeof(T) == 16 ? 2 : 1;
};
template <class...>
struct Void {
  typedef void type;
};
template <class T>
struct PiecesOf<T, typename Void<decltype(T::x)>::type> {
  static constexpr int bytes = sizeof(decltype(T::x)), count = sizeof(T) / sizeof(decltype(T::x));
};
template <int bytes>
struct Bits;
template <int bytes, int count>
struct Words {
  typename Bits<bytes>::type v[count];
};
template <class T>
using WordsOf = Words<PiecesOf<T>::bytes, PiecesOf<T>::count>;
#define WG_BITS(bytes, unsigned_type) \
  template <>                         \
  struct Bits<bytes> {                \
    typedef unsigned_type type;       \
  };
WG_BITS(1, unsigned char)
WG_BITS(2, unsigned short)
WG_BITS(4, unsigned int)
WG_BITS(8, unsigned long long)
#undef WG_BITS

// The three boundary modes of one access. Outside the surface, zero reads 0 or drops the write, clamp uses the nearest
// element, and trap ends the kernel.
#define WG_BY_MODE(access, ...)           \
  if (mode == cudaBoundaryModeZero)       \
    access("zero", __VA_ARGS__);          \
  else if (mode == cudaBoundaryModeClamp) \
    access("clamp", __VA_ARGS__);         \
  else                                    \
    access("trap", __VA_ARGS__);
#define WG_LIST(...) __VA_ARGS__
#define WG_READ1(mode_name, geometry, place, operands, bits, letter)                     \
  __asm__ volatile("suld.b." geometry "." bits "." mode_name " {%0}, [%[s], " place "];" \
                   : "=" letter(a)                                                       \
                   : [s] "l"(s), WG_LIST operands)
#define WG_READ2(mode_name, geometry, place, operands, bits, letter)                            \
  __asm__ volatile("suld.b." geometry ".v2." bits "." mode_name " {%0, %1}, [%[s], " place "];" \
                   : "=" letter(a), "=" letter(b)                                               \
                   : [s] "l"(s), WG_LIST operands)
#define WG_READ4(mode_name, geometry, place, operands, bits, letter)                                    \
  __asm__ volatile("suld.b." geometry ".v4." bits "." mode_name " {%0, %1, %2, %3}, [%[s], " place "];" \
                   : "=" letter(a), "=" letter(b), "=" letter(c), "=" letter(d)                         \
                   : [s] "l"(s), WG_LIST operands)
#define WG_WRITE1(mode_name, geometry, place, operands, bits, letter)                                             \
  __asm__ volatile("sust.b." geometry "." bits "." mode_name " [%[s], " place "], {%0};" ::letter(a), [s] "l"(s), \
                   WG_LIST operands                                                                               \
                   : "memory")
#define WG_WRITE2(mode_name, geometry, place, operands, bits, letter)                                        \
  __asm__ volatile("sust.b." geometry ".v2." bits "." mode_name " [%[s], " place "], {%0, %1};" ::letter(a), \
                   letter(b), [s] "l"(s), WG_LIST operands                                                   \
                   : "memory")
#define WG_WRITE4(mode_name, geometry, place, operands, bits, letter)                                                \
  __asm__ volatile("sust.b." geometry ".v4." bits "." mode_name " [%[s], " place "], {%0, %1, %2, %3};" ::letter(a), \
                   letter(b), letter(c), letter(d), [s] "l"(s), WG_LIST operands                                     \
                   : "memory")

#define WG_WIDTH(name, geometry, parameters, place, operands, bytes, bits, letter, reg)                         \
  WG_SURFACE void read_##name(Words<bytes, 1>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) {        \
    reg a;                                                                                                      \
    WG_BY_MODE(WG_READ1, geometry, place, operands, bits, letter)                                               \
    w.v[0] = a;                                                                                                 \
  }                                                                                                             \
  WG_SURFACE void read_##name(Words<bytes, 2>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) {        \
    reg a, b;                                                                                                   \
    WG_BY_MODE(WG_READ2, geometry, place, operands, bits, letter)                                               \
    w.v[0] = a, w.v[1] = b;                                                                                     \
  }                                                                                                             \
  WG_SURFACE void write_##name(const Words<bytes, 1>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) { \
    const reg a = w.v[0];                                                                                       \
    WG_BY_MODE(WG_WRITE1, geometry, place, operands, bits, letter)                                              \
  }                                                                                                             \
  WG_SURFACE void write_##name(const Words<bytes, 2>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) { \
    const reg a = w.v[0], b = w.v[1];                                                                           \
    WG_BY_MODE(WG_WRITE2, geometry, place, operands, bits, letter)                                              \
  }
#define WG_WIDTH4(name, geometry, parameters, place, operands, bytes, bits, letter, reg)                        \
  WG_WIDTH(name, geometry, parameters, place, operands, bytes, bits, letter, reg)                               \
  WG_SURFACE void read_##name(Words<bytes, 4>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) {        \
    reg a, b, c, d;                                                                                             \
    WG_BY_MODE(WG_READ4, geometry, place, operands, bits, letter)                                               \
    w.v[0] = a, w.v[1] = b, w.v[2] = c, w.v[3] = d;                                                             \
  }                                                                                                             \
  WG_SURFACE void write_##name(const Words<bytes, 4>& w, cudaSurfaceObject_t s, WG_LIST parameters, int mode) { \
    const reg a = w.v[0], b = w.v[1], c = w.v[2], d = w.v[3];                                                   \
    WG_BY_MODE(WG_WRITE4, geometry, place, operands, bits, letter)                                              \
  }
#define WG_GEOMETRY(name, geometry, parameters, place, operands)                        \
  WG_WIDTH4(name, geometry, parameters, place, operands, 1, "b8", "h", unsigned short)  \
  WG_WIDTH4(name, geometry, parameters, place, operands, 2, "b16", "h", unsigned short) \
  WG_WIDTH4(name, geometry, parameters, place, operands, 4, "b32", "r", unsigned int)   \
  WG_WIDTH(name, geometry, parameters, place, operands, 8, "b64", "l", unsigned long long)
WG_GEOMETRY(1d, "1d", (int x), "{%[x]}", ([x] "r"(x)))
WG_GEOMETRY(2d, "2d", (int x, int y), "{%[x], %[y]}", ([x] "r"(x), [y] "r"(y)))
WG_GEOMETRY(3d, "3d", (int x, int y, int z), "{%[x], %[y], %[z], %[z]}", ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
WG_GEOMETRY(a1d, "a1d", (int x, int layer), "{%[l], %[x]}", ([x] "r"(x), [l] "r"(layer)))
WG_GEOMETRY(a2d, "a2d", (int x, int y, int layer), "{%[l], %[x], %[y], %[y]}", ([x] "r"(x), [y] "r"(y), [l] "r"(layer)))
#undef WG_GEOMETRY
#undef WG_WIDTH4
#undef WG_WIDTH
#undef WG_READ1
#undef WG_READ2
#undef WG_READ4
#undef WG_WRITE1
#undef WG_WRITE2
#undef WG_WRITE4
#undef WG_BY_MODE

}  // namespace wg_surface

// name, geometry, (parameters), (arguments). A cube map is accessed as an array of its faces.
#define WG_SURFACE_FUNCTIONS(name, geometry, parameters, arguments)                     \
  template <class T>                                                                    \
  WG_SURFACE T name##read(cudaSurfaceObject_t surface, WG_LIST parameters,              \
                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
    wg_surface::WordsOf<T> words;                                                       \
    wg_surface::read_##geometry(words, surface, WG_LIST arguments, mode);               \
    T value;                                                                            \
    __builtin_memcpy(&value, &words, sizeof value);                                     \
    return value;                                                                       \
  }                                                                                     \
  template <class T>                                                                    \
  WG_SURFACE void name##read(T* value, cudaSurfaceObject_t surface, WG_LIST parameters, \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    *value = name##read<T>(surface, WG_LIST arguments, mode);                           \
  }                                                                                     \
  template <class T>                                                                    \
  WG_SURFACE void name##write(T value, cudaSurfaceObject_t surface, WG_LIST parameters, \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {    \
    wg_surface::WordsOf<T> words;                                                       \
    __builtin_memcpy(&words, &value, sizeof value);                                     \
    wg_surface::write_##geometry(words, surface, WG_LIST arguments, mode);              \
  }
WG_SURFACE_FUNCTIONS(surf1D, 1d, (int x), (x))
WG_SURFACE_FUNCTIONS(surf2D, 2d, (int x, int y), (x, y))
WG_SURFACE_FUNCTIONS(surf3D, 3d, (int x, int y, int z), (x, y, z))
WG_SURFACE_FUNCTIONS(surf1DLayered, a1d, (int x, int layer), (x, layer))
WG_SURFACE_FUNCTIONS(surf2DLayered, a2d, (int x, int y, int layer), (x, y, layer))
WG_SURFACE_FUNCTIONS(surfCubemap, a2d, (int x, int y, int face), (x, y, face))
WG_SURFACE_FUNCTIONS(surfCubemapLayered, a2d, (int x, int y, int layer_face), (x, y, layer_face))
#undef WG_SURFACE_FUNCTIONS
#undef WG_LIST
#undef WG_SURFACE
#endif
