// Reads sections, abbreviations, units and entries of DWARF versions 2 to 5.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "debuginfo/byte_cursor.h"
#include "debuginfo/dwarf_part.h"

namespace warpgrind::debuginfo {

namespace {

constexpr std::size_t kDeepestNesting = 200;
constexpr std::size_t kMostEntries = 50'000'000;

// Size of an attribute of a form.
enum class Size : std::uint8_t { bytes, uleb, sleb, of_address, of_offset, of_ref_addr, none, text };

struct FormRow {
  dw::Form form;
  AttributeClass kind;  // of a block: `size` is that of its length
  Size size;
  std::uint8_t bytes = 0;
};

constexpr FormRow kForms[] = {
    {dw::form_data1, AttributeClass::constant, Size::bytes, 1},
    {dw::form_ref4, AttributeClass::entry, Size::bytes, 4},
    {dw::form_string, AttributeClass::text, Size::text},
    {dw::form_block1, AttributeClass::block, Size::bytes, 1},
    {dw::form_addr, AttributeClass::address, Size::of_address},
    {dw::form_data2, AttributeClass::constant, Size::bytes, 2},
    {dw::form_data4, AttributeClass::constant, Size::bytes, 4},
    {dw::form_data8, AttributeClass::constant, Size::bytes, 8},
    {dw::form_data16, AttributeClass::unread, Size::bytes, 16},
    {dw::form_udata, AttributeClass::constant, Size::uleb},
    {dw::form_sdata, AttributeClass::constant, Size::sleb},
    {dw::form_sec_offset, AttributeClass::constant, Size::of_offset},
    {dw::form_implicit_const, AttributeClass::constant, Size::none},
    {dw::form_flag, AttributeClass::flag, Size::bytes, 1},
    {dw::form_flag_present, AttributeClass::flag, Size::none},
    {dw::form_strp, AttributeClass::text, Size::text},
    {dw::form_block2, AttributeClass::block, Size::bytes, 2},
    {dw::form_block4, AttributeClass::block, Size::bytes, 4},
    {dw::form_block, AttributeClass::block, Size::uleb},
    {dw::form_exprloc, AttributeClass::block, Size::uleb},
    {dw::form_ref1, AttributeClass::entry, Size::bytes, 1},
    {dw::form_ref2, AttributeClass::entry, Size::bytes, 2},
    {dw::form_ref8, AttributeClass::entry, Size::bytes, 8},
    {dw::form_ref_udata, AttributeClass::entry, Size::uleb},
    {dw::form_ref_addr, AttributeClass::entry, Size::of_ref_addr},
    {dw::form_ref_sig8, AttributeClass::unread, Size::bytes, 8},
    {dw::form_line_strp, AttributeClass::unread, Size::of_offset},
    {dw::form_strx, AttributeClass::unread, Size::uleb},
    {dw::form_addrx, AttributeClass::unread, Size::uleb},
    {dw::form_loclistx, AttributeClass::unread, Size::uleb},
    {dw::form_rnglistx, AttributeClass::unread, Size::uleb},
    {dw::form_strx1, AttributeClass::unread, Size::bytes, 1},
    {dw::form_strx2, AttributeClass::unread, Size::bytes, 2},
    {dw::form_strx3, AttributeClass::unread, Size::bytes, 3},
    {dw::form_strx4, AttributeClass::unread, Size::bytes, 4},
    {dw::form_addrx1, AttributeClass::unread, Size::bytes, 1},
    {dw::form_addrx2, AttributeClass::unread, Size::bytes, 2},
    {dw::form_addrx3, AttributeClass::unread, Size::bytes, 3},
    {dw::form_addrx4, AttributeClass::unread, Size::bytes, 4},
};

}  // namespace

void DwarfPart::read_sections() {
  for (const ptx::DebugSection& place : module_.debug_parts[part_].sections) {
    SectionData* data = place.name == ".debug_info"     ? &info_
                        : place.name == ".debug_abbrev" ? &abbrev_
                        : place.name == ".debug_str"    ? &str_
                        : place.name == ".debug_loc"    ? &loc_
                        : place.name == ".debug_ranges" ? &ranges_
                                                        : nullptr;
    if (!data || place.begin > place.end || place.end > module_.text.size()) continue;
    read_section(std::string_view(module_.text).substr(place.begin, place.end - place.begin), *data);
    if (!data->problem.empty()) add_problem(0, fmt::format("{}: {}", place.name, data->problem));
  }
  std::vector<SectionData*> sections = {&info_, &abbrev_, &str_, &loc_, &ranges_};
  resolve_section_names(sections);
}

// Replaces `.debug_abbrev` and labels inside sections by their offsets.
void DwarfPart::resolve_section_names(std::vector<SectionData*>& sections) {
  std::unordered_map<std::string_view, std::uint64_t> offsets = {
      {".debug_info", 0}, {".debug_abbrev", 0}, {".debug_str", 0}, {".debug_loc", 0}, {".debug_ranges", 0}};
  for (const SectionData* section : sections)
    for (const SectionData::Label& label : section->labels) offsets.try_emplace(label.name, label.offset);
  for (SectionData* section : sections) {
    for (const SymbolReference& r : section->references) {
      const auto found = offsets.find(r.symbol);
      if (found == offsets.end()) continue;
      std::uint64_t value = found->second + static_cast<std::uint64_t>(r.addend);
      if (!r.minus.empty()) {
        const auto base = offsets.find(r.minus);
        if (base == offsets.end()) continue;
        value -= base->second;
      }
      for (unsigned i = 0; i < r.size; ++i) section->bytes[r.offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
}

const DwarfPart::Abbreviations* DwarfPart::abbreviations(std::uint64_t offset) {
  const auto [entry, is_new] = abbreviations_.try_emplace(offset);
  if (!is_new) return &entry->second;
  ByteCursor cursor(abbrev_, offset, abbrev_.bytes.size());
  while (!cursor.done()) {
    const std::uint64_t code = cursor.uleb();
    if (code == 0) return &entry->second;
    Abbreviation a;
    a.tag = static_cast<std::uint16_t>(cursor.uleb());
    a.has_children = cursor.number(1) != 0;
    while (!cursor.failed()) {
      Specification s;
      s.name = static_cast<std::uint16_t>(cursor.uleb());
      s.form = static_cast<std::uint16_t>(cursor.uleb());
      if (s.form == dw::form_implicit_const) s.constant = cursor.sleb();
      if (s.name == 0 && s.form == 0) break;
      a.attributes.push_back(s);
    }
    if (!cursor.failed()) entry->second.try_emplace(code, std::move(a));
  }
  // clang's sections may lack the closing 0.
  return cursor.failed() && entry->second.empty() ? nullptr : &entry->second;
}

void DwarfPart::read_units() {
  for (std::uint64_t at = 0; at < info_.bytes.size();)
    if (!read_unit(at)) return;
}

// Reads the unit at `at` and moves `at` behind it. False: nothing behind it can be read.
bool DwarfPart::read_unit(std::uint64_t& at) {
  Unit unit;
  unit.begin = at;
  ByteCursor cursor(info_, at, info_.bytes.size());
  std::uint64_t length = cursor.number(4);
  if (length == 0xffffffffu) {
    unit.offset_size = 8;
    length = cursor.number(8);
  }
  const std::uint64_t begin = cursor.position();
  const bool truncated = cursor.failed() || length > cursor.left();
  const std::uint64_t end = truncated ? info_.bytes.size() : begin + length;
  if (truncated) add_problem(unit.begin, "the unit is longer than its section");
  at = end;
  unit.version = static_cast<unsigned>(cursor.number(2));
  if (unit.version < 2 || unit.version > 5) {
    add_problem(unit.begin, fmt::format("version {} of DWARF cannot be read", unit.version));
    return !truncated;
  }
  std::uint64_t table = 0;
  if (unit.version == 5) {
    const std::uint64_t type = cursor.number(1);
    unit.address_size = static_cast<unsigned>(cursor.number(1));
    table = cursor.number(unit.offset_size);
    if (type == 4 || type == 5) cursor.skip(8);                                    // skeleton, split: an id
    if (type == 2 || type == 6) cursor.skip(8 + std::uint64_t{unit.offset_size});  // types: signature and offset
  } else {
    table = cursor.number(unit.offset_size);
    unit.address_size = static_cast<unsigned>(cursor.number(1));
  }
  if (cursor.failed() || unit.address_size == 0 || unit.address_size > 8) {
    add_problem(unit.begin, "the head of the unit is wrong");
    return !truncated;
  }
  const Abbreviations* known = abbreviations(table);
  if (!known) {
    add_problem(unit.begin, fmt::format("there are no abbreviations at {:#x}", table));
    return !truncated;
  }
  return read_entries(unit, *known, cursor.position(), end) && !truncated;
}

// False only if there are too many entries. After an error, the rest of the unit is left out.
bool DwarfPart::read_entries(const Unit& unit, const Abbreviations& known, std::uint64_t begin, std::uint64_t end) {
  ByteCursor cursor(info_, begin, end);
  std::vector<EntryIndex> open;
  const auto finish = [&](const char* problem, std::uint64_t at) {
    if (problem) add_problem(at, problem);
    for (EntryIndex e : open) entries_[e].next = static_cast<EntryIndex>(entries_.size());
    return true;
  };
  while (!cursor.done()) {
    const std::uint64_t at = cursor.position();
    const std::uint64_t code = cursor.uleb();
    if (cursor.failed()) return finish("the unit is truncated", at);
    if (code == 0) {
      if (!open.empty()) {
        entries_[open.back()].next = static_cast<EntryIndex>(entries_.size());
        open.pop_back();
      }
      continue;  // further zeroes only pad the unit
    }
    const auto found = known.find(code);
    if (found == known.end()) return finish("an entry has an unknown abbreviation", at);
    if (entries_.size() >= kMostEntries) return finish("too many entries", at), false;
    Entry entry;
    entry.offset = at;
    entry.tag = found->second.tag;
    entry.first_attribute = static_cast<std::uint32_t>(attributes_.size());
    entry.parent = open.empty() ? kNoEntry : open.back();
    for (const Specification& s : found->second.attributes)
      if (!read_attribute(unit, s, cursor)) return finish("an attribute is truncated or of an unknown form", at);
    entry.attributes = static_cast<std::uint16_t>(attributes_.size() - entry.first_attribute);
    entry.next = static_cast<EntryIndex>(entries_.size() + 1);
    entries_.push_back(entry);
    if (!found->second.has_children) continue;
    if (open.size() >= kDeepestNesting) return finish("entries are nested too deeply", at);
    open.push_back(entry.next - 1);
  }
  return finish(open.empty() ? nullptr : "the unit is truncated", cursor.position());
}

bool DwarfPart::read_text(const Unit& unit, Attribute& a, unsigned form, ByteCursor& cursor) {
  a.kind = AttributeClass::text;
  if (form == dw::form_string) {
    a.value = cursor.position();
    a.size = cursor.text().size();
    return !cursor.failed();
  }
  ByteCursor other(str_, cursor.number(unit.offset_size), str_.bytes.size());
  if (cursor.failed()) return false;
  a.in_strings = true;
  a.value = other.position();
  a.size = other.text().size();
  if (other.failed()) a.kind = AttributeClass::unread;
  return true;
}

bool DwarfPart::read_attribute(const Unit& unit, const Specification& s, ByteCursor& cursor) {
  unsigned form = s.form;
  for (unsigned depth = 0; form == dw::form_indirect && depth < 4; ++depth) form = static_cast<unsigned>(cursor.uleb());
  const auto row = std::find_if(std::begin(kForms), std::end(kForms), [&](const FormRow& r) { return r.form == form; });
  if (row == std::end(kForms)) return false;  // its size is unknown, so nothing behind it can be read
  Attribute a;
  a.name = s.name;
  a.kind = row->kind;
  a.at = cursor.position();
  const unsigned width = row->size == Size::of_address    ? unit.address_size
                         : row->size == Size::of_offset   ? unit.offset_size
                         : row->size == Size::of_ref_addr ? (unit.version == 2 ? unit.address_size : unit.offset_size)
                                                          : row->bytes;
  if (row->kind == AttributeClass::text) {
    if (!read_text(unit, a, form, cursor)) return false;
  } else if (row->size == Size::uleb) {
    a.value = cursor.uleb();
  } else if (row->size == Size::sleb) {
    a.value = static_cast<std::uint64_t>(cursor.sleb());
  } else if (row->size == Size::none) {
    a.value = form == dw::form_flag_present ? 1 : static_cast<std::uint64_t>(s.constant);
  } else if (width > 8 || row->kind == AttributeClass::address) {
    a.value = cursor.position();
    cursor.skip(width);
  } else {
    a.width = static_cast<std::uint8_t>(width);
    a.value = cursor.number(width);
  }
  if (a.kind == AttributeClass::block) {
    a.size = a.value;
    a.value = cursor.position();
    cursor.skip(a.size);
  }
  if (a.kind == AttributeClass::entry && form != dw::form_ref_addr) a.value += unit.begin;
  attributes_.push_back(a);
  return !cursor.failed();
}

}  // namespace warpgrind::debuginfo
