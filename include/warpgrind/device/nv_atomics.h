// Part of wrapper.h: the __nv_atomic_* functions (CUDA C++ Programming Guide, "Atomic Functions"), whose memory order
// and scope are arguments. Each uses a device-scope atomic between fences of the requested scope, so the order is never
// weaker than requested.
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
WG_DEVICE long long wg_add(long long* p, long long v) {
  return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)v);
}
template <class T>
WG_DEVICE T wg_add(T* p, T v) {
  return atomicAdd(p, v);
}
#define WG_NV_ATOMIC(name, expression)                                           \
  template <class T>                                                             \
  WG_DEVICE T name(T* p, T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    typedef typename wg_atomic_word<T>::as W;                                    \
    __nv_atomic_thread_fence(order, scope);                                      \
    const T old = (T)(expression);                                               \
    __nv_atomic_thread_fence(order, scope);                                      \
    return old;                                                                  \
  }
WG_NV_ATOMIC(__nv_atomic_fetch_add, wg_add((W*)p, (W)v))
WG_NV_ATOMIC(__nv_atomic_fetch_sub, wg_add((W*)p, (W)-v))
WG_NV_ATOMIC(__nv_atomic_fetch_and, atomicAnd((W*)p, (W)v))
WG_NV_ATOMIC(__nv_atomic_fetch_or, atomicOr((W*)p, (W)v))
WG_NV_ATOMIC(__nv_atomic_fetch_xor, atomicXor((W*)p, (W)v))
WG_NV_ATOMIC(__nv_atomic_fetch_min, atomicMin((W*)p, (W)v))
WG_NV_ATOMIC(__nv_atomic_fetch_max, atomicMax((W*)p, (W)v))
#define WG_NV_ATOMIC_VOID(name)                                                                   \
  template <class T>                                                                              \
  WG_DEVICE void __nv_atomic_##name(T* p, T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    __nv_atomic_fetch_##name(p, v, order, scope);                                                 \
  }
WG_NV_ATOMIC_VOID(add)
WG_NV_ATOMIC_VOID(sub)
WG_NV_ATOMIC_VOID(and)
WG_NV_ATOMIC_VOID(or)
WG_NV_ATOMIC_VOID(xor)
WG_NV_ATOMIC_VOID(min)
WG_NV_ATOMIC_VOID(max)
#undef WG_NV_ATOMIC_VOID
#undef WG_NV_ATOMIC

// ---- Loads and stores of 1 to 8 bytes, exchanges of 4 and 8, comparing exchanges of 2 to 8
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
template <class T>
WG_DEVICE void __nv_atomic_load(const T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef typename wg_atomic_bits<sizeof(T)>::as W;
  if (order == __NV_ATOMIC_SEQ_CST) __nv_atomic_thread_fence(order, scope);
  const W bits = *(const volatile W*)p;
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
  *(volatile decltype(bits)*)p = bits;
}
template <class T>
WG_DEVICE void __nv_atomic_store_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store(p, &value, order, scope);
}
template <class T>
WG_DEVICE void __nv_atomic_exchange(T* p, const T* value, T* old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typename wg_atomic_bits<sizeof(T)>::as bits;
  __builtin_memcpy(&bits, value, sizeof(T));
  __nv_atomic_thread_fence(order, scope);
  bits = atomicExch((decltype(bits)*)p, bits);
  __nv_atomic_thread_fence(order, scope);
  __builtin_memcpy(old, &bits, sizeof(T));
}
template <class T>
WG_DEVICE T __nv_atomic_exchange_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T old;
  __nv_atomic_exchange(p, &value, &old, order, scope);
  return old;
}
template <class T>
WG_DEVICE bool __nv_atomic_compare_exchange(T* p, T* expected, const T* desired, bool, int success, int,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typename wg_atomic_bits<sizeof(T)>::as want, put;
  __builtin_memcpy(&want, expected, sizeof(T));
  __builtin_memcpy(&put, desired, sizeof(T));
  __nv_atomic_thread_fence(success, scope);
  const decltype(want) old = atomicCAS((decltype(want)*)p, want, put);
  __nv_atomic_thread_fence(success, scope);
  __builtin_memcpy(expected, &old, sizeof(T));
  return old == want;
}
template <class T>
WG_DEVICE bool __nv_atomic_compare_exchange_n(T* p, T* expected, T desired, bool weak, int success, int failure,
                                              int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(p, expected, &desired, weak, success, failure, scope);
}
#undef WG_DEVICE
