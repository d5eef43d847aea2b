// What the tables of a profile's members are made of: finding_members.h, detail_members.h, profile_members.h. Of them
// the file is written and read (member_json.h), and of them its description (docs/profile-format.md) and the page's
// types (web/src/profile_types.ts) are made (profile_docs.h).
//
// members(v, x) calls, for each member of x in the order of the file, one of
//   v.member(key, value, since, what)
//   v.member_if(there, key, value, since, what)   written only where `there`, which a reader sets when it finds one
//   v.derived(key, make, since, what)             made from other members; not read
//   v.index(key, what)                            its place in the list that it is an element of; not read
// A value is a field of x, or one of the views below.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace warpgrind::results {

enum class Since : std::uint8_t {
  first,   // in every file; null for an optional that has no value
  later,   // likewise, but files of earlier versions lack it
  if_any,  // left out where it is empty, false or has no value
};

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

// ---- Forms in the file that the type of a field does not say. N, M, A, S: of the field, const for a writer.

template <class N>
struct Hex {  // a string, "0x0000ffff"
  N& number;
  int width = 0;  // with "0x", filled up with zeros
};
template <class N>
Hex(N&, int) -> Hex<N>;
template <class N>
Hex(N&) -> Hex<N>;

template <class M, class A>
struct LaneAddresses {  // a list of 32, null where the lane is off
  M& mask;              // a reader has it already, and takes those out that have no address
  A& addresses;
};
template <class M, class A>
LaneAddresses(M&, A&) -> LaneAddresses<M, A>;

template <class N, class S>
struct NumberOrWord {
  N& number;
  S& word;  // empty: it is a number
};
template <class N, class S>
NumberOrWord(N&, S&) -> NumberOrWord<N, S>;

template <class N>
struct WithPoint {  // a number, "0.0" where it is whole; others are then written as whole numbers
  N& number;
};
template <class N>
WithPoint(N&) -> WithPoint<N>;

}  // namespace warpgrind::results
