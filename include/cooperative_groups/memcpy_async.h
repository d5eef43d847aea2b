// cooperative_groups::memcpy_async, wait and wait_prior: a group copies from global to shared memory; pieces of 4, 8 or
// 16 aligned bytes go by cp.async, each call one of the thread's groups of copies.
#ifndef _CG_ASYNC_H
#define _CG_ASYNC_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define WG_GROUP __device__ __forceinline__
namespace wg {
template <unsigned int bytes>
WG_GROUP void copy_piece(char* to, const char* from) {
  if (__isShared(to) && __isGlobal(from)) {
    const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to);
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(__cvta_generic_to_global(from)),
                     "n"(bytes)
                     : "memory");
  } else {
    __builtin_memcpy(to, from, bytes);
  }
}
template <unsigned int bytes, class Group>
WG_GROUP unsigned int copy_pieces(const Group& group, char* to, const char* from, size_t size) {
  for (size_t i = group.thread_rank() * (size_t)bytes; i + bytes <= size; i += group.size() * (size_t)bytes)
    copy_piece<bytes>(to + i, from + i);
  return (unsigned int)(size / bytes * bytes);
}
template <class Group>
WG_GROUP void copy(const Group& group, char* to, const char* from, size_t size) {
  const size_t places = (size_t)to | (size_t)from;
  size_t done = 0;
  if (places % 16 == 0)
    done = size / 16 * 16, copy_pieces<16>(group, to, from, done);
  else if (places % 8 == 0)
    done = size / 8 * 8, copy_pieces<8>(group, to, from, done);
  else if (places % 4 == 0)
    done = size / 4 * 4, copy_pieces<4>(group, to, from, done);
  for (size_t i = done + group.thread_rank(); i < size; i += group.size()) to[i] = from[i];
  __asm__ volatile("cp.async.commit_group;" ::: "memory");
}
}  // namespace wg

template <class Group>
WG_GROUP void memcpy_async(const Group& group, void* to, const void* from, size_t size) {
  wg::copy(group, (char*)to, (const char*)from, size);
}
template <class Group, class T>
WG_GROUP void memcpy_async(const Group& group, T* to, const T* from, size_t size) {
  wg::copy(group, (char*)to, (const char*)from, size);
}
// Elements, as many as both have.
template <class Group, class T>
WG_GROUP void memcpy_async(const Group& group, T* to, size_t to_count, const T* from, size_t from_count) {
  wg::copy(group, (char*)to, (const char*)from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
template <unsigned int stages, class Group>
WG_GROUP void wait_prior(const Group& group) {
  __asm__ volatile("cp.async.wait_group %0;" ::"n"(stages) : "memory");
  group.sync();
}
template <class Group>
WG_GROUP void wait(const Group& group) {
  wait_prior<0>(group);
}
#undef WG_GROUP

}  // namespace cooperative_groups

#endif
