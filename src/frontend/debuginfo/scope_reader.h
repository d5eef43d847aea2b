// Scopes and variables of a PTX function, from its DWARF entry.
#pragma once

#include "debuginfo/dwarf_part.h"
#include "debuginfo/locations.h"
#include "debuginfo/type_reader.h"
#include "debuginfo/variable.h"

namespace warpgrind::debuginfo {

class ScopeReader {
 public:
  ScopeReader(const DwarfPart& part, TypeReader& types) : part_(part), types_(types), locations_(part) {}

  // `entry`: DW_TAG_subprogram of Module::functions[function].
  Scope function_scope(EntryIndex entry, std::uint32_t function);
  // Variables outside functions that have a place.
  void add_globals(std::vector<Variable>& out);

 private:
  void add_children(EntryIndex entry, std::uint32_t function, Scope& scope);
  void describe_function(EntryIndex entry, Scope& scope);
  void place_parameters(std::uint32_t function, Scope& scope) const;
  Variable variable(EntryIndex entry, std::uint32_t function);

  const DwarfPart& part_;
  TypeReader& types_;
  LocationReader locations_;
};

}  // namespace warpgrind::debuginfo
