// Places of variables, from DWARF expressions and location lists.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "debuginfo/dwarf_part.h"
#include "debuginfo/variable.h"

namespace warpgrind::debuginfo {

class LocationReader {
 public:
  explicit LocationReader(const DwarfPart& part) : part_(part) {}

  // Sets the location of `variable` from the attributes of `entry`. `function`: around it, kNoId for a global. A list
  // leaves out ranges of other functions.
  void read(EntryIndex entry, std::uint32_t function, Variable& variable);

 private:
  struct Expression;
  Location expression(const SectionData& section, std::uint64_t at, std::uint64_t size, std::uint64_t address_class,
                      std::uint32_t function);
  void list(std::uint64_t at, std::uint64_t address_class, std::uint32_t function, Variable& variable);
  std::optional<InVariable> variable(std::string_view symbol, std::uint32_t function);
  ptx::RegId find_register(const std::string& name, std::uint32_t function);

  const DwarfPart& part_;
  std::unordered_map<std::string_view, std::uint32_t> globals_;  // Module::variables by the name in the part's text
  std::uint32_t registers_of_ = ptx::kNoId;
  std::unordered_map<std::string_view, ptx::RegId> registers_;
};

}  // namespace warpgrind::debuginfo
