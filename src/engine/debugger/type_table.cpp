#include "debugger/type_table.h"

#include <algorithm>

namespace warpgrind::debugger {

namespace {

constexpr int kMaxAliases = 64;  // typedefs of typedefs
constexpr std::uint64_t kMaxSize = 1ull << 48;

struct BuiltinRow {
  std::string_view name;
  std::uint64_t size;
  NumberFormat format;
  std::uint32_t components = 1;
};

// In the order of Builtin.
constexpr std::array kBuiltins = {
    BuiltinRow{"bool", 1, NumberFormat::boolean},
    BuiltinRow{"char", 1, NumberFormat::character},
    BuiltinRow{"signed char", 1, NumberFormat::character},
    BuiltinRow{"unsigned char", 1, NumberFormat::character},
    BuiltinRow{"short", 2, NumberFormat::signed_integer},
    BuiltinRow{"unsigned short", 2, NumberFormat::unsigned_integer},
    BuiltinRow{"int", 4, NumberFormat::signed_integer},
    BuiltinRow{"unsigned int", 4, NumberFormat::unsigned_integer},
    BuiltinRow{"long", 8, NumberFormat::signed_integer},
    BuiltinRow{"unsigned long", 8, NumberFormat::unsigned_integer},
    BuiltinRow{"long long", 8, NumberFormat::signed_integer},
    BuiltinRow{"unsigned long long", 8, NumberFormat::unsigned_integer},
    BuiltinRow{"__int128", 16, NumberFormat::signed_integer},
    BuiltinRow{"unsigned __int128", 16, NumberFormat::unsigned_integer},
    BuiltinRow{"float", 4, NumberFormat::floating},
    BuiltinRow{"double", 8, NumberFormat::floating},
    BuiltinRow{"half", 2, NumberFormat::half},
    BuiltinRow{"bf16", 2, NumberFormat::bfloat16},
    BuiltinRow{"e4m3", 1, NumberFormat::fp8_e4m3},
    BuiltinRow{"e5m2", 1, NumberFormat::fp8_e5m2},
    BuiltinRow{"e8m0", 1, NumberFormat::fp8_e8m0},
    BuiltinRow{"e2m3", 1, NumberFormat::fp6_e2m3},
    BuiltinRow{"e3m2", 1, NumberFormat::fp6_e3m2},
    BuiltinRow{"e2m1", 1, NumberFormat::fp4_e2m1},
    BuiltinRow{"e2m1x2", 1, NumberFormat::fp4_e2m1, 2},
    BuiltinRow{"s4x2", 1, NumberFormat::signed_integer, 2},
    BuiltinRow{"u4x2", 1, NumberFormat::unsigned_integer, 2},
};

struct OtherName {
  std::string_view name;
  Builtin type;
};
constexpr std::array kOtherNames = {
    OtherName{"short int", Builtin::short_int},
    OtherName{"unsigned", Builtin::unsigned_int},
    OtherName{"signed", Builtin::int_},
    OtherName{"unsigned short int", Builtin::unsigned_short},
    OtherName{"long int", Builtin::long_int},
    OtherName{"unsigned long int", Builtin::unsigned_long},
    OtherName{"long long int", Builtin::long_long},
    OtherName{"unsigned long long int", Builtin::unsigned_long_long},
    OtherName{"int8_t", Builtin::signed_char},
    OtherName{"uint8_t", Builtin::unsigned_char},
    OtherName{"int16_t", Builtin::short_int},
    OtherName{"uint16_t", Builtin::unsigned_short},
    OtherName{"int32_t", Builtin::int_},
    OtherName{"uint32_t", Builtin::unsigned_int},
    OtherName{"int64_t", Builtin::long_int},
    OtherName{"uint64_t", Builtin::unsigned_long},
    OtherName{"size_t", Builtin::unsigned_long},
    OtherName{"__half", Builtin::half},
    OtherName{"f16", Builtin::half},
    OtherName{"__nv_bfloat16", Builtin::bf16},
    OtherName{"nv_bfloat16", Builtin::bf16},
    OtherName{"uint3", Builtin::uint3},
    OtherName{"dim3", Builtin::dim3},
};

bool is_layer(TypeKind kind) {
  return kind == TypeKind::alias || kind == TypeKind::const_type || kind == TypeKind::volatile_type ||
         kind == TypeKind::restrict_type;
}

Type make(TypeKind kind, std::uint64_t size, TypeId target) {
  Type type;
  type.kind = kind;
  type.size = size;
  type.target = target;
  return type;
}

// "float[16]" and 1 dimension -> 5: where the dimensions begin.
std::size_t dimensions_begin(const std::string& name, std::size_t count) {
  std::size_t at = name.size();
  for (; count > 0 && at > 0 && name[at - 1] == ']'; --count) {
    const std::size_t open = name.rfind('[', at - 1);
    if (open == std::string::npos) break;
    at = open;
  }
  return at;
}

}  // namespace

TypeTable::TypeTable(const Symbols& symbols) : symbols_(symbols) {
  for (const BuiltinRow& row : kBuiltins) {
    Type number = make(TypeKind::base, row.size, kVoidType);
    number.name = row.name;
    number.format = row.format;
    number.components = row.components;
    add(std::move(number));
  }
  for (const char* name : {"uint3", "dim3"}) {
    Type triple = make(TypeKind::structure, 12, kVoidType);
    triple.name = name;
    std::uint64_t offset = 0;
    for (const char* component : {"x", "y", "z"}) {
      debuginfo::Member member;
      member.name = component;
      member.type = builtin(Builtin::unsigned_int);
      member.offset = offset;
      offset += 4;
      triple.members.push_back(member);
    }
    add(triple);
  }
  unknown_.kind = TypeKind::unspecified;
}

TypeId TypeTable::add(Type type) {
  made_.push_back(std::move(type));
  return kFirstMade + static_cast<TypeId>(made_.size() - 1);
}

const Type& TypeTable::type(TypeId id) const {
  if (id < kFirstMade) return symbols_.type(id);
  return id - kFirstMade < made_.size() ? made_[id - kFirstMade] : unknown_;
}

TypeId TypeTable::strip(TypeId id) const {
  for (int step = 0; step < kMaxAliases; ++step) {
    const Type& t = type(id);
    if (!is_layer(t.kind)) return id;
    id = t.target;
  }
  return kVoidType;
}

std::uint64_t TypeTable::size(TypeId id) const {
  std::uint64_t count = 1;
  for (int step = 0; step < kMaxAliases; ++step) {
    const Type& t = stripped(id);
    if (t.kind == TypeKind::reference || t.kind == TypeKind::rvalue_reference || t.kind == TypeKind::pointer)
      return count * (t.size ? std::min(t.size, std::uint64_t{8}) : 8);
    if (t.kind != TypeKind::array) return t.size && count <= kMaxSize / t.size ? count * t.size : 0;
    for (const std::uint64_t dimension : t.dimensions) {
      if (dimension == 0 || count > kMaxSize / dimension) return 0;
      count *= dimension;
    }
    id = t.target;
  }
  return 0;
}

std::string TypeTable::name(TypeId id) const {
  if (id < kFirstMade) return symbols_.type_name(id);
  const Type& t = type(id);
  if (t.kind == TypeKind::pointer) {
    std::string target = name(t.target);
    const Type& pointee = type(t.target);
    if (pointee.kind == TypeKind::array) {
      const std::size_t at = dimensions_begin(target, pointee.dimensions.size());
      return target.substr(0, at) + " (*)" + target.substr(at);
    }
    return target + (target.ends_with('*') ? "*" : " *");
  }
  if (t.kind == TypeKind::array) {
    std::string element = name(t.target);
    std::string dimensions;
    for (const std::uint64_t n : t.dimensions) dimensions += n ? "[" + std::to_string(n) + "]" : "[]";
    const Type& inner = type(t.target);
    const std::size_t at =
        inner.kind == TypeKind::array ? dimensions_begin(element, inner.dimensions.size()) : element.size();
    return element.insert(at, dimensions);
  }
  return t.kind == TypeKind::unspecified ? "?" : t.name;
}

TypeId TypeTable::find(std::string_view name) const {
  if (const TypeId found = symbols_.find_type(name); found != kVoidType) return found;
  for (std::size_t i = 0; i < kBuiltins.size(); ++i)
    if (kBuiltins[i].name == name) return kFirstMade + static_cast<TypeId>(i);
  for (const OtherName& other : kOtherNames)
    if (other.name == name) return builtin(other.type);
  // nvcc gives some types no namespace.
  const std::size_t colons = name.substr(0, name.find('<')).rfind("::");
  return colons == std::string_view::npos ? kVoidType : symbols_.find_type(name.substr(colons + 2));
}

TypeId TypeTable::pointer_to(TypeId target) {
  if (const auto found = pointers_.find(target); found != pointers_.end()) return found->second;
  return pointers_[target] = add(make(TypeKind::pointer, 8, target));
}

TypeId TypeTable::array_of(TypeId element, std::vector<std::uint64_t> dimensions) {
  const std::pair key(element, dimensions);
  if (const auto found = arrays_.find(key); found != arrays_.end()) return found->second;
  Type array = make(TypeKind::array, 0, element);
  array.dimensions = std::move(dimensions);
  return arrays_[key] = add(std::move(array));
}

TypeId TypeTable::element_of(TypeId array) {
  const Type& t = stripped(array);
  if (t.dimensions.size() <= 1) return t.target;
  return array_of(t.target, {t.dimensions.begin() + 1, t.dimensions.end()});
}

bool TypeTable::is_integer(TypeId id) const {
  const Type& t = stripped(id);
  if (t.kind == TypeKind::enumeration) return true;
  if (t.kind != TypeKind::base || t.components != 1) return false;
  return t.format == NumberFormat::boolean || t.format == NumberFormat::character ||
         t.format == NumberFormat::signed_integer || t.format == NumberFormat::unsigned_integer;
}

bool TypeTable::is_number(TypeId id) const {
  const Type& t = stripped(id);
  return t.kind == TypeKind::enumeration || (t.format != NumberFormat::none && t.components == 1);
}

bool TypeTable::is_pointer(TypeId id) const {
  const Type& t = stripped(id);
  return t.kind == TypeKind::pointer || (t.kind == TypeKind::unspecified && t.size == 8);
}

bool TypeTable::is_array(TypeId id) const {
  return stripped(id).kind == TypeKind::array;
}

bool TypeTable::is_structure(TypeId id) const {
  const Type& t = stripped(id);
  return t.format == NumberFormat::none &&
         (t.kind == TypeKind::structure || t.kind == TypeKind::class_type || t.kind == TypeKind::union_type);
}

bool TypeTable::is_reference(TypeId id) const {
  const Type& t = stripped(id);
  return t.kind == TypeKind::reference || t.kind == TypeKind::rvalue_reference;
}

bool TypeTable::is_character(TypeId id) const {
  const Type& t = stripped(id);
  return t.kind == TypeKind::base && t.size == 1 && t.components == 1 && t.format == NumberFormat::character;
}

bool TypeTable::is_text(TypeId id) const {
  return is_character(id) && stripped(id).name == "char";
}

}  // namespace warpgrind::debugger
