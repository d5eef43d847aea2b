// Building blocks of the member tables of a profile (finding_members.h, detail_members.h, profile_members.h). The
// tables serve to write and read the file (member_json.h). profile_docs.h generates the format's description
// (docs/profile-format.md) and the page's types (web/src/profile_types.ts) from them.
//
// members(v, x) calls, for each member of x in the order of the file, one of
//   v.member(key, value, since, what)
//   v.member_if(there, key, value, since, what)   written only if `there`; a reader sets `there` if the key exists
//   v.derived(key, make, since, what)             computed from other members; not read
//   v.index(key, what)                            position of x in its list; not read
// A value is a field of x, or one of the views below.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace warpgrind::results {

enum class Since : std::uint8_t {
  first,   // in every file; null for an optional that has no value
  later,   // likewise, but missing in files of earlier versions
  if_any,  // left out if it is empty, false or has no value
};

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

// ---- Views: representations in the file that do not follow from a field's type. N, M, A, S: the type of the field,
// const for a writer.

template <class N>
struct Hex {  // a string, "0x0000ffff"
  N& number;
  int width = 0;  // including "0x"; padded with zeros
};
template <class N>
Hex(N&, int) -> Hex<N>;
template <class N>
Hex(N&) -> Hex<N>;

template <class M, class A>
struct LaneAddresses {  // a list of 32; null for inactive lanes
  M& mask;              // a reader has read it before, and removes lanes without an address
  A& addresses;
};
template <class M, class A>
LaneAddresses(M&, A&) -> LaneAddresses<M, A>;

template <class N, class S>
struct NumberOrWord {
  N& number;
  S& word;  // empty: use the number
};
template <class N, class S>
NumberOrWord(N&, S&) -> NumberOrWord<N, S>;

template <class N>
struct WithPoint {  // a number written with a decimal point even if whole ("0.0"); other whole numbers have none
  N& number;
};
template <class N>
WithPoint(N&) -> WithPoint<N>;

}  // namespace warpgrind::results
