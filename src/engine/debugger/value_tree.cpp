// Children of a value in a tree of variables.
#include <algorithm>

#include "debugger/format.h"

namespace warpgrind::debugger {

using debuginfo::Member;

namespace {

// What a pointer or reference shows as its children: members of a structure. kVoidType: its one target, or nothing.
bool leads_to_structure(const TypeTable& types, TypeId id) {
  const Type& type = types.stripped(id);
  return types.is_structure(type.target) && types.stripped(type.target).is_complete;
}

bool is_shown(const Member& member) {
  return !member.is_static || member.has_value;
}

std::uint64_t member_count(const Type& type) {
  return static_cast<std::uint64_t>(std::ranges::count_if(type.members, is_shown));
}

Child make_child(std::string name, std::string path, Result<Value> value) {
  Child child;
  child.name = std::move(name);
  child.path = std::move(path);
  if (value.ok()) {
    child.value = value.take();
  } else {
    child.error = value.error().message;
  }
  return child;
}

std::string in_brackets(std::string_view path) {
  const bool is_simple = std::ranges::all_of(path, [](char c) {
    return c == '_' || c == '.' || c == '[' || c == ']' || c == ':' || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return is_simple ? std::string(path) : "(" + std::string(path) + ")";
}

std::vector<Child> members(LaneContext context, const Value& structure, std::string_view path, std::uint64_t first,
                           std::uint64_t count) {
  std::vector<Child> result;
  std::uint64_t index = 0;
  for (const Member& member : context.types.stripped(structure.type).members) {
    if (!is_shown(member)) continue;
    if (index++ < first) continue;
    if (result.size() == count) break;
    const bool is_part = member.is_base || member.name.empty();  // its members are members of the structure
    std::string child_path(path);
    if (!is_part) child_path = in_brackets(path) + "." + member.name;
    result.push_back(
        make_child(member.name, path.empty() ? "" : std::move(child_path), member_of(context, structure, member)));
  }
  return result;
}

}  // namespace

std::uint64_t child_count(const TypeTable& types, const Value& value) {
  const Type& type = types.stripped(value.type);
  if (types.is_array(value.type)) return type.dimensions.empty() ? 0 : type.dimensions[0];
  if (types.is_structure(value.type)) return member_count(type);
  if (types.is_pointer(value.type) || types.is_reference(value.type)) {
    if (leads_to_structure(types, value.type)) return member_count(types.stripped(type.target));
    return types.size(type.target) != 0 ? 1 : 0;
  }
  return 0;
}

std::vector<Child> children(LaneContext context, const Value& value, std::string_view path, std::uint64_t first,
                            std::uint64_t count) {
  constexpr std::uint64_t limit = 65536;  // of one call
  const std::uint64_t all = child_count(context.types, value);
  if (first >= all) return {};
  count = std::min({count, all - first, limit});
  std::vector<Child> result;
  if (context.types.is_array(value.type)) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::string index = "[" + std::to_string(i) + "]";
      result.push_back(make_child(index, path.empty() ? "" : in_brackets(path) + index, element_at(context, value, i)));
    }
    return result;
  }
  if (context.types.is_structure(value.type)) return members(context, value, path, first, count);
  const bool is_pointer = context.types.is_pointer(value.type);
  const std::string target_path = path.empty() ? "" : is_pointer ? "*" + in_brackets(path) : std::string(path);
  Result<Value> target = pointee(context, value);
  if (target.ok() && leads_to_structure(context.types, value.type))
    return members(context, *target, target_path, first, count);
  result.push_back(make_child(is_pointer ? "*" : "&", target_path, std::move(target)));
  return result;
}

}  // namespace warpgrind::debugger
