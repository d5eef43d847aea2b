#include "debugger/type_text.h"

#include <fmt/format.h>

namespace warpgrind::debugger {

namespace {

using debuginfo::Member;

// `float[4]` and `x` -> `float x[4]`; `int (*)[4]` -> `int (*x)[4]`.
std::string declaration(const std::string& type, const std::string& name) {
  if (name.empty()) return type;
  if (const std::size_t star = type.find("(*"); star != std::string::npos)
    return type.substr(0, star + 2) + name + type.substr(star + 2);
  const std::size_t bracket = type.ends_with(']') ? type.find('[') : std::string::npos;
  if (bracket != std::string::npos) return fmt::format("{} {}{}", type.substr(0, bracket), name, type.substr(bracket));
  return fmt::format("{}{}{}", type, type.ends_with('*') || type.ends_with('&') ? "" : " ", name);
}

const char* word_of(TypeKind kind) {
  if (kind == TypeKind::union_type) return "union";
  return kind == TypeKind::class_type ? "class" : "struct";
}

std::string place_of(const TypeTable& types, const Member& member, bool offsets) {
  if (!offsets) return "";
  if (member.is_static) return fmt::format("{:<21}", "/* static */");
  if (member.bit_size != 0)
    return fmt::format("/* {:>5}: {:<2}   {:>3} b */ ", member.offset, member.bit_offset, member.bit_size);
  return fmt::format("/* {:>5}       {:>5} */ ", member.offset, types.size(member.type));
}

std::string structure_text(TypeTable& types, const Type& type, bool offsets) {
  std::string bases, members;
  for (const Member& member : type.members) {
    if (member.is_base) {
      bases += fmt::format("{}{}{}", bases.empty() ? " : " : ", ", member.is_virtual ? "virtual " : "", member.name);
      continue;
    }
    members += fmt::format("  {}{}{}", place_of(types, member, offsets), member.is_static ? "static " : "",
                           declaration(types.name(member.type), member.name));
    if (member.bit_size != 0) members += fmt::format(" : {}", member.bit_size);
    if (member.is_static && member.has_value) members += fmt::format(" = {}", member.value);
    members += ";\n";
  }
  const std::string size = offsets ? fmt::format("  /* {} bytes */\n", type.size) : "";
  if (!type.is_complete) members = "  <incomplete type>\n";
  return fmt::format("{} {}{}{{\n{}{}}}", word_of(type.kind), type.name.empty() ? "" : type.name + bases + " ",
                     type.name.empty() ? bases : "", members, size);
}

std::string enumeration_definition(TypeTable& types, const Type& type) {
  std::string out = type.is_scoped ? "enum class" : "enum";
  if (!type.name.empty()) out += " " + type.name;
  if (type.target != kVoidType) out += " : " + types.name(type.target);
  out += " {";
  std::int64_t next = 0;
  for (const debuginfo::Enumerator& one : type.enumerators) {
    out += fmt::format("{}{}", &one == type.enumerators.data() ? "" : ", ", one.name);
    if (one.value != next) out += fmt::format(" = {}", one.value);
    next = one.value + 1;
  }
  return out + "}";
}

}  // namespace

std::string type_text(TypeTable& types, TypeId id, bool offsets) {
  std::string behind;  // marks of pointers and arrays around the definition
  constexpr int kDeepest = 16;
  TypeId at = id;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Type& type = types.stripped(at);
    switch (type.kind) {
      case TypeKind::structure:
      case TypeKind::class_type:
      case TypeKind::union_type:
        if (type.format != NumberFormat::none) return types.name(id);
        return structure_text(types, type, offsets) + (behind.empty() ? "" : " " + behind);
      case TypeKind::enumeration:
        return enumeration_definition(types, type) + (behind.empty() ? "" : " " + behind);
      case TypeKind::pointer:
        behind = "*" + behind;
        break;
      case TypeKind::reference:
        behind = "&" + behind;
        break;
      case TypeKind::array: {
        std::string dimensions;
        for (const std::uint64_t n : type.dimensions) dimensions += n ? fmt::format("[{}]", n) : "[]";
        behind = (behind.empty() ? "" : "(" + behind + ")") + dimensions;
        break;
      }
      default:
        return at == id ? types.name(types.strip(id)) : types.name(id);
    }
    at = type.target;
  }
  return types.name(id);
}

}  // namespace warpgrind::debugger
