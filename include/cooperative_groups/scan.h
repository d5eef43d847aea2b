// cooperative_groups::inclusive_scan and exclusive_scan.
#ifndef _CG_SCAN_H_
#define _CG_SCAN_H_

#include "reduce.h"

namespace cooperative_groups {

#define WG_GROUP __device__ __forceinline__
template <class Group, class T, class Op>
WG_GROUP auto inclusive_scan(const Group& group, T&& value, Op&& op) -> typename wg::Bare<T>::type {
  typename wg::Bare<T>::type sum = value;
  const unsigned int rank = group.thread_rank(), size = group.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    typename wg::Bare<T>::type before = group.shfl_up(sum, step);
    if (rank >= step) sum = op(before, sum);
  }
  return sum;
}
template <class Group, class T>
WG_GROUP auto inclusive_scan(const Group& group, T&& value) -> typename wg::Bare<T>::type {
  return inclusive_scan(group, value, plus<typename wg::Bare<T>::type>());
}
// The first thread's result is T(), which is the sum of nothing.
template <class Group, class T, class Op>
WG_GROUP auto exclusive_scan(const Group& group, T&& value, Op&& op) -> typename wg::Bare<T>::type {
  typename wg::Bare<T>::type sum = group.shfl_up(inclusive_scan(group, value, op), 1u);
  return group.thread_rank() == 0 ? typename wg::Bare<T>::type() : sum;
}
template <class Group, class T>
WG_GROUP auto exclusive_scan(const Group& group, T&& value) -> typename wg::Bare<T>::type {
  return exclusive_scan(group, value, plus<typename wg::Bare<T>::type>());
}
#undef WG_GROUP

}  // namespace cooperative_groups

#endif
