// Cooperative groups (CUDA C++ Programming Guide, "Cooperative Groups"): threads that act together, by name.
// Reductions, scans and asynchronous copies are in cooperative_groups/reduce.h, scan.h and memcpy_async.h.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#if defined(__cplusplus) && defined(__CUDACC__)
// clang-format off
#include "warpgrind/cooperative/groups.h"
#include "warpgrind/cooperative/tiles.h"
#include "warpgrind/cooperative/partition.h"
// clang-format on
#endif

#endif
