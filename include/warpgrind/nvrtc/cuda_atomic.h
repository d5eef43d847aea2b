// <cuda/atomic> for programs compiled at run time, which have no host library: cuda::atomic and cuda::atomic_ref of 4
// and 8 bytes (libcu++, "Extended API, Synchronization Primitives"), and their names in cuda::std.
#ifndef WARPGRIND_NVRTC_CUDA_ATOMIC_H
#define WARPGRIND_NVRTC_CUDA_ATOMIC_H

namespace cuda {

namespace std {
typedef enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
} memory_order;
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10
};

static inline __device__ void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order == memory_order_relaxed || scope == thread_scope_thread) return;
  if (scope == thread_scope_block) __threadfence_block();
  if (scope == thread_scope_device) __threadfence();
  if (scope == thread_scope_system) __threadfence_system();
}

namespace __warpgrind {

template <unsigned Size>
struct word;
template <>
struct word<4> {
  using type = unsigned int;
};
template <>
struct word<8> {
  using type = unsigned long long;
};

// Atomic access to one value: a relaxed access between fences, at least as strong as the requested order.
template <typename T, thread_scope Scope>
class place {
 public:
  explicit __device__ place(T* at) : at_(at) {}

  __device__ T load(memory_order order) const {
    if (order == memory_order_seq_cst) atomic_thread_fence(order, Scope);
    const bits got = *reinterpret_cast<const volatile bits*>(at_);
    atomic_thread_fence(order, Scope);
    return value_of(got);
  }
  __device__ void store(T value, memory_order order) const {
    atomic_thread_fence(order, Scope);
    *reinterpret_cast<volatile bits*>(at_) = bits_of(value);
    if (order == memory_order_seq_cst) atomic_thread_fence(order, Scope);
  }
  // True: the value was `expected` and is now `desired`. False: sets `expected` to the value found.
  __device__ bool compare_exchange(T& expected, T desired, memory_order order) const {
    atomic_thread_fence(order, Scope);
    const bits wanted = bits_of(expected);
    const bits found = atomicCAS(reinterpret_cast<bits*>(at_), wanted, bits_of(desired));
    atomic_thread_fence(order, Scope);
    if (found == wanted) return true;
    expected = value_of(found);
    return false;
  }
  template <typename Change>
  __device__ T change(Change change, memory_order order) const {
    T old = load(memory_order_relaxed);
    while (!compare_exchange(old, change(old), order)) {
    }
    return old;
  }

 private:
  using bits = typename word<sizeof(T)>::type;
  static __device__ bits bits_of(T value) {
    bits out;
    __builtin_memcpy(&out, &value, sizeof out);
    return out;
  }
  static __device__ T value_of(bits value) {
    T out;
    __builtin_memcpy(&out, &value, sizeof out);
    return out;
  }
  T* at_;
};

template <typename T>
struct step {
  using type = T;
};
template <typename T>
struct step<T*> {
  using type = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
};

}  // namespace __warpgrind

#define WG_ATOMIC_OPERATION(name, value_type, expression)                                         \
  __device__ T name(value_type value, memory_order order = memory_order_seq_cst) const {          \
    return here().change([&](T old) -> T { return static_cast<T>(expression); }, order);          \
  }                                                                                               \
  __device__ T name(value_type value, memory_order order = memory_order_seq_cst) const volatile { \
    return here().change([&](T old) -> T { return static_cast<T>(expression); }, order);          \
  }
#define WG_ATOMIC_OPERATIONS                                                                                         \
  __device__ T load(memory_order order = memory_order_seq_cst) const {                                               \
    return here().load(order);                                                                                       \
  }                                                                                                                  \
  __device__ operator T() const {                                                                                    \
    return load();                                                                                                   \
  }                                                                                                                  \
  __device__ void store(T value, memory_order order = memory_order_seq_cst) const {                                  \
    here().store(value, order);                                                                                      \
  }                                                                                                                  \
  __device__ bool compare_exchange_strong(T& expected, T desired, memory_order order = memory_order_seq_cst) const { \
    return here().compare_exchange(expected, desired, order);                                                        \
  }                                                                                                                  \
  __device__ bool compare_exchange_strong(T& expected, T desired, memory_order order, memory_order) const {          \
    return here().compare_exchange(expected, desired, order);                                                        \
  }                                                                                                                  \
  __device__ bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order_seq_cst) const {   \
    return here().compare_exchange(expected, desired, order);                                                        \
  }                                                                                                                  \
  __device__ bool compare_exchange_weak(T& expected, T desired, memory_order order, memory_order) const {            \
    return here().compare_exchange(expected, desired, order);                                                        \
  }                                                                                                                  \
  WG_ATOMIC_OPERATION(exchange, T, value)                                                                            \
  WG_ATOMIC_OPERATION(fetch_add, step, old + value)                                                                  \
  WG_ATOMIC_OPERATION(fetch_sub, step, old - value)                                                                  \
  WG_ATOMIC_OPERATION(fetch_and, step, old& value)                                                                   \
  WG_ATOMIC_OPERATION(fetch_or, step, old | value)                                                                   \
  WG_ATOMIC_OPERATION(fetch_xor, step, old ^ value)                                                                  \
  WG_ATOMIC_OPERATION(fetch_min, T, value < old ? value : old)                                                       \
  WG_ATOMIC_OPERATION(fetch_max, T, old < value ? value : old)                                                       \
  __device__ T operator++() const {                                                                                  \
    return fetch_add(1) + 1;                                                                                         \
  }                                                                                                                  \
  __device__ T operator--() const {                                                                                  \
    return fetch_sub(1) - 1;                                                                                         \
  }                                                                                                                  \
  __device__ T operator++(int) const {                                                                               \
    return fetch_add(1);                                                                                             \
  }                                                                                                                  \
  __device__ T operator--(int) const {                                                                               \
    return fetch_sub(1);                                                                                             \
  }                                                                                                                  \
  __device__ T operator+=(step value) const {                                                                        \
    return fetch_add(value) + value;                                                                                 \
  }                                                                                                                  \
  __device__ T operator-=(step value) const {                                                                        \
    return fetch_sub(value) - value;                                                                                 \
  }                                                                                                                  \
  __device__ bool is_lock_free() const {                                                                             \
    return true;                                                                                                     \
  }

template <typename T, thread_scope Scope = thread_scope_system>
class atomic {
  using step = typename __warpgrind::step<T>::type;

 public:
  atomic() = default;
  constexpr __device__ atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  __device__ T operator=(T value) {
    store(value);
    return value;
  }
  WG_ATOMIC_OPERATIONS

 private:
  __device__ __warpgrind::place<T, Scope> here() const volatile {
    return __warpgrind::place<T, Scope>(const_cast<T*>(&value_));
  }
  alignas(sizeof(T)) T value_;
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic_ref {
  using step = typename __warpgrind::step<T>::type;

 public:
  explicit __device__ atomic_ref(T& value) : at_(&value) {}
  __device__ T operator=(T value) const {
    store(value);
    return value;
  }
  WG_ATOMIC_OPERATIONS

 private:
  __device__ __warpgrind::place<T, Scope> here() const volatile { return __warpgrind::place<T, Scope>(at_); }
  T* at_;
};

#undef WG_ATOMIC_OPERATIONS
#undef WG_ATOMIC_OPERATION

namespace std {
template <typename T>
using atomic = ::cuda::atomic<T, thread_scope_system>;
template <typename T>
using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
static inline __device__ void atomic_thread_fence(memory_order order) {
  ::cuda::atomic_thread_fence(order);
}
}  // namespace std

}  // namespace cuda

#endif
