// Part of wrapper.h: the __nv_atomic_* functions (CUDA C++ Programming Guide, "Atomic Functions"), whose memory order
// and scope are arguments. Each is an atomic of the requested scope between fences of that scope, so the order is never
// weaker than requested. As with nvcc, sums of 64-bit integers are unsigned.
#pragma once

enum {
  __NV_ATOMIC_RELAXED = 0,
  __NV_ATOMIC_CONSUME = 1,
  __NV_ATOMIC_ACQUIRE = 2,
  __NV_ATOMIC_RELEASE = 3,
  __NV_ATOMIC_ACQ_REL = 4,
  __NV_ATOMIC_SEQ_CST = 5
};
enum {
  __NV_THREAD_SCOPE_THREAD = 0,
  __NV_THREAD_SCOPE_BLOCK = 1,
  __NV_THREAD_SCOPE_CLUSTER = 2,
  __NV_THREAD_SCOPE_DEVICE = 3,
  __NV_THREAD_SCOPE_SYSTEM = 4
};

#define WG_DEVICE static __device__ __forceinline__
WG_DEVICE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_RELAXED) return;
  if (scope <= __NV_THREAD_SCOPE_BLOCK)
    __threadfence_block();
  else if (scope <= __NV_THREAD_SCOPE_DEVICE)
    __threadfence();
  else
    __threadfence_system();
}
template <class T>
struct wg_atomic_word;
#define WG_WORD(type, word)     \
  template <>                   \
  struct wg_atomic_word<type> { \
    typedef word as;            \
  };
WG_WORD(int, int)
WG_WORD(unsigned int, unsigned int)
WG_WORD(long, long long)
WG_WORD(unsigned long, unsigned long long)
WG_WORD(long long, long long)
WG_WORD(unsigned long long, unsigned long long)
WG_WORD(float, float)
WG_WORD(double, double)
#undef WG_WORD
// A value of type T whose argument does not decide what T is: of __nv_atomic_fetch_add(p, 1, ...), p alone does.
template <class T>
struct wg_value_of {
  typedef T type;
};
#define WG_VALUE_OF(T) typename wg_value_of<T>::type
// atomicAdd_block(p, v), atomicAdd(p, v) or atomicAdd_system(p, v). The scope is a constant in nearly every program.
#define WG_IN_SCOPE(function, ...)                                     \
  (scope <= __NV_THREAD_SCOPE_BLOCK    ? function##_block(__VA_ARGS__) \
   : scope <= __NV_THREAD_SCOPE_DEVICE ? function(__VA_ARGS__)         \
                                       : function##_system(__VA_ARGS__))
// Both forms: with and without the old value as the result.
#define WG_NV_ATOMIC(name, function, value)                                                                       \
  template <class T>                                                                                              \
  WG_DEVICE T __nv_atomic_fetch_##name(T* p, WG_VALUE_OF(T) v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    typedef typename wg_atomic_word<T>::as W;                                                                     \
    __nv_atomic_thread_fence(order, scope);                                                                       \
    const T old = (T)WG_IN_SCOPE(function, (W*)p, (W)(value));                                                    \
    __nv_atomic_thread_fence(order, scope);                                                                       \
    return old;                                                                                                   \
  }                                                                                                               \
  template <class T>                                                                                              \
  WG_DEVICE void __nv_atomic_##name(T* p, WG_VALUE_OF(T) v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {    \
    __nv_atomic_fetch_##name(p, v, order, scope);                                                                 \
  }
WG_NV_ATOMIC(add, atomicAdd, v)
WG_NV_ATOMIC(sub, atomicAdd, -v)
WG_NV_ATOMIC(and, atomicAnd, v)
WG_NV_ATOMIC(or, atomicOr, v)
WG_NV_ATOMIC(xor, atomicXor, v)
WG_NV_ATOMIC(min, atomicMin, v)
WG_NV_ATOMIC(max, atomicMax, v)
#undef WG_NV_ATOMIC

