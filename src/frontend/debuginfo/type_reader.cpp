#include "debuginfo/type_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/demangle.h"
#include "debuginfo/byte_cursor.h"
#include "debuginfo/narrow_numbers.h"

namespace warpgrind::debuginfo {

namespace {

constexpr unsigned kDeepestType = 64;  // of pointers to pointers ..., typedefs of typedefs ...
constexpr std::uint64_t kPointerSize = 8;

TypeKind kind_of_tag(std::uint16_t tag) {
  switch (tag) {
    case dw::tag_base_type:
      return TypeKind::base;
    case dw::tag_pointer_type:
      return TypeKind::pointer;
    case dw::tag_reference_type:
      return TypeKind::reference;
    case dw::tag_rvalue_reference_type:
      return TypeKind::rvalue_reference;
    case dw::tag_ptr_to_member_type:
      return TypeKind::member_pointer;
    case dw::tag_array_type:
      return TypeKind::array;
    case dw::tag_structure_type:
      return TypeKind::structure;
    case dw::tag_class_type:
      return TypeKind::class_type;
    case dw::tag_union_type:
      return TypeKind::union_type;
    case dw::tag_enumeration_type:
      return TypeKind::enumeration;
    case dw::tag_typedef:
    case dw::tag_template_alias:
      return TypeKind::alias;
    case dw::tag_const_type:
      return TypeKind::const_type;
    case dw::tag_volatile_type:
      return TypeKind::volatile_type;
    case dw::tag_restrict_type:
      return TypeKind::restrict_type;
    case dw::tag_subroutine_type:
      return TypeKind::function;
    default:
      return TypeKind::unspecified;  // a tag of the file that this reader has no kind for
  }
}

NumberFormat format_of(std::uint64_t encoding, std::string_view name) {
  switch (encoding) {
    case dw::ate_boolean:
      return NumberFormat::boolean;
    case dw::ate_float:
      return name == "__bf16" || name == "decltype(0.0bf16)" ? NumberFormat::bfloat16 : NumberFormat::floating;
    case dw::ate_signed:
      return NumberFormat::signed_integer;
    case dw::ate_signed_char:
    case dw::ate_unsigned_char:
    case dw::ate_utf:
      return NumberFormat::character;
    case dw::ate_unsigned:
      return NumberFormat::unsigned_integer;
    default:
      return NumberFormat::none;  // a number of the file
  }
}

bool is_qualifier(TypeKind kind) {
  return kind == TypeKind::alias || kind == TypeKind::const_type || kind == TypeKind::volatile_type ||
         kind == TypeKind::restrict_type;
}

bool has_members(TypeKind kind) {
  return kind == TypeKind::structure || kind == TypeKind::class_type || kind == TypeKind::union_type;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? 0 : out;
}

// Children of an entry that have one tag.
template <class F>
void for_children(const DwarfPart& part, EntryIndex entry, F use) {
  const std::vector<Entry>& all = part.entries();
  const EntryIndex end = std::min<EntryIndex>(all[entry].next, static_cast<EntryIndex>(all.size()));
  for (EntryIndex child = entry + 1; child < end; child = std::max(all[child].next, child + 1)) use(child);
}

std::vector<std::uint64_t> dimensions_of(const DwarfPart& part, EntryIndex array) {
  std::vector<std::uint64_t> out;
  for_children(part, array, [&](EntryIndex child) {
    if (part.entries()[child].tag != dw::tag_subrange_type) return;
    const Attribute* bound = part.find(child, dw::at_upper_bound);
    if (bound && bound->kind == AttributeClass::constant)
      out.push_back(bound->value + 1);
    else
      out.push_back(part.constant(child, dw::at_count));
  });
  if (out.empty()) out.push_back(0);
  return out;
}

}  // namespace

TypeReader::TypeReader() {
  slots_.emplace_back();
  slots_[kVoidType].type = std::make_unique<Type>();
  slots_[kVoidType].type->name = "void";
}

TypeId TypeReader::id(const DwarfPart& part, EntryIndex type) {
  if (type == kNoEntry) return kVoidType;
  const auto [known, is_new] = ids_[&part].try_emplace(type, static_cast<TypeId>(slots_.size()));
  if (is_new) slots_.push_back({&part, type, nullptr});
  return known->second;
}

TypeId TypeReader::type_of(const DwarfPart& part, EntryIndex entry) {
  return id(part, part.target_deep(entry, dw::at_type));
}

const Type& TypeReader::type(TypeId id) {
  WG_ASSERT(id < slots_.size());
  if (!slots_[id].type) {
    auto made = std::make_unique<Type>();
    read(*slots_[id].part, slots_[id].entry, *made);
    slots_[id].type = std::move(made);
  }
  return *slots_[id].type;
}

TypeId TypeReader::strip(TypeId id) {
  for (unsigned depth = 0; depth < kDeepestType && is_qualifier(type(id).kind); ++depth) id = type(id).target;
  return id;
}

std::string TypeReader::qualified_name(const DwarfPart& part, EntryIndex entry) {
  std::string own(part.text(entry, dw::at_name));
  if (own.starts_with("_Z")) return demangle(own);  // nvcc mangles names of enumerations and of types in namespaces
  if (own.empty()) return own;
  EntryIndex declared = part.target(entry, dw::at_specification);
  if (declared == kNoEntry) declared = entry;
  std::string out = own;
  // An entry comes behind its parent, so this ends.
  for (EntryIndex around = part.entries()[declared].parent; around != kNoEntry;
       around = part.entries()[around].parent) {
    const std::uint16_t tag = part.entries()[around].tag;
    if (tag != dw::tag_namespace && !has_members(kind_of_tag(tag))) break;
    const std::string_view name = part.text(around, dw::at_name);
    out = fmt::format("{}::{}", name.empty() ? "(anonymous namespace)" : name, out);
  }
  return out;
}

std::uint64_t TypeReader::size(const DwarfPart& part, EntryIndex entry, unsigned depth) {
  if (entry == kNoEntry) return 0;
  if (const Attribute* a = part.find(entry, dw::at_byte_size); a && a->kind == AttributeClass::constant)
    return a->value;
  if (depth == kDeepestType) {
    part.add_problem(part.entries()[entry].offset, "types refer to each other in a circle");
    return 0;
  }
  const TypeKind kind = kind_of_tag(part.entries()[entry].tag);
  if (kind == TypeKind::pointer || kind == TypeKind::reference || kind == TypeKind::rvalue_reference)
    return kPointerSize;
  if (kind != TypeKind::array && !is_qualifier(kind)) return 0;
  std::uint64_t out = size(part, part.target(entry, dw::at_type), depth + 1);
  if (kind == TypeKind::array)
    for (const std::uint64_t n : dimensions_of(part, entry)) out = product(out, n);
  return out;
}

void TypeReader::read(const DwarfPart& part, EntryIndex entry, Type& out) {
  out.kind = kind_of_tag(part.entries()[entry].tag);
  out.name = qualified_name(part, entry);
  out.part = part.number();
  out.size = size(part, entry, 0);
  out.declared = part.declared(entry);
  out.is_complete = !part.flag(entry, dw::at_declaration);
  out.target = type_of(part, entry);
  if (out.kind == TypeKind::base) out.format = format_of(part.constant(entry, dw::at_encoding), out.name);
  if (out.kind == TypeKind::array) out.dimensions = dimensions_of(part, entry);
  if (out.kind == TypeKind::enumeration) read_enumerators(part, entry, out);
  if (out.kind == TypeKind::function) {
    for_children(part, entry, [&](EntryIndex child) {
      if (part.entries()[child].tag == dw::tag_formal_parameter) out.parameters.push_back(type_of(part, child));
    });
  }
  if (!has_members(out.kind)) return;
  read_members(part, entry, out);
  set_narrow_format(out);
}

std::string TypeReader::enumerator_name(const DwarfPart& part, EntryIndex entry) {
  std::string name(part.text(entry, dw::at_name));
  if (name.starts_with("_Z")) {  // nvcc: geo::Colour::red is _ZN3geo6Colour3redE
    name = demangle(name);
    if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  }
  return name;
}

void TypeReader::read_enumerators(const DwarfPart& part, EntryIndex entry, Type& out) {
  out.is_scoped = part.flag(entry, dw::at_enum_class);
  for_children(part, entry, [&](EntryIndex child) {
    if (part.entries()[child].tag != dw::tag_enumerator) return;
    out.enumerators.push_back(
        {enumerator_name(part, child), static_cast<std::int64_t>(part.constant(child, dw::at_const_value))});
  });
}

void TypeReader::read_members(const DwarfPart& part, EntryIndex entry, Type& out) {
  for_children(part, entry, [&](EntryIndex child) {
    const std::uint16_t tag = part.entries()[child].tag;
    if (tag == dw::tag_member || tag == dw::tag_inheritance || tag == dw::tag_variable) read_member(part, child, out);
  });
}

void TypeReader::read_member(const DwarfPart& part, EntryIndex entry, Type& out) {
  Member m;
  m.name = part.text(entry, dw::at_name);
  const EntryIndex type_entry = part.target(entry, dw::at_type);
  m.type = id(part, type_entry);
  const std::uint16_t tag = part.entries()[entry].tag;
  // nvcc writes a base class as a member `__b_N3geo4BaseE`.
  m.is_base = tag == dw::tag_inheritance || m.name.starts_with("__b_");
  m.is_virtual = tag == dw::tag_inheritance && part.constant(entry, dw::at_virtuality) != 0;
  if (m.is_base && type_entry != kNoEntry) m.name = qualified_name(part, type_entry);
  m.is_static = tag == dw::tag_variable ||
                (tag == dw::tag_member && part.flag(entry, dw::at_external) && part.flag(entry, dw::at_declaration));
  if (const Attribute* value = part.find(entry, dw::at_const_value)) {
    m.has_value = value->kind == AttributeClass::constant;
    m.value = static_cast<std::int64_t>(value->value);
  }
  if (const Attribute* place = part.find(entry, dw::at_data_member_location)) {
    if (place->kind == AttributeClass::constant) m.offset = place->value;
    if (place->kind == AttributeClass::block) {
      ByteCursor cursor(part.info(), place->value, place->value + place->size);
      const bool is_sum = cursor.number(1) == dw::op_plus_uconst;
      m.offset = cursor.uleb();
      m.is_virtual |= !is_sum || cursor.failed();
    }
  }
  const std::uint64_t bits = part.constant(entry, dw::at_bit_size);
  if (bits != 0 && bits <= 0xffff) {
    std::uint64_t first = part.constant(entry, dw::at_data_bit_offset);  // from the start of the structure
    if (const Attribute* old = part.find(entry, dw::at_bit_offset)) {
      // DWARF 2 and 3: from the highest bit of a unit of `byte_size` bytes at `offset`.
      const std::uint64_t unit = part.constant(entry, dw::at_byte_size, size(part, type_entry, 0));
      first = 8 * m.offset + 8 * unit - old->value - bits;
    }
    m.offset = first / 8;
    m.bit_offset = static_cast<std::uint32_t>(first % 8);
    m.bit_size = static_cast<std::uint32_t>(bits);
  }
  out.members.push_back(std::move(m));
}

// --- names --------------------------------------------------------------------------------------------------------

// `inner` is what stands around a variable's name: "*" for a pointer to this type.
std::string TypeReader::name(TypeId id, const std::string& inner, unsigned depth) {
  if (depth == kDeepestType) return "...";
  const Type& t = type(id);
  const auto target = [&](const std::string& around) { return name(t.target, around, depth + 1); };
  const auto pointer = [&](const char* mark) {
    const TypeKind to = type(t.target).kind;
    const bool bracketed = to == TypeKind::array || to == TypeKind::function;
    return target(bracketed ? fmt::format("({}{})", mark, inner) : mark + inner);
  };
  const auto qualified = [&](const char* word) {
    const TypeKind of = type(t.target).kind;
    if (of == TypeKind::pointer) return target(inner.empty() ? word : fmt::format("{} {}", word, inner));
    return fmt::format("{} {}", word, target(inner));
  };
  const auto plain = [&](std::string text) { return inner.empty() ? text : text + ' ' + inner; };
  switch (t.kind) {
    case TypeKind::pointer:
      return pointer("*");
    case TypeKind::reference:
      return pointer("&");
    case TypeKind::rvalue_reference:
      return pointer("&&");
    case TypeKind::member_pointer:
      return pointer("::*");
    case TypeKind::const_type:
      return qualified("const");
    case TypeKind::volatile_type:
      return qualified("volatile");
    case TypeKind::restrict_type:
      return target(inner.empty() ? "__restrict__" : "__restrict__ " + inner);
    case TypeKind::array: {
      std::string around = inner;
      for (const std::uint64_t n : t.dimensions) around += n == 0 ? "[]" : fmt::format("[{}]", n);
      const bool joined = inner.empty();
      const std::string element = joined ? target({}) : target(around);
      return joined ? element + around : element;
    }
    case TypeKind::function: {
      std::string list;
      for (const TypeId p : t.parameters) list += (list.empty() ? "" : ", ") + name(p, {}, depth + 1);
      return fmt::format("{} {}({})", target({}), inner, list);
    }
    case TypeKind::structure:
      return plain(t.name.empty() ? "struct {...}" : t.name);
    case TypeKind::class_type:
      return plain(t.name.empty() ? "class {...}" : t.name);
    case TypeKind::union_type:
      return plain(t.name.empty() ? "union {...}" : t.name);
    case TypeKind::enumeration:
      return plain(t.name.empty() ? "enum {...}" : t.name);
    case TypeKind::none:
    case TypeKind::base:
    case TypeKind::alias:
    case TypeKind::unspecified:
      return plain(t.name.empty() ? "?" : t.name);
  }
  return "?";
}

std::vector<TypeId> TypeReader::enumerations_with(const DwarfPart& part, const std::string& enumerator) {
  auto [known, is_new] = enumerators_.try_emplace(&part);
  if (is_new)
    for (EntryIndex e = 0; e < part.entries().size(); ++e)
      if (part.entries()[e].tag == dw::tag_enumerator && part.entries()[e].parent != kNoEntry)
        known->second[enumerator_name(part, e)].push_back(part.entries()[e].parent);
  std::vector<TypeId> out;
  if (const auto found = known->second.find(enumerator); found != known->second.end())
    for (const EntryIndex e : found->second) out.push_back(id(part, e));
  return out;
}

TypeId TypeReader::find(const DwarfPart& part, std::string_view name) {
  auto [known, is_new] = names_.try_emplace(&part);
  if (is_new) {
    for (EntryIndex e = 0; e < part.entries().size(); ++e) {
      const TypeKind kind = kind_of_tag(part.entries()[e].tag);
      const bool named =
          has_members(kind) || kind == TypeKind::enumeration || kind == TypeKind::base || kind == TypeKind::alias;
      if (!named || part.flag(e, dw::at_declaration)) continue;
      if (std::string text = qualified_name(part, e); !text.empty()) known->second.try_emplace(std::move(text), e);
    }
  }
  const auto found = known->second.find(std::string(name));
  return found == known->second.end() ? kVoidType : id(part, found->second);
}

}  // namespace warpgrind::debuginfo
