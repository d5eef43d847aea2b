// Calls of LAPACK, which OpenBLAS contains, by routine and element type.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "libraries/common/numbers.h"

namespace warpgrind::libraries::solver {

// Routines with the same name for all types, and those with one name for real and one for complex elements.
// clang-format off
#define WG_LAPACK_ROUTINES(SAME, TWO) \
  SAME(getrf) SAME(getrs) SAME(potrf) SAME(potrs) SAME(potri) SAME(lauum) SAME(trtri) SAME(geqrf) SAME(gels) \
  SAME(gesvd) SAME(geev) SAME(gebrd) SAME(sytrf) SAME(sytrs) SAME(sytri) SAME(larft) \
  TWO(orgqr, ungqr) TWO(ormqr, unmqr) TWO(orgbr, ungbr) TWO(orgtr, ungtr) TWO(ormtr, unmtr) \
  TWO(sytrd, hetrd) TWO(syevd, heevd) TWO(sygvd, hegvd)
// clang-format on

enum class Routine {
#define WG_SAME(name) name,
#define WG_TWO(real, complex) real,
  WG_LAPACK_ROUTINES(WG_SAME, WG_TWO)
#undef WG_SAME
#undef WG_TWO
};

// Address of the routine for the type with this index (0 to 3: S, D, C, Z).
void* lapack_address(Routine routine, int type);
// Message about OpenBLAS or a routine that the host does not have. Empty: all are there.
const std::string& lapack_missing();

template <class T>
inline constexpr int kTypeIndex = (std::is_same_v<Real<T>, double> ? 1 : 0) + (kIsComplex<T> ? 2 : 0);

// Fortran takes every argument by address.
template <class A>
auto by_address(const A& argument) {
  if constexpr (std::is_pointer_v<A>)
    return argument;
  else
    return &argument;
}

// Calls a routine with arguments by value, except arrays. Returns LAPACK's info, which is added as the last argument.
// The lengths of up to four letters follow it, as Fortran wants them.
template <class T, class... Args>
int lapack(Routine routine, const Args&... args) {
  int info = 0;
  constexpr std::size_t kOne = 1;
  using Function = void (*)(decltype(by_address(args))..., int*, std::size_t, std::size_t, std::size_t, std::size_t);
  reinterpret_cast<Function>(lapack_address(routine, kTypeIndex<T>))(by_address(args)..., &info, kOne, kOne, kOne,
                                                                     kOne);
  return info;
}

// Elements of a workspace from the first element that a query has left. A float cannot hold all sizes: a little is
// added. LAPACK's sizes are int: it refuses a problem that needs more (info is negative).
template <class T>
int workspace_of(const T& answer) {
  constexpr double kMost = 2147483647;
  return std::max(1, static_cast<int>(std::min(kMost, std::ceil(static_cast<double>(std::real(answer)) * (1 + 1e-6)))));
}

// Calls a routine whose last arguments are (work, lwork, info), with the workspace that it asks for.
template <class T, class... Args>
int lapack_with_work(Routine routine, const Args&... args) {
  T answer{};
  if (const int info = lapack<T>(routine, args..., &answer, -1)) return info;
  std::vector<T> work(static_cast<std::size_t>(workspace_of(answer)));
  return lapack<T>(routine, args..., work.data(), static_cast<int>(work.size()));
}

}  // namespace warpgrind::libraries::solver
