// Types of all parts of a module, read one at a time when they are asked for.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "debuginfo/dwarf_part.h"
#include "debuginfo/type.h"

namespace warpgrind::debuginfo {

class TypeReader {
 public:
  TypeReader();

  // The type that DW_AT_type of an entry names; kVoidType without one. `part` has to outlive this object.
  TypeId type_of(const DwarfPart& part, EntryIndex entry);
  TypeId id(const DwarfPart& part, EntryIndex type);
  const Type& type(TypeId id);
  std::string name(TypeId id) { return name(id, {}, 0); }
  TypeId strip(TypeId id);
  // A name of the part's types, with namespaces. kVoidType: unknown.
  TypeId find(const DwarfPart& part, std::string_view name);
  // Enumerations of the part with an enumerator of this name, without namespaces.
  std::vector<TypeId> enumerations_with(const DwarfPart& part, const std::string& enumerator);
  // Name of an entry with the namespaces and classes around it.
  static std::string qualified_name(const DwarfPart& part, EntryIndex entry);

 private:
  struct Slot {
    const DwarfPart* part = nullptr;
    EntryIndex entry = kNoEntry;
    std::unique_ptr<Type> type;
  };
  void read(const DwarfPart& part, EntryIndex entry, Type& out);
  void read_members(const DwarfPart& part, EntryIndex entry, Type& out);
  void read_member(const DwarfPart& part, EntryIndex entry, Type& out);
  void read_enumerators(const DwarfPart& part, EntryIndex entry, Type& out);
  std::uint64_t size(const DwarfPart& part, EntryIndex entry, unsigned depth);
  std::string name(TypeId id, const std::string& inner, unsigned depth);

  static std::string enumerator_name(const DwarfPart& part, EntryIndex entry);

  std::deque<Slot> slots_;  // by TypeId
  std::unordered_map<const DwarfPart*, std::unordered_map<EntryIndex, TypeId>> ids_;
  std::unordered_map<const DwarfPart*, std::unordered_map<std::string, EntryIndex>> names_;
  std::unordered_map<const DwarfPart*, std::unordered_map<std::string, std::vector<EntryIndex>>> enumerators_;
};

}  // namespace warpgrind::debuginfo
