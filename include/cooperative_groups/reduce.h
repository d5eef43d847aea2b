// cooperative_groups::reduce and its operations (CUDA C++ Programming Guide, "Group Collectives").
#ifndef _CG_REDUCE_H_
#define _CG_REDUCE_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define WG_GROUP __device__ __forceinline__
#define WG_OPERATION(name, expression)                           \
  template <class T>                                             \
  struct name {                                                  \
    WG_GROUP T operator()(T a, T b) const { return expression; } \
  };
WG_OPERATION(plus, a + b)
WG_OPERATION(less, b < a ? b : a)
WG_OPERATION(greater, a < b ? b : a)
WG_OPERATION(bit_and, a& b)
WG_OPERATION(bit_or, a | b)
WG_OPERATION(bit_xor, a ^ b)
#undef WG_OPERATION

namespace wg {
template <class T>
struct Bare {
  typedef T type;
};
template <class T>
struct Bare<T&> {
  typedef T type;
};
template <class T>
struct Bare<T&&> {
  typedef T type;
};
template <class T>
struct Bare<const T> {
  typedef T type;
};
template <class T>
struct Bare<const T&> {
  typedef T type;
};
// 32-bit integers of a mask have instructions.
template <class T, class Op>
struct Redux {
  static constexpr bool there = false;
};
#define WG_REDUX(type, op, function)                                                           \
  template <>                                                                                  \
  struct Redux<type, op<type>> {                                                               \
    static constexpr bool there = true;                                                        \
    static WG_GROUP type reduce(unsigned int mask, type v) { return (type)function(mask, v); } \
  };
WG_REDUX(int, plus, __reduce_add_sync)
WG_REDUX(unsigned int, plus, __reduce_add_sync)
WG_REDUX(int, less, __reduce_min_sync)
WG_REDUX(unsigned int, less, __reduce_min_sync)
WG_REDUX(int, greater, __reduce_max_sync)
WG_REDUX(unsigned int, greater, __reduce_max_sync)
WG_REDUX(unsigned int, bit_and, __reduce_and_sync)
WG_REDUX(unsigned int, bit_or, __reduce_or_sync)
WG_REDUX(unsigned int, bit_xor, __reduce_xor_sync)
#undef WG_REDUX
template <bool redux>
struct ReduceTile {
  template <unsigned int Size, class Parent, class T, class Op>
  static WG_GROUP T reduce(const thread_block_tile<Size, Parent>& group, T value, Op& op) {
    for (unsigned int step = Size / 2; step; step /= 2) value = op(value, group.shfl_xor(value, step));
    return value;
  }
};
template <>
struct ReduceTile<true> {
  template <class Group, class T, class Op>
  static WG_GROUP T reduce(const Group& group, T value, Op&) {
    return Redux<T, Op>::reduce(group.wg_mask(), value);
  }
};
template <bool in_a_warp>
struct ReduceAny {
  template <unsigned int Size, class Parent, class T, class Op>
  static WG_GROUP T reduce(const thread_block_tile<Size, Parent>& group, T value, Op& op) {
    return ReduceTile<Redux<T, Op>::there>::reduce(group, value, op);
  }
};
// Tiles of several warps: each by itself, then one value after the other, in the same order for all.
template <>
struct ReduceAny<false> {
  template <unsigned int Size, class Parent, class T, class Op>
  static WG_GROUP T reduce(const thread_block_tile<Size, Parent>& group, T value, Op& op) {
    const thread_block_tile<32> warp(0, 1);
    value = ReduceTile<Redux<T, Op>::there>::reduce(warp, value, op);
    T result = group.shfl(value, 0);
    for (int i = 32; i < (int)Size; i += 32) result = op(result, group.shfl(value, i));
    return result;
  }
};
}  // namespace wg

template <unsigned int Size, class Parent, class T, class Op>
WG_GROUP auto reduce(const thread_block_tile<Size, Parent>& group, T&& value, Op&& op) -> typename wg::Bare<T>::type {
  auto operation = op;  // a function becomes a pointer to it
  return wg::ReduceAny<(Size <= 32)>::reduce(group, typename wg::Bare<T>::type(value), operation);
}
template <class T, class Op>
WG_GROUP auto reduce(const coalesced_group& group, T&& value, Op&& op) -> typename wg::Bare<T>::type {
  typename wg::Bare<T>::type mine = value;
  const unsigned int size = group.size(), rank = group.thread_rank();
  // Down to the first thread, by halves of what is left, then to all.
  for (unsigned int left = size; left > 1;) {
    const unsigned int half = (left + 1) / 2;
    typename wg::Bare<T>::type other = group.shfl_down(mine, half);
    if (rank + half < left) mine = op(mine, other);
    left = half;
  }
  return group.shfl(mine, 0);
}
#undef WG_GROUP

}  // namespace cooperative_groups

#endif