// ---- Loads and stores of 1 to 16 bytes, exchanges of 4 to 16, comparing exchanges of 2 to 16
template <int bytes>
struct wg_atomic_bits;
template <>
struct wg_atomic_bits<4> {
  typedef unsigned int as;
};
template <>
struct wg_atomic_bits<8> {
  typedef unsigned long long as;
};
template <>
struct wg_atomic_bits<2> {
  typedef unsigned short as;
};
template <>
struct wg_atomic_bits<1> {
  typedef unsigned char as;
};
struct alignas(16) wg_atomic_bits16 {
  unsigned long long low, high;
};
WG_DEVICE bool operator==(const wg_atomic_bits16& a, const wg_atomic_bits16& b) {
  return a.low == b.low && a.high == b.high;
}
template <>
struct wg_atomic_bits<16> {
  typedef wg_atomic_bits16 as;
};
// A volatile access is a relaxed one of system scope.
template <class W>
WG_DEVICE W wg_atomic_load(const W* p) {
  return *(const volatile W*)p;
}
template <class W>
WG_DEVICE void wg_atomic_store(W* p, W value) {
  *(volatile W*)p = value;
}
WG_DEVICE wg_atomic_bits16 wg_atomic_load(const wg_atomic_bits16* p) {
  wg_atomic_bits16 v;
  __asm__ volatile("{ .reg .b128 v; ld.relaxed.sys.b128 v, [%2]; mov.b128 {%0, %1}, v; }"
                   : "=l"(v.low), "=l"(v.high)
                   : "l"(p)
                   : "memory");
  return v;
}
WG_DEVICE void wg_atomic_store(wg_atomic_bits16* p, wg_atomic_bits16 v) {
  __asm__ volatile("{ .reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.sys.b128 [%0], v; }" ::"l"(p), "l"(v.low),
                   "l"(v.high)
                   : "memory");
}
template <class T>
WG_DEVICE void __nv_atomic_load(const T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef typename wg_atomic_bits<sizeof(T)>::as W;
  if (order == __NV_ATOMIC_SEQ_CST) __nv_atomic_thread_fence(order, scope);
  const W bits = wg_atomic_load((const W*)p);
  __builtin_memcpy(value, &bits, sizeof(T));
  __nv_atomic_thread_fence(order, scope);
}
template <class T>
WG_DEVICE T __nv_atomic_load_n(const T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T value;
  __nv_atomic_load(p, &value, order, scope);
  return value;
}
template <class T>
WG_DEVICE void __nv_atomic_store(T* p, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typename wg_atomic_bits<sizeof(T)>::as bits;
  __builtin_memcpy(&bits, value, sizeof(T));
  __nv_atomic_thread_fence(order, scope);
  wg_atomic_store((decltype(bits)*)p, bits);
}
template <class T>
WG_DEVICE void __nv_atomic_store_n(T* p, WG_VALUE_OF(T) value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store(p, &value, order, scope);
}
template <class T>
WG_DEVICE void __nv_atomic_exchange(T* p, const T* value, T* old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typename wg_atomic_bits<sizeof(T)>::as bits;
  __builtin_memcpy(&bits, value, sizeof(T));
  __nv_atomic_thread_fence(order, scope);
  bits = WG_IN_SCOPE(atomicExch, (decltype(bits)*)p, bits);
  __nv_atomic_thread_fence(order, scope);
  __builtin_memcpy(old, &bits, sizeof(T));
}
template <class T>
WG_DEVICE T __nv_atomic_exchange_n(T* p, WG_VALUE_OF(T) value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T old;
  __nv_atomic_exchange(p, &value, &old, order, scope);
  return old;
}
template <class T>
WG_DEVICE bool __nv_atomic_compare_exchange(T* p, T* expected, const T* desired, bool, int success, int failure,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typename wg_atomic_bits<sizeof(T)>::as want, put;
  __builtin_memcpy(&want, expected, sizeof(T));
  __builtin_memcpy(&put, desired, sizeof(T));
  const int order = success == __NV_ATOMIC_RELAXED ? failure : success;
  __nv_atomic_thread_fence(order, scope);
  const decltype(want) old = WG_IN_SCOPE(atomicCAS, (decltype(want)*)p, want, put);
  __nv_atomic_thread_fence(order, scope);
  __builtin_memcpy(expected, &old, sizeof(T));
  return old == want;
}
template <class T>
WG_DEVICE bool __nv_atomic_compare_exchange_n(T* p, T* expected, WG_VALUE_OF(T) desired, bool weak, int success,
                                              int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(p, expected, &desired, weak, success, failure, scope);
}
#undef WG_IN_SCOPE
#undef WG_VALUE_OF
#undef WG_DEVICE
