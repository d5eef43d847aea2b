// Queries over the entries; entry_reader.cpp reads them.
#include "debuginfo/dwarf_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "debuginfo/byte_cursor.h"

namespace warpgrind::debuginfo {

namespace {

constexpr unsigned kLongestChain = 16;  // of entries that refer to each other
constexpr std::size_t kMostProblems = 50;

}  // namespace

DwarfPart::DwarfPart(const ptx::Module& module, std::uint32_t part, std::vector<std::string>& problems)
    : module_(module), part_(part), problems_(problems) {
  read_sections();
  if (info_.bytes.empty()) return;
  for (std::uint32_t f = 0; f < module_.functions.size(); ++f) {
    const ptx::Function& function = module_.functions[f];
    if (!function.has_body || !in_part(function.range)) continue;
    for (const ptx::Label& label : function.labels) labels_.try_emplace(label.name, CodePlace{f, label.instruction});
  }
  read_units();
}

void DwarfPart::add_problem(std::uint64_t offset, const std::string& what) const {
  if (problems_.size() < kMostProblems)
    problems_.push_back(
        fmt::format("DWARF of part {} of {}, .debug_info at {:#x}: {}", part_, module_.name, offset, what));
}

bool DwarfPart::in_part(const ptx::SourceRange& range) const {
  const ptx::DebugPart& part = module_.debug_parts[part_];
  return range.line >= part.first_line && range.line < part.end_line;
}

const Attribute* DwarfPart::find(EntryIndex entry, dw::At name) const {
  if (entry >= entries_.size()) return nullptr;
  const Entry& e = entries_[entry];
  for (std::size_t k = e.first_attribute; k < std::size_t{e.first_attribute} + e.attributes; ++k)
    if (attributes_[k].name == name) return &attributes_[k];
  return nullptr;
}

const Attribute* DwarfPart::find_deep(EntryIndex entry, dw::At name) const {
  for (unsigned depth = 0; depth < kLongestChain && entry != kNoEntry; ++depth) {
    if (const Attribute* found = find(entry, name)) return found;
    const EntryIndex origin = target(entry, dw::at_abstract_origin);
    entry = origin != kNoEntry ? origin : target(entry, dw::at_specification);
  }
  return nullptr;
}

std::string_view DwarfPart::text(const Attribute* attribute) const {
  if (!attribute || attribute->kind != AttributeClass::text) return {};
  const SectionData& section = attribute->in_strings ? str_ : info_;
  return {reinterpret_cast<const char*>(section.bytes.data()) + attribute->value, attribute->size};
}

std::uint64_t DwarfPart::constant(EntryIndex entry, dw::At name, std::uint64_t otherwise) const {
  const Attribute* a = find_deep(entry, name);
  if (!a || (a->kind != AttributeClass::constant && a->kind != AttributeClass::flag)) return otherwise;
  return a->value;
}

EntryIndex DwarfPart::entry_at(std::uint64_t offset) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), offset,
                                      [](const Entry& e, std::uint64_t o) { return e.offset < o; });
  if (found == entries_.end() || found->offset != offset) return kNoEntry;
  return static_cast<EntryIndex>(found - entries_.begin());
}

EntryIndex DwarfPart::target(EntryIndex entry, dw::At name) const {
  const Attribute* a = find(entry, name);
  return a && a->kind == AttributeClass::entry ? entry_at(a->value) : kNoEntry;
}

EntryIndex DwarfPart::target_deep(EntryIndex entry, dw::At name) const {
  const Attribute* a = find_deep(entry, name);
  return a && a->kind == AttributeClass::entry ? entry_at(a->value) : kNoEntry;
}

SourcePlace DwarfPart::place(EntryIndex entry, dw::At file, dw::At line, dw::At column) const {
  SourcePlace out;
  out.line = static_cast<std::uint32_t>(constant(entry, line));
  out.column = static_cast<std::uint32_t>(constant(entry, column));
  const std::uint64_t number = constant(entry, file);
  const std::vector<std::string>& files = module_.files;
  // Numbers are those of the part's `.file` lines.
  if (number < files.size() && number + module_.debug_parts[part_].first_file < files.size())
    out.file = files[number + module_.debug_parts[part_].first_file];
  return out;
}

std::string DwarfPart::linkage_name(EntryIndex entry) const {
  const std::string_view name = text(entry, dw::at_linkage_name);
  return std::string(name.empty() ? text(entry, dw::at_mips_linkage_name) : name);
}

// --- code ---------------------------------------------------------------------------------------------------------

std::optional<CodePlace> DwarfPart::label(std::string_view symbol) const {
  const auto found = labels_.find(symbol);
  if (found != labels_.end()) return found->second;
  for (std::uint32_t f = 0; f < module_.functions.size(); ++f)
    if (module_.functions[f].has_body && module_.functions[f].name == symbol && in_part(module_.functions[f].range))
      return CodePlace{f, 0};
  return std::nullopt;
}

std::optional<CodePlace> DwarfPart::label(const SectionData& section, std::uint64_t offset) const {
  const SymbolReference* reference = section.reference_at(offset);
  if (!reference) return std::nullopt;
  const auto found = labels_.find(reference->symbol);
  if (found == labels_.end()) return label(reference->symbol);
  return found->second;
}

// DW_AT_high_pc is a label, or the difference of two labels.
std::optional<CodePlace> DwarfPart::end_label(EntryIndex entry, const CodePlace& begin) const {
  const Attribute* high = find(entry, dw::at_high_pc);
  if (!high) return std::nullopt;
  std::optional<CodePlace> end = label(info_, high->at);
  if (!end || end->function != begin.function) return std::nullopt;
  return end;
}

std::vector<CodeRange> DwarfPart::code(EntryIndex entry, std::uint32_t& function) const {
  if (const Attribute* list = find(entry, dw::at_ranges); list && list->kind == AttributeClass::constant)
    return range_list(list->value, function);
  const Attribute* low = find(entry, dw::at_low_pc);
  if (!low) return {};
  const std::optional<CodePlace> begin = label(info_, low->at);
  if (!begin) return {};  // another module's copy of the function was linked
  const std::optional<CodePlace> end = end_label(entry, *begin);
  if (!end || end->instruction < begin->instruction) {
    add_problem(entries_[entry].offset, "the end of the code is no label of the same function");
    return {};
  }
  function = begin->function;
  return {{begin->instruction, end->instruction}};
}

// Pairs of labels of .debug_ranges, up to a pair of zeroes.
std::vector<CodeRange> DwarfPart::range_list(std::uint64_t at, std::uint32_t& function) const {
  std::vector<CodeRange> out;
  for (; at + 16 <= ranges_.bytes.size(); at += 16) {
    if (!ranges_.reference_at(at) && !ranges_.reference_at(at + 8)) break;
    const std::optional<CodePlace> begin = label(ranges_, at), end = label(ranges_, at + 8);
    if (!begin || !end || begin->function != end->function || end->instruction < begin->instruction) continue;
    if (function != ptx::kNoId && begin->function != function) continue;
    function = begin->function;
    out.push_back({begin->instruction, end->instruction});
  }
  return out;
}

}  // namespace warpgrind::debuginfo
