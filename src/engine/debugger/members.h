// Finds members of structures by name: in base classes and in anonymous unions, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "debugger/value.h"

namespace warpgrind::debugger {

// The way to the member, outermost first; empty: there is none. The pointers are into the type table.
std::vector<const debuginfo::Member*> find_member(const TypeTable& types, TypeId structure, std::string_view name);
Result<Value> follow_members(LaneContext context, Value structure, const std::vector<const debuginfo::Member*>& way);
// Also those of base classes and of anonymous members.
std::vector<std::string> all_member_names(const TypeTable& types, TypeId structure);
// "x, y, z": for messages.
std::string member_names(const TypeTable& types, TypeId structure);

}  // namespace warpgrind::debugger
