// The definition of a type as text, as `ptype` shows it.
#pragma once

#include <string>

#include "debugger/type_table.h"

namespace warpgrind::debugger {

// Structures and enumerations with their members, also those behind typedefs, pointers and arrays:
//   struct Box {
//     Point low;
//     char name[8];
//   } *
// offsets: each member has its offset and size in bytes in front, of bit fields its bits.
std::string type_text(TypeTable& types, TypeId type, bool offsets = false);

}  // namespace warpgrind::debugger
