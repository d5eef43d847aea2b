// DWARF of one part of a module: its units as a tree of entries, with their attributes and the symbols behind
// addresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debuginfo/dwarf_names.h"
#include "debuginfo/section_data.h"
#include "debuginfo/source_place.h"

namespace warpgrind::debuginfo {

enum class AttributeClass : std::uint8_t {
  unread,    // of a form that is skipped
  address,   // value: offset in .debug_info of the symbol reference
  constant,  // value; as_signed for DW_FORM_sdata
  text,      // value: offset in its section, size: length
  block,     // value: offset in .debug_info, size
  entry,     // value: offset in .debug_info of another entry
  flag,      // value
};

struct Attribute {
  std::uint16_t name = 0;  // dw::At
  AttributeClass kind = AttributeClass::unread;
  std::uint8_t width = 0;   // constant: bytes in the file; 0: a number of variable length
  bool in_strings = false;  // text: in .debug_str
  std::uint64_t at = 0;     // offset in .debug_info of the attribute's own bytes
  std::uint64_t value = 0, size = 0;
};

using EntryIndex = std::uint32_t;  // into DwarfPart::entries()
inline constexpr EntryIndex kNoEntry = 0xffffffffu;

// A debugging information entry (DIE).
struct Entry {
  std::uint64_t offset = 0;  // in .debug_info
  std::uint16_t tag = 0;     // dw::Tag
  std::uint16_t attributes = 0;
  std::uint32_t first_attribute = 0;
  EntryIndex parent = kNoEntry;
  EntryIndex next = 0;  // the entry behind this one and all inside it; children begin at the next index
};

class DwarfPart {
 public:
  // Reads all units. Problems are added to `problems`, with the part's number.
  DwarfPart(const ptx::Module& module, std::uint32_t part, std::vector<std::string>& problems);

  const std::vector<Entry>& entries() const { return entries_; }
  const SectionData& info() const { return info_; }
  const SectionData& lists() const { return loc_; }
  const SectionData& ranges() const { return ranges_; }
  const ptx::Module& module() const { return module_; }
  std::uint32_t number() const { return part_; }

  // --- attributes. `deep` follows DW_AT_abstract_origin and DW_AT_specification.
  const Attribute* find(EntryIndex entry, dw::At name) const;
  const Attribute* find_deep(EntryIndex entry, dw::At name) const;
  std::string_view text(const Attribute* attribute) const;  // empty for nullptr
  std::string_view text(EntryIndex entry, dw::At name) const { return text(find_deep(entry, name)); }
  std::uint64_t constant(EntryIndex entry, dw::At name, std::uint64_t otherwise = 0) const;
  bool flag(EntryIndex entry, dw::At name) const { return constant(entry, name) != 0; }
  EntryIndex target(EntryIndex entry, dw::At name) const;  // entry that the attribute refers to
  EntryIndex target_deep(EntryIndex entry, dw::At name) const;
  // Place of DW_AT_decl_* or DW_AT_call_*.
  SourcePlace place(EntryIndex entry, dw::At file, dw::At line, dw::At column) const;
  SourcePlace declared(EntryIndex entry) const {
    return place(entry, dw::at_decl_file, dw::at_decl_line, dw::at_decl_column);
  }
  // DW_AT_linkage_name, of DWARF 2 DW_AT_MIPS_linkage_name.
  std::string linkage_name(EntryIndex entry) const;
  EntryIndex entry_at(std::uint64_t offset) const;  // kNoEntry: none begins there

  // --- code
  std::optional<CodePlace> label(std::string_view symbol) const;
  std::optional<CodePlace> label(const SectionData& section, std::uint64_t offset) const;
  // Instructions of an entry, from DW_AT_low_pc and high_pc or DW_AT_ranges. `function` is set to theirs. Empty
  // without.
  std::vector<CodeRange> code(EntryIndex entry, std::uint32_t& function) const;
  bool in_part(const ptx::SourceRange& range) const;

  void add_problem(std::uint64_t offset, const std::string& what) const;

 private:
  struct Specification {
    std::uint16_t name = 0, form = 0;
    std::int64_t constant = 0;  // DW_FORM_implicit_const
  };
  struct Abbreviation {
    std::uint16_t tag = 0;
    bool has_children = false;
    std::vector<Specification> attributes;
  };
  using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;
  struct Unit {
    std::uint64_t begin = 0;
    unsigned version = 2, address_size = 8, offset_size = 4;
  };

  void read_sections();
  void resolve_section_names(std::vector<SectionData*>& sections);
  void read_units();
  bool read_unit(std::uint64_t& at);
  bool read_entries(const Unit& unit, const Abbreviations& abbreviations, std::uint64_t begin, std::uint64_t end);
  const Abbreviations* abbreviations(std::uint64_t offset);
  bool read_attribute(const Unit& unit, const Specification& s, class ByteCursor& cursor);
  bool read_text(const Unit& unit, Attribute& a, unsigned form, class ByteCursor& cursor);
  std::optional<CodePlace> end_label(EntryIndex entry, const CodePlace& begin) const;
  std::vector<CodeRange> range_list(std::uint64_t at, std::uint32_t& function) const;

  const ptx::Module& module_;
  std::uint32_t part_;
  std::vector<std::string>& problems_;
  SectionData info_, abbrev_, str_, loc_, ranges_;
  std::vector<Entry> entries_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::uint64_t, Abbreviations> abbreviations_;
  std::unordered_map<std::string_view, CodePlace> labels_;
};

}  // namespace warpgrind::debuginfo
