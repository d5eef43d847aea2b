// Part of cooperative_groups.h: partitions by a value or a predicate, and work for one thread of a group.
#pragma once

#define WG_GROUP __device__ __forceinline__

namespace cooperative_groups {

namespace wg {
template <class Group>
struct IsLanes {
  static constexpr bool value = false;
};
template <>
struct IsLanes<coalesced_group> {
  static constexpr bool value = true;
};
template <unsigned int Size, class Parent>
struct IsLanes<thread_block_tile<Size, Parent>> {
  static constexpr bool value = Size <= 32;
};
}  // namespace wg

template <class Group, class Label>
WG_GROUP coalesced_group labeled_partition(const Group& group, Label label) {
  static_assert(wg::IsLanes<Group>::value, "a tile of at most 32 threads, or coalesced threads");
  const unsigned int mask = group.wg_mask(), same = __match_any_sync(mask, label);
  // First lanes of all groups. They give the number of groups, and this group's position among them.
  const unsigned int leaders = __ballot_sync(mask, (int)wg::lane() == __ffs((int)same) - 1);
  const unsigned int first = same & -same;
  return coalesced_group(same, (unsigned int)__popc(leaders & (first - 1)), (unsigned int)__popc(leaders));
}
template <class Group>
WG_GROUP coalesced_group binary_partition(const Group& group, bool predicate) {
  static_assert(wg::IsLanes<Group>::value, "a tile of at most 32 threads, or coalesced threads");
  const unsigned int mask = group.wg_mask(), yes = __ballot_sync(mask, predicate);
  return coalesced_group(predicate ? yes : mask & ~yes, predicate ? 1u : 0u, 2u);
}

template <class Group, class F, class... Arguments>
WG_GROUP void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class F, class... Arguments>
WG_GROUP auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments)
    -> decltype(static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...)) {
  decltype(static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = static_cast<F&&>(f)(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#undef WG_GROUP
