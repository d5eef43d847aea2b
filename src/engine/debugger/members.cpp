#include "debugger/members.h"

#include <algorithm>

namespace warpgrind::debugger {

using debuginfo::Member;

namespace {

constexpr int kMaxNesting = 16;   // base classes of base classes, anonymous members in each other
constexpr int kMaxVisits = 4096;  // of structures: a broken table can have members that contain themselves

bool search_members(const TypeTable& types, TypeId structure, std::string_view name, int nesting, int& visits,
                    std::vector<const Member*>& way) {
  if (nesting > kMaxNesting || ++visits > kMaxVisits) return false;
  const Type& type = types.stripped(structure);
  for (const Member& member : type.members) {
    if (member.is_base || member.name != name) continue;
    way.push_back(&member);
    return true;
  }
  for (const Member& member : type.members) {
    if (!member.is_base && !member.name.empty()) continue;
    way.push_back(&member);
    if (search_members(types, member.type, name, nesting + 1, visits, way)) return true;
    way.pop_back();
  }
  return false;
}

void collect_names(const TypeTable& types, TypeId structure, int nesting, int& visits, std::vector<std::string>& out) {
  if (nesting > kMaxNesting || ++visits > kMaxVisits) return;
  for (const Member& member : types.stripped(structure).members) {
    if (member.is_base || member.name.empty())
      collect_names(types, member.type, nesting + 1, visits, out);
    else
      out.push_back(member.name);
  }
}

}  // namespace

std::vector<std::string> all_member_names(const TypeTable& types, TypeId structure) {
  std::vector<std::string> out;
  int visits = 0;
  collect_names(types, structure, 0, visits, out);
  return out;
}

std::vector<const Member*> find_member(const TypeTable& types, TypeId structure, std::string_view name) {
  std::vector<const Member*> way;
  int visits = 0;
  if (!name.empty()) search_members(types, structure, name, 0, visits, way);
  return way;
}

Result<Value> follow_members(LaneContext context, Value structure, const std::vector<const Member*>& way) {
  for (const Member* member : way) {
    Result<Value> next = member_of(context, structure, *member);
    if (!next.ok()) return next;
    structure = next.take();
  }
  return structure;
}

std::string member_names(const TypeTable& types, TypeId structure) {
  constexpr std::size_t limit = 20;
  std::string text;
  std::size_t count = 0;
  for (const Member& member : types.stripped(structure).members) {
    if (member.name.empty()) continue;
    if (++count > limit) return text + ", ...";
    text += (text.empty() ? "" : ", ") + member.name;
  }
  return text;
}

}  // namespace warpgrind::debugger
